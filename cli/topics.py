"""``btd brands`` and ``btd categories``: their pages, likes and watches, and what editors do to them.

Both are topics: what either can do is written once, and a group of commands is made of it for each kind.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import starmap
from typing import Annotated

import typer

from cli import views
from cli.inputs import (
    Ceiling,
    Currency,
    LeastDiscount,
    PaceOption,
    Username,
    Words,
    checked,
    deal_id,
    limits_of,
)
from cli.watching import AsJson, Limit, Work, at_work
from shared.api import documents
from shared.api.bodies import NewBrand
from shared.data.catalog import brands, feeds, picks, topics
from shared.data.members import follows
from shared.errors import AlreadyLiked, AlreadyWatching, NotLiked, NotWatching
from shared.http.parameters import DEFAULT_PAGE
from shared.models.alerts import Pace
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, Topic, TopicKind, feed_of
from shared.values import slugs

Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name or slug.")]
Action = Callable[[Work, Topic, str], None]


def _like(work: Work, topic: Topic, username: str) -> None:
    with suppress(AlreadyLiked):  # said twice, it counts once
        follows.like(work.table, topic, username, work.now)


def _unlike(work: Work, topic: Topic, username: str) -> None:
    with suppress(NotLiked):
        follows.unlike(work.table, topic, username)


def _unwatch(work: Work, topic: Topic, username: str) -> None:
    with suppress(NotWatching):
        follows.unwatch(work.table, topic, username)


# Command, what it does, and how its help puts it.
_ACTIONS: tuple[tuple[str, Action, str], ...] = (
    ("like", _like, "Let a user like a {label}, counted once."),
    ("unlike", _unlike, "Take a user's like of a {label} back."),
    ("unwatch", _unwatch, "Let a user watch a {label} no longer."),
)


def _group(kind: TopicKind, about: str) -> typer.Typer:
    """The commands that brands and categories have alike."""
    group = typer.Typer(help=about, no_args_is_help=True)

    @group.command(help=f"Show a {kind.label}'s counts and latest deals.")
    def show(name: Name, limit: Limit = DEFAULT_PAGE, as_json: AsJson = False) -> None:
        topic = Topic(kind, slugs.slug(name))
        with at_work(as_json) as work:
            page = topics.get(work.table, topic)
            latest = feeds.read(work.table, feed_of(topic), limit=limit, now=work.now)
            picked = documents.deals(picks.read(work.table, topic, work.now), work.now)
            featured = {"featured": picked} if picked else {}
            work.answer({**documents.topic(page), **featured, "latest": documents.feed(latest, work.now)}, views.topic)

    @group.command(help=f"Let a user watch a {kind.label}, counted once; with other limits than before, where it is.")
    def watch(
        name: Name,
        username: Username,
        ceiling: Ceiling = None,
        currency: Currency = None,
        least_discount: LeastDiscount = None,
        words: Words = None,
        pace: PaceOption = Pace.AT_ONCE,
        as_json: AsJson = False,
    ) -> None:
        topic, within = Topic(kind, slugs.slug(name)), limits_of(ceiling, currency, least_discount, words, pace)
        with at_work(as_json) as work:
            try:
                follows.watch(work.table, topic, username, work.now, within=within)
            except AlreadyWatching:
                follows.limit(work.table, topic, username, within)
            work.answer(documents.topic(topics.get(work.table, topic, consistent=True)), views.fields)

    for command, action, about_it in _ACTIONS:
        _add(group, kind, command, action, about_it.format(label=kind.label))
    return group


def _add(group: typer.Typer, kind: TopicKind, command: str, action: Action, about: str) -> None:
    @group.command(command, help=about)
    def act(name: Name, username: Username, as_json: AsJson = False) -> None:
        topic = Topic(kind, slugs.slug(name))
        with at_work(as_json) as work:
            action(work, topic, username)
            work.answer(documents.topic(topics.get(work.table, topic, consistent=True)), views.fields)


brand_app = _group(BRAND, "Brands: the list, one brand's page, likes and watches.")
category_app = _group(CATEGORY, "Categories: one category's page, likes and watches, its picks.")


@brand_app.command("list")
def all_brands(as_json: AsJson = False) -> None:
    """List all brands."""
    with at_work(as_json) as work:
        names = brands.names(work.table)
        work.answer(documents.all_of(starmap(documents.brand, names.items())), views.brands)


@brand_app.command("create")
def create_brand(name: Annotated[str, typer.Argument(help="Its name.")], as_json: AsJson = False) -> None:
    """Create a brand."""
    new = checked(NewBrand, {"name": name})
    slug = slugs.slug(new.name)
    with at_work(as_json) as work:
        brands.create(work.table, slug, new.name, work.now)
        work.answer(documents.brand(slug, new.name), views.fields)


@category_app.command("list")
def all_categories(as_json: AsJson = False) -> None:
    """List the eight categories; they do not change, so this asks nobody."""
    with at_work(as_json) as work:
        work.answer(documents.all_of(map(documents.category, CATEGORIES)), views.categories)


@category_app.command("feature")
def feature_for_category(
    name: Name,
    deals: Annotated[list[str], typer.Argument(metavar="DEAL...", help="Ids or numbers, 5 to 10.")],
    as_json: AsJson = False,
) -> None:
    """Pick a category's deals, in this order."""
    category = slugs.slug(name)
    with at_work(as_json) as work:
        ids = [deal_id(work.table, deal) for deal in deals]
        picked = picks.set_category_featured(work.table, category, ids, work.now)
        work.answer(documents.picked(picked, work.now), views.curated)
