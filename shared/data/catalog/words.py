"""Search: the listed deals that have some words in title or brand, newest first, at a cost that does not grow.

Each word of a listed deal is an item ``WORD / DEAL``, written and taken out by the stream. A search reads the newest
ids of each of its words' partitions at once and keeps those that all of them hold. How many deals have a word is
counted beside it, under the word's first two letters: that completes the last word while it is typed, and finds what a
mistyped word may have meant.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from shared.data import item_types, keys
from shared.dynamodb import cursors
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import delete, put_new, update
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

STRIDE = 250
"""Ids that one request reads of a word's partition: about 20 KB, 2.5 read units."""

STRIDES = 4
"""How often a search reads on where its words rarely meet; then it offers to read on."""

_WORD = re.compile(r"[a-z0-9]+")
_APOSTROPHES = re.compile("['\u2019`]")
_COMMON = frozenset({"a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "s", "the", "to", "with"})
_LONGEST = 40
_ID = Projection.of("DealId")


@dataclass(frozen=True, slots=True)
class Search:
    """What was asked for, as it is looked up. ``cut``: there was more than is looked up."""

    words: tuple[str, ...]
    cut: bool

    @property
    def scope(self) -> str:
        """The name under which this search's cursors are its own."""
        return f"search/{' '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class Found:
    """Ids of deals, newest first; the next page's cursor; words that one that nobody uses may have meant."""

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


def follow(table: Table, before: Deal | None, after: Deal | None) -> None:
    """Bring a deal's words up to date; None is a deal that is not listed. Doing it again changes nothing."""
    old, new = (of_deal(deal) if deal else [] for deal in (before, after))
    deal = after or before
    if deal is None:
        return
    # What was there before is written again, too: a record may come after one that was lost, and finds it there.
    changes = [partial(_add, table, word, deal.deal_id) for word in new]
    changes += [partial(_remove, table, word, deal.deal_id) for word in old if word not in new]
    if changes:
        table.gather(changes)


def find(table: Table, search: Search, *, limit: int, cursor: str | None = None) -> Found:
    """The newest listed deals that have all words of a search; its last word may be the beginning of one.

    A Query for each word and one for what the last begins, all at once; mostly that is all. Raises InvalidCursor.
    """
    if not search.words:
        return Found((), None)
    after = cursors.decode(search.scope, cursor) if cursor is not None else None
    completions = _completions(table, search.words[-1])
    groups = [*((word,) for word in search.words[:-1]), completions]
    ids, position = _meet(table, groups, after, limit)
    more = cursors.encode(search.scope, position) if position is not None else None
    return Found(tuple(ids), more, () if ids or cursor is not None else _near(table, search.words))


def _completions(table: Table, beginning: str) -> tuple[str, ...]:
    """A word and the most frequent words that begin with it."""
    items = table.query(keys.words(beginning), prefix=beginning, limit=100)
    counted = {item["Word"]: item["Deals"] for item in items if item["Deals"] > 0 and item["Word"] != beginning}
    frequent = sorted(counted, key=lambda word: (-counted[word], word))
    return (beginning, *frequent[:COMPLETIONS])


def _meet(
    table: Table, groups: Sequence[tuple[str, ...]], after: str | None, limit: int
) -> tuple[list[str], str | None]:
    """The newest ids that some word of each group has, older than ``after``; and where to read on, or None."""
    found: list[str] = []
    for _ in range(STRIDES):
        words = [word for group in groups for word in group]
        read = dict(zip(words, table.gather([partial(_ids, table, word, after) for word in words]), strict=True))
        # Below the newest of the last ids that a full stride ended with, some partition is unread.
        known_down_to = max((ids[-1] for ids in read.values() if len(ids) == STRIDE), default="")
        held = (set().union(*(read[word] for word in group)) for group in groups)
        met = sorted((each for each in set.intersection(*held) if each >= known_down_to), reverse=True)
        found += met
        if len(found) > limit:
            return found[:limit], found[limit - 1]
        if not known_down_to:
            return found, None
        after = known_down_to
    return found, after


def _ids(table: Table, word: str, after: str | None) -> list[str]:
    items = table.query(
        keys.word(word),
        after=keys.deal_sort_key(after) if after else None,
        newest_first=True,
        limit=STRIDE,
        projection=_ID,
    )
    return [item["DealId"] for item in items]


def _near(table: Table, words: Iterable[str]) -> tuple[str, ...]:
    """Words that begin with the same two letters and are written almost so. One Query for each word, all at once."""
    asked_for = list(words)
    known = table.gather([partial(_known, table, word) for word in asked_for])
    near: list[str] = []
    for word, counts in zip(asked_for, known, strict=True):
        if counts.get(word, 0) <= 0:
            near += difflib.get_close_matches(word, [each for each, deals in counts.items() if deals > 0], n=3)
    return tuple(dict.fromkeys(near))


def _known(table: Table, word: str) -> Mapping[str, int]:
    items: Iterable[Item] = table.query(keys.words(word), limit=1000)
    return {item["Word"]: item["Deals"] for item in items}


def _add(table: Table, word: str, deal_id: str) -> None:
    item: dict[str, Any] = {**keys.word_of_deal(word, deal_id), "Type": item_types.WORD, "DealId": deal_id}
    with suppress(AlreadyExists):
        table.transact(
            put_new(item, refused=AlreadyExists()),
            update(
                keys.word_count(word),
                "SET #type = :type, Word = :word ADD Deals :one",
                condition=None,
                names={"#type": "Type"},
                values={":type": item_types.WORD_COUNT, ":word": word, ":one": 1},
                refused=None,
            ),
        )


def _remove(table: Table, word: str, deal_id: str) -> None:
    with suppress(NotFound):
        table.transact(
            delete(keys.word_of_deal(word, deal_id), refused=NotFound()),
            update(keys.word_count(word), "ADD Deals :one", values={":one": -1}, refused=NotFound()),
        )
