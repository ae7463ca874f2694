"""Search: the newest listed deals that have some words, at a bounded cost.

Each word of a listed deal has an item ``WORD / DEAL``, which the stream writes and removes. It names the deal's other
words, so a search reads only its rarest word's partition. It also holds what lists sort, filter and group by, so only
the deals on the page are read. A 60-day low is also filed in lists of its own (``lows.py``). Counts of words, filed
under their first two letters, show the rarest word, complete the last word as it is typed, and correct misspelled ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import NamedTuple

from shared.data import keys
from shared.data.catalog import deals, words
from shared.data.catalog.words import Search, Term, is_a_slip
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item, unmarshal_item
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import EXISTS, Write, delete, put_new, put_over, update, upsert
from shared.errors import AlreadyExists, DealsError, Impossible, NotFound
from shared.models.catalog import Deal, Selection, Sort, Status
from shared.values import identifiers, links
from shared.values.money import units
from shared.values.stored import stored

COMPLETIONS = 4
"""The most frequent completions of a search's last word to include."""

ITEMS = 250
"""Word items read for a page of results: about seven read units, next to twelve for 24 cards' deals and four for a
correction. All words that the rarest one stands for share them."""

STRIDES = (ITEMS, 300)
"""Word items read by successive requests of a search with several words; the second only if the first finds at most
``FEW`` deals. Then the search offers to continue. A one-word search reads what its page may show."""

FEW = 4
"""A second request is made if the first finds at most this many deals; then at most this many are shown."""

PARTLY = 100
"""Word items of each word to read for partial matches, if few deals have all words: about 3 read units."""

MOST_PARTLY = 350
"""Word items to read in all for partial matches, with those that the search has read before."""

COUNTED = 250
"""Words that one request reads to complete or correct one: no two letters of the real deals begin half as many."""

MOST_CORRECTED = 2
"""Unknown words of a search to correct: each is looked up under up to four beginnings."""

UNCOUNTED = "Uncounted"
"""The attribute of a damaged count with how often an item was written or deleted since."""

SHORTEST_CORRECTED = 4
"""Letters of the shortest corrected word: three letters with one fewer could be anything."""


@dataclass(frozen=True, slots=True)
class Match:
    """A deal as its Word items describe it: its words, and what lists sort, filter and group by.

    ``card`` has the prefixes of hashes of the deal's ``likenesses``; ``lowest`` is 1 for the lowest price of 60 days.
    1.1.0 filed words of deals without ``lowest``.
    """

    deal_id: str = field(metadata=stored("DealId"))
    words: str = field(metadata=stored("Words"))
    card: str = field(metadata=stored("Card"))
    brand: str = field(metadata=stored("Brand"))
    price: str = field(metadata=stored("Price"))
    currency: str = field(metadata=stored("Currency"))
    discount: int | None = field(default=None, metadata=stored("Discount", int))
    lowest: int | None = field(default=None, metadata=stored("Lowest", int))
    ends_at: datetime | None = field(default=None, metadata=stored("EndsAt", datetime))
    version: int | None = field(default=None, metadata=stored("Version", int))

    def is_over(self, now: datetime) -> bool:
        """Whether its offer has ended: the sweep removes it minutes later."""
        return self.ends_at is not None and self.ends_at <= now

    def fits(self, selection: Selection) -> bool:
        """Whether the deal is selected. A list of discounts has only deals with one."""
        if selection.brand not in (None, self.brand) or (selection.sort is Sort.DISCOUNT and not self.discount):
            return False
        if not selection.admits(self.discount, lowest=bool(self.lowest)):
            return False
        return selection.takes(self.price, self.currency)

    def rank(self, sort: Sort) -> int:
        """The number to sort by; equal ones are newest first."""
        if sort is Sort.NEWEST:
            return 0
        return (self.discount or 0) if sort is Sort.DISCOUNT else units(self.price, self.currency)


