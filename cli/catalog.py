"""``btd deals``, ``brands``, ``categories`` and ``pages``: feeds, single deals, and editors' changes."""

from __future__ import annotations

import json
import secrets
from enum import StrEnum
from typing import Annotated, Any

import typer

from cli import output
from cli.commands import (
    BY,
    Cursor,
    DealName,
    Limit,
    Row,
    SortedBy,
    TopicName,
    Work,
    Yes,
    command,
    deal_id,
    group,
    offer,
    sure,
)
from shared import features, hooks, settings
from shared.api import documents
from shared.api.bodies import DealChange
from shared.api.fields import checked
from shared.data.catalog import deals, editing, feeds, page_cache, picks, sorting, topics
from shared.data.catalog.page_cache import EDITORS_CHOICE_PICKS, FRONT_PAGE_PICKS, NEWEST, Cached, Copy
from shared.errors import Invalid
from shared.http.requests import DEFAULT_PAGE, selection
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CuratedPage,
    Sort,
    Topic,
    TopicKind,
    feed_of,
)
from shared.values import naming

Least = Annotated[str | None, typer.Option("--from", help="Only deals at this price or above, such as 79.90.")]
Most = Annotated[str | None, typer.Option("--to", help="Only deals at this price or below.")]
InCurrency = Annotated[str | None, typer.Option("--currency", help="Only deals in this currency.")]

AtLeastOff = Annotated[int | None, typer.Option("--off", help="Only deals with at least this percentage off.")]
OnlyLowest = Annotated[bool, typer.Option("--lowest", help="Only deals at their product's lowest price in 60 days.")]

deals_app = group("deals", "Deals: read the feeds, and create, edit and show single deals.")


@command(deals_app, output.feed)
def latest(
    work: Work,
    brand: Annotated[str | None, typer.Option(help="Only deals of this brand, by its name or slug.")] = None,
    category: Annotated[str | None, typer.Option(help="Only deals of this category.")] = None,
    sort: SortedBy = Sort.NEWEST,
    least: Least = None,
    most: Most = None,
    currency: InCurrency = None,
    off: AtLeastOff = None,
    lowest: OnlyLowest = False,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> output.Json:
    """List the latest deals: all, or those of a brand, a category, or a brand in a category. The deals of a brand or a
    category can be sorted by price or discount."""
    of = Topic(BRAND, naming.slug(brand)) if brand is not None else None
    if category is not None:
        of = Topic(CATEGORY, naming.slug(category))
    within = brand if category is not None else None
    wanted = selection(
        {"sort": sort, "from": least, "to": most, "currency": currency, "brand": within}
        | {"off": None if off is None else str(off), "lowest": "true" if lowest else None}
    )
    if of is None and not wanted.is_all:
        raise Invalid("All deals can be listed by time only: name a brand or a category.")
    if of is None or wanted.is_all:
        feed = feed_of(of) if of else ALL_DEALS
        page = feeds.read(work.table, feed, limit=limit, now=work.now, cursor=cursor)
    else:
        page = sorting.read(work.table, of, wanted, limit=limit, now=work.now, cursor=cursor).page
    return documents.feed(page, work.now)


_EDITS = features.merged(hooks.Commands, lambda each: each.EDITS)
"""The features' options of ``edit``."""


@command(deals_app, more={name: option for name, (option, _) in _EDITS.items()})
def edit(
    work: Work,
    deal: DealName,
    changed: Annotated[list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="A field's value.")] = None,
    removed: Annotated[list[str] | None, typer.Option("--unset", metavar="FIELD", help="A field to remove.")] = None,
    yes: Yes = False,
    **asked: Any,
) -> output.Json:
    """Edit a deal's fields, named as in the API; it keeps its place in the feeds. Warnings must be confirmed."""
    wanted: dict[str, str | None] = dict.fromkeys(removed or ())
    for assignment in changed or ():
        name, equals, value = assignment.partition("=")
        if not equals:
            raise typer.BadParameter("This must be FIELD=VALUE.", param_hint="--set")
        wanted[name] = value
    asked = {name: value for name, value in asked.items() if value is not None}
    if not wanted and not asked:
        raise typer.BadParameter("Name what to change.", param_hint="--set")
    change = checked(DealChange, wanted, typed=True)
    changes = change.changes(work.now)
    if changes:
        edited = sure(yes, lambda seen: editing.edit(work.table, deal, changes, work.now, seen, by=BY))
    else:
        edited = deals.find(work.table, deal, consistent=True)
    for name, value in asked.items():
        _, do = _EDITS[name]
        edited = do(work.table, edited, value, work.now)
    return documents.deal(edited, work.now)


offer(
    deals_app,
    Row(
        "search q --brand --sort --from --to --currency --off --lowest --limit --cursor",
        "GET /deals",
        "Search deals by words, newest first, or sorted by price or discount."
        + "".join(f" {each.HELP}" for each in features.roles(hooks.Phrases)),
        output.found,
    ),
    Row("show dealId", "GET /deals/{dealId}", "Show one deal, by its id or its number."),
    Row("create --* --yes", "POST /deals", "Create a deal. Warnings must be confirmed."),
    Row(
        "withdraw dealId",
        "PATCH /deals/{dealId}",
        "Withdraw a deal: it leaves the feeds and stays readable.",
        sends={"withdrawn": True},
    ),
    Row(
        "restore dealId",
        "PATCH /deals/{dealId}",
        "Bring a withdrawn deal back to its place in the feeds.",
        sends={"withdrawn": False},
    ),
    Row(
        "log dealId --limit --cursor",
        "GET /deals/{dealId}/log",
        "Show the changes to a deal in the last year and who made them, newest first.",
        output.log,
    ),
    Row("hot dealId", "PUT /deals/{dealId}/hot", "Make a deal hot: the deployed system notifies every user, once."),
    Row("told dealId", "GET /deals/{dealId}/hot", "Show how many users have been notified of a hot deal so far."),
)


