"""Alerts: on a product at one's price, and on new deals with some words; ``MOST`` of both together for each account.

They are in a partition of their owner's, so that its list and its removal ask no index. Indexes name whom to notify:
GSI2 has the alerts on a product by their prices, GSI1 those on words under one of these, the rarest. A part of a
hyphenated word is also looked up as the joined word, in GSI2. An alert's id is made of what it is about: made again it
is replaced.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from shared.data import account_checks, item_types, keys
from shared.data.catalog import search, words
from shared.data.members.limits import attributes_of, in_item
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, put_new, put_over, require, update
from shared.errors import AlreadyExists, InvalidLimits, NoSuchAlert, TooManyAlerts
from shared.models.catalog import Deal
from shared.models.members import Alert, Limits, Pace, PriceAlert, WordsAlert
from shared.values import links
from shared.values.money import units

MOST = 100
"""Alerts of one account."""

_ENTITIES: Mapping[str, Entity[Any]] = {
    item_types.PRICE_ALERT: Entity(PriceAlert, apart=frozenset({"limits"})),
    item_types.WORDS_ALERT: Entity(WordsAlert, apart=frozenset({"limits"})),
}
_ID = re.compile("(price|words)-[0-9a-f]{32}")


def on_price(table: Table, deal: Deal, username: str, account_id: str, limits: Limits, now: datetime) -> Alert:
    """Notify when a product costs at most ``limits.ceiling``. Raises InvalidLimits, TooManyAlerts, NotSignedIn."""
    ceiling, only = _of_price(limits)
    return _keep(table, PriceAlert(id_on(deal), username, account_id, deal.deal_id, deal.title, ceiling, now, only))


def id_on(deal: Deal) -> str:
    """The id of an alert on a deal's product."""
    return f"price-{links.product_hash(deal.link)}"


def on_words(table: Table, username: str, account_id: str, limits: Limits, now: datetime) -> Alert:
    """Notify of new deals with some words, within other limits. Raises InvalidLimits, TooManyAlerts, NotSignedIn."""
    terms = words.asked(limits.words or "").terms
    if not terms:
        raise InvalidLimits({"words": "This must be filled in."})
    about = sorted({"-".join(term.stems) for term in terms})
    alert_id = f"words-{hashlib.sha256(' '.join(about).encode()).hexdigest()[:32]}"
    rarest = " ".join(search.rarest(table, terms).stems)
    return _keep(table, WordsAlert(alert_id, username, account_id, rarest, now, limits))


def change(table: Table, alert: Alert, limits: Limits) -> Alert:
    """Give an alert another price, other limits or another pace; its product and its words stay.

    A price that stays is armed as it was. Raises InvalidLimits, TooManyAlerts, NotSignedIn.
    """
    if isinstance(alert, WordsAlert):
        return _keep(table, replace(alert, limits=replace(limits, words=alert.limits.words)))
    ceiling, only = _of_price(limits)
    stays = (only.ceiling, only.currency) == (alert.limits.ceiling, alert.limits.currency)
    return _keep(table, replace(alert, limits=only, armed=alert.armed if stays else ceiling))


def _of_price(limits: Limits) -> tuple[int, Limits]:
    """The ceiling of an alert on a price, in cents, and its limits: nothing else bounds it. Raises InvalidLimits."""
    if limits.ceiling is None:
        raise InvalidLimits({"ceiling": "This must be filled in."})
    return units(limits.ceiling, limits.currency or ""), Limits(limits.ceiling, limits.currency, pace=limits.pace)


def of(table: Table, username: str) -> list[Alert]:
    """A user's alerts, those on prices first. A Query of one partition, consistent: it has alerts saved just now."""
    return damage.readable(table.query(keys.alerts(username), consistent=True), from_item)


def get(table: Table, username: str, alert_id: str) -> Alert:
    """One of a user's alerts. Raises NoSuchAlert, Damaged."""
    item = table.get(keys.alert(username, alert_id), consistent=True) if _ID.fullmatch(alert_id) else None
    if item is None:
        raise NoSuchAlert(alert_id)
    return damage.read(item, from_item)


def remove(table: Table, username: str, alert_id: str, account_id: str | None = None) -> None:
    """Remove an alert and uncount it. Raises NoSuchAlert, NotSignedIn; without an account's id, NoSuchUser."""
    if not _ID.fullmatch(alert_id):
        raise NoSuchAlert(alert_id)
    gone = account_checks.account_missing(username, account_id)
    uncounted = account_checks.alerted(username, account_id, more=-1, refused=gone)
    table.transact(delete(keys.alert(username, alert_id), refused=NoSuchAlert(alert_id)), uncounted)


def to_item(alert: Alert) -> Item:
    kind = item_types.PRICE_ALERT if isinstance(alert, PriceAlert) else item_types.WORDS_ALERT
    own = {"Type": kind, **_ENTITIES[kind].write(alert), **attributes_of(alert.limits)}
    return {**keys.alert(alert.username, alert.alert_id), **places(alert), **own}


def from_item(item: Item) -> Alert:
    """The alert that an item is. Raises KeyError, ValueError, TypeError for one that is damaged."""
    alert: Alert = _ENTITIES[item["Type"]].read(item, limits=in_item(item))
    return alert


def places(alert: Alert) -> Key:
    """The index attributes that lead from a deal to this alert; empty for one that never notifies."""
    if alert.limits.pace is Pace.NEVER:
        return {}
    if isinstance(alert, WordsAlert):
        word, _, joined = alert.rarest.partition(" ")
        filed = keys.alert_in_words(word, alert.username, alert.alert_id)
        return filed | (keys.alert_in_joined(joined, alert.username, alert.alert_id) if joined else {})
    product = alert.alert_id.removeprefix("price-")
    return keys.alert_in_prices(product, alert.limits.currency or "", alert.armed, alert.username)


def as_found(alert: Alert, price: int) -> Write:
    """The write with which an alert notifies of a deal at a price, in cents; one on a product is then armed below it.

    Refused with NoSuchAlert where it notified of such a price before, or was changed or removed since the index showed
    it.
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
    """Write an alert, in place of one that is about the same; a new one is counted."""
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
        table.transact(required)  # or the account is gone
        raise
    return alert
