"""A typed search: the words in it, and limits such as a price or a discount, where a feature reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from shared import features, hooks
from shared.models.catalog import Selection

MOST_CHARACTERS = 200
"""Characters of a text that are read: twice as many as are searched."""


class Offer(NamedTuple):
    """A phrase that may be a limit, the words without it, and the limits that it then means.

    ``$20 off`` means none that lists have: only the words without it are offered.
    """

    typed: str
    rest: str
    selection: Selection


class Phrases(NamedTuple):
    """A typed text: the words to search, its limits as a selection, and each limit as typed.

    ``offered`` are phrases among the words that may be limits.
    """

    rest: str
    selection: Selection
    typed: tuple[str, ...] = ()
    offered: tuple[Offer, ...] = ()

    def around(self, words: str, *, but: str = "") -> str:
        """The words together with these phrases, all or all but one."""
        return " ".join([words, *(each for each in self.typed if each != but)]).strip()

    def within(self, selection: Selection) -> Selection:
        """Add these limits to a selection that has none of its own."""
        own = self.selection
        return replace(
            selection,
            least=selection.least or own.least,
            most=selection.most or own.most,
            currency=selection.currency or own.currency,
            discount=selection.discount or own.discount,
        )


def read_phrases(text: str) -> Phrases:
    """Read a typed text. Without a feature that knows limits, it consists of words."""
    typed = text[:MOST_CHARACTERS]
    return next((each.read(typed) for each in features.roles(hooks.Phrases)), Phrases(typed, Selection()))
