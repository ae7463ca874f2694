"""Search: the listed deals that have some words in title or brand, newest first, at a cost that does not grow.

Each word of a listed deal is an item ``WORD / DEAL``, written and taken out by the stream. It names the deal's other
words, so a search reads one partition only, its rarest word's: a common word beside a rare one costs nothing. How many
deals have a word is counted under the word's first two letters: that tells which word is the rarest, completes the last
word while it is typed, and finds what a mistyped word may have meant.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from shared.data import item_types, keys
from shared.dynamodb import cursors, damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, put_new, update
from shared.errors import AlreadyExists, NotFound
from shared.models.catalog import Deal
from shared.values import slugs

MOST_WORDS = 5
"""Words of a search; what is typed beyond them is left out, and said."""

MOST_CHARACTERS = 100
MOST_OF_A_DEAL = 24
"""Words of one deal that are found: the longest titles say everything twice."""

COMPLETIONS = 4
"""Words that the last word of a search may be the beginning of, the most frequent first."""

STRIDES = (250, 1000, 1000)
"""How many Word items each request in turn reads where a search has several words: 250 are about 10 read units. After
these, the search offers to read on. A search of one word reads what its page shows."""

COUNTED = 250
"""Words that one request reads to complete one: of the real deals, no two letters begin half as many."""

_WORD = re.compile(r"[a-z0-9]+")
_APOSTROPHES = re.compile("['\u2019`]")
_COMMON = frozenset({"a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "s", "the", "to", "with"})
_LONGEST = 40
_FOUND = Projection.of("PK", "SK", "Words")


@dataclass(frozen=True, slots=True)
class Search:
    """A query as it is looked up. ``cut``: there was more than is looked up."""

    words: tuple[str, ...]
    cut: bool

    @property
    def scope(self) -> str:
        """The name under which this search's cursors are its own."""
        return f"search/{' '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class Found:
    """Ids of deals, newest first; the next page's cursor; known words that an unknown one may be a misspelling of."""

    deal_ids: tuple[str, ...]
    next: str | None
    near: tuple[str, ...] = ()


def in_text(text: str) -> list[str]:
    """The words of a text in the form in which they are compared: ASCII, lower case, without accents, each once."""
    plain = slugs.to_ascii(_APOSTROPHES.sub("", text)).lower()
    found = (word[:_LONGEST] for word in _WORD.findall(plain))
    return list(dict.fromkeys(word for word in found if word not in _COMMON and (len(word) > 1 or word.isdigit())))


def asked(text: str) -> Search:
    """The search that a typed text is."""
    words = in_text(text[:MOST_CHARACTERS])
    return Search(tuple(words[:MOST_WORDS]), len(text) > MOST_CHARACTERS or len(words) > MOST_WORDS)


def of_deal(deal: Deal) -> list[str]:
    """The words by which a deal is found."""
    return in_text(f"{deal.brand_name} {deal.title}")[:MOST_OF_A_DEAL]


def file(table: Table, before: Deal | None, after: Deal | None) -> None:
    """Bring a deal's words up to date; None is a deal that is not listed. Doing it again changes nothing."""
    deal = after or before
    if deal is None:
        return
    old, new = (items_of(deal) if deal else {} for deal in (before, after))
    # What was there before is written again, too: a record may come after one that was lost, and finds it there.
    named = {word: item["Words"] for word, item in old.items()}
    changes = [partial(_add, table, word, item, renamed=item["Words"] != named.get(word)) for word, item in new.items()]
    changes += [partial(_remove, table, word, deal.deal_id) for word in old if word not in new]
    if not changes:
        return
    if before is None or after is None:  # one transaction is less work than one for each word
        added = (write for word, item in new.items() for write in _adding(word, item))
        removed = (write for word in old for write in _removing(word, deal.deal_id))
        try:
            table.transact(*added, *removed)
        except (AlreadyExists, NotFound):
            pass  # the record was followed before, in part or as a whole
        else:
            return
    table.gather(changes)


def items_of(deal: Deal) -> dict[str, Item]:
    """The items by which a listed deal is found, by word: each names all of its words, as of a version of the deal."""
    words = of_deal(deal)
    common = {"Type": item_types.WORD, "DealId": deal.deal_id, "Words": " ".join(words), "Version": deal.version}
    return {word: {**keys.word_of_deal(word, deal.deal_id), **common} for word in words}


def find(table: Table, search: Search, *, limit: int, cursor: str | None = None) -> Found:
    """The newest listed deals that have all words of a search; its last word may be the beginning of one.

    Two round trips, mostly: the counts of its words, and a Query of the rarest one (five where that is the last, of
    what it begins). Raises InvalidCursor.
    """
    if not search.words:
        return Found((), None)
    after = cursors.decode(search.scope, cursor) if cursor is not None else None
    groups = _groups(table, search.words)
    unknown = [word for word, group in zip(search.words, groups, strict=True) if group.deals == 0]
    if unknown:
        return Found((), None, _near(table, unknown) if cursor is None else ())
    ids, position = _meet(table, groups, after, limit)
    return Found(tuple(ids), cursors.encode(search.scope, position) if position is not None else None)


@dataclass(frozen=True, slots=True)
class _Group:
    """Words of which a deal must have one, and how many deals have any of them, at most."""

    words: tuple[str, ...]
    deals: int


