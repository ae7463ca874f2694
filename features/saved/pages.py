"""A member's saved deals, and the button that saves one."""

from __future__ import annotations

from functools import partial

from features.saved.data import saved
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.html import cookies, pages, views
from shared.html.pages import Answer, Request, Routes
from shared.html.switches import switched
from shared.runtime.environment import table

PAGE = 25

routes = Routes()


@routes.get("/my/saved")
def saved_deals(request: Request) -> Answer:
    """The member's saved deals, as they are now."""
    username, cursor = cookies.member_of(request).username, request.query.get("cursor") or None
    (page,), head = cookies.beside_head(request, partial(saved.latest, table(), username, limit=PAGE, cursor=cursor))
    return pages.page(
        "saved/templates/saved.html",
        here="/my/saved",
        notice=request.notice,
        deals=[views.card(deal, request.now) for deal in page.items],
        older=page.next,
        **head,
    )


@routes.post("/my/saved/<number>", form_page="/deals/<number>")
def save(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    on, off = partial(saved.save, table(), deal, now=request.now), partial(saved.unsave, table(), deal.deal_id)
    return switched(request, f"/deals/{deal.page_id}", on=on, off=off, notices=("saved", "unsaved"))


REPLAYED = (save,)
"""Is sent after signing in, if it was pressed before."""


def states_of(table: Table, deal_id: str, username: str) -> dict[str, bool]:
    """Whether a deal's button is on. One GetItem."""
    return {"saved": saved.is_saved(table, deal_id, username)}
