"""Alerts: on a product at a price, and on new deals with some words; at most ``MOST`` for each account.

They are in their owner's partition, so listing and removing them needs no index. Indexes lead from a deal to its
alerts: GSI2 has product alerts by price, GSI1 word alerts under their rarest word, and GSI2 under a hyphenated word's
joined form. An alert's id is made from its subject, so setting it again replaces it.

A unit of work is one cohort of alerts, as in ``fanout``, and the next cohort is queued first. It needs no marker: an
alert stores the price that it notified of, and existing messages aren't written again, so a second delivery sends
nothing new. An index may lag and a name may have a new owner, so the transaction that notifies requires the alert as
found, and its account.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any

from shared.data import account_checks, keys
from shared.data.catalog import search, words
from shared.data.members import limits, messages
from shared.data.members.cohorts import Unit
from shared.data.members.limits import attributes_of, in_item
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import GSI1, GSI2, Index, Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import MOST_TOGETHER, Write, delete, put_new, put_over, require, update
from shared.errors import (
    AlreadyExists,
    Busy,
    Damaged,
    DealsError,
    InvalidLimits,
    NoSuchAlert,
    NoSuchMessage,
    NotSignedIn,
    TooManyAlerts,
)
from shared.models.catalog import Deal, Status
from shared.models.members import Alert, Limits, Pace, PriceAlert, WordsAlert
from shared.models.messages import DealNews
from shared.services import Queue
from shared.values import links
from shared.values.money import units
from shared.values.times import to_iso

MOST = 100
"""Alerts of one account."""

_ENTITIES: Mapping[str, Entity[Any]] = {
    keys.PRICE_ALERT: Entity(PriceAlert, apart=frozenset({"limits"})),
    keys.WORDS_ALERT: Entity(WordsAlert, apart=frozenset({"limits"})),
}
_ID = re.compile("(price|words)-[0-9a-f]{32}")


def on_price(table: Table, deal: Deal, username: str, account_id: str, limits: Limits, now: datetime) -> Alert:
    """Set an alert on a product at ``limits.ceiling`` or less. Raises InvalidLimits, TooManyAlerts, NotSignedIn."""
    ceiling, only = _of_price(limits)
    return _keep(table, PriceAlert(id_on(deal), username, account_id, deal.deal_id, deal.title, ceiling, now, only))


def id_on(deal: Deal) -> str:
    """The id of an alert on a deal's product."""
    return f"price-{links.product_hash(deal.link)}"


def on_words(table: Table, username: str, account_id: str, limits: Limits, now: datetime) -> Alert:
    """Set an alert on new deals with some words, within limits. Raises InvalidLimits, TooManyAlerts, NotSignedIn."""
    terms = words.asked(limits.words or "").terms
    if not terms:
        raise InvalidLimits({"words": "This must be filled in."})
    about = sorted({"-".join(term.stems) for term in terms})
    alert_id = f"words-{hashlib.sha256(' '.join(about).encode()).hexdigest()[:32]}"
    rarest = " ".join(search.rarest(table, terms).stems)
    return _keep(table, WordsAlert(alert_id, username, account_id, rarest, now, limits))


class _Changed(DealsError):
    """The alert has notified, was set again or removed since it was read."""


def change(table: Table, alert: Alert, limits: Limits) -> Alert:
    """Change an alert's price, limits or pace; its product or words stay.

    An unchanged price stays armed as it is: if the alert notifies meanwhile, it is read again. Raises InvalidLimits,
    NoSuchAlert, NotSignedIn, Busy.
    """

    def attempt() -> Alert:
        nonlocal alert
        new = _within(alert, limits)
        condition = "AccountId = :account AND CreatedAt = :set"
        values: dict[str, Any] = {":account": alert.account_id, ":set": to_iso(alert.created_at)}
        if isinstance(alert, PriceAlert):
            condition, values = f"{condition} AND Armed = :armed", {**values, ":armed": alert.armed}
        try:
            table.transact(
                account_checks.required(alert.username, alert.account_id),
                put_over(to_item(new), condition, values, refused=_Changed()),
            )
        except _Changed:
            current = get(table, alert.username, alert.alert_id)
            if current.account_id != alert.account_id:
                raise NoSuchAlert(alert.alert_id) from None
            alert = current
            raise
        return new

    return table.retry(attempt, when=_Changed, gave_up=Busy("This alert is notifying. Try again."))


def _within(alert: Alert, limits: Limits) -> Alert:
    """An alert within other limits. Raises InvalidLimits."""
    if isinstance(alert, WordsAlert):
        return replace(alert, limits=replace(limits, words=alert.limits.words))
    ceiling, only = _of_price(limits)
    stays = (only.ceiling, only.currency) == (alert.limits.ceiling, alert.limits.currency)
    return replace(alert, limits=only, armed=alert.armed if stays else ceiling)


def _of_price(limits: Limits) -> tuple[int, Limits]:
    """A price alert's ceiling in cents, and its limits without those that don't apply. Raises InvalidLimits."""
    if limits.ceiling is None:
        raise InvalidLimits({"ceiling": "This must be filled in."})
    return units(limits.ceiling, limits.currency or ""), Limits(limits.ceiling, limits.currency, pace=limits.pace)