class Group(NamedTuple):
    """Alternative words for one word of a search, and how many deals have each.

    ``completed`` are those that the typed word is only a prefix of, and ``synonyms`` its synonyms, as written.
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]
    completed: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()

    @property
    def deals(self) -> int:
        """The most deals that can have any of the words."""
        return sum(self.counts)

    def shares(self, most: int) -> list[int]:
        """How many items of each word to read, ``most`` in all: rare words leave their share to the others."""
        equal = most // len(self.words)
        spare = sum(max(0, equal - count) for count in self.counts)
        beyond = sum(count > equal for count in self.counts)
        return [max(1, equal + spare // beyond if count > equal else equal) for count in self.counts]


class Found(NamedTuple):
    """Deals, newest first; the next page's cursor; and suggestions for an unknown word.

    ``completed`` are the searched completions of the last word, and ``synonyms`` other words that were searched.
    ``instead`` is the corrected search that gave these matches, if the original has none. ``groups`` are the
    alternatives for each word, on a first page, and ``others`` the matches that lack a word.
    """

    matches: tuple[Match, ...]
    next: str | None
    near: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
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
    """Update a deal's words; None stands for a deal that isn't listed. Repeating it changes nothing."""
    deal = after or before
    if deal is None:
        return
    old, new = (items_of(deal) if deal else {} for deal in (before, after))
    forms = filed_under(deal)
    if before is None or after is None:  # one transaction costs less than one for each word
        removed = (write for word in old for write in removing(word, deal.deal_id))
        # Already filed, wholly or partly, perhaps by 1.1.0; or a word's count is damaged.
        with suppress(AlreadyExists, NotFound, Impossible):
            table.transact(*filing([after] if after else []), *removed)
            return
    # Existing items are written again, too: the record may come after one that was lost.
    changes = [
        partial(_add, table, item, word, forms[word], changed=content(item) != content(old.get(word)))
        for word, item in new.items()
    ]
    named = before is None or after is None or words.of_deal(before).keys() != words.of_deal(after).keys()
    others = (*words.of_deal_as_written(before or deal), *words.lists_for(deal.category)) if named else ()
    gone = {*old, *others} - new.keys()
    changes += [partial(_remove, table, word, deal.deal_id) for word in gone]
    table.gather(changes)


def filing(listed: Sequence[Deal]) -> list[Write]:
    """The writes that file new deals: their words' items, and one count for each word. Refused with AlreadyExists."""
    forms: dict[str, list[str]] = {}
    for deal in listed:
        for word, form in filed_under(deal).items():
            forms.setdefault(word, []).append(form)
    return [
        *(put_new(item, refused=AlreadyExists()) for deal in listed for item in items_of(deal).values()),
        *(counting(word, set(written), len(written)) for word, written in forms.items()),
    ]


def items_of(deal: Deal) -> dict[str, Item]:
    """A listed deal's items by word; each names all its words, and the deal's version."""
    found = words.of_deal(deal)
    same = {name: getattr(deal, name) for name in ("brand", "price", "currency", "ends_at", "version")}
    card = links.alike(deal.link, deal.title, deal.brand)
    match = Match(
        deal.deal_id,
        " ".join(found),
        card,
        discount=deal.discount_percent,
        lowest=1 if deal.is_lowest else None,
        **same,
    )
    common = {"Type": keys.WORD, **_MATCH.write(match)}
    return {word: {**keys.word_of_deal(word, deal.deal_id), **common} for word in filed_under(deal)}


def filed_under(deal: Deal) -> dict[str, str]:
    """The words and lists that a listed deal is filed under, each with its written form."""
    return words.of_deal(deal) | words.lists_of(deal)


def content(item: Item | None) -> Item:
    """A Word item without the deal's version."""
    return {name: value for name, value in (item or {}).items() if name != "Version"}


def find(table: Table, search: Search, *, limit: int, cursor: str | None = None) -> Found:
    """The newest listed deals that have all words of a search, or a synonym; the last word may be a prefix.

    If no deal has some word, a similarly spelled one replaces it; if none has all, kinds of things replace things.
    Usually two round trips: the words' counts, and a Query of the rarest word (five if that is the last one, for its
    completions). A correction takes three more, a kind two. Raises InvalidCursor.
    """
    found = _find(table, search, limit, cursor)
    if found.matches or found.next or cursor is not None or (wider := search.widened()) is None:
        return found
    of_kind = _find(table, wider, limit, None)
    return of_kind._replace(instead=of_kind.instead or wider) if of_kind.matches else found


