"""Check the table against its invariants: each item against its type's row and the items it depends on.

The rows (``shared/data/entities.py``) give an item's attributes, index places and partners. Counts, notes of times,
words, offers and accounts depend on several items; they are derived here, or by features for their items.

A scan isn't a snapshot, so a fault must be found in two scans in a row in the same state.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any

from shared import features, hooks
from shared.data import account_checks, keys
from shared.data.catalog import feed_counts, offers, search
from shared.data.catalog.deals import from_item, is_listed, to_item_listed
from shared.data.entities import NAME, ROWS, row_of
from shared.data.entity import Entity, Partner, When
from shared.data.invariants import (
    ACCOUNTS,
    ATTRIBUTES,
    BRANDS,
    DAMAGE,
    FEEDS,
    FOLLOWERS,
    INDEX,
    NOTES,
    NUMBERS,
    OFFERS,
    PARTNERS,
    UNKNOWN,
    VERDICTS,
    WORD_COUNTS,
    WORDS,
    Fault,
    Others,
)
from shared.data.members import alerts, messages
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEX_KEYS, Key, without_places
from shared.dynamodb.table import Table
from shared.models.catalog import BRAND, Deal, Status
from shared.values import links
from shared.values.times import to_iso

_COUNTS = {
    keys.PERIODS: FEEDS,
    keys.WORD_COUNT: WORD_COUNTS,
    **dict.fromkeys(keys.TOPIC.values(), FOLLOWERS),
}
"""The types of items that are counts, with the rules that they follow."""

_PAIRED = {keys.WORD: WORDS, keys.ENDING: NOTES, keys.PRODUCT_OFFER: OFFERS}
"""The types of items that accompany a deal, with their rules."""

OF_DEALS = frozenset(_PAIRED.values())

_FOLLOWS = {
    **dict.fromkeys(keys.LIKE.values(), "LikesCount"),
    **dict.fromkeys(keys.WATCH.values(), "WatchCount"),
}
"""The types of items that a topic counts, with the counting attributes."""

FROM: Mapping[str, frozenset[str]] = {
    FEEDS: frozenset({keys.DEAL}),
    FOLLOWERS: frozenset(_FOLLOWS),
    ACCOUNTS: frozenset({keys.USER, keys.PRICE_ALERT, keys.WORDS_ALERT}),
    PARTNERS: frozenset(row.type for row in ROWS if row.partners),
}
"""The rules of items that depend on many others, with the types of these: an unreadable one leaves the rule unknown."""

_SEQUENCES = {keys.DEAL_NUMBER: keys.deal_numbers()}
"""The types of items that are numbered from a sequence."""

_READ: Mapping[str, Callable[[Item], object]] = {
    keys.DEAL: from_item,
    keys.MESSAGE: messages.from_item,
    **dict.fromkeys((keys.PRICE_ALERT, keys.WORDS_ALERT), alerts.from_item),
}
"""The types of items with a model: an item that its model can't read is damaged."""

_DERIVED: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "RarestWord": lambda values: values["Rarest"].partition(" ")[0],
    "Joined": lambda values: dict(zip(("word", "joined"), values["Rarest"].split(" "), strict=False))["joined"],
    "Product": lambda values: links.product_hash(values["Link"]),
}
"""Values in the rows' templates that are neither attributes nor parts of the key."""

Place = tuple[str, str]
"""An item's key, hashable."""

_Count = tuple[str, Place]
"""A rule of counts, and the counting item."""

_Counted = tuple[_Count, str, int]
"""What an item adds to a count: where, in which attribute, and how much."""


def check(table: Table, now: datetime) -> list[Fault]:
    """The faults of a table, by rule and key. Two scans of the table, or one if it finds nothing.

    Unmatched halves of pairs stay in memory.
    """
    first = survey(table.everything(), now)
    return lasting(first, survey(table.everything(), now)) if first else []


def lasting(first: Iterable[Fault], again: Iterable[Fault]) -> list[Fault]:
    """The faults that two scans in a row have found in the same state, by rule and key.

    A word's damaged count may be in another one: it changes with each word that it doesn't count.
    """
    found = defaultdict[tuple[str, ...], list[Fault]](list)
    for fault in again:
        found[_named_by(fault)].append(fault)
    known = ((fault, found[_named_by(fault)]) for fault in first)
    return sorted(
        (fault for fault, same in known if fault in same or (same and _is_not_counting(fault))), key=_named_by
    )


