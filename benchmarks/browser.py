"""The speed of pages in a browser, and the cost of a page view by the formulas in ``formulas.py`` (docs/cost.md)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.formulas import browser_million
from benchmarks.harness import markdown, record
from shared.data.members import messages
from shared.html import cookies
from tests.support.factories import send
from tests.support.preview import entered, running
from tests.support.quality import speed

RUNS = 5
"""Lighthouse's runs of each page, one after the other. The best one counts."""

FILE_HEAD = 400
"""The bytes of the head of a file's answer, about."""

HTML_BYTES = 6 * 1024
FILES = (5 * 1024, 2 * 1024, 8 * 1024, 1024)
"""The compressed bytes of a page of deals, and of the files that a browser fetches once: style, script, font, mark.
These are budgets, the most that each may have; ``tests/html`` and ``tests/site`` hold them."""


def main() -> None:
    """Measure the front page, a deal and an inbox on the page functions behind a small HTTP server."""
    with running() as site, TemporaryDirectory() as folder:
        token = entered(site, "reader")
        for deal in site.deals[:25]:  # a page of messages
            send(site.table, messages.compose(messages.of_deal(deal, "brand"), "reader"))
        session = f"{cookies.SESSION}={token}; {cookies.HINT}=1"
        pages = {
            "front page": ("/", ""),
            "a deal": (f"/deals/{site.deals[0].number}", ""),
            "inbox": ("/my/inbox", session),
        }
        rows = []
        for name, (path, cookie) in pages.items():
            found = speed(f"{site.origin}{path}", Path(folder), cookie=cookie, times=RUNS)
            first, largest, blocked, shift = found.figures.values()
            figures = [f"{first / 1000:.1f}", f"{largest / 1000:.1f}", f"{blocked:.0f}", f"{shift:.3f}"]
            rows.append([name, str(found.score), *figures])
    record("browser", markdown(["Page", "Performance", "FCP, s", "LCP, s", "TBT, ms", "CLS"], rows))


def in_a_browser(origin: float, head: int) -> str:
    """The cost of a view of the front page with all that a browser fetches, by the budgets of each."""
    files = [FILE_HEAD + each for each in FILES]
    page = head + HTML_BYTES
    rows = []
    for who, asked in (("the first", files), ("every later one, with the files in the browser's cache", [])):
        dollars = [f"{browser_million(origin, hits, page, asked):.2f}" for hits in (0.9, 0.98)]
        rows.append([who, str(1 + len(asked)), f"{(page + sum(asked)) / 1000:.1f}", *dollars])
    return markdown(["A million views", "Requests each", "Kilobytes each", "90% hits", "98% hits"], rows)
