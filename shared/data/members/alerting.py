"""Telling those whose alerts a deal meets: on its product at its price, and on its words.

A unit of work is one cohort of alerts, as ``fanout`` has them of readers, and its continuation is queued before any
owner is told. It needs no marker: an alert says by itself whether it has notified of a price, and a message that exists
is not written again. So a unit that comes twice reads once more, and sends nothing new.

An index names the alerts, and may be a moment behind the table; and a name may have another owner by now. So notifying
is one transaction that requires the alert as it was found, and the account that made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import itemgetter

from shared.data import account_checks, keys
from shared.data.catalog import words
from shared.data.members import alerts, announcements, limits, messages
from shared.data.members.cohorts import Unit
from shared.dynamodb import damage
from shared.dynamodb.schema import GSI1, GSI2, Index
from shared.dynamodb.table import Table
from shared.dynamodb.writes import MOST_TOGETHER
from shared.errors import AlreadyExists, NoSuchAlert, NoSuchMessage, NotSignedIn
from shared.models.catalog import Deal, Status
from shared.models.members import Alert, Pace, PriceAlert, WordsAlert
from shared.models.messages import DealNews
from shared.services import Queue
from shared.values import links

TOGETHER = MOST_TOGETHER - 2
"""Alerts of one transaction, beside the message and the account."""


def deliver(table: Table, queue: Queue, unit: Unit, deal: Deal, now: datetime, size: int) -> tuple[int, int]:
    """Notify one cohort of a deal while it is offered; returns how many alerts it met, and the new messages."""
    if deal.status(now) is not Status.ACTIVE:
        return 0, 0
    met, following = cohort(table, unit, deal, size)
    if following is not None:
        queue.send([replace(unit, start=following, number=unit.number + 1).to_json()])
    return len(met), notify(table, unit, deal, met, now)


def cohort(table: Table, unit: Unit, deal: Deal, size: int) -> tuple[list[Alert], Mapping[str, str] | None]:
    """The alerts of one cohort that a deal meets, and where the next cohort starts, or None.

    One Query of its product's alerts, from its price up; for a new deal, two more for each of its words: an alert on a
    hyphenated word is filed under a part of it and under the joined word, and is taken where the deal has the part.
    """
    has = words.of_deal(deal).keys()
    stems = words.stems_of(has)
    product = keys.price_alerts(links.product_hash(deal.link), deal.currency)
    places: list[tuple[str, Index, str | None]] = [(product, GSI2, keys.offer_by_price(deal.units, ""))]
    if unit.kind == "words":
        places += [(keys.words_alerts(word), GSI1, None) for word in stems]
        places += [(keys.joined_alerts(word), GSI2, None) for word in stems]
    start = unit.start or {"PK": ""}
    met: list[Alert] = []
    read = 0
    for partition, index, above in sorted(places, key=itemgetter(0)):  # so a continuation knows what is left
        if partition < start["PK"]:
            continue
        after = start["SK"] if partition == start["PK"] else above
        items = list(table.query(partition, index=index, after=after, limit=size - read))
        found = damage.readable(items, alerts.from_item)
        elsewhere = stems if partition.startswith(keys.joined_alerts("")) else set()
        met += [each for each in found if limits.wants(each.limits, deal, has) and elsewhere.isdisjoint(_part(each))]
        read += len(items)
        if read == size:
            return met, {"PK": partition, "SK": items[-1][index.sort_key or ""]}
    return met, None


def _part(alert: Alert) -> list[str]:
    """The word that files an alert on words in GSI1."""
    return alert.rarest.split()[:1] if isinstance(alert, WordsAlert) else []


def notify(table: Table, unit: Unit, deal: Deal, met: Sequence[Alert], now: datetime) -> int:
    """Notify the owners of alerts that a deal meets; returns how many messages are new."""
    by_owner: dict[str, list[Alert]] = {}
    for alert in met:
        by_owner.setdefault(alert.username, []).append(alert)
    tell_owner = partial(_notify_owner, table, unit, deal, now=now)
    work = [partial(damage.alone, partial(tell_owner, own), username) for username, own in by_owner.items()]
    return sum(filter(None, table.gather(work)))


def _notify_owner(table: Table, unit: Unit, deal: Deal, own: Sequence[Alert], now: datetime) -> int:
    """Notify one owner: one message for a deal, which names the alerts that it meets; returns whether it is new.

    The message is written with as many alerts as a transaction takes. The others are named in it one after the other.
    """
    left = list(own)
    while left:
        kind: DealNews = "price" if any(isinstance(alert, PriceAlert) for alert in left) else "words"
        paces = {alert.limits.pace for alert in left}
        shown_at = limits.shown_at(Pace.AT_ONCE if Pace.AT_ONCE in paces else Pace.DAILY, now)
        first = left[:TOGETHER]
        names = list(map(announcements.name_of, first))
        news = announcements.of_deal(deal, kind, unit.correlation_id, *names, fell=unit.kind == "price")
        message = announcements.compose(news, left[0].username, shown_at)
        try:
            table.transact(
                messages.sending(message),
                account_checks.required(left[0].username, left[0].account_id),
                *(alerts.as_found(alert, deal.units) for alert in first),
            )
        except NoSuchAlert as stale:
            left = [alert for alert in left if alert.alert_id != stale.alert_id]
            continue
        except NotSignedIn:  # the account is gone: its alerts go with it
            return 0
        except AlreadyExists:
            new, others = 0, left
        else:
            new, others = 1, left[TOGETHER:]
        for alert in others:
            with suppress(NoSuchMessage, NoSuchAlert, NotSignedIn):
                table.transact(
                    messages.naming(message, announcements.name_of(alert), shown_at),
                    account_checks.required(alert.username, alert.account_id),
                    alerts.as_found(alert, deal.units),
                )
        return new
    return 0
