"""Work on all items of a table: a parallel scan, page by page in each segment, that goes on where it was stopped."""

from __future__ import annotations

import hashlib
import json
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from cli.commands import open_table
from cli.output import progress, say, summary
from features.upkeep.keys import BACKFILL, backfill
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import forget, put
from shared.values import times
from shared.values.naming import counted
from shared.values.times import to_iso

ROOT = Path(__file__).parents[2]

PAGE = 200

Number = Annotated[int, typer.Option(min=1, max=64, help="The number of table segments read in parallel.")]


class Step(NamedTuple):
    """One page of a segment: how many items were examined, and how many were rewritten."""

    seen: int
    rewritten: int


@cache
def release() -> str:
    """The project's version, and a hash of the code that decides what is written."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    sources = sorted(path for folder in ("cli", "shared", "features") for path in (ROOT / folder).rglob("*.py"))
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    return f"{version} ({code.hexdigest()[:12]})"


@dataclass(frozen=True, slots=True)
class Run:
    """Work on all items, which is remembered under a name, page by page in each segment of the table.

    ``began`` is when it began. An interrupted run is continued by the same code only: what an earlier release has done
    isn't what this one would do.
    """

    name: str
    segments: int
    began: datetime

    def remembered(self, table: Table) -> list[Item]:
        """The positions of interrupted runs, also of other releases."""
        return table.get_many([self._place(number) for number in range(self.segments)], consistent=True)

    def forget(self, table: Table) -> None:
        """Begin at the start."""
        for number in range(self.segments):
            table.write(forget(self._place(number), because="one run at a time works on a segment"))

    def scan(self, table: Table, segment: int, work: Callable[[list[Item]], int]) -> Iterator[Step]:
        """Process one segment, from where the last run stopped; ``work`` returns how much it did."""
        place = self._place(segment)
        last = table.get(place, consistent=True) or {}
        same = is_of_this_release(last)
        start: Mapping[str, Any] | None = json.loads(last["Start"]) if same else None
        began = last["BeganAt"] if same else to_iso(self.began)
        while True:
            items, start = table.scan(segment=segment, segments=self.segments, start=start, limit=PAGE)
            yield Step(len(items), work(items))
            if start is None:
                table.write(forget(place, because="the segment is done; another run starts over"))
                return
            position = {"Start": json.dumps(start), "Release": release(), "BeganAt": began}
            reached = {**place, "Type": BACKFILL, **position}
            table.write(put(reached, because="one run at a time works on a segment"))

    def _place(self, segment: int) -> Key:
        return backfill(self.name, self.segments, segment)


def is_of_this_release(position: Item) -> bool:
    """Whether an interrupted run's position is one that this code continues from."""
    return bool(position.get("Release") == release() and position.get("BeganAt"))


FromStart = Annotated[bool, typer.Option("--from-start", help="Begin at the start, and not where a run stopped.")]


def run_all(
    doing: str,
    name: str,
    segments: int,
    steps: Callable[[Table, Run, int], Iterator[Step]],
    *,
    done: Callable[[int], str],
    from_start: bool,
) -> None:
    """Process all segments of the open table, with a progress bar, a sum, and a note on interruption.

    ``steps`` gives a segment's steps. ``done`` puts a number of rewritten items into words. Raises NoTable,
    Unavailable, KeyboardInterrupt.
    """
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    run = Run(name, segments, times.now())
    if from_start:
        run.forget(table)
    for sentence in continued(run.remembered(table), segments):
        say(sentence)
    (seen, rewritten), interrupted = run_steps(doing, table, segments, lambda number: steps(table, run, number))
    say(f"{counted(seen, 'item')} looked at, {done(rewritten)}")
    say(summary(trace))
    if interrupted:
        raise KeyboardInterrupt("Run the command again, with as many segments, to continue.")


def continued(positions: Sequence[Item], segments: int) -> Iterator[str]:
    """Sentences about the interrupted runs whose positions are known."""
    own = [each for each in positions if is_of_this_release(each)]
    if own:
        began = min(each["BeganAt"] for each in own)
        yield (
            f"Continues the run that began at {began}, in {len(own)} of {counted(segments, 'segment')}. "
            "--from-start begins at the start."
        )
    for name in sorted({str(each.get("Release", "an earlier release")) for each in positions if each not in own}):
        yield f"A run of {name} was interrupted. It isn't continued: this one begins at the start."


def run_steps(
    doing: str,
    table: Table,
    segments: int,
    steps: Callable[[int], Iterator[Step]],
    *,
    begun: int = 0,
    total: int | None = None,
) -> tuple[Step, bool]:
    """Process each segment in its own thread; returns the steps' sum, and whether the user interrupted.

    ``begun`` is how many items were done before, of ``total`` or else of those in the table. Raises Unavailable.
    """
    stop = threading.Event()
    parts: list[Future[list[Step]]] = []
    interrupted = False
    with progress(doing, total or table.roughly() or None) as advance:
        advance(begun)

        def work(number: int) -> list[Step]:
            done = []
            for step in steps(number):
                done.append(step)
                advance(step.seen)
                if stop.is_set():
                    break
            return done

        with ThreadPoolExecutor(segments) as pool:
            try:
                parts.extend(pool.submit(work, number) for number in range(segments))
                wait(parts, return_when=FIRST_EXCEPTION)
            except KeyboardInterrupt:
                interrupted = True
            stop.set()  # running work ends after its page, whose end is stored
    done = [step for part in parts for step in part.result()]
    return Step(sum(step.seen for step in done), sum(step.rewritten for step in done)), interrupted
