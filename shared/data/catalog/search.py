"""Search: the listed deals that have some words, newest first, at a cost that does not grow.

Each word of a listed deal is an item ``WORD / DEAL``, written and taken out by the stream. It names the deal's other
words, so a search reads one partition only, its rarest word's: a common word beside a rare one costs nothing. It also
holds what lists are sorted, narrowed and laid out by, so that only those deals are read that a page shows. How many
deals have a word is counted under the word's first two letters: that shows which word is the rarest, completes the last
word while it is typed, and finds what a mistyped word may have meant.

1.0.0 filed words as they are written and not as stems, and with less in their items. Until ``btd index`` has filed them
anew, these are found like others, for a search also looks for words as they were typed.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from shared.data import keys
from shared.data.catalog import deals, words
from shared.data.catalog.words import Search, Term, is_a_slip
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, put_new, put_over, update
from shared.errors import AlreadyExists, Impossible, NotFound
from shared.models.catalog import Deal, Status
from shared.values import identifiers, links
from shared.values.stored import stored

COMPLETIONS = 4
"""Words that the last word of a search may be the beginning of, the most frequent first."""

ITEMS = 250
"""Word items that a page of a search reads: about seven read units, beside twelve for the deals of 24 cards, and four
where a word is corrected. All words that the rarest one stands for share them."""

STRIDES = (ITEMS, 300)
"""How many Word items are read, one request after another, where a search has several words: the second time only where
next to no deal (``FEW``) is found. After that, the search offers to read on. A search of one word reads what its page
may show."""

FEW = 4
"""Deals that are shown at most where more than ``ITEMS`` are read for them."""

PARTLY = 100
"""Word items of each word that are read for deals with most of the words, where few have all: about 3 read units."""

MOST_PARTLY = 350
"""Word items that are read for these in all, with those that the search has read before."""

COUNTED = 250
"""Words that one request reads to complete or correct one: of the real deals, no two letters begin half as many."""

MOST_CORRECTED = 2
"""Unknown words of a search that is corrected: each is looked for by up to four beginnings."""

SHORTEST_CORRECTED = 4
"""Letters of a word that is taken for another where no deal has it: of three, one letter less may be anything."""


@dataclass(frozen=True, slots=True)
class Match:
    """A deal as its words' items describe it: all of its words, and what lists are sorted, narrowed and laid out by.

    What 1.0.0 filed has the words only. ``card`` are the beginnings of the hashes of the deal's ``likenesses``;
    ``lowest`` is 1 for a price that is the lowest of 60 days.
    """

    deal_id: str = field(metadata=stored("DealId"))
    words: str = field(metadata=stored("Words"))
    card: str | None = field(default=None, metadata=stored("Card"))
    brand: str | None = field(default=None, metadata=stored("Brand"))
    price: str | None = field(default=None, metadata=stored("Price"))
    currency: str | None = field(default=None, metadata=stored("Currency"))
    discount: int | None = field(default=None, metadata=stored("Discount", int))
    lowest: int | None = field(default=None, metadata=stored("Lowest", int))
    ends_at: datetime | None = field(default=None, metadata=stored("EndsAt", datetime))
    version: int | None = field(default=None, metadata=stored("Version", int))

    def is_over(self, now: datetime) -> bool:
        """Whether its offer has ended: the sweep takes it out minutes later."""
        return self.ends_at is not None and self.ends_at <= now


@dataclass(frozen=True, slots=True)
class Group:
    """Words, one of which a deal must have, and how many deals have each of them.

    ``completed`` are those of them that a word is only the beginning of, as they are written.
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]
    completed: tuple[str, ...] = ()

    @property
    def deals(self) -> int:
        """How many deals have any of the words, at most."""
        return sum(self.counts)

    def shares(self, most: int) -> list[int]:
        """How many items of each word to read, ``most`` in all: what rare words leave is for the others."""
        equal = most // len(self.words)
        spare = sum(max(0, equal - count) for count in self.counts)
        beyond = sum(count > equal for count in self.counts)
        return [max(1, equal + spare // beyond if count > equal else equal) for count in self.counts]


@dataclass(frozen=True, slots=True)
class Found:
    """Deals, newest first; the next page's cursor; known words that an unknown one may be a misspelling of.

    ``completed`` are the words that begin with the last one typed, as far as they were searched.
    ``instead`` is the corrected search whose matches these are, where that which was asked has none. ``groups`` are
    what each word of the search stands for, on a first page, and ``others`` the matches that lack a word.
    """

    matches: tuple[Match, ...]
    next: str | None
    near: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    instead: Search | None = None
    groups: tuple[Group, ...] = ()
    others: tuple[Match, ...] = ()

    @property
    def deal_ids(self) -> tuple[str, ...]:
        """The ids of the deals."""
        return tuple(match.deal_id for match in self.matches)


_MATCH = Entity(Match)
_FOUND = Projection.of("PK", "SK", *_MATCH.names)


def file(table: Table, before: Deal | None, after: Deal | None) -> None:
    """Bring a deal's words up to date; None is a deal that is not listed. Doing it again changes nothing."""
    deal = after or before
    if deal is None:
        return
    old, new = (items_of(deal) if deal else {} for deal in (before, after))
    forms = words.of_deal(deal)
    if before is None or after is None:  # one transaction is less work than one for each word
        removed = (write for word in old for write in _removing(word, deal.deal_id))
        # It was followed before, in part or as a whole; or 1.0.0 filed the deal; or the count of a word is damaged.
        with suppress(AlreadyExists, NotFound, Impossible):
            table.transact(*filing([after] if after else []), *removed)
            return
    # Items that existed before are written again, too: a record may come after one that was lost, and finds it there.
    changes = [
        partial(_add, table, item, word, forms[word], changed=_said(item) != _said(old.get(word)))
        for word, item in new.items()
    ]
    named = before is None or words.of_deal(before).keys() != new.keys()
    gone = {*old, *(words.of_deal_in_1_0(before or deal) if named else ())} - new.keys()
    changes += [partial(_remove, table, word, deal.deal_id) for word in gone]
    table.gather(changes)


def filing(listed: Sequence[Deal]) -> list[Write]:
    """The writes that file new deals: items of their words, and one count of each. Refused with AlreadyExists."""
    forms: dict[str, list[str]] = {}
    for deal in listed:
        for word, form in words.of_deal(deal).items():
            forms.setdefault(word, []).append(form)
    return [
        *(put_new(item, refused=AlreadyExists()) for deal in listed for item in items_of(deal).values()),
        *(_counting(word, set(written), len(written)) for word, written in forms.items()),
    ]


def items_of(deal: Deal) -> dict[str, Item]:
    """The items that find a listed deal, by word: each names all of its words, as of a version of the deal."""
    found = words.of_deal(deal)
    same = {name: getattr(deal, name) for name in ("brand", "price", "currency", "ends_at", "version")}
    card = " ".join(links.hashed(each)[:16] for each in links.likenesses(deal.link, deal.title))
    match = Match(
        deal.deal_id,
        " ".join(found),
        card,
        discount=deal.discount_percent,
        lowest=1 if deal.is_lowest else None,
        **same,
    )
    common = {"Type": keys.WORD, **_MATCH.write(match)}
    return {word: {**keys.word_of_deal(word, deal.deal_id), **common} for word in found}


def _said(item: Item | None) -> Item:
    """A word's item without the version of the deal that it was made of."""
    return {name: value for name, value in (item or {}).items() if name != "Version"}


def find(table: Table, search: Search, *, limit: int, cursor: str | None = None) -> Found:
    """The newest listed deals that have all words of a search; its last word may be the beginning of one.

    Where no deal has some word, and one is written almost like it, that is searched in its place. Two round trips,
    mostly: the counts of its words, and a Query of the rarest one (five where that is the last, of what it begins).
    A correction takes three more. Raises InvalidCursor.
    """
    if not search.terms:
        return Found((), None)
    after = identifiers.read_cursor(search.scope, cursor) if cursor is not None else None
    groups = _groups(table, search.terms)
    unknown = [term.written for term, group in zip(search.terms, groups, strict=True) if group.deals == 0]
    letters = dict.fromkeys(
        (term.written for term in search.terms if term.narrows_only and term.written in unknown), ""
    )
    if unknown and len(letters) == len(unknown) and cursor is None:
        instead = search.corrected(letters)
        found = find(table, instead, limit=limit)
        return replace(found, instead=found.instead or instead)
    if unknown and cursor is not None:
        return Found((), None)
    if unknown:
        found = _corrected(table, search, unknown, limit)
        return found if found.instead else replace(found, groups=tuple(groups))
    matches, others, position = _meet(table, groups, after, limit)
    more = identifiers.cursor_after(search.scope, position) if position is not None else None
    found = Found(tuple(matches), more, completed=groups[-1].completed)
    return found if cursor else replace(found, groups=tuple(groups), others=tuple(others))


def partly(table: Table, found: Found, most: int) -> tuple[Match, ...]:
    """The newest deals that have most of the words of a search but not all, to fill a first page that is all there is.

    Of two words one, of three or four two, of five three; those with more words first. A deal that lacks so few has one
    of the rarest words: those are read, in one round trip, except for the rarest, which the search has read.
    """
    groups = found.groups
    if found.next is not None or most <= 0:
        return ()
    least = max(1, (len(groups) + 1) // 2)
    known = sorted((group for group in groups if group.deals), key=lambda group: group.deals)
    if len(groups) < 2 or len(known) < least:
        return ()
    read = {match.deal_id: match for match in (*found.matches, *found.others)}
    read_from = known[1 if read else 0 : len(known) - least + 1]
    asked_for = [word for each in read_from for word in each.words]
    if len(read) > MOST_PARTLY:  # as units go, the search took those of half a page
        most //= 2
    if asked_for and (each_reads := min(PARTLY, (MOST_PARTLY - len(read)) // len(asked_for))) > 0:
        answers = table.gather([partial(_newest, table, word, None, each_reads) for word in asked_for])
        read |= {match.deal_id: match for items in answers for match in damage.readable(items, _match)}
    having = {
        deal_id: sum(not set(group.words).isdisjoint(match.words.split()) for group in groups)
        for deal_id, match in read.items()
    }
    shown = set(found.deal_ids)
    enough = [deal_id for deal_id, number in having.items() if number >= least and deal_id not in shown]
    enough.sort(key=lambda deal_id: (having[deal_id], deal_id), reverse=True)
    return tuple(read[deal_id] for deal_id in enough[:most])


def first_cards(matches: Sequence[Match], most: int) -> Sequence[Match]:
    """The first of some matches that are so many cards, as ``cards`` says what one is: no card is cut in two."""
    beyond = (place for place, number in enumerate(_numbered(matches)) if number >= most)
    return matches[: next(beyond, len(matches))]


def heads(matches: Iterable[Match], now: datetime) -> tuple[list[Match], dict[str, int]]:
    """The first match of each card, and the number of the card's deals by its id: a page reads no other deal of it.

    What is known to have ended is on no card.
    """
    lasting = [match for match in matches if not match.is_over(now)]
    firsts: list[Match] = []
    alike: Counter[str] = Counter()
    for match, number in zip(lasting, _numbered(lasting), strict=True):
        if number == len(firsts):
            firsts.append(match)
        alike[firsts[number].deal_id] += 1
    return firsts, alike


def _numbered(matches: Iterable[Match]) -> Iterator[int]:
    # What 1.0.0 has filed does not say its card: until it is read, each deal is one.
    return links.numbered(
        ((match.card or match.deal_id).split(), f"{match.price} {match.currency}") for match in matches
    )


def active(table: Table, matches: Iterable[Match], now: datetime) -> list[Deal]:
    """The deals of some matches that are active. BatchGetItem, without those that are known to have ended."""
    found = deals.get_many(table, [match.deal_id for match in matches if not match.is_over(now)])
    return [deal for deal in found if deal.status(now) is Status.ACTIVE]


def active_of_both(
    table: Table, whole: Sequence[Match], partly: Sequence[Match], now: datetime
) -> tuple[list[Deal], list[Deal]]:
    """The active deals of those with all words, and of those with most of them. One BatchGetItem for both."""
    found, of_whole = active(table, [*whole, *partly], now), {match.deal_id for match in whole}
    return [deal for deal in found if deal.deal_id in of_whole], [
        deal for deal in found if deal.deal_id not in of_whole
    ]


def rarest(table: Table, terms: Sequence[Term]) -> Term:
    """The word of a search that the fewest listed deals have. One BatchGetItem."""
    stems = list(dict.fromkeys(stem for term in terms for stem in term.stems))
    known = {count.word: count.deals for count in _read_counts(_counts(table, stems))}
    return min(terms, key=lambda term: sum(known.get(stem, 0) for stem in term.stems))


@dataclass(frozen=True, slots=True)
class _Count:
    """How many listed deals have a word, and the forms in which it is or was written."""

    word: str
    deals: int
    forms: frozenset[str]


def _groups(table: Table, terms: Sequence[Term]) -> list[Group]:
    """The words that each word of a search stands for: the last one also for the most frequent that begin with it.

    One round trip.
    """
    last = terms[-1]
    beginning = last.written[:3]  # and not all of it: a stem may be shorter than what is typed
    others = list(dict.fromkeys(form for term in terms for form in term.forms if not form.startswith(beginning)))
    asked_for = [partial(_begun, table, beginning), *([partial(_counts, table, others)] if others else [])]
    counts = {count.word: count for items in table.gather(asked_for) for count in _read_counts(items)}

    begun = [
        (count, min(forms))
        for count in counts.values()
        if count.word not in last.forms and (forms := [form for form in count.forms if form.startswith(last.written)])
    ]
    completed = dict(sorted(begun, key=lambda each: (-each[0].deals, each[0].word))[:COMPLETIONS])
    *groups, of_last = ([counts[form] for form in term.forms if form in counts] for term in terms)
    return [*map(_group, groups), _group([*of_last, *completed], tuple(completed.values()))]


def _group(counts: Sequence[_Count], completed: tuple[str, ...] = ()) -> Group:
    return Group(tuple(count.word for count in counts), tuple(count.deals for count in counts), completed)


def _read_counts(items: Iterable[Item]) -> list[_Count]:
    """The counts of those words that some deal has."""

    def count(item: Item) -> _Count:
        forms = damage.attribute(item, "Forms", set) if "Forms" in item else {item["SK"]}
        return _Count(item["SK"], damage.attribute(item, "Deals", int), frozenset(forms))

    return [each for each in damage.readable(items, count) if each.deals > 0]


def _begun(table: Table, beginning: str) -> list[Item]:
    return list(table.query(keys.words(beginning), prefix=beginning, limit=COUNTED))


def _counts(table: Table, wanted: Sequence[str]) -> list[Item]:
    return table.get_many([keys.word_count(word) for word in wanted])


def _meet(
    table: Table, groups: Sequence[Group], after: str | None, limit: int
) -> tuple[list[Match], list[Match], str | None]:
    """The newest deals that have some word of each group, older than ``after``; those that were read and have not; and
    where to read on, or None."""
    rarest = min(groups, key=lambda group: group.deals)
    others = [set(group.words) for group in groups if group is not rarest]
    found: list[Match] = []
    without: list[Match] = []
    total = 0
    # What is to be sorted is asked for at once.
    for items_of_all in STRIDES if others and limit < ITEMS else (ITEMS,):
        if total >= ITEMS and len(found) > FEW:
            break
        total += items_of_all
        limit = min(limit, FEW) if total > ITEMS else limit
        strides = [each if others else min(limit + 1, each) for each in rarest.shares(items_of_all)]
        asked_for = zip(rarest.words, strides, strict=True)
        answers = table.gather([partial(_newest, table, word, after, stride) for word, stride in asked_for])
        # Below the newest of the last ids that a full stride ended with, some partition is unread.
        full = [items for items, stride in zip(answers, strides, strict=True) if len(items) == stride]
        known_down_to = max((keys.id_in(items[-1]["SK"]) for items in full), default="")
        read = {match.deal_id: match for items in answers for match in damage.readable(items, _match)}
        for match in (read[each] for each in sorted(read, reverse=True) if each >= known_down_to):
            has_all = all(group.intersection(match.words.split()) for group in others)
            (found if has_all else without).append(match)
        if len(found) > limit:
            return found[:limit], without, found[limit - 1].deal_id
        if not known_down_to:
            return found, without, None
        after = known_down_to
    return found, without, after


def _newest(table: Table, word: str, after: str | None, limit: int) -> list[Item]:
    before = keys.deal_sort_key(after) if after else None
    return list(table.query(keys.word(word), after=before, newest_first=True, limit=limit, projection=_FOUND))


def _match(item: Item) -> Match:
    """The match in a Word item. Raises ValueError."""
    match = _MATCH.read(item)
    if match.deal_id != keys.id_in(item["SK"]):
        raise ValueError("DealId is another deal's")
    return match


def _corrected(table: Table, search: Search, unknown: Sequence[str], limit: int) -> Found:
    """The matches of a search with those words in place of unknown ones that they may be slips of, if there are some.

    Otherwise words that are written almost like the unknown ones, which may have been meant.
    """
    long = all(len(typed) >= SHORTEST_CORRECTED and typed.isalpha() for typed in unknown)
    corrects = long and len(unknown) <= MOST_CORRECTED
    asked_for = [(typed, each) for typed in unknown for each in (_beginnings(typed) if corrects else [typed[:2]])]
    answers = table.gather([partial(_begun, table, beginning) for _, beginning in asked_for])
    known: dict[str, list[_Count]] = {typed: [] for typed in unknown}
    for (typed, _), items in zip(asked_for, answers, strict=True):
        known[typed] += _read_counts(items)
    meant = {typed: word for typed in unknown if (word := _meant(typed, known[typed])) is not None}
    if corrects and len(meant) == len(unknown):
        instead = search.corrected(meant)
        found = find(table, instead, limit=limit)
        if found.matches:
            return replace(found, instead=found.instead or instead)
    near = [
        like
        for typed, counts in known.items()
        for like in difflib.get_close_matches(typed, [form for count in counts for form in sorted(count.forms)], n=3)
    ]
    return Found((), None, tuple(dict.fromkeys(near)))


def _beginnings(typed: str) -> list[str]:
    """The first two letters of a word as they are, and as they may have been meant: each Query reads one of them."""
    first, second, third, *_ = list(typed)
    return list(dict.fromkeys([first + second, second + first, second + third, first + third]))


def _meant(typed: str, counts: Iterable[_Count]) -> str | None:
    """The most frequent word that the query may be a misspelling of, or None."""
    slips = ((count.deals, [form for form in count.forms if is_a_slip(typed, form)]) for count in counts)
    return max(((deals, min(forms)) for deals, forms in slips if forms), default=(0, None))[1]


def _counting(word: str, forms: set[str], deals: int) -> Write:
    """Count so many more deals that have a word. Forms stay when a deal goes: others may be written so."""
    return update(
        keys.word_count(word),
        "SET #type = :type, Word = :word ADD Deals :deals, Forms :forms",
        condition=None,
        names={"#type": "Type"},
        values={":type": keys.WORD_COUNT, ":word": word, ":deals": deals, ":forms": forms},
        refused=None,
    )


def _removing(word: str, deal_id: str) -> tuple[Write, Write]:
    """The writes that take a word's item out and uncount it. Refused with NotFound."""
    return (
        delete(keys.word_of_deal(word, deal_id), refused=NotFound()),
        update(keys.word_count(word), "ADD Deals :one", values={":one": -1}, refused=NotFound()),
    )


def _counted(table: Table, word: str, of_item: Write, counting: Write) -> None:
    """Write a word's item with its count. A count that is damaged is noted, and the item is written without it."""
    try:
        table.transact(of_item, counting)
    except Impossible:
        table.write(of_item)
        damage.note(damage.named(keys.word_count(word)))


def _add(table: Table, item: Item, word: str, form: str, *, changed: bool) -> None:
    """Write a word's item and count it; where it exists and its deal was changed, it is updated.

    A record that comes again after a later one, as out of the dead-letter queue, changes nothing.
    """
    try:
        _counted(table, word, put_new(item, refused=AlreadyExists()), _counting(word, {form}, 1))
    except AlreadyExists:
        if changed:
            there = "attribute_exists(PK) AND (attribute_not_exists(Version) OR Version <= :version)"
            with suppress(NotFound):
                table.write(put_over(item, there, {":version": item["Version"]}, refused=NotFound()))


def _remove(table: Table, word: str, deal_id: str) -> None:
    with suppress(NotFound):
        _counted(table, word, *_removing(word, deal_id))
