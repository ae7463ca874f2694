"""Watches, alerts and likes: one table, edited in place; and the private feed of the inbox.

Members create alerts on deals' pages and on searches, which are public.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from http import HTTPStatus
from itertools import chain
from types import MappingProxyType
from typing import Any

from shared import features
from shared.data.catalog import deals, feeds, topics
from shared.data.members import alerts, feed_keys, follows, limits, messages, users
from shared.errors import InvalidLimits, InvalidName, NoSuchAlert, NoSuchTopic, NotWatching
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes
from shared.html.links import absolute
from shared.html.pages import Answer, Request
from shared.html.views import render, xml_text
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORIES, CATEGORY, CountedTopic, Status, Topic, TopicKind
from shared.models.members import NO_LIMITS, Alert, Limits, PriceAlert
from shared.models.messages import AboutOther, Message
from shared.runtime.environment import table
from shared.values import identifiers, naming
from shared.values.times import to_iso

KINDS: dict[str, TopicKind] = {kind.label: kind for kind in (BRAND, CATEGORY)}
"""The kinds of topics, by what a path calls them."""

SUGGESTED = 8
"""Brands that are shown to members who watch nothing."""

IN_FEED = 50
"""Messages of a private feed."""

PLACE = "/my/watches"
"""The page that lists all of this."""

_FIELDS = ("ceiling", "currency", "leastDiscount", "words", "pace")

routes = Routes()


@routes.get("/my/watches")
def watches(request: Request) -> Answer:
    """All watches, alerts and likes in one table, each row edited in place. ``?brand=`` looks up a brand to like."""
    return _watches(request)


@routes.post("/my/watches/<kind>/<slug>/limits", form_page=PLACE)
def limit(request: Request, kind: str, slug: str) -> Answer:
    """Set the limits of a watch; invalid ones bring the row back with its values."""
    topic, _ = topic_named(kind, slug)
    member = cookies.sender_of(request, PLACE)
    typed = forms.read(request.event)
    try:
        within = limits.read(_given(typed))
    except InvalidLimits as error:
        return _watches(request, topic, typed, error.errors)
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
        within = limits.read(_given(typed))
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
        alerts.on_words(table(), member.username, member.account_id, limits.read(_given(typed)), request.now)
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
        alerts.change(table(), alert, limits.read(_given(typed)))
    except InvalidLimits as error:
        return _watches(request, alert_id, typed, error.errors)
    return pages.redirect(PLACE, fragment=f"row-{alert_id}", notice="limits")


@routes.post("/my/alerts/<alert_id>/remove", form_page=PLACE)
def remove_alert(request: Request, alert_id: str) -> Answer:
    member = cookies.sender_of(request, PLACE)
    alerts.remove(table(), member.username, alert_id, member.account_id)
    return pages.redirect(PLACE, notice="alert-removed")


@routes.post("/my/feed", form_page=PLACE)
def make_feed(request: Request) -> Answer:
    """Make a private feed, or give it another address; this page alone shows the address."""
    member = cookies.sender_of(request, PLACE)
    entropy = secrets.token_bytes(identifiers.BYTES)
    key = feed_keys.make(table(), member.username, member.account_id, request.now, entropy)
    _, head = cookies.beside_head(request)
    return pages.page("mine/feed.html", here=PLACE, address=absolute("/my/messages.atom", key=key), **head)


@routes.post("/my/feed/revoke", form_page=PLACE)
def revoke_feed(request: Request) -> Answer:
    member = cookies.sender_of(request, PLACE)
    feed_keys.revoke(table(), member.username, member.account_id)
    return pages.redirect(PLACE, notice="feed-revoked")


@routes.get("/my/messages.atom")
def messages_feed(request: Request) -> Answer:
    """The newest messages of a key's owner, for a feed reader, which has no session and sends no cookie.

    The key is in the query, as no log has queries: neither the gateways', nor the functions', nor a CDN's.
    """
    whose = feed_keys.reader(table(), request.query.get("key", ""))
    found = messages.latest(table(), whose.username, limit=IN_FEED, now=request.now).items
    entries = [
        {
            "id": f"urn:ksuid:{message.message_id}",
            "title": xml_text(message.subject),
            "link": absolute(place_of(message)),
            "at": to_iso(message.shown_at or message.created_at),
            "why": xml_text(why(message)),
        }
        for message in found
    ]
    updated = max((each["at"] for each in entries), default=to_iso(identifiers.EPOCH))
    text = render("mine/messages.xml", home=absolute("/my/inbox"), updated=updated, entries=entries)
    return Answer(text, media_type="application/atom+xml; charset=utf-8")


_NEWS: Mapping[str, features.News] = {news.thing: news for news in chain.from_iterable(features.of("news"))}


def place_of(message: Message) -> str:
    about = message.about
    return f"{_NEWS[about.thing].page}/{about.id}" if isinstance(about, AboutOther) else f"/deals/{about.deal_id}"


def why(message: Message) -> str:
    if isinstance(message.about, AboutOther):
        return _NEWS[message.about.thing].why
    met = ", ".join(filter(None, (message.about.watched, *(message.about.also or []))))
    return " · ".join(filter(None, ("Hot" if message.kind == "hot" else "", f"You watch {met}" if met else "")))


def topic_named(kind: str, slug: str) -> tuple[Topic, str]:
    """The topic that a path names, and the path of its own page. Raises NoSuchTopic."""
    if kind not in KINDS:
        raise NoSuchTopic("topic", slug)
    try:
        topic = Topic(KINDS[kind], naming.slug(slug))
    except InvalidName as error:
        raise NoSuchTopic(kind, slug) from error
    return topic, f"/{topic.kind.path}/{topic.slug}"


def suggested(now: datetime, followed: Collection[Topic]) -> list[dict[str, Any]]:
    """The most watched brands among those with new deals, and whether the reader watches them.

    No index lists all brands by their watchers.
    """
    newest = feeds.read(table(), ALL_DEALS, limit=100, now=now).items
    brands = list(dict.fromkeys(Topic(BRAND, deal.brand) for deal in newest))
    found = sorted(topics.get_many(table(), brands), key=lambda page: -page.watchers)
    return [{**_topic(page), "watching": page.topic in followed} for page in found[:SUGGESTED]]


def _watches(
    request: Request,
    edited: Topic | str | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
    errors: Mapping[str, str] = MappingProxyType({}),
) -> Answer:
    """The table of watches, alerts and likes. Two round trips behind the session's.

    ``edited`` is the watch, or the id of the alert, whose form was refused: its row keeps the ``typed`` values, and
    shows the ``errors``. Raises NoSuchTopic.
    """
    username = cookies.member_of(request).username
    name, brand = request.query.get("brand", "").strip(), None
    with suppress(NoSuchTopic):
        brand, _ = topic_named(BRAND.label, name)
    (followed, liked, alerted, feed, hot_pace), head = cookies.beside_head(
        request,
        partial(follows.watching, table(), username),
        partial(follows.likes, table(), username),
        partial(alerts.of, table(), username),
        partial(feed_keys.of, table(), username),
        partial(users.hot_pace, table(), username),
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
    of_alerts = [_row(alert) for alert in alerted]
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
        wrong["brand"] = "There is no brand of this name."
    status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.NOT_FOUND if unknown else HTTPStatus.OK
    return pages.page(
        "mine/watches.html",
        here=PLACE,
        status=status,
        notice=request.notice,
        alerts=of_alerts,
        most_alerts=alerts.MOST,
        hot_pace=hot_pace,
        feed_made=views.day(feed.made_at, request.now) if feed else None,
        feed_ended=feed is not None and feed.ended,
        brands=[row for topic, row in rows.items() if topic.kind is BRAND and row["watching"]],
        watchable=[row for topic, row in rows.items() if topic.kind is CATEGORY],
        liked=[row for row in rows.values() if row["liking"]],
        looked_up=rows.get(brand) if brand else None,
        name=name,
        errors=wrong,
        nothing=nothing,
        suggested=suggested(request.now, followed) if nothing else [],
        **head,
    )


def _topic(page: CountedTopic) -> dict[str, Any]:
    topic = page.topic
    path = f"/{topic.kind.path}/{topic.slug}"
    named = {"id": _row_id(topic), "kind": topic.kind.label, "slug": topic.slug, "name": page.name}
    return {**named, "path": path, "watchers": page.watchers}


def _row_id(topic: Topic) -> str:
    return f"{topic.kind.label}-{topic.slug}"


def _row(alert: Alert) -> dict[str, Any]:
    """An alert as a row of the table."""
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


def _given(typed: Mapping[str, str]) -> dict[str, str]:
    """The limits among a form's fields; an empty field sets no limit."""
    return {name: typed[name].strip() for name in _FIELDS if typed.get(name, "").strip()}


def _typed(within: Limits) -> dict[str, str]:
    """Limits as their form has them."""
    held = (within.ceiling, within.currency, within.least_discount, within.words, within.pace)
    return {name: "" if value is None else str(value) for name, value in zip(_FIELDS, held, strict=True)}


def _all_fields(typed: Mapping[str, str]) -> dict[str, str]:
    return {name: typed.get(name, "") for name in _FIELDS}


def _form(
    request: Request, action: str, title: str, words: str, typed: Mapping[str, str], errors: Mapping[str, str]
) -> Answer:
    """The form of a new alert that was refused; ``words`` labels the field of words, where there is one."""
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
