"""A member's own pages: the inbox and the saved deals, the buttons that watch, like, save and vote, and watches and
alerts (``alerts_pages``).

The buttons are on public pages, which caches may keep. They are plain forms that lead back to their page; the script
sends the same form, asks for JSON, and shows the new state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from functions.pages.mine import alerts_pages
from shared.data.catalog import deal_items, deals
from shared.data.members import follows, messages, saved, votes
from shared.errors import (
    AlreadyLiked,
    AlreadyWatching,
    DealsError,
    Forbidden,
    NoSuchPath,
    NotLiked,
    NotWatching,
)
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes, serve
from shared.html.pages import Answer, Request
from shared.models.catalog import Deal, Vote
from shared.models.messages import AboutDeal, Message
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times

PAGE = 25

routes = Routes()


@routes.get("/my")
def mine(_request: Request) -> Answer:
    return pages.redirect("/my/inbox")


@routes.get("/my/inbox")
def inbox(request: Request) -> Answer:
    """The messages, newest first, each with its deal as it is now. Two round trips behind the session's."""
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
        description="News of what you watch: deals of your brands and categories, hot ones, and your orders.",
        notice=request.notice,
        rows=[_row(message, about, request.now) for message in page.items],
        total=len(page.items) if not (unread_only or cursor or page.next) else None,
        unread_only=unread_only,
        older=page.next,
        nothing=not followed,
        suggested=alerts_pages.suggested(request.now, followed) if empty else [],
        **head,
    )


@routes.post("/my/inbox/read-all", form_page="/my/inbox")
def read_all(request: Request) -> Answer:
    member = cookies.sender_of(request, "/my/inbox")
    marked = messages.mark_all_read(table(), member.username, request.now, member.account_id)
    return _json({"marked": marked}) if request.wants_json else pages.redirect("/my/inbox", notice="read")


@routes.get("/my/inbox/<message_id>")
def read_message(request: Request, message_id: str) -> Answer:
    """Mark a message read and lead to what it is about.

    What a browser fetches ahead is refused: it would show that when the message is opened, and not ask again.
    """
    if not request.opens_page:
        raise Forbidden("Open this message as a page: it cannot be loaded ahead of time.")
    message = messages.mark_read(table(), cookies.member_of(request).username, message_id, request.now)
    return pages.redirect(alerts_pages.place_of(message))


@routes.get("/my/watches/<kind>/<slug>", "/my/likes/<kind>/<slug>")
def topic_of_button(_request: Request, kind: str, slug: str) -> Answer:
    _, place = alerts_pages.topic_named(kind, slug)
    return pages.redirect(place)


@routes.post("/my/watches/<kind>/<slug>")
def watch(request: Request, kind: str, slug: str) -> Answer:
    topic, place = alerts_pages.topic_named(kind, slug)
    on, off = partial(follows.watch, table(), topic, now=request.now), partial(follows.unwatch, table(), topic)
    counted = metrics.WATCHES_ADDED, metrics.WATCHES_REMOVED
    return _switched(request, place, on=on, off=off, notices=("watching", "unwatched"), counted=counted)


@routes.post("/my/likes/<kind>/<slug>")
def like(request: Request, kind: str, slug: str) -> Answer:
    topic, place = alerts_pages.topic_named(kind, slug)
    on, off = partial(follows.like, table(), topic, now=request.now), partial(follows.unlike, table(), topic)
    counted = metrics.LIKES_ADDED, metrics.LIKES_REMOVED
    return _switched(request, place, on=on, off=off, notices=("liked", "unliked"), counted=counted)


@routes.get("/my/saved")
def saved_deals(request: Request) -> Answer:
    """The deals that one keeps for later, as they are now."""
    username, cursor = cookies.member_of(request).username, request.query.get("cursor") or None
    (page,), head = cookies.beside_head(request, partial(saved.latest, table(), username, limit=PAGE, cursor=cursor))
    cards = [views.card(deal, request.now) for deal in page.items]
    return pages.page("mine/saved.html", here="/my/saved", notice=request.notice, deals=cards, older=page.next, **head)