def of(table: Table, username: str) -> list[Alert]:
    """A user's alerts, price alerts first. One consistent Query, so that an alert just saved is in it."""
    return damage.readable(table.query(keys.alerts(username), consistent=True), from_item)


def get(table: Table, username: str, alert_id: str) -> Alert:
    """One of a user's alerts. Raises NoSuchAlert, Damaged."""
    item = table.get(keys.alert(username, alert_id), consistent=True) if _ID.fullmatch(alert_id) else None
    if item is None:
        raise NoSuchAlert(alert_id)
    return damage.read(item, from_item)


def limits_on(table: Table, username: str, product: str) -> Limits | None:
    """The limits of a user's alert on a product, given its hash; None without one. One GetItem."""
    with suppress(NoSuchAlert, Damaged):
        return get(table, username, f"price-{product}").limits
    return None


def remove(table: Table, username: str, alert_id: str, account_id: str | None = None) -> None:
    """Remove an alert and uncount it. Raises NoSuchAlert, NotSignedIn; without an account's id, NoSuchUser."""
    if not _ID.fullmatch(alert_id):
        raise NoSuchAlert(alert_id)
    gone = account_checks.account_missing(username, account_id)
    uncounted = account_checks.alerted(username, account_id, more=-1, refused=gone)
    table.transact(delete(keys.alert(username, alert_id), refused=NoSuchAlert(alert_id)), uncounted)


def to_item(alert: Alert) -> Item:
    kind = keys.PRICE_ALERT if isinstance(alert, PriceAlert) else keys.WORDS_ALERT
    own = {"Type": kind, **_ENTITIES[kind].write(alert), **attributes_of(alert.limits)}
    return {**keys.alert(alert.username, alert.alert_id), **places(alert), **own}


def from_item(item: Item) -> Alert:
    """Read an alert. Raises KeyError, ValueError, TypeError for a damaged one."""
    alert: Alert = _ENTITIES[item["Type"]].read(item, limits=in_item(item))
    return alert


def places(alert: Alert) -> Key:
    """The index keys that lead from a deal to this alert; empty for one that never notifies."""
    if alert.limits.pace is Pace.NEVER:
        return {}
    if isinstance(alert, WordsAlert):
        word, _, joined = alert.rarest.partition(" ")
        filed = keys.alert_in_words(word, alert.username, alert.alert_id)
        return filed | (keys.alert_in_joined(joined, alert.username, alert.alert_id) if joined else {})
    return keys.alert_in_prices(alert.product, alert.limits.currency or "", alert.armed, alert.username)


def as_found(alert: Alert, price: int) -> Write:
    """The write with which an alert notifies of a deal's price in cents; a product alert is then armed below it.

    Refused with NoSuchAlert if it has notified of such a price, or was changed or removed since the index showed it.
    """
    key, gone = keys.alert(alert.username, alert.alert_id), NoSuchAlert(alert.alert_id)
    if isinstance(alert, WordsAlert):
        still = "AccountId = :account AND attribute_exists(GSI1SK)"
        return require(key, still, values={":account": alert.account_id}, refused=gone)
    return update(
        key,
        "SET Armed = :below, GSI2SK = :place",
        condition="AccountId = :account AND Armed >= :price AND Currency = :currency AND attribute_exists(GSI2SK)",
        values={
            ":below": price - 1,
            ":place": places(replace(alert, armed=price - 1))["GSI2SK"],
            ":account": alert.account_id,
            ":price": price,
            ":currency": alert.limits.currency,
        },
        refused=gone,
    )


def _keep(table: Table, alert: Alert) -> Alert:
    """Write an alert, and replace one on the same subject; a new one is counted."""
    item = to_item(alert)
    required = account_checks.required(alert.username, alert.account_id)
    try:
        table.transact(
            put_new(item, refused=AlreadyExists()),
            account_checks.alerted(alert.username, alert.account_id, most=MOST, refused=TooManyAlerts(MOST)),
        )
    except AlreadyExists:
        gone = NoSuchAlert(alert.alert_id)
        table.transact(required, put_over(item, "AccountId = :account", {":account": alert.account_id}, refused=gone))
    except TooManyAlerts:
        table.transact(required)  # otherwise the account is gone
        raise
    return alert


TOGETHER = MOST_TOGETHER - 2
"""Alerts of one transaction, next to the message and the account."""


def deliver(table: Table, queue: Queue, unit: Unit, some: Sequence[Deal], now: datetime, size: int) -> tuple[int, int]:
    """Notify one cohort of active deals; returns how many alerts matched, and how many messages are new.

    If that would be too many messages for one unit of several deals, each deal gets a unit of its own.
    """
    active = [deal for deal in some if deal.status(now) is Status.ACTIVE]
    met, following = cohort(table, unit, active, size)
    if len(met) > size:
        queue.send([each.to_json() for each in unit.of_each()])
        return 0, 0
    if following is not None:
        queue.send([replace(unit, start=following, number=unit.number + 1).to_json()])
    by_deal: dict[str, list[Alert]] = {}
    for deal, alert in met:
        by_deal.setdefault(deal.deal_id, []).append(alert)
    notified = [deal for deal in active if deal.deal_id in by_deal]
    return len(met), sum(notify(table, unit, deal, by_deal[deal.deal_id], now) for deal in notified)