def _groups(table: Table, words: Sequence[str]) -> list[_Group]:
    """Each word by itself, but the last one with the most frequent words that begin with it. One round trip."""
    *whole, last = words
    asked_for = [partial(_begun, table, last), *([partial(_counts, table, whole)] if whole else [])]
    begun, *others = table.gather(asked_for)
    counts = dict(count for items in others for count in _read_counts(items))
    ends = {word: deals for word, deals in _read_counts(begun) if deals > 0}
    frequent = sorted(ends, key=lambda word: (word != last, -ends[word], word))[: COMPLETIONS + (last in ends)]
    completed = _Group(tuple(frequent), sum(ends[word] for word in frequent))
    return [*(_Group((word,), max(0, counts.get(word, 0))) for word in whole), completed]


def _read_counts(items: Iterable[Item]) -> list[tuple[str, int]]:
    """The words that some counts are of, and the deals that have them."""
    return damage.readable(items, lambda item: (item["SK"], damage.attribute(item, "Deals", int)))


def _begun(table: Table, beginning: str) -> list[Item]:
    """The counts of words that begin so."""
    return list(table.query(keys.words(beginning), prefix=beginning, limit=COUNTED))


def _counts(table: Table, words: Sequence[str]) -> list[Item]:
    """The counts of some words, as far as they have any."""
    return table.get_many([keys.word_count(word) for word in words])


def _meet(table: Table, groups: Sequence[_Group], after: str | None, limit: int) -> tuple[list[str], str | None]:
    """The newest ids that some word of each group has, older than ``after``; and where to read on, or None."""
    rarest = min(groups, key=lambda group: group.deals)
    others = [set(group.words) for group in groups if group is not rarest]
    found: list[str] = []
    for stride in STRIDES if others else (limit + 1,):
        answers = table.gather([partial(_newest, table, word, after, stride) for word in rarest.words])
        # Below the newest of the last ids that a full stride ended with, some partition is unread.
        known_down_to = max((_id_of(items[-1]) for items in answers if len(items) == stride), default="")
        read = dict(damage.readable((item for items in answers for item in items), _words_of))
        found += sorted(
            (each for each, has in read.items() if each >= known_down_to and all(has & group for group in others)),
            reverse=True,
        )
        if len(found) > limit:
            return found[:limit], found[limit - 1]
        if not known_down_to:
            return found, None
        after = known_down_to
    return found, after


def _newest(table: Table, word: str, after: str | None, limit: int) -> list[Item]:
    before = keys.deal_sort_key(after) if after else None
    return list(table.query(keys.word(word), after=before, newest_first=True, limit=limit, projection=_FOUND))


def _id_of(item: Item) -> str:
    """The deal that a Word item leads to."""
    return keys.deal_id_of(item) or ""


def _words_of(item: Item) -> tuple[str, set[str]]:
    """The deal that a Word item leads to, and all of its words. Raises ValueError."""
    return _id_of(item), set(damage.attribute(item, "Words", str).split())


def _near(table: Table, unknown: Sequence[str]) -> tuple[str, ...]:
    """Words that begin with the same two letters and are written almost so. One Query for each word, all at once."""
    known = table.gather([partial(_known, table, word) for word in unknown])
    near: list[str] = []
    for word, counts in zip(unknown, known, strict=True):
        near += difflib.get_close_matches(word, [each for each, deals in counts.items() if deals > 0], n=3)
    return tuple(dict.fromkeys(near))


def _known(table: Table, word: str) -> Mapping[str, int]:
    return dict(_read_counts(table.query(keys.words(word), limit=1000)))


def _adding(word: str, item: Item) -> list[Write]:
    """The writes of a word's item and of its count. Refused with AlreadyExists."""
    return [
        put_new(item, refused=AlreadyExists()),
        update(
            keys.word_count(word),
            "SET #type = :type, Word = :word ADD Deals :one",
            condition=None,
            names={"#type": "Type"},
            values={":type": item_types.WORD_COUNT, ":word": word, ":one": 1},
            refused=None,
        ),
    ]


def _removing(word: str, deal_id: str) -> list[Write]:
    """The writes that take a word's item out and uncount it. Refused with NotFound."""
    return [
        delete(keys.word_of_deal(word, deal_id), refused=NotFound()),
        update(keys.word_count(word), "ADD Deals :one", values={":one": -1}, refused=NotFound()),
    ]


def _add(table: Table, word: str, item: Item, *, renamed: bool) -> None:
    """Write a word's item and count it; where it is there already and its deal was renamed, it names the words now.

    A record that comes again after a later one, as out of the dead-letter queue, changes nothing.
    """
    try:
        table.transact(*_adding(word, item))
    except AlreadyExists:
        if renamed:
            with suppress(NotFound):
                table.write(
                    update(
                        keys.primary(item),
                        "SET Words = :words, Version = :version",
                        condition="attribute_exists(PK) AND (attribute_not_exists(Version) OR Version <= :version)",
                        values={":words": item["Words"], ":version": item["Version"]},
                        refused=NotFound(),
                    )
                )


def _remove(table: Table, word: str, deal_id: str) -> None:
    with suppress(NotFound):
        table.transact(*_removing(word, deal_id))
