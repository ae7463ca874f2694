"""The deal that an editor asks for, its changes, and how the desk shows it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.data.catalog import deals, topics
from shared.html import cookies, pages, views
from shared.html.pages import Answer, Request
from shared.models.catalog import Deal
from shared.runtime.environment import table


def deal_of(request: Request, number: str) -> Deal:
    """The deal that an editor asks for, as it is at this moment. Raises NotSignedIn, Forbidden, NoSuchDeal."""
    cookies.editor_of(request)
    return deals.find(table(), number, consistent=True)


def edit(request: Request, deal: Deal, changes: Mapping[str, Any], version: int | None = None) -> None:
    """Change a deal as the editor who asks. Raises what ``deals.edit`` does."""
    by, correlation_id = request.username, request.correlation_id
    deals.edit(table(), deal.deal_id, changes, request.now, by=by, correlation_id=correlation_id, version=version)


def changed(request: Request, number: str, said: str, **changes: Any) -> Answer:
    """Change some fields of a deal, and lead to its form."""
    edit(request, deal_of(request, number), changes)
    return pages.redirect(f"/desk/deals/{number}", said=said)


def desk_page(
    template: str, request: Request, status: int | None = None, *, here: str | None = None, **values: Any
) -> Answer:
    """A page of the desk, at the request's own path unless told otherwise."""
    said = request.said
    return pages.page(template, status=status, here=here or request.path, **({"said": said} | values))


def brand_names() -> list[str]:
    """Names to complete a brand from; none if there are very many, which would fill the page."""
    names = list(topics.brand_names(table(), consistent=True).values())
    return names if len(names) <= 500 else []


def line_of(deal: Deal, now: datetime, followed: Mapping[str, int]) -> dict[str, Any]:
    """A deal as a row of a list, with how often it was followed to its shop."""
    return {**views.card(deal, now, width=128), "clicks": followed.get(deal.deal_id, 0)}
