"""A member's inbox."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from functions.pages.mine.following import suggested
from shared.data.catalog import deals
from shared.data.members import follows, messages
from shared.errors import Forbidden, NoSuchMessage
from shared.html import cookies, pages, views
from shared.html.inbox import address_of, more_of, place_of, stops, topic_of, why
from shared.html.links import link
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Deal, Topic
from shared.models.messages import AboutDeal, Message
from shared.runtime.environment import table
from shared.values import times

PAGE = 25

MOST_ALIKE = 100
"""The newest unread messages among which those are that a row stands for."""

routes = Routes()


@routes.get("/my/inbox")
def inbox(request: Request) -> Answer:
    """The messages, newest first, each with its current deal. Two round trips after the session's."""
    username = cookies.member_of(request).username
    unread_only = request.query.get("unread") == "yes"
    cursor = request.query.get("cursor") or None
    read = partial(messages.latest, table(), username, limit=PAGE, now=request.now, unread=unread_only, cursor=cursor)
    (page, followed), head = cookies.beside_head(request, read, partial(follows.watches, table(), username))
    found = deals.get_many(table(), [each.about.deal_id for each in page.items if isinstance(each.about, AboutDeal)])
    about = {deal.deal_id: deal for deal in found}
    groups = messages.together(page.items)
    empty = not (page.items or cursor or unread_only)
    return pages.page(
        "mine/inbox.html",
        here="/my/inbox",
        description="Messages about deals of your brands and categories, hot deals and more.",
        notice=request.notice,
        rows=[_message_row(group, about, followed, request.now) for group in groups],
        total=len(groups) if not (unread_only or cursor or page.next) else None,
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
    """Mark a message read, and redirect to its subject. ``?alike=yes`` marks those that it stands for, too.

    Prefetches are refused: the browser would use the result without asking again.
    """
    if not request.opens_page:
        raise Forbidden("Open this message as a page: it cannot be loaded ahead of time.")
    username = cookies.member_of(request).username
    message = messages.mark_read(table(), username, message_id, request.now)
    if "alike" in request.query:
        unread = messages.latest(table(), username, limit=MOST_ALIKE, now=request.now, unread=True).items
        alike, *_ = messages.together([message, *unread])
        table().gather([partial(_mark_read, username, each.message_id, request.now) for each in alike[1:]])
    return pages.redirect(place_of(message))


def _mark_read(username: str, message_id: str, now: datetime) -> None:
    with suppress(NoSuchMessage):  # it has expired
        messages.mark_read(table(), username, message_id, now)


def _deal_of(message: Message, found: Mapping[str, Deal]) -> Deal | None:
    return found.get(message.about.deal_id) if isinstance(message.about, AboutDeal) else None


def _message_row(
    alike: Sequence[Message], found: Mapping[str, Deal], followed: Collection[Topic], now: datetime
) -> dict[str, Any]:
    """An inbox row: why the messages came, when, how to stop them, and the first one's deal as it is now."""
    message, (path, others) = alike[0], address_of(alike)
    about, is_today = message.about, message.created_at.date() == now.date()
    deal, topic = _deal_of(message, found), topic_of(message)
    then = []  # how the deal, which the row shows as it is now, differs from the message
    if deal and isinstance(about, AboutDeal):
        if about.title != deal.title:
            then.append(f"Was called “{about.title}” then")
        if (about.price, about.currency) != (deal.price, deal.currency):
            then.append(f"Cost {views.money(about.price, about.currency)} then")
    return {
        "id": message.message_id,
        "address": link(path, alike=others),
        "more": more_of(alike),
        "unread": any(each.unread for each in alike),
        "at": times.to_iso(message.created_at),
        "when": views.clock(message.created_at) if is_today else views.day(message.created_at, now),
        "why": why(message, still=topic is None or topic in followed),
        "stops": stops(message, followed),
        "title": deal.title if deal else about.title if isinstance(about, AboutDeal) else message.subject,
        "deal": views.card(deal, now, width=128) if deal else None,
        "since": then,
    }