def _find(table: Table, search: Search, limit: int, cursor: str | None, *, corrects: bool = True) -> Found:
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
        found = _find(table, instead, limit, None, corrects=corrects)
        return found._replace(instead=found.instead or instead)
    if unknown and (cursor is not None or not corrects):
        return Found((), None)
    if unknown:
        found = _corrected(table, search, unknown, limit)
        return found if found.instead else found._replace(groups=tuple(groups))
    matches, others, position = _intersect(table, groups, after, limit)
    more = identifiers.cursor_after(search.scope, position) if position is not None else None
    synonyms = tuple(dict.fromkeys(word for group in groups for word in group.synonyms))
    found = Found(tuple(matches), more, completed=groups[-1].completed, synonyms=synonyms)
    return found if cursor else found._replace(groups=tuple(groups), others=tuple(others))


def count(found: Found) -> tuple[int, bool]:
    """How many deals a search's first page has found, and whether these are all."""
    if found.next is None:
        return len(found.matches), True
    if len(found.groups) == 1 and len(found.groups[0].words) == 1:
        return found.groups[0].deals, True
    return len(found.matches), False


def room(shown: Sequence[Match], most: int) -> int:
    """How many cards a page of ``most`` has left beside those of some matches."""
    return most - max(_numbered(shown), default=-1) - 1


def partly(table: Table, found: Found, most: int) -> tuple[Match, ...]:
    """The newest deals that have most of a search's words, but not all, to fill an only page.

    One of two words, two of three or four, three of five; deals with more words come first. Such a deal has at least
    one of the rarest words, which are read in one round trip, without the rarest of all, read by the search.
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
    if len(read) > MOST_PARTLY:  # the search consumed the units of half a page
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


def selected(
    matches: Iterable[Match], selection: Selection, now: datetime, after: tuple[int, str] | None = None
) -> list[Match]:
    """The selected deals of matches in the selection's order, after a rank and a deal's id."""
    fitting = [match for match in matches if not match.is_over(now) and match.fits(selection)]
    fitting.sort(key=lambda match: match.deal_id, reverse=True)
    fitting.sort(key=lambda match: match.rank(selection.sort), reverse=selection.sort is Sort.DISCOUNT)
    return [match for match in fitting if after is None or _is_behind(match, selection.sort, after)]


def _is_behind(match: Match, sort: Sort, position: tuple[int, str]) -> bool:
    rank, deal_id = position
    own = match.rank(sort)
    if own == rank:
        return match.deal_id < deal_id
    return own < rank if sort is Sort.DISCOUNT else own > rank


def first_cards(matches: Sequence[Match], most: int) -> Sequence[Match]:
    """The first matches that make ``most`` cards (see ``cards``); no card is cut in two."""
    beyond = (place for place, number in enumerate(_numbered(matches)) if number >= most)
    return matches[: next(beyond, len(matches))]


def heads(matches: Iterable[Match], now: datetime) -> tuple[list[Match], dict[str, int]]:
    """Each card's first match, and the card's number of deals by its id: no other deal of it is read.

    Deals known to have ended are on no card.
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
    return links.numbered((match.card.split(), f"{match.price} {match.currency}") for match in matches)


def active(table: Table, matches: Iterable[Match], now: datetime) -> list[Deal]:
    """The active deals of matches. BatchGetItem, without those known to have ended."""
    found = deals.get_many(table, [match.deal_id for match in matches if not match.is_over(now)])
    return [deal for deal in found if deal.status(now) is Status.ACTIVE]


def active_of_both(
    table: Table, whole: Sequence[Match], partly: Sequence[Match], now: datetime
) -> tuple[list[Deal], list[Deal]]:
    """The active deals with all words, and those with most words. One BatchGetItem for both."""
    found, of_whole = active(table, [*whole, *partly], now), {match.deal_id for match in whole}
    return [deal for deal in found if deal.deal_id in of_whole], [
        deal for deal in found if deal.deal_id not in of_whole
    ]


def lows(table: Table, category: str | None, after: str | None, most: int) -> tuple[list[Match], str | None]:
    """The newest 60-day lows, of all deals or of a category, older than ``after``; and the last one if there are more.

    One Query.
    """
    items = _newest(table, words.lists_for(category)[-1], after, most)
    return damage.readable(items, _match), keys.id_in(items[-1]["SK"]) if len(items) == most else None


