"""Told as one wants: the limits of watches, and alerts on products' prices and on words.

Alerts are asked for on a deal's page and on a search's, which are everybody's; all are listed on the page of watches.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shared.data.catalog import deals, topics
from shared.data.members import alerts, feed_keys, follows, limits, messages
from shared.errors import InvalidLimits, InvalidName, NoSuchAlert, NoSuchTopic, NotWatching
from shared.html import cookies, forms, pages, views, wishes
from shared.html.app import Routes
from shared.html.links import absolute
from shared.html.pages import Answer
from shared.html.request import Request
from shared.html.templates import render, xml_text
from shared.models.alerts import Alert, Limits, Pace, PriceAlert
from shared.models.catalog import BRAND, CATEGORY, Status, Topic, TopicKind
from shared.models.messages import AboutOrder, Message
from shared.runtime.environment import table
from shared.values import identifiers, naming
from shared.values.times import to_iso

KINDS: dict[str, TopicKind] = {kind.label: kind for kind in (BRAND, CATEGORY)}
"""The kinds of topics, by what a path calls them."""

IN_FEED = 50
"""Messages of a private feed."""

PLACE = "/my/watches"
"""The page that lists all of this."""

_PACES: dict[Pace | None, str] = {Pace.DAILY: "once a day", Pace.NEVER: "never"}
_FIELDS = ("ceiling", "currency", "leastDiscount", "words", "pace")

routes = Routes()


@routes.get("/my/watches/<kind>/<slug>/limits")
def limits_page(request: Request, kind: str, slug: str) -> Answer:
    topic, place = topic_named(kind, slug)
    followed = follows.watching(table(), cookies.member_of(request).username)
    return _limits_page(request, topic, _typed(followed[topic]), {}) if topic in followed else pages.redirect(place)


@routes.post("/my/watches/<kind>/<slug>/limits")
def limit(request: Request, kind: str, slug: str) -> Answer:
    """Set the limits of a watch; invalid ones bring the form back with its values."""
    topic, _ = topic_named(kind, slug)
    member = cookies.sender_of(request, PLACE)
    typed = forms.read(request.event)
    try:
        within = limits.read(_given(typed))
    except InvalidLimits as error:
        return _limits_page(request, topic, typed, error.errors)
    try:
        follows.limit(table(), topic, member.username, within, member.account_id)
    except NotWatching:  # it ended in another window
        follows.watch(table(), topic, member.username, request.now, member.account_id, within)
    return pages.redirect(PLACE, said="limits")


@routes.post("/my/alerts/deals/<number>", stands_on="/deals/<number>")
def alert_on_price(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    member = wishes.sender_of(request, f"/deals/{number}")
    typed = {"currency": deal.currency, **forms.read(request.event)}
    try:
        within = limits.read(_given(typed))
        alerts.on_price(table(), deal, member.username, member.account_id, within, request.now)
    except InvalidLimits as error:
        return _form(request, f"/my/alerts/deals/{number}", deal.title, "", typed, error.errors)
    only = Limits(within.ceiling, within.currency)
    if deal.status(request.now) is Status.ACTIVE and limits.wants(only, deal, frozenset()):
        return pages.redirect(f"/deals/{number}", said="alert-met")
    return pages.redirect(PLACE, said="alert")


@routes.post("/my/alerts", stands_on=PLACE)
def alert_on_words(request: Request) -> Answer:
    typed = forms.read(request.event)
    member = wishes.sender_of(request, PLACE)
    try:
        alerts.on_words(table(), member.username, member.account_id, limits.read(_given(typed)), request.now)
    except InvalidLimits as error:
        return _form(request, "/my/alerts", "New deals", "Words", typed, error.errors)
    return pages.redirect(PLACE, said="alert")


@routes.get("/my/alerts/<alert_id>")
def alert_page(request: Request, alert_id: str) -> Answer:
    alert = alerts.get(table(), cookies.member_of(request).username, alert_id)
    return _form(request, f"/my/alerts/{alert_id}", _title(alert), "", _typed(alert.limits), {})


@routes.post("/my/alerts/<alert_id>")
def change_alert(request: Request, alert_id: str) -> Answer:
    member, typed = cookies.sender_of(request, PLACE), forms.read(request.event)
    alert = alerts.get(table(), member.username, alert_id)
    if alert.account_id != member.account_id:
        raise NoSuchAlert(alert_id)
    try:
        alerts.change(table(), alert, limits.read(_given(typed)))
    except InvalidLimits as error:
        return _form(request, f"/my/alerts/{alert_id}", _title(alert), "", typed, error.errors)
    return pages.redirect(PLACE, said="limits")


@routes.post("/my/alerts/<alert_id>/remove", stands_on=PLACE)
def remove_alert(request: Request, alert_id: str) -> Answer:
    member = cookies.sender_of(request, PLACE)
    alerts.remove(table(), member.username, alert_id, member.account_id)
    return pages.redirect(PLACE, said="alert-removed")


@routes.post("/my/feed", stands_on=PLACE)
def make_feed(request: Request) -> Answer:
    """Make a private feed, or give it another address; this page alone shows the address."""
    member = cookies.sender_of(request, PLACE)
    entropy = secrets.token_bytes(identifiers.BYTES)
    key = feed_keys.make(table(), member.username, member.account_id, request.now, entropy)
    _, head = cookies.beside_head(request)
    return pages.page("mine/feed.html", here=PLACE, address=absolute("/my/messages.atom", key=key), **head)


@routes.post("/my/feed/revoke", stands_on=PLACE)
def revoke_feed(request: Request) -> Answer:
    member = cookies.sender_of(request, PLACE)
    feed_keys.revoke(table(), member.username, member.account_id)
    return pages.redirect(PLACE, said="feed-revoked")


@routes.get("/my/messages.atom")
def messages_feed(request: Request) -> Answer:
    """The newest messages of a key's owner, for a feed reader, which has no session and sends no cookie.

    The key is in the query, as no log has queries: neither the gateway's, nor CloudFront's, nor the functions'.
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


