"""Which deals are one card: those of one product at one price, and its colours and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shared.values import links

_ENDING = re.compile(r"(?:, | [-\u2013\u2014|] | \()[^,|(\u2013\u2014]*$")


def likenesses(link: str, title: str) -> tuple[str, str]:
    """Two texts of a deal: deals are of one product, or its colours and sizes, where they share one of them.

    The first is the product. The second is the page at the shop with the title, without the colour or size that this
    may end with: ``Trail runner, blue``. Titles tell colours of one page from products that only share its path.
    """
    return links.product(link), f"{links.page(link)} {_ENDING.sub('', title).casefold()}"


LONGEST = 40
"""Characters of a name that a card has room for, in two lines."""

_LAST = 14
"""Of a longer name, the characters at its end that stay: there, products of one kind differ."""


def named(title: str, brand: str) -> tuple[str, str]:
    """A title as a card shows it, and the colour or size that it ends with or "", which has a line of its own.

    The brand, which the card names above it, is not repeated. A name of more than ``LONGEST`` characters is cut in its
    middle.
    """
    name, kind = title, ""
    if name.casefold().startswith(f"{brand.casefold()} "):
        name = name[len(brand) :].lstrip(" -\u2013\u2014|:,") or title
    ending = _ENDING.search(name)
    if ending and ending.start() and len(ending[0]) <= LONGEST // 2:
        name, kind = name[: ending.start()], ending[0].strip(" ,-\u2013\u2014|()")
    if len(name) > LONGEST:
        name = f"{name[: LONGEST - _LAST - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}{name[-_LAST:].lstrip()}"
    return name, kind


def numbered(shown: Iterable[tuple[Iterable[str], str]]) -> Iterator[int]:
    """The number of the card that each of some deals is on, from 0: deals are their likenesses and their prices."""
    numbers: dict[tuple[str, str], int] = {}
    cards = 0
    for texts, price in shown:
        own = [(text, price) for text in texts]
        number = next((numbers[each] for each in own if each in numbers), cards)
        cards += number == cards
        for each in own:
            numbers.setdefault(each, number)
        yield number
