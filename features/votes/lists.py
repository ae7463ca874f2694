"""The list of popular deals, and those of them that the front page shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from features.votes.data import votes
from features.votes.models import Scored, as_text
from shared.dynamodb.table import Table
from shared.hooks import DealList
from shared.models.catalog import Deal, Listed, Mark, Page
from shared.settings import CACHED_PAGE
from shared.values.links import likenesses, numbered


def popular(table: Table, now: datetime, *, limit: int, cursor: str | None = None) -> Page[Listed]:
    """A page of popular deals, with their scores. Raises InvalidCursor."""
    page = votes.popular(table, now, limit=limit, cursor=cursor)
    return Page(tuple(_listed(each, now) for each in page.items), page.next)


def marks(table: Table, deals: Sequence[Deal], now: datetime) -> Mapping[str, tuple[Mark, ...]]:
    """The scores of those of some deals that are among the most popular of their months."""
    scores = votes.of_popular(table, {deal.created_at for deal in deals})
    scored = [_listed(Scored(deal, scores[deal.deal_id]), now) for deal in deals if deal.deal_id in scores]
    return {each.deal.deal_id: each.marks for each in scored if each.marks}


def most_voted(found: Iterable[Listed], most: int) -> list[Listed]:
    """The first of the popular products with a score above zero, highest score first: a deal of each."""
    liked = [each for each in found if (each.fields["score"] or 0) > 0]
    deals = [each.deal for each in liked]
    cards = numbered((likenesses(of.link, of.title, of.brand), f"{of.price} {of.currency}") for of in deals)
    firsts: dict[int, Listed] = {}
    for card, each in zip(cards, liked, strict=True):
        firsts.setdefault(card, each)
    return sorted(list(firsts.values())[:most], key=lambda each: each.fields["score"], reverse=True)


def _listed(scored: Scored, now: datetime) -> Listed:
    score = scored.shown(now)
    text = as_text(score)
    return Listed(scored.deal, (Mark("Score", "▲", text),) if text else (), {"score": score})


LISTS = (
    DealList(
        path="/popular",
        read=popular,
        summary="List popular deals",
        schema="PopularList",
        template="votes/templates/popular.html",
        description="The deals with the most votes, from this month and the last.",
        size=CACHED_PAGE,
        on_front_page="Most voted",
        chosen=most_voted,
    ),
)