def place_of(message: Message) -> str:
    about = message.about
    return f"/shop/orders/{about.order_id}" if isinstance(about, AboutOrder) else f"/deals/{about.deal_id}"


def why(message: Message) -> str:
    if isinstance(message.about, AboutOrder):
        return "Your order"
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


def row(alert: Alert) -> dict[str, Any]:
    """An alert as the list of them shows it."""
    return {
        "id": alert.alert_id,
        "title": _title(alert),
        "deal": alert.deal_id if isinstance(alert, PriceAlert) else None,
        "words": alert.limits.words,
        "limits": said(replace(alert.limits, words=None)),
    }


def said(within: Limits) -> str:
    """Limits in a few words: ``At most $80.00 · once a day``."""
    parts = (
        f"at most {views.money(within.ceiling, within.currency)}" if within.ceiling and within.currency else "",
        f"at least {within.least_discount}% off" if within.least_discount else "",
        f"“{within.words}”" if within.words else "",
        _PACES.get(within.pace, ""),
    )
    words = " · ".join(filter(None, parts))
    return words[:1].upper() + words[1:]


def _title(alert: Alert) -> str:
    return alert.title if isinstance(alert, PriceAlert) else f"“{alert.limits.words}”"


def _given(typed: Mapping[str, str]) -> dict[str, str]:
    """The limits among a form's fields; an empty field sets no limit."""
    return {name: typed[name].strip() for name in _FIELDS if typed.get(name, "").strip()}


def _typed(within: Limits) -> dict[str, str]:
    """Limits as their form has them."""
    held = (within.ceiling, within.currency, within.least_discount, within.words, within.pace)
    return {name: str(value) for name, value in zip(_FIELDS, held, strict=True) if value is not None}


def _limits_page(request: Request, topic: Topic, typed: Mapping[str, str], errors: Mapping[str, str]) -> Answer:
    found = topics.get(table(), topic)
    action = f"/my/watches/{topic.kind.label}/{topic.slug}/limits"
    return _form(request, action, found.name, "Words", typed, errors)


def _form(
    request: Request, action: str, title: str, words: str, typed: Mapping[str, str], errors: Mapping[str, str]
) -> Answer:
    """The form of limits, for a watch or an alert; ``words`` labels the field of words, where there is one."""
    _, head = cookies.beside_head(request)
    return pages.page(
        "mine/limits.html",
        here=action,
        action=action,
        title=title,
        words=words,
        of_price=action.startswith(("/my/alerts/price-", "/my/alerts/deals/")),
        typed={name: typed.get(name, "") for name in _FIELDS},
        errors=errors,
        **head,
    )
