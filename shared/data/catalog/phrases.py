"""The limits in a typed search, a price or a discount: ``shoes under $80``, ``half price``, ``-30%``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from shared.models.catalog import Selection
from shared.values import money

_AMOUNT = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,13})(?:\.\d{1,2})?|(?:\d{1,3}(?:\.\d{3}){1,3}|\d{1,10}),\d{1,2}"
"""An amount, with separators of thousands or without: ``1,299.00``, and as Europe writes it ``1.299,00``."""

_PRICE = r"(?P<{0}sign>(?:[A-Z]{{2}})?[$€£¥₹]|(?:CODE)(?= ?\d))? ?(?P<{0}>AMOUNT)(?![.,]?\d| ?%)"
_PRICE += r"(?: ?(?P<{0}code>CODE|[€£])(?!\w))?"
_AT_MOST = r"(?:under|below|less than|cheaper than|up to|at most|max(?:imum)?|<) ?"
_AT_LEAST = r"(?:over|above|more than|at least|from|min(?:imum)?|>) ?"
_BARE = re.compile(r"under|below|less|cheaper|over|above|more", re.IGNORECASE)
_DISCOUNT = re.compile(
    r"(?<!\w)(?:(?:up to|at least) )?(?:(?P<half>half[ -](?:price|off))|-? ?(?P<percent>[1-9]\d?) ?%(?: off)?)(?!\w)",
    re.IGNORECASE,
)


@cache
def _bounds() -> list[re.Pattern[str]]:
    """The forms of prices, longest first: ``$20 to $40``, ``under $80``, ``over 50 EUR``, ``$80``."""
    most, least = _PRICE.format("most"), _PRICE.format("least")
    forms = [
        rf"(?:between )?{least} ?(?:-|\u2013|to|and) ?{most}",
        _AT_MOST + most,
        _AT_LEAST + least,
        rf"(?=[A-Z]{{0,2}}[$€£¥₹]){most}",
    ]
    codes = "|".join(money.currencies())
    written = [rf"(?<!\w){form}(?![\w%])".replace("CODE", codes).replace("AMOUNT", _AMOUNT) for form in forms]
    return [re.compile(form, re.IGNORECASE) for form in written]


MOST_CHARACTERS = 200
"""Characters of a text that are read: twice as many as are searched."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """A typed text: the words to search, its limits as a selection, and each limit as typed."""

    rest: str
    selection: Selection
    typed: tuple[str, ...] = ()

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
    """Read the limits in a typed text. Numbers without a currency may be sizes: only some words make them limits."""
    selection, typed, text = Selection(), [], text[:MOST_CHARACTERS]
    for form in _bounds():
        if selection.most is not None and "most" in form.groupindex:
            continue
        found = form.search(text)
        read = _priced(found) if found else None
        if found and read and (read.currency or _BARE.match(found[0])):
            selection = replace(
                selection,
                least=read.least or selection.least,
                most=read.most or selection.most,
                currency=read.currency or selection.currency,
            )
            typed.append(found[0].strip())
            text = f"{text[: found.start()]} {text[found.end() :]}"
    if found := _DISCOUNT.search(text):
        selection = replace(selection, discount=50 if found["half"] else int(found["percent"]))
        typed.append(found[0].strip())
        text = f"{text[: found.start()]} {text[found.end() :]}"
    return Phrases(" ".join(text.split()), selection, tuple(typed))


def _priced(found: re.Match[str]) -> Selection | None:
    """The limits of a phrase; None if an amount is invalid in its currency, or there are two currencies."""
    groups = found.groupdict()
    signs = {groups.get(f"{name}{part}") or "" for name in ("least", "most") for part in ("sign", "code")} - {""}
    amounts = {name: money.normal(money.read(groups[name])[0]) for name in ("least", "most") if groups.get(name)}
    currency = money.named(signs.pop()) if len(signs) == 1 else None
    if signs or (currency and any(money.fault(amount, currency) for amount in amounts.values())):
        return None
    if not all(re.fullmatch(money.PATTERN, amount) for amount in amounts.values()):
        return None
    return Selection(least=amounts.get("least"), most=amounts.get("most"), currency=currency)