def rarest(table: Table, terms: Sequence[Term]) -> Term:
    """The word of a search that the fewest listed deals have. One BatchGetItem."""
    stems = list(dict.fromkeys(stem for term in terms for stem in term.stems))
    known = {count.word: count.deals for count in _read_counts(_counts(table, stems))}
    return min(terms, key=lambda term: sum(known.get(stem, 0) for stem in term.stems))


class _Count(NamedTuple):
    """How many listed deals have a word, and the forms in which it has been written."""

    word: str
    deals: int
    forms: frozenset[str]


def _groups(table: Table, terms: Sequence[Term]) -> list[Group]:
    """The alternatives for each word of a search; for the last one also its most frequent completions. One round
    trip."""
    last = terms[-1]
    beginning = last.beginning
    all_forms = dict.fromkeys(form for term in terms for form in (*term.forms, *term.synonyms))
    # A Query reads words with the same two first letters: a beginning of one letter finds no longer word.
    others = [form for form in all_forms if form[:2] != beginning[:2] or not form.startswith(beginning)]
    asked_for = [partial(_begun, table, beginning), *([partial(_counts, table, others)] if others else [])]
    counts = {count.word: count for items in table.gather(asked_for) for count in _read_counts(items)}

    begun = [
        (count, min(forms))
        for count in counts.values()
        if count.word not in (*last.forms, *last.synonyms)
        and (forms := [form for form in count.forms if form.startswith(last.written)])
    ]
    completed = dict(sorted(begun, key=lambda each: (-each[0].deals, each[0].word))[:COMPLETIONS])
    return [
        *(_group(term, counts, {}) for term in terms[:-1]),
        _group(last, counts, completed),
    ]


def _group(term: Term, known: Mapping[str, _Count], completed: Mapping[_Count, str]) -> Group:
    counts = [known[form] for form in (*term.forms, *term.synonyms) if form in known]
    synonyms = tuple(min(count.forms) for count in counts if count.word in term.synonyms)
    counts += completed
    words_of = tuple(count.word for count in counts)
    return Group(words_of, tuple(count.deals for count in counts), tuple(completed.values()), synonyms)


def _read_counts(items: Iterable[Item]) -> list[_Count]:
    """The counts of words that some deal has."""

    def count(item: Item) -> _Count:
        forms = damage.attribute(item, "Forms", set) if "Forms" in item else {item["SK"]}
        return _Count(item["SK"], damage.attribute(item, "Deals", int), frozenset(forms))

    return [each for each in damage.readable(items, count) if each.deals > 0]


def _begun(table: Table, beginning: str) -> list[Item]:
    return list(table.query(keys.words(beginning), prefix=beginning, limit=COUNTED))


def _counts(table: Table, wanted: Sequence[str]) -> list[Item]:
    return table.get_many([keys.word_count(word) for word in wanted])


def _intersect(
    table: Table, groups: Sequence[Group], after: str | None, limit: int
) -> tuple[list[Match], list[Match], str | None]:
    """The newest deals older than ``after`` with a word of each group, those read that lack one, and where to continue,
    or None."""
    rarest = min(groups, key=lambda group: group.deals)
    others = [set(group.words) for group in groups if group is not rarest]
    found: list[Match] = []
    without: list[Match] = []
    total = 0
    # A list to sort is read in one request.
    for items_of_all in STRIDES if others and limit < ITEMS else (ITEMS,):
        if total >= ITEMS and len(found) > FEW:
            break
        total += items_of_all
        limit = min(limit, FEW) if total > ITEMS else limit
        strides = [each if others else min(limit + 1, each) for each in rarest.shares(items_of_all)]
        asked_for = zip(rarest.words, strides, strict=True)
        answers = table.gather([partial(_newest, table, word, after, stride) for word, stride in asked_for])
        # Below the newest of the last ids of full strides, some partition is unread.
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
    """Read a Word item's match. Raises ValueError."""
    match = _MATCH.read(item)
    if match.deal_id != keys.id_in(item["SK"]):
        raise ValueError("DealId is another deal's")
    return match


