"""A member's watches, alerts and likes in one table, which is edited in place.

Alerts are set on deals' pages and searches, which are public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from functions.pages.mine.following import suggested, topic_at, topic_row
from shared import features, hooks
from shared.data.catalog import deals, offers, topics
from shared.data.members import alerts, follows, limits, users
from shared.errors import InvalidLimits, NoSuchAlert, NoSuchTopic, NotWatching
from shared.html import cookies, forms, pages, views
from shared.html.inbox import row_id
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, Deal, Status, Topic
from shared.models.members import NO_LIMITS, Alert, Limits, PriceAlert
from shared.runtime.environment import table
from shared.values import money
from shared.values.money import units

PLACE = "/my/watches"
"""The page that lists all of this."""

SOUGHT = 24
"""Alerts whose products are looked up for other offers, because their deals are over: one to two read units each."""

_FIELDS = ("ceiling", "currency", "leastDiscount", "words", "pace")

routes = Routes()


@routes.get(PLACE)
def watches(
    request: Request,
    edited: Topic | str | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
    errors: Mapping[str, str] = MappingProxyType({}),
) -> Answer:
    """All watches, alerts and likes in one table, edited in place. ``?brand=`` looks up a brand to like.

    Two round trips after the session's, and a third if deals of alerts are over. ``edited`` is the watch, or the
    alert's id, whose form was refused: its row keeps the ``typed`` values and shows the ``errors``. Raises NoSuchTopic.
    """
    username = cookies.member_of(request).username
    name, brand = request.query.get("brand", "").strip(), None
    with suppress(NoSuchTopic):
        brand, _ = topic_at(BRAND.label, name)
    of_features = features.roles(hooks.Mine)
    (followed, liked, alerted, hot_pace, *more), head = cookies.beside_head(
        request,
        partial(follows.watching, table(), username),
        partial(follows.likes, table(), username),
        partial(alerts.of, table(), username),
        partial(users.hot_pace, table(), username),
        *(partial(each.watches, table(), username) for each in of_features),
    )
    others = [each for each in (brand, edited) if isinstance(each, Topic)]
    reads: list[Callable[[], Any]] = [partial(_rows, followed, liked, others), partial(_deals_of, alerted)]
    rows, found = table().gather(reads)
    others_of = _other_offers(alerted, found, request.now)
    of_alerts = _by_distance([_alert_row(alert, found, others_of, request.now) for alert in alerted])
    if isinstance(edited, Topic) and edited not in rows:
        raise NoSuchTopic(edited.kind.label, edited.slug)
    editing = row_id(edited) if isinstance(edited, Topic) else edited
    for row in (*rows.values(), *of_alerts):
        if row["id"] == editing:
            row |= {"typed": _all_fields(typed), "errors": errors, "watching": True}
    unknown = bool(name) and brand not in rows
    wrong = {f"{editing}-{field}": sentence for field, sentence in errors.items()}
    if unknown:
        wrong["brand"] = "There is no brand with this name."
    nothing = not (followed or alerted)
    added = [(each.file, each.on_watches(found, request.now)) for each, found in zip(of_features, more, strict=True)]
    return pages.page(
        "mine/watches.html",
        here=PLACE,
        status=HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.NOT_FOUND if unknown else HTTPStatus.OK,
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
        **features.joined(added),
        **head,
    )


def _rows(
    followed: Mapping[Topic, Limits], liked: Collection[Topic], others: Iterable[Topic]
) -> dict[Topic, dict[str, Any]]:
    """The rows of the table by topic: all categories, what the member follows, and some ``others``."""
    categories = [Topic(CATEGORY, slug) for slug in CATEGORIES]
    return {
        page.topic: {
            **topic_row(page),
            "watching": page.topic in followed,
            "liking": page.topic in liked,
            "typed": _typed(followed.get(page.topic, NO_LIMITS)),
            "errors": {},
        }
        for page in topics.get_many(table(), list(dict.fromkeys((*categories, *followed, *liked, *others))))
    }


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
    return pages.redirect(PLACE, fragment=f"row-{row_id(topic)}", notice="limits")


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
    return pages.redirect(f"/deals/{number}", notice="alert-set")


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


def _deals_of(alerted: Iterable[Alert]) -> dict[str, Deal]:
    """The deals that price alerts were set on, as they are now, by id. One BatchGetItem for a hundred."""
    wanted = dict.fromkeys(alert.deal_id for alert in alerted if isinstance(alert, PriceAlert))
    return {deal.deal_id: deal for deal in deals.get_many(table(), list(wanted))}


def _other_offers(
    alerted: Iterable[Alert], found: Mapping[str, Deal], now: datetime
) -> Mapping[PriceAlert, Sequence[Deal]]:
    """The active offers of products whose deal of an alert is over. A Query for each alert, ``SOUGHT`` at most."""
    over = [
        alert for alert in alerted if isinstance(alert, PriceAlert) and _active(found.get(alert.deal_id), now) is None
    ][:SOUGHT]
    asked = [partial(offers.offers_of, table(), alert.product) for alert in over]
    read = table().gather(asked) if asked else []
    return {alert: [deal for deal in of_it if _active(deal, now)] for alert, of_it in zip(over, read, strict=True)}


def _active(deal: Deal | None, now: datetime) -> Deal | None:
    return deal if deal is not None and deal.status(now) is Status.ACTIVE else None


def _by_distance(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Alerts' rows, those first whose price is reached or nearest; then those without a price today."""
    return sorted(rows, key=lambda row: row["today"]["part"] if row["today"] else math.inf)


