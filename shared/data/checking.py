"""The table held against its invariants: what an item says beside what the rest of the table makes of it.

Counts, places in indexes, notes, words, offers and accounts repeat what other items say, so they can be mended. How
much stock is really left, only a person knows. A scan is no snapshot: a fault is what two scans in a row find in the
same state, and it is mended only if its item is still in that state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from shared.data import account_checks, item_types, keys
from shared.data.catalog import drafts, feed_counts, offers, scores, search, words
from shared.data.catalog.deal_items import from_item, is_listed, to_item_listed
from shared.data.members import alerts, follows
from shared.data.orders import order_items
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEX_KEYS, Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import change, delete_as, put_new
from shared.errors import DealsError
from shared.models.catalog import Deal, Status
from shared.models.orders import OrderStatus
from shared.values.times import from_iso

DAMAGE = "damaged item"
INDEX = "places in indexes"
FOLLOWERS = "likes and watches"
SCORES = "scores of deals"
FEEDS = "counts of feeds"
NOTES = "notes of times"
WORDS = "words of deals"
WORD_COUNTS = "counts of words"
OFFERS = "offers of products"
ACCOUNTS = "accounts"
STOCK = "stock"

_COUNTS = {
    item_types.PERIODS: FEEDS,
    item_types.WORD_COUNT: WORD_COUNTS,
    item_types.SCORE: SCORES,
    **dict.fromkeys(item_types.TOPIC.values(), FOLLOWERS),
}
"""The types of items that count others, with the rules of their counts."""

_PAIRED = {
    item_types.WORD: WORDS,
    item_types.ENDING: NOTES,
    item_types.BEGINNING: NOTES,
    item_types.PRODUCT_OFFER: OFFERS,
}
"""The types of items that a deal or a draft has as well as its own, with the rules of theirs."""

_FOLLOWS = {
    **dict.fromkeys(item_types.LIKE.values(), "LikesCount"),
    **dict.fromkeys(item_types.WATCH.values(), "WatchCount"),
}
"""The types of items that a topic counts, with its attributes that do."""

_PIECES = ("OnSale", "Left", "Ordered")
"""The counts of a shard of a deal's stock; the first is the sum of the others."""

Place = tuple[str, str]
"""The key of an item, as a key of dictionaries."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An item that is not as it is due, by a rule; None is an item that is not there. ``derived``: it can be mended."""

    rule: str
    key: Key
    found: Item | None
    due: Item | None
    derived: bool = True

    @property
    def attributes(self) -> list[str]:
        """The attributes in which the two differ."""
        found, due = self.found or {}, self.due or {}
        return sorted(name for name in found.keys() | due.keys() if found.get(name) != due.get(name))


class _Changed(DealsError):
    """Somebody wrote the item meanwhile."""


def check(table: Table, now: datetime, advance: Callable[[int], object] = lambda _: None) -> list[Fault]:
    """The faults of a table, by rule and key. Two scans of the whole table, or one where that finds nothing.

    What it has seen one side of is kept in memory. ``advance`` is told how many items were read.
    """
    first = _survey(table, now, advance)
    again = _survey(table, now, advance) if first else []
    return sorted((fault for fault in first if fault in again), key=lambda each: (each.rule, *each.key.values()))


def mend(table: Table, fault: Fault) -> bool:
    """Make an item as it is due; returns whether it still was as it was found, and can be derived."""
    if not fault.derived:
        return False
    if fault.found is None:
        write = put_new(fault.due or {}, refused=_Changed())
    elif fault.due is None:
        write = delete_as(fault.found, refused=_Changed())
    else:
        write = change(fault.found, fault.due, version=None, refused=_Changed())
    with suppress(_Changed):
        table.write(write)
        return True
    return False


def _survey(table: Table, now: datetime, advance: Callable[[int], object]) -> list[Fault]:
    seen = _Seen(now)
    for item in table.everything():
        try:
            seen.add(item)
        except damage.UNREADABLE as error:
            why = {**item, "Error": str(error)}
            seen.faults.append(Fault(DAMAGE, keys.primary(item), item, why, derived=False))
        advance(1)
    return seen.faults + list(seen.compared())


