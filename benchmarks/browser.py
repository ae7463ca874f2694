"""What a page view in a browser costs, by the formulas in ``prices.py``: a part of docs/cost.md."""

from __future__ import annotations

from benchmarks.harness import markdown
from benchmarks.prices import browser_million

FILE_HEAD = 400
"""The bytes of the head of a file's answer, about."""

HTML_BYTES = 6 * 1024
FILES = (5 * 1024, 2 * 1024, 8 * 1024, 1024)
"""The compressed bytes of a page of deals, and of the files that a browser fetches once: style, script, font, mark.
These are budgets, the most that each may have; ``tests/html`` and ``tests/site`` hold them."""


def in_a_browser(origin: float, head: int) -> str:
    """What a view of the front page costs with all that a browser fetches, by the budgets of each."""
    files = [FILE_HEAD + each for each in FILES]
    page = head + HTML_BYTES
    rows = []
    for who, asked in (("the first", files), ("every other: the files are at hand", [])):
        dollars = [f"{browser_million(origin, hits, page, asked):.2f}" for hits in (0.9, 0.98)]
        rows.append([who, str(1 + len(asked)), f"{(page + sum(asked)) / 1000:.1f}", *dollars])
    return markdown(["A million views", "Requests each", "Kilobytes each", "90% hits", "98% hits"], rows)