@routes.post("/my/saved/<number>", form_page="/deals/<number>")
def save(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    on, off = partial(saved.save, table(), deal, now=request.now), partial(saved.unsave, table(), deal.deal_id)
    return _switched(request, f"/deals/{views.number(deal)}", on=on, off=off, notices=("saved", "unsaved"))


@routes.post("/my/votes/<number>/<way>", form_page="/deals/<number>")
def vote(request: Request, number: str, way: str) -> Answer:
    """Vote a deal up or down. Either button, once more, takes the vote back."""
    if way not in list(Vote):
        raise NoSuchPath
    deal = deals.find(table(), number)
    cast = partial(votes.vote, table(), deal, now=request.now)
    return _switched(
        request,
        f"/deals/{views.number(deal)}",
        on=partial(cast, given=Vote(way)),
        off=partial(cast, given=None),
        notices=("voted", "vote-gone"),
        states=(way, *(other for other in Vote if other != way)),
    )


@routes.get("/my/status")
def status(request: Request) -> Answer:
    """The reader's own state, for the script: the counts at the head, and what is saved, voted, liked or watched.

    ``?deal=`` is a deal's number or id, ``?topic=`` is ``brand/<slug>`` or ``category/<slug>``.
    Empty without a session.
    """
    session = cookies.session_of(table(), request)
    if session is None:
        return _json({})
    asked: dict[str, Callable[[], Any]] = {}
    if "deal" in request.query:
        asked["of deal"] = partial(_states_of, request.query["deal"], session.username)
    if "topic" in request.query:
        topic, _ = alerts_pages.topic_named(*request.query["topic"].partition("/")[::2])
        asked["watching"] = partial(follows.is_watched, table(), topic, session.username)
        asked["liked"] = partial(follows.is_liked, table(), topic, session.username)
    found, head = cookies.beside_head(request, *asked.values())
    states = dict(zip(asked, found, strict=True))
    return _json({**head, **states.pop("of deal", {}), **states})


def _switched(
    request: Request,
    place: str,
    *,
    on: Callable[..., object],
    off: Callable[..., object],
    notices: tuple[str, str],
    states: Sequence[str] = (),
    counted: tuple[metrics.Metric, metrics.Metric] | None = None,
) -> Answer:
    """Turn on or off what a form's button stands for, and redirect to its page. It is idempotent.

    ``notices`` are the codes of both; the first is also what the script calls the button's state, unless there are
    ``states``: that, and those of the buttons that are off when it is on.
    """
    fields = forms.read(request.event)
    place = forms.own_path(fields.get("next"), place)
    member = cookies.sender_with_replay(request, place)
    turned_on = fields.get("on", "1") == "1"
    with suppress(AlreadyWatching, NotWatching, AlreadyLiked, NotLiked):
        (on if turned_on else off)(username=member.username, account_id=member.account_id)
        if counted:
            report(counted[0] if turned_on else counted[1])
    if request.wants_json:
        own, *others = states or notices[:1]
        return _json({own: turned_on, **dict.fromkeys(others, False)})
    return forms.lead_to(place, notice=notices[0 if turned_on else 1])


def _states_of(number: str, username: str) -> dict[str, bool]:
    """The states of the buttons of a deal. Two round trips, one where its id is given."""
    try:
        deal_id = deal_items.place_of(table(), number).deal_id
    except DealsError:
        return {}
    asked: list[Callable[[], Any]] = [
        partial(saved.is_saved, table(), deal_id, username),
        partial(votes.given, table(), deal_id, username),
    ]
    is_saved, vote = table().gather(asked)
    return {"saved": is_saved, **{way.value: vote is way for way in Vote}}


def _row(message: Message, found: Mapping[str, Deal], now: datetime) -> dict[str, Any]:
    """One message of the inbox: why it came, when, and its deal as it is now, where it is about one."""
    about, is_today = message.about, message.created_at.date() == now.date()
    deal = found.get(about.deal_id) if isinstance(about, AboutDeal) else None
    then = []  # how the deal differs from what the message says: the row shows it as it is now
    if deal and isinstance(about, AboutDeal):
        if about.title != deal.title:
            then.append(f"Then called “{about.title}”")
        if (about.price, about.currency) != (deal.price, deal.currency):
            then.append(f"Then {views.money(about.price, about.currency)}")
    return {
        "id": message.message_id,
        "unread": message.unread,
        "at": times.to_iso(message.created_at),
        "when": views.clock(message.created_at) if is_today else views.day(message.created_at, now),
        "why": alerts_pages.why(message),
        "title": deal.title if deal else about.title if isinstance(about, AboutDeal) else message.subject,
        "deal": views.card(deal, now, width=128) if deal else None,
        "since": then,
    }


def _json(document: dict[str, Any]) -> Answer:
    return Answer(json.dumps(document), media_type="application/json")


routes.pages += alerts_pages.routes.pages
cookies.replay_after_sign_in(
    routes, "/my", watch, like, save, vote, alerts_pages.alert_on_price, alerts_pages.alert_on_words
)
handler = serve(routes, guards=[forms.ours_only])