def changing(first: Iterable[Fault], again: Iterable[Fault], lasts: Iterable[Fault]) -> int:
    """How many items two scans have found wrong, but not as one of ``lasts``: they were written in between.

    Most are being written by the stream's readers. The count of a word that is filed all the time may be wrong too.
    """
    return len(set(map(_named_by, first)) & set(map(_named_by, again)) - set(map(_named_by, lasts)))


def _is_not_counting(fault: Fault) -> bool:
    return fault.rule == WORD_COUNTS and fault.found is not None and type(fault.found.get("Deals")) is not int


def _named_by(fault: Fault) -> tuple[str, ...]:
    return (fault.rule, *fault.key.values())


def survey(items: Iterable[Item], now: datetime) -> list[Fault]:
    """The faults that one scan finds; writes in progress may appear as faults."""
    found = Survey(now)
    found.add(items)
    return found.faults()


class Survey:
    """One scan of a table, whose pages may be added in any order and by several threads."""

    def __init__(self, now: datetime) -> None:
        self._seen = _Seen(now)
        self._lock = threading.Lock()

    def add(self, items: Iterable[Item]) -> None:
        """Record a page of items."""
        with self._lock:
            for item in items:
                try:
                    self._seen.add(item)
                except damage.UNREADABLE as error:
                    self._seen.faults.append(_named(DAMAGE, item, f"{type(error).__name__}: {error}"))

    def faults(self) -> list[Fault]:
        """The faults, after the last page."""
        return self._seen.faults + list(self._seen.compared())


def _named(rule: str, item: Item, why: str) -> Fault:
    """A fault that only a person can repair."""
    return Fault(rule, keys.primary(item), item, {**item, "Error": why}, derived=False)