class _Seen:
    """Everything one scan has seen: counts and those who are counted, and of pairs of items those without the other."""

    def __init__(self, now: datetime) -> None:
        self.faults: list[Fault] = []
        self._now = now
        self._counts: dict[str, dict[Place, Item]] = {rule: {} for rule in _COUNTS.values()}
        self._counted: dict[str, dict[Place, Counter[str]]] = {rule: {} for rule in self._counts}
        self._forms: dict[Place, set[str]] = {}
        self._alone: tuple[dict[Place, Item], dict[Place, Item]] = ({}, {})
        self._shards: dict[str, Counter[str]] = {}
        self._ordered: dict[str, Counter[str]] = {}
        self._cancelled: set[str] = set()
        self._account_ids: dict[str, str] = {}
        self._accounts: dict[str, Item] = {}
        self._open_orders: Counter[str] = Counter()
        self._alerts: Counter[str] = Counter()

    def add(self, item: Item) -> None:
        """Take note of an item. Raises one of ``damage.UNREADABLE``."""
        kind = item.get("Type", "")
        if rule := _COUNTS.get(kind):
            self._counts[rule][_place(item)] = item
        elif counter := _FOLLOWS.get(kind):
            self._count(FOLLOWERS, keys.topic(follows.topic_of(item)), counter)
        elif kind == item_types.VOTE:
            self._count(SCORES, keys.score(item["DealId"]), "Score", damage.attribute(item, "Worth", int))
        elif kind in _PAIRED:
            self._pair(item, due=False)
        elif take := {item_types.DEAL: self._deal, item_types.DRAFT: self._draft}.get(kind):
            take(item)
        elif kind in (item_types.PRICE_ALERT, item_types.WORDS_ALERT):
            self._alerts[item["Username"]] += 1
        elif kind == item_types.USER:
            self._account_ids[item["Username"]] = item["AccountId"]
        elif kind == item_types.ACCOUNT:
            self._accounts[item["Username"]] = item
        else:
            self._sale(item, kind)
        if places := _IN_INDEXES.get(kind):
            self._indexed(item, places(item))

    def compared(self) -> Iterator[Fault]:
        """The faults that show only when everything was seen."""
        found, due = self._alone
        for place in found.keys() | due.keys():
            either = found.get(place) or due[place]
            # A note without its deal or draft is only looked at once more than needed.
            if either["Type"] not in (item_types.ENDING, item_types.BEGINNING) or place in due:
                yield Fault(_PAIRED[either["Type"]], _key(place), found.get(place), due.get(place))
        for rule, counts in self._counts.items():
            for place in counts.keys() | self._counted[rule].keys():
                item, counted = counts.get(place), self._counted[rule].get(place, Counter())
                should = self._count_due(rule, place, item, counted)
                if item != should:
                    yield Fault(rule, _key(place), item, should, derived=bool(item) or rule != FOLLOWERS)
        yield from self._stock()
        for name in self._account_ids.keys() | self._accounts.keys():
            account, account_id = self._accounts.get(name), self._account_ids.get(name)
            orders, alerted = self._open_orders[name], self._alerts[name]
            should = account_checks.to_item(name, account_id, orders, alerted) if account_id else None
            if account is not None and not account.get("Alerts", 1):  # none are left
                account = {attribute: value for attribute, value in account.items() if attribute != "Alerts"}
            if account != should:
                yield Fault(ACCOUNTS, keys.account(name), account, should)

    def _sale(self, item: Item, kind: str) -> None:
        if kind == item_types.STOCK:
            self._shards.setdefault(item["DealId"], Counter()).update({name: item[name] for name in _PIECES})
        elif kind == item_types.ORDER_ITEM:
            self._ordered.setdefault(item["OrderId"], Counter())[item["DealId"]] += item["Quantity"]
        elif kind == item_types.SALE:
            for part in item["Items"]:
                self._ordered.setdefault(item["OrderId"], Counter())[part["DealId"]] += part["Quantity"]
        elif kind == item_types.ORDER and item["Status"] == OrderStatus.CANCELLED:
            self._cancelled.add(item["OrderId"])
        elif kind == item_types.ORDER and item["Status"] == OrderStatus.PLACED:
            self._open_orders[item["Username"]] += 1

    def _stock(self) -> Iterator[Fault]:
        in_orders: Counter[str] = Counter()
        for order, pieces in self._ordered.items():
            in_orders.update(pieces if order not in self._cancelled else {})
        for deal_id, sums in self._shards.items():
            due = {"OnSale": sums["Left"] + sums["Ordered"], "Left": sums["Left"], "Ordered": in_orders[deal_id]}
            if due != sums:
                yield Fault(STOCK, keys.stock_shard(deal_id, 1), dict(sums), due, derived=False)

    def _deal(self, item: Item) -> None:
        deal = from_item(item)
        status = deal.status(self._now)
        # One that has ended stays in the feeds until the sweep.
        listed = status is Status.ACTIVE or (status is Status.EXPIRED and is_listed(item))
        places = to_item_listed(deal, listed=listed)
        self._indexed(item, {name: value for name, value in places.items() if name in INDEX_KEYS})
        for offer in offers.to_items(deal, has_ended=not listed):
            self._pair(offer, due=True)
        if listed:
            self._listed(deal)

    def _draft(self, item: Item) -> None:
        if note := drafts.note_of(drafts.from_item(item)):
            self._pair(note, due=True)

    def _listed(self, deal: Deal) -> None:
        for key, attribute in feed_counts.counters(deal):
            self._count(FEEDS, key, attribute)
        if note := feed_counts.note_of(deal):
            self._pair(note, due=True)
        forms = words.of_deal(deal)
        for word, item in search.items_of(deal).items():
            self._pair(item, due=True)
            key = keys.word_count(word)
            self._count(WORD_COUNTS, key, "Deals")
            self._forms.setdefault(_place(key), set()).add(forms[word])

    def _indexed(self, item: Item, due: Key) -> None:
        should = {name: value for name, value in item.items() if name not in INDEX_KEYS} | due
        if should != item:
            self.faults.append(Fault(INDEX, keys.primary(item), item, should))

    def _count(self, rule: str, key: Key, attribute: str, by: int = 1) -> None:
        self._counted[rule].setdefault(_place(key), Counter())[attribute] += by

    def _pair(self, item: Item, *, due: bool) -> None:
        """Keep an item until its counterpart comes: the one that is found, or the one that is due."""
        mine, other = self._alone if not due else self._alone[::-1]
        counterpart = other.get(_place(item))
        if counterpart is None:
            mine[_place(item)] = item
        # The version tells which of two states is newer; an older one may say the same.
        elif {**counterpart, "Version": None} == {**item, "Version": None}:
            del other[_place(item)]
        else:
            mine[_place(item)] = item

    def _count_due(self, rule: str, place: Place, item: Item | None, counted: Counter[str]) -> Item | None:
        """The item of a count as those who are counted make it."""
        if rule == FOLLOWERS:
            return {**(item or _key(place)), "LikesCount": counted["LikesCount"], "WatchCount": counted["WatchCount"]}
        if rule == SCORES:
            return _score_due(place, item, counted["Score"])
        if rule == WORD_COUNTS:
            new = {**_key(place), "Type": item_types.WORD_COUNT, "Word": place[1], "Forms": self._forms.get(place)}
            return {**(item or new), "Deals": counted["Deals"]}
        if not counted:
            return None
        return {**_key(place), "Type": item_types.PERIODS, feed_counts.TOTAL: counted.total(), **counted}


