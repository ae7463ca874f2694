"""Limits that are written into a search: ``shoes under $80``, ``half price``, ``-30%``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from shared.models.catalog import Selection
from shared.values import money

_PRICE = r"(?P<{0}sign>(?:[A-Z]{{2}})?[$€£¥₹]|(?:CODE)(?= ?\d))? ?(?P<{0}>\d[\d,]{{0,12}}(?:\.\d{{1,2}})?)(?!\.?\d| ?%)"
_PRICE += r"(?: ?(?P<{0}code>CODE|[€£])(?!\w))?"
_MOST = r"(?:under|below|less than|cheaper than|up to|at most|max(?:imum)?|<) ?"
_LEAST = r"(?:over|above|more than|at least|from|min(?:imum)?|>) ?"
_BARE = re.compile(r"under|below|less|cheaper|over|above|more", re.IGNORECASE)
_DISCOUNT = re.compile(
    r"(?<!\w)(?:(?:up to|at least) )?(?:(?P<half>half[ -](?:price|off))|-? ?(?P<percent>[1-9]\d?) ?%(?: off)?)(?!\w)",
    re.IGNORECASE,
)


@cache
def _bounds() -> list[re.Pattern[str]]:
    """The forms of prices, the longest first: ``$20 to $40``, ``under $80``, ``over 50 EUR``, ``$80``."""
    most, least = _PRICE.format("most"), _PRICE.format("least")
    forms = [
        rf"(?:between )?{least} ?(?:-|\u2013|to|and) ?{most}",
        _MOST + most,
        _LEAST + least,
        rf"(?=[A-Z]{{0,2}}[$€£¥₹]){most}",
    ]
    codes = "|".join(money.currencies())
    return [re.compile(rf"(?<!\w){form}(?![\w%])".replace("CODE", codes), re.IGNORECASE) for form in forms]


MOST_CHARACTERS = 200
"""Characters of a text that are read: twice what is searched."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """A typed text: the rest of it that is searched, its limits as a selection, and each phrase as it was typed."""

    rest: str
    selection: Selection
    typed: tuple[str, ...] = ()

    def around(self, words: str, *, but: str = "") -> str:
        """A text of some words with these phrases, all of them or all but one."""
        return " ".join([words, *(each for each in self.typed if each != but)]).strip()

    def within(self, selection: Selection) -> Selection:
        """A selection that takes these limits where it has no limit itself."""
        own = self.selection
        return replace(
            selection,
            least=selection.least or own.least,
            most=selection.most or own.most,
            currency=selection.currency or own.currency,
            discount=selection.discount or own.discount,
        )


def read(text: str) -> Phrases:
    """The limits in a typed text. Numbers without a currency may be sizes: they are limits after some words alone."""
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
    """The limits of a phrase; None where an amount is none in its currency, or two currencies are named."""
    groups = found.groupdict()
    signs = {groups.get(f"{name}{part}") or "" for name in ("least", "most") for part in ("sign", "code")} - {""}
    amounts = {name: money.normal(groups[name].replace(",", "")) for name in ("least", "most") if groups.get(name)}
    currency = money.named(signs.pop()) if len(signs) == 1 else None
    if signs or (currency and any(money.fault(amount, currency) for amount in amounts.values())):
        return None
    if not all(re.fullmatch(money.PATTERN, amount) for amount in amounts.values()):
        return None
    return Selection(least=amounts.get("least"), most=amounts.get("most"), currency=currency)
