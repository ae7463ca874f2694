"""A member's own pages: inbox, watches, alerts and likes.

The buttons to watch and like are on public pages (``shared/html/switches.py``). Alerts are set on deals' pages
and searches, which are public, too. Watches, alerts and likes share one table, which is edited in place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from http import HTTPStatus
from itertools import chain
from types import MappingProxyType
from typing import Any

from shared import features, hooks
from shared.data.catalog import deals, feeds, topics
from shared.data.members import alerts, follows, limits, messages, users
from shared.errors import (
    DealsError,
    Forbidden,
    InvalidLimits,
    NoSuchAlert,
    NoSuchTopic,
    NotWatching,
)
from shared.html import cookies, forms, pages, views
from shared.html.inbox import place_of, why
from shared.html.pages import Answer, Request, Routes, serve
from shared.html.switches import switched
from shared.http.requests import topic_named
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORIES,
    CATEGORY,
    CountedTopic,
    Deal,
    Status,
    Topic,
    TopicKind,
)
from shared.models.members import NO_LIMITS, Alert, Limits, PriceAlert
from shared.models.messages import AboutDeal, Message
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.values import money, times

PAGE = 25

routes = Routes()


@routes.get("/my")
def mine(_request: Request) -> Answer:
    return pages.redirect("/my/inbox")


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
    return _json({"marked": marked}) if request.wants_json else pages.redirect("/my/inbox", notice="read")


@routes.get("/my/inbox/<message_id>")
def read_message(request: Request, message_id: str) -> Answer:
    """Mark a message read, and redirect to its subject.

    Prefetches are refused: the browser would use the result without asking again.
    """
    if not request.opens_page:
        raise Forbidden("Open this message as a page: it cannot be loaded ahead of time.")
    message = messages.mark_read(table(), cookies.member_of(request).username, message_id, request.now)
    return pages.redirect(place_of(message))


@routes.get("/my/watches/<kind>/<slug>", "/my/likes/<kind>/<slug>")
def topic_of_button(_request: Request, kind: str, slug: str) -> Answer:
    _, place = topic_at(kind, slug)
    return pages.redirect(place)


@routes.post("/my/watches/<kind>/<slug>")
def watch(request: Request, kind: str, slug: str) -> Answer:
    topic, place = topic_at(kind, slug)
    on, off = partial(follows.watch, table(), topic, now=request.now), partial(follows.unwatch, table(), topic)
    counted = metrics.WATCHES_ADDED, metrics.WATCHES_REMOVED
    return switched(request, place, on=on, off=off, notices=("watching", "unwatched"), counted=counted)


@routes.post("/my/likes/<kind>/<slug>")
def like(request: Request, kind: str, slug: str) -> Answer:
    topic, place = topic_at(kind, slug)
    on, off = partial(follows.like, table(), topic, now=request.now), partial(follows.unlike, table(), topic)
    counted = metrics.LIKES_ADDED, metrics.LIKES_REMOVED
    return switched(request, place, on=on, off=off, notices=("liked", "unliked"), counted=counted)


@routes.get("/my/status")
def status(request: Request) -> Answer:
    """The reader's own state, for the script: counts in the header, and what is on of a deal's or a topic's buttons.

    ``?deal=`` is a deal's number or id, ``?topic=`` is ``brand/<slug>`` or ``category/<slug>``. Empty without a
    session.
    """
    session = cookies.session_of(table(), request)
    if session is None:
        return _json({})
    asked: dict[str, Callable[[], Any]] = {}
    if "deal" in request.query:
        asked["of deal"] = partial(_states_of, request.query["deal"], session.username)
    if "topic" in request.query:
        topic, _ = topic_at(*request.query["topic"].partition("/")[::2])
        asked["watching"] = partial(follows.is_watched, table(), topic, session.username)
        asked["liked"] = partial(follows.is_liked, table(), topic, session.username)
    found, head = cookies.beside_head(request, *asked.values())
    states = dict(zip(asked, found, strict=True))
    return _json({**head, **states.pop("of deal", {}), **states})


def _states_of(number: str, username: str) -> dict[str, bool]:
    """The states of a deal's buttons. Two round trips; one if its id is given."""
    try:
        deal_id = deals.place_of(table(), number).deal_id
    except DealsError:
        return {}
    found = table().gather([partial(each.states_of, table(), deal_id, username) for each in _OF_FEATURES])
    return dict(chain.from_iterable(states.items() for states in found))


def _message_row(message: Message, found: Mapping[str, Deal], now: datetime) -> dict[str, Any]:
    """An inbox row: why the message came, when, and its deal as it is now, if it has one."""
    about, is_today = message.about, message.created_at.date() == now.date()
    deal = found.get(about.deal_id) if isinstance(about, AboutDeal) else None
    then = []  # how the deal, which the row shows as it is now, differs from the message
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
        "why": why(message),
        "title": deal.title if deal else about.title if isinstance(about, AboutDeal) else message.subject,
        "deal": views.card(deal, now, width=128) if deal else None,
        "since": then,
    }