def _score_due(place: Place, item: Item | None, score: int) -> Item | None:
    """The score of a deal; one that is ranked stands where it is due. Whether it is ranked, the stream says later."""
    if item is None and not score:
        return None  # votes that count nothing make no score
    deal_id = keys.id_in(place[0])
    ranked = scores.place(deal_id, score) if item and "GSI1SK" in item else {}
    return {**(item or {**_key(place), "Type": item_types.SCORE, "DealId": deal_id}), "Score": score, **ranked}


_IN_INDEXES: Mapping[str, Callable[[Item], Key]] = {
    **dict.fromkeys(
        item_types.LIKE.values(), lambda item: keys.like_in_likes(follows.topic_of(item), item["Username"])
    ),
    **dict.fromkeys(
        item_types.WATCH.values(), lambda item: keys.watch_in_watches(follows.topic_of(item), item["Username"])
    ),
    **dict.fromkeys(
        (item_types.PRICE_ALERT, item_types.WORDS_ALERT), lambda item: alerts.places(alerts.from_item(item))
    ),
    item_types.USER: lambda item: keys.user_in_users(item["Username"]),
    item_types.SESSION: lambda item: keys.session_in_sessions(item["Username"], from_iso(item["CreatedAt"])),
    item_types.MESSAGE: lambda item: (
        {} if "ReadAt" in item else keys.message_in_unread(item["Username"], item["MessageId"])
    ),
    item_types.ORDER: lambda item: order_items.places(order_items.from_item(item)),
    item_types.ORDER_ITEM: lambda item: keys.order_item_in_parts(item["OrderId"], item["ItemId"]),
}
"""The attributes by which indexes find an item, by its type. A deal's depend on the time (``_deal``)."""


def _place(item: Mapping[str, object]) -> Place:
    return str(item["PK"]), str(item["SK"])


def _key(place: Place) -> Key:
    return {"PK": place[0], "SK": place[1]}
