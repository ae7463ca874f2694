"""A member's inbox."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from functions.pages.mine.following import suggested
from shared.data.catalog import deals
from shared.data.members import follows, messages
from shared.errors import Forbidden
from shared.html import cookies, pages, views
from shared.html.inbox import place_of, why
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Deal
from shared.models.messages import AboutDeal, Message
from shared.runtime.environment import table
from shared.values import times

PAGE = 25

routes = Routes()


@routes.get("/my/inbox")
def inbox(request: Request) -> Answer:
    """The messages, newest first, each with its current deal. Two round trips after the session's."""
    username = cookies.member_of(request).username
    unread_only = request.query.get("unread") == "yes"
    cursor = request.query.get("cursor") or None
    read = partial(messages.latest, table(), username, limit=PAGE, now=request.now, unread=unread_only, cursor=cursor)
    (page,), head = cookies.beside_head(request, read)
    found = deals.get_many(table(), [each.about.deal_id for each in page.items if isinstance(each.about, AboutDeal)])
    about = {deal.deal_id: deal for deal in found}
    empty = not (page.items or cursor or unread_only)
    followed = follows.watches(table(), username) if empty else []
    return pages.page(
        "mine/inbox.html",
        here="/my/inbox",
        description="Messages about deals of your brands and categories, hot deals and your orders.",
        notice=request.notice,
        rows=[_message_row(message, about, request.now) for message in page.items],
        total=len(page.items) if not (unread_only or cursor or page.next) else None,
        unread_only=unread_only,
        older=page.next,
        nothing=not followed,
        suggested=suggested(request.now, followed) if empty else [],
        **head,
    )


@routes.post("/my/inbox/read-all", form_page="/my/inbox")
def read_all(request: Request) -> Answer:
    member = cookies.sender_of(request, "/my/inbox")
    marked = messages.mark_all_read(table(), member.username, request.now, member.account_id)
    return pages.json_answer({"marked": marked}) if request.wants_json else pages.redirect("/my/inbox", notice="read")


@routes.get("/my/inbox/<message_id>")
def read_message(request: Request, message_id: str) -> Answer:
    """Mark a message read, and redirect to its subject.

    Prefetches are refused: the browser would use the result without asking again.
    """
    if not request.opens_page:
        raise Forbidden("Open this message as a page: it cannot be loaded ahead of time.")
    message = messages.mark_read(table(), cookies.member_of(request).username, message_id, request.now)
    return pages.redirect(place_of(message))


def _message_row(message: Message, found: Mapping[str, Deal], now: datetime) -> dict[str, Any]:
    """An inbox row: why the message came, when, and its deal as it is now, if it has one."""
    about, is_today = message.about, message.created_at.date() == now.date()
    deal = found.get(about.deal_id) if isinstance(about, AboutDeal) else None
    then = []  # how the deal, which the row shows as it is now, differs from the message
    if deal and isinstance(about, AboutDeal):
        if about.title != deal.title:
            then.append(f"Was called “{about.title}” then")
        if (about.price, about.currency) != (deal.price, deal.currency):
            then.append(f"Cost {views.money(about.price, about.currency)} then")
    return {
        "id": message.message_id,
        "unread": message.unread,
        "at": times.to_iso(message.created_at),
        "when": views.clock(message.created_at) if is_today else views.day(message.created_at, now),
        "why": why(message),
        "title": deal.title if deal else about.title if isinstance(about, AboutDeal) else message.subject,
        "deal": views.card(deal, now, width=128) if deal else None,
        "since": then,
    }