def _of_today(alert: PriceAlert, deal: Deal | None, others: Sequence[Deal] | None, now: datetime) -> dict[str, Any]:
    """What an alert's product costs ``today``, and which ``deal`` says so: its own or, if that is over, the cheapest
    other one. ``reason`` says why there is no price, ``aside`` what to know of one."""
    own = _active(deal, now)
    offered = [own] if own else list(others or ())
    fitting = [each for each in offered if each.currency == alert.limits.currency]
    over = "" if own else "This deal was withdrawn." if deal and deal.withdrawn_at else "This deal ended."
    if fitting:
        cheapest = min(fitting, key=lambda each: each.units)
        aside = f"{over} Here is another offer." if over else ""
        return {"today": _price_of(alert, cheapest, now), "deal": cheapest.page_id, "reason": "", "aside": aside}
    if offered:
        reason = f"The price is in {offered[0].currency} now, and your alert in {alert.limits.currency}."
        return {"today": None, "deal": offered[0].page_id, "reason": reason, "aside": ""}
    reason = over if others is None else f"{over} There is no other offer now."
    return {"today": None, "deal": alert.deal_id, "reason": reason, "aside": ""}


def _price_of(alert: PriceAlert, deal: Deal, now: datetime) -> dict[str, Any]:
    """A deal's price today, the lowest one of 60 days, and how far they are from an alert's."""
    within = alert.limits

    def said(amount: int) -> str:
        return views.money(money.of_units(amount, deal.currency), deal.currency)

    far = deal.units - units(within.ceiling or "0", deal.currency)
    lowest = min(deal.units, deal.verdict.cheapest) if deal.verdict else None
    return {
        **views.card(deal, now),
        "since_yesterday": views.since_yesterday(deal, now),
        "part": far / max(1, deal.units),
        "reached": far <= 0,
        "far": said(abs(far)),
        "percent": math.ceil(100 * far / max(1, deal.units)),
        "lowest": said(lowest) if lowest is not None else None,
    }


def _alert_row(
    alert: Alert, found: Mapping[str, Deal], others: Mapping[PriceAlert, Sequence[Deal]], now: datetime
) -> dict[str, Any]:
    """An alert's row in the table; one on a price also says what the product costs ``today``."""
    row = {
        "today": None,
        "id": alert.alert_id,
        "words": alert.limits.words,
        "typed": _typed(alert.limits),
        "errors": {},
    }
    if not isinstance(alert, PriceAlert):
        return {**row, "title": f"“{alert.limits.words}”", "of_price": False}
    of_today = _of_today(alert, found.get(alert.deal_id), others.get(alert), now)
    return {**row, "title": alert.title, "of_price": True, **of_today}


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
