"""``/import``: a visitor's own feed, read and imported in the browser's tab. Only the demo has this page.

The tab has no processes, so the file is read in the one that has the site, too: it is the visitor's own, and so is the
tab (``docs/demo.md``).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from http import HTTPStatus

from features.feeds.answering import answers
from features.feeds.files import FeedFile
from features.feeds.formats import LAYOUTS
from features.feeds.importing import FeedImporter, Wishes
from features.feeds.shop import Shop
from features.imports.importing import Report
from shared.errors import DealsError
from shared.html import forms, pages
from shared.html.pages import Answer, Request, Routes, serve
from shared.models.catalog import CATEGORIES
from shared.runtime.environment import table
from shared.values import links

MOST = 1_000
"""Deals of a file that are imported."""

MOST_BYTES = 32 * 1024 * 1024

routes = Routes()


class FileInTab(FeedFile):
    """A shop's file that is read in this process."""

    def _answers(self) -> Iterator[str]:
        return answers(self._asked, self._file, MOST)


class ImporterInTab(FeedImporter):
    """One import of a shop's file into the tab's table."""

    FILE = FileInTab


@routes.get("/import")
def form(request: Request) -> Answer:
    """The form: a file, and settings that the file may lack."""
    return _page(request, {})


@routes.post("/import")
def run(request: Request) -> Answer:
    """Import the file; a repeat updates its deals. The page says what was done."""
    typed = {name: text.strip() for name, text in forms.read(request.event).items()}
    content: bytes = request.event.get("files", {}).get("file", b"")
    if errors := dict(_errors(typed, content)):
        return _page(request, typed, errors=errors)
    shop = Shop(typed["source"], typed.get("shop", ""), default=typed["category"])
    importer = ImporterInTab(table(), request.now, shop=shop, wishes=Wishes(update=True))
    try:
        importer.run(io.BytesIO(content))
    except DealsError as error:
        importer.report.stopped = str(error)
    return _page(request, typed, importer.report)


def _errors(typed: Mapping[str, str], content: bytes) -> Iterator[tuple[str, str]]:
    if not content:
        yield "file", "Choose a file."
    elif len(content) > MOST_BYTES:
        yield "file", f"The demo reads {MOST_BYTES // 1024**2} MB at most."
    if not typed.get("source"):
        yield "source", "This must be filled in."
    if typed.get("shop") and not links.host(typed["shop"]):
        yield "shop", "This must be an address, such as https://shop.example."
    if typed.get("category") not in CATEGORIES:
        yield "category", "Choose a category."


def _page(
    request: Request, typed: Mapping[str, str], report: Report | None = None, errors: Mapping[str, str] | None = None
) -> Answer:
    return pages.page(
        "feeds/templates/in-tab.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK,
        here=request.path,
        errors=errors,
        typed={"source": "", "shop": "", "category": "", **typed},
        most=f"{MOST:,}",
        categories=CATEGORIES,
        formats=[layout.looks for layout in LAYOUTS.values()],
        done=_done(report) if report else [],
        bad=report.bad_lines()[:20] if report else [],
        stopped=report.stopped if report else "",
        created=report.created if report else 0,
    )


def _done(report: Report) -> list[str]:
    """The counts of what was done, without zeros."""
    return [each for each in report.sentences() if not each.startswith("0 ")] or ["The file has nothing to import."]


handler = serve(routes, guards=[forms.ours_only])