class _Seen:
    """What one scan has seen: counts and counted items, required items, and unmatched halves of pairs."""

    def __init__(self, now: datetime) -> None:
        self.faults: list[Fault] = []
        self._now = now
        self._counts: dict[_Count, Item] = {}
        self._counted = defaultdict[_Count, Counter[str]](Counter)
        self._orphans = defaultdict[_Count, Counter[str]](Counter)
        self._forms = defaultdict[Place, set[str]](set)
        self._pairs: dict[Place, list[Item | None]] = {}
        self._there: dict[Place, Item] = {}
        self._needed = defaultdict[Place, list[tuple[Place, _Counted | None]]](list)
        self._required = defaultdict[Place, dict[str, Fault]](dict)
        self._numbers: dict[Place, int] = {}
        self._others = [each.CHECK() for each in features.roles(hooks.Invariants)]
        self._read = features.merged(hooks.Invariants, lambda each: each.CHECK.READ, _READ)
        self._sequences = features.merged(hooks.Invariants, lambda each: each.CHECK.SEQUENCES, _SEQUENCES)
        self._kept = _NEEDED.union(*(each.NEEDED for each in self._others))
        self._counting = {rule: other for other in self._others for rule in other.COUNTS.values()}
        self._rules = features.merged(hooks.Invariants, lambda each: each.CHECK.COUNTS, _COUNTS)
        self._follow = frozenset[str]().union(*(each.FOLLOW for each in self._others))
        self._alerts: Counter[str] = Counter()

    def add(self, item: Item) -> None:
        """Record an item. Raises one of ``damage.UNREADABLE``."""
        if str(item["PK"]).startswith(keys.scratches()):  # a trial request's
            return
        row, values = row_of(item)
        if row is None:
            self.faults.append(_named(UNKNOWN, item, "No type of items has this name and this form of key."))
            return
        item = item if row.computed else self._repaired(item, row, values)
        kind, place = row.type, _place(item)
        if row.claimed or kind in self._kept:
            self._there[place] = item
        if rule := self._rules.get(kind):
            self._counts[rule, place] = item
        elif kind in _PAIRED:
            self._pair(item, due=False)
            if kind == keys.WORD:
                count = _place(keys.word_count(keys.id_in(item["PK"])))
                self._counted[WORD_COUNTS, count]["Deals"] += 1
        elif kind in (keys.PRICE_ALERT, keys.WORDS_ALERT):
            self._alerts[item["Username"]] += 1
        for other in self._others:
            other.add(item, kind)
        self._follow_up(item, row, values)

    def _follow_up(self, item: Item, row: Entity, values: Mapping[str, Any]) -> None:
        """Record an item's number, its count and its owner."""
        kind, place = row.type, _place(item)
        if kind in self._sequences:
            sequence = _place(self._sequences[kind])
            self._numbers[sequence] = max(self._numbers.get(sequence, 0), damage.attribute(item, "Number", int))
        if counted := self._adds(item, kind):
            count, attribute, by = counted
            self._counted[count][attribute] += by
        if row.owned:
            self._need(_place(keys.user(str({**item, **values}["Username"]))), place, counted)

    def _adds(self, item: Item, kind: str) -> _Counted | None:
        """What an item adds to a count, such as a like, or None."""
        if attribute := _FOLLOWS.get(kind):
            return (FOLLOWERS, _place(keys.topic(keys.topic_named(item["PK"])))), attribute, 1
        for other in self._others:
            if own := other.counted(item, kind):
                return (self._rules[own.type], _place(own.key)), own.attribute, own.by
        return None

    def _repaired(self, item: Item, row: Entity, values: Mapping[str, Any]) -> Item:
        """An item as its row requires; its partners are recorded. Raises one of ``damage.UNREADABLE``."""
        due = item | {name: _filled(form, values) for name, form in row.says.items()}
        if missing := [name for name in row.required if name not in due]:
            raise KeyError(*missing)
        if read := self._read.get(row.type):
            read(due)
        known = Values({**due, **values, "Now": to_iso(self._now)})
        if row.type == keys.DEAL:
            places = self._deal(due)
        elif row.type in self._follow:
            places = {name: due[name] for name in INDEX_KEYS & due.keys()}
        else:
            places = {}
            for place in row.places:
                if _holds(place.when, due):
                    with suppress(KeyError):  # it isn't in this place
                        places |= _key_of(place.forms, known)
        should = without_places(due) | places
        if should != item:
            self.faults.append(Fault(INDEX if due == item else ATTRIBUTES, keys.primary(item), item, should))
        for partner, key, says in partners_of(row, due, known):
            if not says:
                self._need(_place(key), _place(item))
                continue
            new = {**key, **says, **{name: known[of] for name, of in partner.new.items() if of in known}}
            fault = Fault(PARTNERS, key, says, new, derived=not partner.is_lost)
            self._required[_place(key)][repr(says)] = fault
        return due

    def _need(self, needed: Place, asking: Place, counted: _Counted | None = None) -> None:
        """Record that an item, which may be counted, requires another that wasn't seen yet."""
        if needed not in self._there:
            self._needed[needed].append((asking, counted))

    def compared(self) -> Iterator[Fault]:
        """The faults that are only known at the end of the scan."""
        wrong = {fault.key["PK"]: fault for fault in self._verdicts()}
        yield from wrong.values()
        for place, (found, due) in self._pairs.items():
            either = found or due or {}
            kind, deal_id = either["Type"], either.get("DealId")
            fault = wrong.get(keys.deal(deal_id)["PK"]) if isinstance(deal_id, str) else None
            right = _judged_as(either, due, fault.due) if fault and fault.due else due
            if not _says_the_same(found, right) and (
                kind != keys.ENDING or due
            ):  # a note without its deal may be a write in progress
                yield Fault(_PAIRED[kind], _key(place), found, right)
        for needed, asking in self._needed.items():
            for place, counted in asking if needed not in self._there else ():
                key = _key(place)
                yield Fault(PARTNERS, key, key, {**key, "Needs": " / ".join(needed)}, derived=False)
                if counted:
                    count, attribute, by = counted
                    self._orphans[count][attribute] += by
        for count in self._counts.keys() | self._counted.keys():
            rule, place = count
            item, should = self._counts.get(count), self._count_due(count)
            if item != should and count in self._orphans:  # it isn't known whether orphans count
                self._counted[count].subtract(self._orphans[count])
                should = self._count_due(count)
            if item != should:
                yield Fault(rule, _key(place), item, should, derived=bool(item) or rule != FOLLOWERS)
        yield from self._partners()
        yield from self._lists()
        yield from chain.from_iterable(other.compared(self._of) for other in self._others)
        yield from self._owners()

    def _partners(self) -> Iterator[Fault]:
        """Partners that are missing or wrong, and items that must be a partner but aren't."""
        for place, asked in self._required.items():
            item = self._there.get(place)
            for fault in asked.values():
                due = fault.due if item is None else item | (fault.found or {})
                if item != due:
                    yield replace(fault, found=item, due=due, derived=fault.derived and len(asked) == 1)
        for place, item in self._there.items():
            if place not in self._required and (row := row_of(item)[0]) and row.claimed:
                yield Fault(PARTNERS, _key(place), item, None, derived=False)

    def _lists(self) -> Iterator[Fault]:
        """Faults of the list of brands and of sequences."""
        kind = keys.TOPIC[BRAND]
        brands = {keys.id_in(item["PK"]): item["Name"] for item in self._counts.values() if item["Type"] == kind}
        key = keys.brands()
        found = self._there.get(_place(key))
        listed = found["Brands"] if found else {}
        if listed != brands:
            due = {**(found or {**key, "Type": keys.BRANDS}), "Brands": brands}
            yield Fault(BRANDS, key, found, due, derived=listed.keys() <= brands.keys())
        for place, highest in self._numbers.items():
            found = self._there.get(place)
            if found is None or found["LastNumber"] < highest:
                due = {**(found or {**_key(place), "Type": keys.SEQUENCE}), "LastNumber": highest}
                yield Fault(NUMBERS, _key(place), found, due)

    def _owners(self) -> Iterator[Fault]:
        """Faults of accounts. One without its User item is reported if it has a password."""
        account_ids = {item["Username"]: item.get("AccountId") for item in self._of(keys.USER)}
        accounts = {keys.id_in(item["PK"]): item for item in self._of(keys.ACCOUNT)}
        for name in account_ids.keys() | accounts.keys():
            account, account_id = accounts.get(name), account_ids.get(name)
            counts = dict(chain(*(other.of_account(name).items() for other in self._others)), Alerts=self._alerts[name])
            should = account_checks.to_item(name, account_id, counts) if account_id else None
            if account is not None and not account.get("Alerts", 1):  # none are left
                account = {attribute: value for attribute, value in account.items() if attribute != "Alerts"}
            if account != should:
                is_lost = should is None and _place(keys.password(name)) in self._there
                yield Fault(ACCOUNTS, keys.account(name), account, should, derived=not is_lost)

    def _of(self, kind: str) -> list[Item]:
        return [item for item in self._there.values() if item["Type"] == kind]

    def _deal(self, item: Item) -> Key:
        """A deal's index places; its other items, such as its offer, are recorded as due."""
        deal = from_item(item)
        status = deal.status(self._now)
        # An ended deal stays in the feeds until the sweep.
        listed = status is Status.ACTIVE or (status is Status.EXPIRED and is_listed(item))
        self._pair(offers.to_item(deal, has_ended=not listed), due=True)
        if listed:
            self._listed(deal)
        for other in self._others:
            other.add_deal(item)
        places = to_item_listed(deal, listed=listed)
        return {name: value for name, value in places.items() if name in INDEX_KEYS}

    def _listed(self, deal: Deal) -> None:
        for key, attribute in feed_counts.counters(deal):
            self._counted[FEEDS, _place(key)][attribute] += 1
        if note := feed_counts.note_of(deal):
            self._pair(note, due=True)
        forms = search.filed_under(deal)
        for word, item in search.items_of(deal).items():
            self._pair(item, due=True)
            place = _place(keys.word_count(word))
            self._forms[place].add(forms[word])

    def _verdicts(self) -> Iterator[Fault]:
        """Deals whose verdict differs from what their product's other deals imply.

        Skipped are deals whose verdict isn't updated (withdrawn ones, products with more deals than one reads), and
        products with a faulty offer until that is repaired.
        """
        products = defaultdict[str, list[tuple[Item, Deal]]](list)
        for item in self._of(keys.DEAL):
            deal = from_item(item)
            products[links.product(deal.link)].append((item, deal))
        unsettled = {
            keys.id_in(place[0])
            for place, (found, due) in self._pairs.items()
            if (found or due or {})["Type"] == keys.PRODUCT_OFFER and _differ(found, due)
        }
        for of_one in products.values():
            offered = [deal for _, deal in of_one]
            if len(offered) > offers.MOST or links.product_hash(offered[0].link) in unsettled:
                continue
            for item, deal in of_one:
                if deal.withdrawn_at is None and (due := offers.judge(deal, offered)) != deal.verdict:
                    yield Fault(VERDICTS, keys.primary(item), item, _judged(item, str(due) if due else None))

    def _pair(self, item: Item, *, due: bool) -> None:
        """Keep a found or due item until its counterpart comes and matches."""
        place = _place(item)
        pair = self._pairs.setdefault(place, [None, None])
        pair[due] = item
        if _says_the_same(*pair):
            del self._pairs[place]

    def _count_due(self, count: _Count) -> Item | None:
        """A count's item as the counted items require it."""
        (rule, place), item, counted = count, self._counts.get(count), self._counted[count]
        if rule == FOLLOWERS:
            return {**(item or _key(place)), "LikesCount": counted["LikesCount"], "WatchCount": counted["WatchCount"]}
        if rule in self._counting:
            of_feature: Others = self._counting[rule]
            return of_feature.count_due(_key(place), item, counted)
        if rule == WORD_COUNTS:
            forms = (item or {}).get("Forms")  # those of deals that have left stay
            known = forms if isinstance(forms, set) else self._forms.get(place) or {place[1]}
            new = {**_key(place), "Type": keys.WORD_COUNT, "Word": place[1], "Forms": known}
            kept = {name: value for name, value in without_places(item or {}).items() if name != search.UNCOUNTED}
            return {**kept, **new, "Deals": counted["Deals"]}
        if not counted:
            return None
        return {**_key(place), "Type": keys.PERIODS, feed_counts.TOTAL: counted.total(), **counted}


