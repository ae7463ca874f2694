"""``btd brands`` and ``btd categories``: their pages, likes and watches, and what editors do to them.

Both are topics: what either can do is written once, and a group of commands is made of it for each kind.
"""

from __future__ import annotations

from typing import Annotated

import typer

from cli import views
from cli.inputs import TopicName, deal_id
from cli.routes import Row, offer
from cli.work import Limit, Work, command, group
from shared.api import documents
from shared.data.catalog import feeds, picks, topics
from shared.http.requests import DEFAULT_PAGE
from shared.models.catalog import BRAND, CATEGORY, Topic, TopicKind, feed_of
from shared.values import naming


def _group(kind: TopicKind, name: str, about: str) -> typer.Typer:
    """The commands that brands and categories have alike."""
    commands = group(name, about)

    @command(commands, views.topic, help=f"Show a {kind.label}'s counts and latest deals.")
    def show(work: Work, name: TopicName, limit: Limit = DEFAULT_PAGE) -> views.Json:
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
            f"Let a user watch a {kind.label}, counted once; with other limits than before, where it is.",
        ),
        Row(f"like {named}", f"PUT /{path}/like", f"Let a user like a {kind.label}, counted once."),
        Row(f"unlike {named}", f"DELETE /{path}/like", f"Take a user's like of a {kind.label} back."),
        Row(f"unwatch {named}", f"DELETE /{path}/watch", f"Let a user watch a {kind.label} no longer."),
    )
    return commands


brand_app = _group(BRAND, "brands", "Brands: the list, one brand's page, likes and watches.")
category_app = _group(CATEGORY, "categories", "Categories: one category's page, likes and watches, its picks.")


offer(
    brand_app,
    Row("list", "GET /brands", "List all brands.", views.brands),
    Row("create name", "POST /brands", "Create a brand."),
)
offer(
    category_app,
    Row(
        "list",
        "GET /categories",
        "List the eight categories; they do not change, so this asks nobody.",
        views.categories,
    ),
)


@command(category_app, views.curated, "feature")
def feature_for_category(
    work: Work,
    name: TopicName,
    deals: Annotated[list[str], typer.Argument(metavar="DEAL...", help="Ids or numbers, 5 to 10.")],
) -> views.Json:
    """Pick a category's deals, in this order."""
    category = naming.slug(name)
    ids = [deal_id(work.table, deal) for deal in deals]
    picked = picks.set_category_featured(work.table, category, ids, work.now)
    return documents.picked(picked, work.now)
