"""``btd pages``: the two pages whose deals editors pick."""

from __future__ import annotations

import json
import secrets
from enum import StrEnum
from typing import Annotated, Any

import typer

from cli import views
from cli.inputs import deal_id
from cli.work import Work, command, group
from shared import settings
from shared.api import documents
from shared.data.catalog import feeds, page_cache, picks
from shared.data.catalog.page_cache import EDITORS_CHOICE_PICKS, FRONT_PAGE_PICKS, NEWEST, Cached, Copy
from shared.models.catalog import ALL_DEALS, EDITORS_CHOICE, FRONT_PAGE, CuratedPage

app = group("pages", "The two pages whose deals editors pick.")

Fresh = Annotated[bool, typer.Option("--fresh", help="Read the table and its indexes, not the cached copies.")]


class PageName(StrEnum):
    FRONT_PAGE = "front-page"
    EDITORS_CHOICE = "editors-choice"


PAGES = {PageName.FRONT_PAGE: FRONT_PAGE, PageName.EDITORS_CHOICE: EDITORS_CHOICE}


@command(app, views.curated)
def front_page(work: Work, fresh: Fresh = False) -> views.Json:
    """Show the front page: its picks and the latest deals."""
    picked, newest = _cached(work, [FRONT_PAGE_PICKS, NEWEST], fresh=fresh)
    if newest is None:
        page = feeds.read(work.table, ALL_DEALS, limit=settings.CACHED_PAGE, now=work.now)
        latest = documents.feed(page, work.now)
    else:
        latest = json.loads(newest.latest or "")
    return {"featured": _picks(work, FRONT_PAGE, picked), "latest": latest}


@command(app, views.curated)
def editors_choice(work: Work, fresh: Fresh = False) -> views.Json:
    """Show the editor's choice."""
    (picked,) = _cached(work, [EDITORS_CHOICE_PICKS], fresh=fresh)
    return {"featured": _picks(work, EDITORS_CHOICE, picked)}


@command(app, views.curated)
def feature(
    work: Work,
    page: PageName,
    deals: Annotated[
        list[str] | None, typer.Argument(metavar="[DEAL]...", help="Ids or numbers; without any, the page is emptied.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> views.Json:
    """Pick a page's deals, in this order."""
    if not deals and not yes:
        typer.confirm(f"Leave {page.value} without deals?", abort=True, err=True)
    ids = [deal_id(work.table, deal) for deal in deals or ()]
    picked = picks.set_featured(work.table, PAGES[page], ids, work.now)
    return documents.picked(picked, work.now)


def _cached(work: Work, parts: list[Cached], *, fresh: bool) -> list[Copy | None]:
    """The copies of some parts from one shard, each None where there is no usable one."""
    if fresh:
        return [None] * len(parts)
    return page_cache.read(work.table, parts, shard=secrets.randbelow(settings.CACHE_SHARDS) + 1, now=work.now)


def _picks(work: Work, page: CuratedPage, copy: Copy | None) -> Any:
    """The deals picked for a page, by its copy if there is one."""
    if copy is not None:
        return json.loads(copy.picks or "")
    return documents.deals(picks.read(work.table, page, work.now), work.now)
