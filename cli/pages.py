"""``btd pages``: patterns 4, 6, 7 and 9."""

from __future__ import annotations

import json
import secrets
from enum import StrEnum
from typing import Annotated, Any

import typer

from cli import views
from cli.inputs import deal_id
from cli.watching import AsJson, Work, at_work
from shared import settings
from shared.api import documents
from shared.data.catalog import caches, featured, feeds
from shared.data.catalog.caches import NEWEST, Cached
from shared.models import ALL_DEALS, EDITORS_CHOICE, FRONT_PAGE, CuratedPage

app = typer.Typer(help="The two pages whose deals editors pick.", no_args_is_help=True)

Fresh = Annotated[bool, typer.Option("--fresh", help="Read the table and its indexes, not the cached copies.")]


class PageName(StrEnum):
    FRONT_PAGE = "front-page"
    EDITORS_CHOICE = "editors-choice"


PAGES = {PageName.FRONT_PAGE: FRONT_PAGE, PageName.EDITORS_CHOICE: EDITORS_CHOICE}


@app.command()
def front_page(fresh: Fresh = False, as_json: AsJson = False) -> None:
    """Show the front page: its picks and the latest deals (pattern 7)."""
    with at_work(as_json) as work:
        featured, latest = _cached(work, [Cached(FRONT_PAGE), NEWEST], fresh=fresh)
        if featured is None:
            featured = _picks(work, FRONT_PAGE)
        if latest is None:
            page = feeds.read(work.table, ALL_DEALS, limit=settings.CACHED_PAGE, now=work.now)
            latest = documents.feed(page, work.now)
        work.answer({"featured": featured, "latest": latest}, views.curated)


@app.command()
def editors_choice(fresh: Fresh = False, as_json: AsJson = False) -> None:
    """Show the editor's choice (pattern 9)."""
    with at_work(as_json) as work:
        (featured,) = _cached(work, [Cached(EDITORS_CHOICE)], fresh=fresh)
        work.answer({"featured": _picks(work, EDITORS_CHOICE) if featured is None else featured}, views.curated)


@app.command()
def feature(
    page: PageName,
    deals: Annotated[list[str] | None, typer.Argument(metavar="[DEAL]...", help="Ids or numbers; none: none.")] = None,
    as_json: AsJson = False,
) -> None:
    """Pick a page's deals, in this order (patterns 4 and 6)."""
    with at_work(as_json) as work:
        ids = [deal_id(work.table, deal) for deal in deals or ()]
        picked = featured.set_featured(work.table, PAGES[page], ids, work.now)
        work.answer({"featured": documents.deals(picked, work.now)}, views.curated)


def _cached(work: Work, parts: list[Cached], *, fresh: bool) -> list[Any]:
    """The cached parts of a page from one shard, each None where there is no usable copy."""
    if fresh:
        return [None] * len(parts)
    shard = secrets.randbelow(settings.CACHE_SHARDS) + 1
    texts = caches.read(work.table, parts, shard=shard, now=work.now)
    return [None if text is None else json.loads(text) for text in texts]


def _picks(work: Work, page: CuratedPage) -> list[documents.Json]:
    return documents.deals(featured.read(work.table, page, work.now), work.now)