def _json(document: dict[str, Any]) -> Answer:
    return Answer(json.dumps(document), media_type="application/json")


KINDS: dict[str, TopicKind] = {kind.label: kind for kind in (BRAND, CATEGORY)}
"""The kinds of topics by their names in paths."""

SUGGESTED = 8
"""Brands that are suggested to members without watches."""

PLACE = "/my/watches"
"""The page that lists all of this."""

_FIELDS = ("ceiling", "currency", "leastDiscount", "words", "pace")


@routes.get(PLACE)
def watches(
    request: Request,
    edited: Topic | str | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
    errors: Mapping[str, str] = MappingProxyType({}),
) -> Answer:
    """All watches, alerts and likes in one table, edited in place. ``?brand=`` looks up a brand to like.

    Two round trips after the session's. ``edited`` is the watch, or the alert's id, whose form was refused: its row
    keeps the ``typed`` values and shows the ``errors``. Raises NoSuchTopic.
    """
    username = cookies.member_of(request).username
    name, brand = request.query.get("brand", "").strip(), None
    with suppress(NoSuchTopic):
        brand, _ = topic_at(BRAND.label, name)
    (followed, liked, alerted, hot_pace, *more), head = cookies.beside_head(
        request,
        partial(follows.watching, table(), username),
        partial(follows.likes, table(), username),
        partial(alerts.of, table(), username),
        partial(users.hot_pace, table(), username),
        *(partial(each.watches, table(), username) for each in _OF_FEATURES),
    )
    categories = [Topic(CATEGORY, slug) for slug in CATEGORIES]
    candidates = dict.fromkeys(
        (*categories, *followed, *liked, *(each for each in (brand, edited) if isinstance(each, Topic)))
    )
    rows = {
        page.topic: {
            **_topic(page),
            "watching": page.topic in followed,
            "liking": page.topic in liked,
            "typed": _typed(followed.get(page.topic, NO_LIMITS)),
            "errors": {},
        }
        for page in topics.get_many(table(), list(candidates))
    }
    of_alerts = [_alert_row(alert) for alert in alerted]
    if isinstance(edited, Topic) and edited not in rows:
        raise NoSuchTopic(edited.kind.label, edited.slug)
    editing = _row_id(edited) if isinstance(edited, Topic) else edited
    for row in (*rows.values(), *of_alerts):
        if row["id"] == editing:
            row |= {"typed": _all_fields(typed), "errors": errors, "watching": True}
    unknown = bool(name) and brand not in rows
    nothing = not (followed or alerted)
    wrong = {f"{editing}-{field}": sentence for field, sentence in errors.items()}
    if unknown:
        wrong["brand"] = "There is no brand with this name."
    status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.NOT_FOUND if unknown else HTTPStatus.OK
    return pages.page(
        "mine/watches.html",
        here=PLACE,
        status=status,
        notice=request.notice,
        alerts=of_alerts,
        most_alerts=alerts.MOST,
        hot_pace=hot_pace,
        brands=[row for topic, row in rows.items() if topic.kind is BRAND and row["watching"]],
        watchable=[row for topic, row in rows.items() if topic.kind is CATEGORY],
        liked=[row for row in rows.values() if row["liking"]],
        looked_up=rows.get(brand) if brand else None,
        name=name,
        errors=wrong,
        nothing=nothing,
        suggested=suggested(request.now, followed) if nothing else [],
        **dict(
            chain.from_iterable(
                each.on_watches(found, request.now).items() for each, found in zip(_OF_FEATURES, more, strict=True)
            )
        ),
        **head,
    )


@routes.post("/my/watches/<kind>/<slug>/limits", form_page=PLACE)
def limit(request: Request, kind: str, slug: str) -> Answer:
    """Set a watch's limits; invalid ones return the row with its values."""
    topic, _ = topic_at(kind, slug)
    member = cookies.sender_of(request, PLACE)
    typed = forms.read(request.event)
    try:
        within = limits.read(_limits_typed(typed))
    except InvalidLimits as error:
        return watches(request, topic, typed, error.errors)
    try:
        follows.limit(table(), topic, member.username, within, member.account_id)
    except NotWatching:  # it ended in another window
        follows.watch(table(), topic, member.username, request.now, member.account_id, within)
    return pages.redirect(PLACE, fragment=f"row-{_row_id(topic)}", notice="limits")