def _corrected(table: Table, search: Search, unknown: Sequence[str], limit: int) -> Found:
    """The matches of a search whose unknown words are replaced by ones they may misspell, if there are any.

    Otherwise similarly spelled words, as suggestions. A word of the trade is spelled right: no sofa is soft.
    """
    right = any(term.synonyms for term in search.terms if term.written in unknown)
    long = not right and all(len(typed) >= SHORTEST_CORRECTED and typed.isalpha() for typed in unknown)
    corrects = long and len(unknown) <= MOST_CORRECTED
    asked_for = [(typed, each) for typed in unknown for each in (_beginnings(typed) if corrects else [typed[:2]])]
    answers = table.gather([partial(_begun, table, beginning) for _, beginning in asked_for])
    known: dict[str, list[_Count]] = {typed: [] for typed in unknown}
    for (typed, _), items in zip(asked_for, answers, strict=True):
        known[typed] += _read_counts(items)
    meant = {typed: word for typed in unknown if (word := _correction(typed, known[typed])) is not None}
    if corrects and len(meant) == len(unknown):
        instead = search.corrected(meant)
        found = _find(table, instead, limit, None, corrects=False)  # once: what replaces a word is known
        if found.matches:
            return found._replace(instead=found.instead or instead)
    import difflib  # noqa: PLC0415  # most searches find something

    near = [
        like
        for typed, counts in known.items()
        for like in difflib.get_close_matches(typed, [form for count in counts for form in sorted(count.forms)], n=3)
    ]
    return Found((), None, tuple(dict.fromkeys(near)))


def _beginnings(typed: str) -> list[str]:
    """A word's first two letters, as typed and as they may have been meant; each takes a Query."""
    first, second, third, *_ = list(typed)
    return list(dict.fromkeys([first + second, second + first, second + third, first + third]))


def _correction(typed: str, counts: Iterable[_Count]) -> str | None:
    """The most frequent word that the typed one may misspell, or None."""
    slips = ((count.deals, [form for form in count.forms if is_a_slip(typed, form)]) for count in counts)
    return max(((deals, min(forms)) for deals, forms in slips if forms), default=(0, None))[1]


def counting(word: str, forms: set[str], deals: int) -> Write:
    """The write that adds to a word's count. Forms stay when a deal leaves: others may use them."""
    left, added = {"Type": keys.WORD_COUNT, "Word": word}, {"Deals": deals, "Forms": forms}
    return upsert(keys.word_count(word), left, added, because="the first deal with a word creates it")


def removing(word: str, deal_id: str) -> tuple[Write, Write]:
    """The writes that remove a word's item and uncount it. Refused with NotFound."""
    return (
        delete(keys.word_of_deal(word, deal_id), refused=NotFound()),
        update(keys.word_count(word), "ADD Deals :one", values={":one": -1}, refused=NotFound()),
    )


def counted(table: Table, of_item: Write, counting: Write, *held: Write) -> None:
    """Write a word's item with its count. A damaged count is noted; a check of the table can repair it."""
    try:
        table.transact(*held, of_item, counting)
    except Impossible:
        key = unmarshal_item(counting.arguments["Key"])
        try:
            table.transact(*held, of_item, _not_counting(key))
        except _Repaired:
            table.transact(*held, of_item, counting)
        else:
            damage.note(damage.named(key))


def _not_counting(key: Key) -> Write:
    """The write that changes a damaged count with each item that it doesn't count, as a repair needs the count to be
    unchanged since it has seen the items."""
    return update(
        key,
        "SET Deals = :unknown ADD #since :one",
        condition=f"{EXISTS} AND (NOT attribute_type(Deals, :number) OR NOT attribute_type(Forms, :texts))",
        names={"#since": UNCOUNTED},
        values={":unknown": "unknown", ":one": 1, ":number": "N", ":texts": "SS"},
        refused=_Repaired(),
    )


class _Repaired(DealsError):
    """The count isn't damaged any more."""


def _add(table: Table, item: Item, word: str, form: str, *, changed: bool) -> None:
    """Write and count a word's item, or update an existing one if its deal has ``changed``.

    A record that comes after a later one, as from the dead-letter queue, changes nothing.
    """
    try:
        counted(table, put_new(item, refused=AlreadyExists()), counting(word, {form}, 1))
    except AlreadyExists:
        if changed:
            there = "attribute_exists(PK) AND (attribute_not_exists(Version) OR Version <= :version)"
            with suppress(NotFound):
                table.write(put_over(item, there, {":version": item["Version"]}, refused=NotFound()))


def _remove(table: Table, word: str, deal_id: str) -> None:
    with suppress(NotFound):
        counted(table, *removing(word, deal_id))
