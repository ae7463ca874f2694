"""Work on all items of the table: a parallel scan, segment by segment, page by page.

How far each segment has got is kept in the table, so a run that was interrupted continues where it stopped.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Annotated, Any, NamedTuple

import typer

from cli.connection import open_table
from cli.output import progress, say, summary
from shared.data import item_types, keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import forget, put
from shared.values.naming import counted

PAGE = 200

Number = Annotated[int, typer.Option(min=1, max=64, help="Parts of the table that are read at once.")]


class Step(NamedTuple):
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
    Raises NoTable, Unavailable, KeyboardInterrupt.
    """
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    (seen, rewritten), interrupted = run(doing, table, segments, lambda number: steps(table, number, segments))
    say(f"{counted(seen, 'item')} looked at, {done(rewritten)}")
    say(summary(trace))
    if interrupted:
        raise KeyboardInterrupt("Run the command again, with as many segments, to continue.")


def run(
    doing: str, table: Table, segments: int, steps: Callable[[int], Iterator[Step]], *, begun: int = 0
) -> tuple[Step, bool]:
    """Do the steps of each segment in a thread of its own; returns their sum, and whether the user interrupted that.

    ``begun`` is how many items were done before. Raises Unavailable.
    """
    stop = threading.Event()
    parts: list[Future[list[Step]]] = []
    interrupted = False
    with progress(doing, table.roughly() or None) as advance:
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
            stop.set()  # only now: what is under way ends after its page, and its place is kept
    done = [step for part in parts for step in part.result()]
    return Step(sum(step.seen for step in done), sum(step.rewritten for step in done)), interrupted
