"""Work on all items of the table: a parallel scan, segment by segment, page by page.

How far each segment has got is kept in the table, so a run that was interrupted continues where it stopped.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn

from cli.connection import open_table
from cli.exits import INTERRUPTED
from cli.output import complain, say, summary
from cli.progress import progress
from shared.data import item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import forget, put
from shared.values.counts import counted

PAGE = 200

Number = Annotated[int, typer.Option(min=1, max=64, help="Parts of the table that are read at once.")]


@dataclass(frozen=True, slots=True)
class Step:
    """One page of a segment: how many items were looked at, and how many of them were rewritten."""

    seen: int
    rewritten: int


def scan(table: Table, name: str, segment: int, segments: int, work: Callable[[list[Item]], int]) -> Iterator[Step]:
    """Do some work, which says how much it did, on one segment of the table, from where the last run stopped.

    ``name`` is what the place is remembered under.
    """
    place = keys.backfill(name, segment, segments)
    remembered = table.get(place, consistent=True)
    start: Mapping[str, Any] | None = json.loads(remembered["Start"]) if remembered else None
    while True:
        items, start = table.scan(segment=segment, segments=segments, start=start, limit=PAGE)
        yield Step(len(items), work(items))
        if start is None:
            table.write(forget(place, because="the segment is done; another run starts over"))
            return
        progress_made = {**place, "Type": item_types.BACKFILL, "Start": json.dumps(start)}
        table.write(put(progress_made, because="one run at a time works on a segment"))


def run_all(
    doing: str,
    segments: int,
    steps: Callable[[Table, int, int], Iterator[Step]],
    *,
    done: Callable[[int], str],
) -> None:
    """A command that does the steps of all segments of the open table: with a progress bar, a sum, and a notice on
    interruption.

    ``steps`` gives those of a table's segment, of so many. ``done`` says in words what so many rewritten items are.
    Raises NoTable, Unavailable; typer.Exit when interrupted.
    """
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    work = Segments(segments, lambda number: steps(table, number, segments))
    with progress(doing, table.roughly() or None, MofNCompleteColumn()) as advance:
        interrupted = work.run(advance)
    say(f"{counted(work.seen, 'item')} looked at, {done(work.rewritten)}")
    say(summary(trace))
    if interrupted:
        complain("Interrupted. Repeat the command with as many segments: it goes on from here.")
        raise typer.Exit(INTERRUPTED)


class Segments:
    """All segments of one run, each in a thread of its own, and what they have done.

    ``steps`` gives the steps of the segment of a number.
    """

    def __init__(self, segments: int, steps: Callable[[int], Iterator[Step]]) -> None:
        self.seen = self.rewritten = 0
        self._segments, self._steps = segments, steps
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def run(self, advance: Callable[[int], None]) -> bool:
        """Do all segments; returns whether the user interrupted that. Raises Unavailable."""
        interrupted = False
        with ThreadPoolExecutor(self._segments) as pool:
            parts = [pool.submit(partial(self._segment, number, advance)) for number in range(self._segments)]
            try:
                wait(parts, return_when=FIRST_EXCEPTION)
            except KeyboardInterrupt:
                interrupted = True
            self._stop.set()  # only now: what is under way ends after its page, and its place is kept
        for part in parts:
            part.result()
        return interrupted

    def _segment(self, number: int, advance: Callable[[int], None]) -> None:
        for step in self._steps(number):
            with self._lock:
                self.seen += step.seen
                self.rewritten += step.rewritten
            advance(step.seen)
            if self._stop.is_set():
                return