def _judged(item: Item, verdict: str | None) -> Item:
    """A deal's item or copy with another verdict, or none."""
    unjudged = {name: value for name, value in item.items() if name != "Verdict"}
    return {**unjudged, "Verdict": verdict} if verdict else unjudged


def _judged_as(copy: Item, due: Item | None, deal: Item) -> Item | None:
    """A deal's ``copy`` as it should be once the deal's own verdict is repaired; ``due`` is it before that.

    A low is filed in lists, so another verdict may file it there, or no longer.
    """
    if due and due["Type"] == keys.PRODUCT_OFFER:
        return _judged(due, deal.get("Verdict"))
    if copy["Type"] == keys.WORD and (due or is_listed(deal)):
        return search.items_of(from_item(deal)).get(keys.id_in(copy["PK"]))
    return due


def _says_the_same(found: Item | None, due: Item | None) -> bool:
    """Whether an item is as it should be; the version only orders two states."""
    return {**(found or {}), "Version": None} == {**(due or {}), "Version": None}


def _differ(found: Item | None, due: Item | None) -> bool:
    """Whether an offer differs from its deal, apart from the verdict."""
    same = {"Version": None, "Verdict": None}
    return {**(found or {}), **same} != {**(due or {}), **same}


class Values(dict[str, Any]):
    """An item's values by name, including derived ones."""

    def __missing__(self, name: str) -> Any:
        return _derived()[name](self)

    def __contains__(self, name: object) -> bool:
        return name in _derived() or super().__contains__(name)


