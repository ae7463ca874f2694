"""Interleaved rounds of CPU time, and the tables that are made of them.

Every case runs once in each round, so that other work of the machine slows all cases alike. The medians of the rounds
are compared, in processor time of this process: the servers are processes of their own.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = DOCS / "benchmarks.md"


def compare(cases: Mapping[str, Callable[[], float]], goals: Mapping[str, str], *, rounds: int) -> str:
    """The table of the median of what each case says it spent, in seconds; the first case is the yardstick.

    ``goals`` are ratios to that.
    """
    spent: dict[str, list[float]] = {name: [] for name in cases}
    order = list(cases.items())
    for number in range(rounds):
        # In another order each time, because the case before may have filled the processor's caches with other things.
        random.Random(number).shuffle(order)
        for name, case in order:
            spent[name].append(case())
    medians = {name: statistics.median(times) for name, times in spent.items()}
    yardstick = next(iter(medians.values()))
    rows = [
        [name, f"{median * 1000:.2f}", f"{median / yardstick:.2f}", goals.get(name, "")]
        for name, median in medians.items()
    ]
    return markdown(["Case", "CPU, ms", "Ratio", "Goal"], rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def section(name: str, page: Path = RESULTS) -> str:
    """What is between a section's markers in a page of the documentation."""
    _, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->")
    return rest.partition(f"<!-- end of {name} -->")[0]


def record(section: str, text: str, page: Path = RESULTS) -> None:
    """Print a result, and write it between its section's markers in a page of the documentation."""
    print(f"\n{section}\n\n{text}\n")
    begin, end = f"<!-- {section} -->", f"<!-- end of {section} -->"
    head, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, tail = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{page} has no place for {section!r}")
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")
