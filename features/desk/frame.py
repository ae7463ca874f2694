"""Helpers of the desk's pages: their frame, the deal in a path, and rows of deals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared import features, hooks
from shared.data.catalog import deals, topics
from shared.html import cookies, pages, views
from shared.html.pages import Answer, Request
from shared.models.catalog import Deal
from shared.models.members import Session
from shared.runtime.environment import table


def editor_of(request: Request) -> Session:
    """The session of the editor who requests a page. Raises NotSignedIn, Forbidden."""
    return cookies.editor_of(request, "The desk is for editors.")


def deal_of(request: Request, number: str) -> Deal:
    """The deal that an editor requests, as it is now. Raises NotSignedIn, Forbidden, NoSuchDeal."""
    editor_of(request)
    return deals.find(table(), number, consistent=True)


def edit(request: Request, deal: Deal, changes: Mapping[str, Any], version: int | None = None) -> None:
    """Change a deal as the signed-in editor. Raises what ``deals.edit`` raises."""
    by, correlation_id = request.username, request.correlation_id
    deals.edit(table(), deal.deal_id, changes, request.now, by=by, correlation_id=correlation_id, version=version)


def changed(request: Request, number: str, notice: str, **changes: Any) -> Answer:
    """Change some fields of a deal, and redirect to its form."""
    edit(request, deal_of(request, number), changes)
    return pages.redirect(f"/desk/deals/{number}", notice=notice)


def desk_page(
    template: str, request: Request, status: int | None = None, *, here: str | None = None, **values: Any
) -> Answer:
    """A page of the desk, at the request's own path by default."""
    return pages.page(template, status=status, here=here or request.path, **({"notice": request.notice} | values))


def brand_names() -> list[str]:
    """Brand names for completion; none if there are very many, which would fill the page."""
    names = list(topics.brand_names(table(), consistent=True).values())
    return names if len(names) <= 500 else []


@dataclass(frozen=True, slots=True)
class Counted:
    """What a feature counts of a deal: a heading, the words for one and for several, and the count."""

    name: str
    one: str
    several: str
    number: int


Counts = Mapping[str, Sequence[Counted]]
"""What is counted of deals, by their ids."""


def counts_of(deals: Iterable[Deal]) -> Counts:
    """What features count of deals, for editors."""
    ids = list(dict.fromkeys(deal.deal_id for deal in deals))
    found = [(each.COUNTED, each.count(ids)) for each in features.roles(hooks.Editing) if each.COUNTED]
    return {
        deal_id: [Counted(name, one, several, counts[deal_id]) for (name, one, several), counts in found]
        for deal_id in ids
    }


def line_of(deal: Deal, now: datetime, counts: Counts) -> dict[str, Any]:
    """A deal as a row of a list, with what features count of it."""
    return {**views.card(deal, now, width=128), "counts": counts.get(deal.deal_id, ())}
