"""Progress bars, on standard error, for those who watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn


@contextmanager
def progress(doing: str, total: int | None, amount: ProgressColumn) -> Iterator[Callable[[int], None]]:
    """A bar while something is done, advanced by what this gives; nothing where nobody would see it move.

    ``total`` is None where it is not known; ``amount`` shows how much is done.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn(doing),
        BarColumn(),
        TaskProgressColumn(),
        amount,
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.advance(task, done)