def _group(kind: TopicKind, name: str, about: str) -> typer.Typer:
    """The commands that brands and categories share."""
    commands = group(name, about)

    @command(commands, output.topic, help=f"Show a {kind.label}'s counts and latest deals.")
    def show(work: Work, name: TopicName, limit: Limit = DEFAULT_PAGE) -> output.Json:
        topic = Topic(kind, naming.slug(name))
        page = topics.get(work.table, topic)
        latest = feeds.read(work.table, feed_of(topic), limit=limit, now=work.now)
        picked = documents.deals(picks.read(work.table, topic, work.now), work.now)
        featured = {"featured": picked} if picked else {}
        return {**documents.topic(page), **featured, "latest": documents.feed(latest, work.now)}

    path, named = f"{name}/{{{kind.label}}}", f"{kind.label} username"
    offer(
        commands,
        Row(
            f"watch {named} --*",
            f"PUT /{path}/watch",
            f"Watch a {kind.label} as a user, counted once; a repeat replaces the limits.",
        ),
        Row(f"like {named}", f"PUT /{path}/like", f"Like a {kind.label} as a user, counted once."),
        Row(f"unlike {named}", f"DELETE /{path}/like", f"Remove a user's like of a {kind.label}."),
        Row(f"unwatch {named}", f"DELETE /{path}/watch", f"Stop watching a {kind.label} as a user."),
    )
    return commands


brand_app = _group(BRAND, "brands", "Brands: the list, one brand's page, likes and watches.")
category_app = _group(CATEGORY, "categories", "Categories: one category's page, likes and watches, its picks.")


offer(
    brand_app,
    Row("list", "GET /brands", "List all brands.", output.brands),
    Row("create name", "POST /brands", "Create a brand."),
)
offer(
    category_app,
    Row(
        "list",
        "GET /categories",
        "List the eight categories; they do not change, so this sends no request.",
        output.categories,
    ),
)


@command(category_app, output.curated, "feature")
def feature_for_category(
    work: Work,
    name: TopicName,
    deals: Annotated[list[str], typer.Argument(metavar="DEAL...", help="Ids or numbers, 5 to 10.")],
) -> output.Json:
    """Choose the picked deals of a category, in this order."""
    category = naming.slug(name)
    ids = [deal_id(work.table, deal) for deal in deals]
    picked = picks.set_category_featured(work.table, category, ids, work.now)
    return documents.picked(picked, work.now)


pages_app = group("pages", "The two pages of deals that editors pick.")

Fresh = Annotated[bool, typer.Option("--fresh", help="Read the table and its indexes, not the cached copies.")]


class PageName(StrEnum):
    FRONT_PAGE = "front-page"
    EDITORS_CHOICE = "editors-choice"


PAGES = {PageName.FRONT_PAGE: FRONT_PAGE, PageName.EDITORS_CHOICE: EDITORS_CHOICE}


@command(pages_app, output.curated)
def front_page(work: Work, fresh: Fresh = False) -> output.Json:
    """Show the front page: its picks and the latest deals."""
    picked, newest = _cached(work, [FRONT_PAGE_PICKS, NEWEST], fresh=fresh)
    if newest is None:
        page = feeds.read(work.table, ALL_DEALS, limit=settings.CACHED_PAGE, now=work.now)
        latest = documents.feed(page, work.now)
    else:
        latest = json.loads(newest.latest or "")
    return {"featured": _picks(work, FRONT_PAGE, picked), "latest": latest}


@command(pages_app, output.curated)
def editors_choice(work: Work, fresh: Fresh = False) -> output.Json:
    """Show the editor's choice."""
    (picked,) = _cached(work, [EDITORS_CHOICE_PICKS], fresh=fresh)
    return {"featured": _picks(work, EDITORS_CHOICE, picked)}


@command(pages_app, output.curated)
def feature(
    work: Work,
    page: PageName,
    deals: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DEAL]...", help="Ids or numbers; without any, the page is empty."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False,
) -> output.Json:
    """Choose the picked deals of a page, in this order."""
    if not deals and not yes:
        typer.confirm(f"Leave {page.value} without deals?", abort=True, err=True)
    ids = [deal_id(work.table, deal) for deal in deals or ()]
    picked = picks.set_featured(work.table, PAGES[page], ids, work.now)
    return documents.picked(picked, work.now)


def _cached(work: Work, parts: list[Cached], *, fresh: bool) -> list[Copy | None]:
    """The copies of page parts from one shard; None for an unusable one."""
    if fresh:
        return [None] * len(parts)
    return page_cache.read(work.table, parts, shard=secrets.randbelow(settings.CACHE_SHARDS) + 1, now=work.now)


def _picks(work: Work, page: CuratedPage, copy: Copy | None) -> Any:
    """The deals picked for a page, from its copy if there is one."""
    if copy is not None:
        return json.loads(copy.picks or "")
    return documents.deals(picks.read(work.table, page, work.now), work.now)