@dataclass(slots=True)
class _Place:
    """A partition of alerts in an index, read above a sort key, and the deals that they may match."""

    index: Index
    above: str | None
    deals: list[Deal] = field(default_factory=list)


def cohort(
    table: Table, unit: Unit, some: Sequence[Deal], size: int
) -> tuple[list[tuple[Deal, Alert]], Mapping[str, str] | None]:
    """The alerts of one cohort that deals match, each with its deal, and where the next cohort starts, or None.

    One Query of each product's alerts, from the lowest price up. For new deals, two more for each of their words: an
    alert on a hyphenated word is filed under a part and under the joined word, and counts only if a deal has the part.
    """
    has = {deal.deal_id: words.of_deal(deal).keys() for deal in some}
    stems = {deal_id: words.stems_of(found_by) for deal_id, found_by in has.items()}
    places: dict[str, _Place] = {}
    for deal in some:
        prices = keys.price_alerts(links.product_hash(deal.link), deal.currency)
        above = keys.offer_by_price(deal.units, "")
        place = places.setdefault(prices, _Place(GSI2, above))
        place.above = min(place.above or above, above)
        place.deals.append(deal)
        for word in stems[deal.deal_id] if unit.kind == "words" else ():
            places.setdefault(keys.words_alerts(word), _Place(GSI1, None)).deals.append(deal)
            places.setdefault(keys.joined_alerts(word), _Place(GSI2, None)).deals.append(deal)
    start = unit.start or {"PK": ""}
    met: list[tuple[Deal, Alert]] = []
    read = 0
    for partition, place in sorted(places.items(), key=itemgetter(0)):  # so the next cohort knows what is left
        if partition < start["PK"]:
            continue
        after = start["SK"] if partition == start["PK"] else place.above
        items = list(table.query(partition, index=place.index, after=after, limit=size - read))
        is_joined = partition.startswith(keys.joined_alerts(""))
        for alert, deal in product(damage.readable(items, from_item), place.deals):
            elsewhere = stems[deal.deal_id] if is_joined else set()
            if limits.wants(alert.limits, deal, has[deal.deal_id]) and elsewhere.isdisjoint(_part(alert)):
                met.append((deal, alert))
        read += len(items)
        if read == size:
            return met, {"PK": partition, "SK": items[-1][place.index.sort_key or ""]}
    return met, None


def _part(alert: Alert) -> list[str]:
    """The word under which GSI1 files a word alert."""
    return alert.rarest.split()[:1] if isinstance(alert, WordsAlert) else []


def notify(table: Table, unit: Unit, deal: Deal, met: Sequence[Alert], now: datetime) -> int:
    """Notify the owners of matching alerts; returns how many messages are new."""
    by_owner: dict[str, list[Alert]] = {}
    for alert in met:
        by_owner.setdefault(alert.username, []).append(alert)
    notify_owner = partial(_notify_owner, table, unit, deal, now=now)
    work = [partial(damage.alone, partial(notify_owner, own), username) for username, own in by_owner.items()]
    return sum(filter(None, table.gather(work)))


def _notify_owner(table: Table, unit: Unit, deal: Deal, own: Sequence[Alert], now: datetime) -> int:
    """Notify one owner in a single message that names all matching alerts; returns whether it is new.

    The message is written with as many alerts as fit a transaction; the others are added one by one.
    """
    left = list(own)
    while left:
        kind: DealNews = "price" if any(isinstance(alert, PriceAlert) for alert in left) else "words"
        paces = {alert.limits.pace for alert in left}
        shown_at = limits.shown_at(Pace.AT_ONCE if Pace.AT_ONCE in paces else Pace.DAILY, now)
        first = left[:TOGETHER]
        names = list(map(messages.name_of, first))
        news = messages.of_deal(deal, kind, unit.correlation_id, *names, fell=unit.kind == "price")
        message = messages.compose(news, left[0].username, shown_at)
        try:
            table.transact(
                messages.sending(message),
                account_checks.required(left[0].username, left[0].account_id),
                *(as_found(alert, deal.units) for alert in first),
            )
        except NoSuchAlert as stale:
            left = [alert for alert in left if alert.alert_id != stale.alert_id]
            continue
        except NotSignedIn:  # the account is gone, and its alerts with it
            return 0
        except AlreadyExists:
            new, others = 0, left
        else:
            new, others = 1, left[TOGETHER:]
        for alert in others:
            with suppress(NoSuchMessage, NoSuchAlert, NotSignedIn):
                table.transact(
                    messages.naming(message, messages.name_of(alert), shown_at),
                    account_checks.required(alert.username, alert.account_id),
                    as_found(alert, deal.units),
                )
        return new
    return 0