@cache
def _derived() -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
    return features.merged(hooks.Invariants, lambda each: each.CHECK.DERIVED, _DERIVED)


def partners_of(row: Entity, item: Item, values: Values) -> Iterator[tuple[Partner, Key, Item]]:
    """The partners that an item requires, each with its key and required attributes."""
    for partner in row.partners:
        if _holds(partner.when, item):
            with suppress(KeyError):  # it has no such partner
                key = _key_of(partner.key, values)
                yield partner, key, {name: _filled(form, values) for name, form in partner.says.items()}


def _filled(form: str, values: Mapping[str, Any]) -> Any:
    """Fill a template with values; a single name gives the value itself. Raises KeyError."""
    if alone := re.fullmatch(NAME, form):
        value = values[alone[1]]
        return int(value) if alone[2] == "d" else value
    return re.sub(NAME, lambda found: format(values[found[1]], found[2] or ""), form)


def _key_of(forms: Key, values: Mapping[str, Any]) -> Key:
    return {name: str(_filled(form, values)) for name, form in forms.items()}


def _holds(when: When | None, item: Item) -> bool:
    return when is None or item.get(when[0]) in when[1]


_NEEDED = {
    *(row.type for row in ROWS for asked in ROWS for partner in asked.partners if partner.key == row.own.forms),
    *(keys.USER, keys.REMOVAL, keys.ACCOUNT),
    *(keys.BRANDS, keys.SEQUENCE),
}
"""The types of items that others require, and those compared at the end of the scan."""


def _place(item: Mapping[str, object]) -> Place:
    return str(item["PK"]), str(item["SK"])


def _key(place: Place) -> Key:
    return {"PK": place[0], "SK": place[1]}
