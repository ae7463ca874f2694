"""``btd decorate``: existing items catch up with a release that writes more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn

from cli import decorations
from cli.connection import open_table
from cli.decorations import REWRITES, Step
from cli.output import complain, counted, say, summary
from cli.progress import progress
from cli.start import INTERRUPTED
from shared.dynamodb.tracing import Trace


def decorate(
    item_type: Annotated[str, typer.Argument(metavar="TYPE", help=f"One of: {', '.join(REWRITES)}.")],
    segments: Annotated[int, typer.Option(min=1, max=64, help="Parts of the table that are read at once.")] = 4,
) -> None:
    """Rewrite existing items of a type as this release writes them; it continues where it was interrupted."""
    if item_type not in REWRITES:
        raise typer.BadParameter(f"{item_type!r} is none of: {', '.join(REWRITES)}.", param_hint="TYPE")
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    work = Segments(segments, partial(decorations.run, table, item_type, segments=segments))
    with progress("Decorating", table.roughly() or None, MofNCompleteColumn()) as advance:
        interrupted = work.run(advance)
    say(f"{counted(work.seen, 'item')} looked at, {work.rewritten:,} rewritten")
    say(summary(trace))
    if interrupted:
        complain("Interrupted. Repeat the command with as many segments: it goes on from here.")
        raise typer.Exit(INTERRUPTED)


class Segments:
    """All segments of one run, each in a thread of its own, and what they have done.

    ``steps`` gives the steps of the segment of a number.
    """

    def __init__(self, segments: int, steps: Callable[..., Iterator[Step]]) -> None:
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
        for step in self._steps(segment=number):
            with self._lock:
                self.seen += step.seen
                self.rewritten += step.rewritten
            advance(step.seen)
            if self._stop.is_set():
                return