@routes.post("/my/alerts/deals/<number>", form_page="/deals/<number>")
def alert_on_price(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    member = cookies.sender_with_replay(request, f"/deals/{number}")
    typed = {"currency": deal.currency, **forms.read(request.event)}
    try:
        within = limits.read(_limits_typed(typed))
        alerts.on_price(table(), deal, member.username, member.account_id, within, request.now)
    except InvalidLimits as error:
        return _form(request, f"/my/alerts/deals/{number}", deal.title, "", typed, error.errors)
    only = Limits(within.ceiling, within.currency)
    if deal.status(request.now) is Status.ACTIVE and limits.wants(only, deal, frozenset()):
        return pages.redirect(f"/deals/{number}", notice="alert-met")
    return pages.redirect(PLACE, notice="alert")


@routes.post("/my/alerts", form_page=PLACE)
def alert_on_words(request: Request) -> Answer:
    typed = forms.read(request.event)
    member = cookies.sender_with_replay(request, PLACE)
    try:
        alerts.on_words(table(), member.username, member.account_id, limits.read(_limits_typed(typed)), request.now)
    except InvalidLimits as error:
        return _form(request, "/my/alerts", "New deals", "Words", typed, error.errors)
    return pages.redirect(PLACE, notice="alert")


@routes.post("/my/alerts/<alert_id>", form_page=PLACE)
def change_alert(request: Request, alert_id: str) -> Answer:
    member, typed = cookies.sender_of(request, PLACE), forms.read(request.event)
    alert = alerts.get(table(), member.username, alert_id)
    if alert.account_id != member.account_id:
        raise NoSuchAlert(alert_id)
    try:
        alerts.change(table(), alert, limits.read(_limits_typed(typed)))
    except InvalidLimits as error:
        return watches(request, alert_id, typed, error.errors)
    return pages.redirect(PLACE, fragment=f"row-{alert_id}", notice="limits")


@routes.post("/my/alerts/<alert_id>/remove", form_page=PLACE)
def remove_alert(request: Request, alert_id: str) -> Answer:
    member = cookies.sender_of(request, PLACE)
    alerts.remove(table(), member.username, alert_id, member.account_id)
    return pages.redirect(PLACE, notice="alert-removed")


def topic_at(kind: str, slug: str) -> tuple[Topic, str]:
    """A path's topic, and the path of its own page. Raises NoSuchTopic."""
    if kind not in KINDS:
        raise NoSuchTopic("topic", slug)
    topic = topic_named(KINDS[kind], slug)
    return topic, f"/{topic.kind.path}/{topic.slug}"


def suggested(now: datetime, followed: Collection[Topic]) -> list[dict[str, Any]]:
    """The most watched brands with new deals, and whether the reader watches them.

    No index lists all brands by their watchers.
    """
    newest = feeds.read(table(), ALL_DEALS, limit=100, now=now).items
    brands = list(dict.fromkeys(Topic(BRAND, deal.brand) for deal in newest))
    found = sorted(topics.get_many(table(), brands), key=lambda page: -page.watchers)
    return [{**_topic(page), "watching": page.topic in followed} for page in found[:SUGGESTED]]


def _topic(page: CountedTopic) -> dict[str, Any]:
    topic = page.topic
    path = f"/{topic.kind.path}/{topic.slug}"
    named = {"id": _row_id(topic), "kind": topic.kind.label, "slug": topic.slug, "name": page.name}
    return {**named, "path": path, "watchers": page.watchers}


def _row_id(topic: Topic) -> str:
    return f"{topic.kind.label}-{topic.slug}"


def _alert_row(alert: Alert) -> dict[str, Any]:
    """An alert's row in the table."""
    of_price = isinstance(alert, PriceAlert)
    return {
        "id": alert.alert_id,
        "title": alert.title if isinstance(alert, PriceAlert) else f"“{alert.limits.words}”",
        "deal": alert.deal_id if isinstance(alert, PriceAlert) else None,
        "words": alert.limits.words,
        "of_price": of_price,
        "typed": _typed(alert.limits),
        "errors": {},
    }


def _limits_typed(typed: Mapping[str, str]) -> dict[str, str]:
    """The limits in a form's fields, with prices without signs; an empty field sets no limit."""
    given = {name: typed[name].strip() for name in _FIELDS if typed.get(name, "").strip()}
    ceiling, sign = money.read(given.get("ceiling", ""))
    if ceiling and (not sign or money.is_of(sign, given.get("currency", ""))):
        given["ceiling"] = ceiling
    return given


def _typed(within: Limits) -> dict[str, str]:
    """Limits as form fields."""
    held = (within.ceiling, within.currency, within.least_discount, within.words, within.pace)
    return {name: "" if value is None else str(value) for name, value in zip(_FIELDS, held, strict=True)}


def _all_fields(typed: Mapping[str, str]) -> dict[str, str]:
    return {name: typed.get(name, "") for name in _FIELDS}


def _form(
    request: Request, action: str, title: str, words: str, typed: Mapping[str, str], errors: Mapping[str, str]
) -> Answer:
    """A refused new alert's form; ``words`` labels the field of words, if it has one."""
    _, head = cookies.beside_head(request)
    return pages.page(
        "mine/limits.html",
        here=action,
        action=action,
        title=title,
        words=words,
        typed=_all_fields(typed),
        errors=errors,
        **head,
    )


_OF_FEATURES = features.roles(hooks.Mine)
_REPLAYED = (watch, like, alert_on_price, alert_on_words)

for each in pages.routes_of(_OF_FEATURES):
    routes.pages += each.pages
cookies.replay_after_sign_in(routes, "/my", *_REPLAYED, *chain.from_iterable(each.REPLAYED for each in _OF_FEATURES))
handler = serve(routes, guards=[forms.ours_only])
