"""Texts as feeds write them: HTML without its tags, times, and amounts of money."""

from __future__ import annotations

import html
import re
import unicodedata
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import nh3

from shared.values import money

MOST_MARKUP = 64 * 1024
"""Characters of HTML that are read: a browser's rules take quadratic time for tags within each other."""

_SPACED = {"p", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "tr", "ul", "ol"}
_UNSEEN = {"script", "style"}
_KEPT_TAG = re.compile(r"</?[a-z0-9]+>")
_WRITTEN = "KČ=CZK ZŁ=PLN FT=HUF LEI=RON ЛВ=BGN РУБ=RUB ₽=RUB RUR=RUB ГРН=UAH £=GBP €=EUR EURO=EUR"
_SIGNS = dict(pair.split("=") for pair in _WRITTEN.split(" "))
"""Signs and words for currencies beside those of ISO 4217."""

_CROWNS = {"KR", ":-"}
_WITH_CROWNS = ("SEK", "NOK", "DKK", "ISK")
_AMOUNT = re.compile(r"(?P<before>[^\d\s.,'-]*) ?(?P<amount>\d[\d., ']*?)(?:[.,:]?[-\u2013])? ?(?P<after>[^\d\s,'-]*)")
"""An amount between signs; ``199:-`` and ``12.-`` are round."""


def plain(text: str) -> str:
    """A text in one line: other white space is a space, and what has no width is nothing."""
    return " ".join("".join(_shown(c) for c in text).split())


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return "" if unicodedata.category(character) == "Cf" else " "


def without_tags(markup: str) -> str:
    """The text of HTML, in one line: as browsers show it, and of a long one the beginning."""
    if "<" not in markup and "&" not in markup:
        return plain(markup)
    whole = markup if len(markup) <= MOST_MARKUP else markup[:MOST_MARKUP].rpartition("<")[0]
    kept = nh3.clean(whole, tags=_SPACED, attributes={}, clean_content_tags=_UNSEEN)
    return plain(html.unescape(_KEPT_TAG.sub(" ", kept)))


def when(text: str) -> datetime | None:
    """Parse an ISO 8601 or RFC 822 time, in UTC if it has no zone; None if it is neither."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text.strip())
        except (ValueError, TypeError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def is_day(text: str) -> bool:
    """Whether a time is a day alone."""
    return re.fullmatch(r"\d{4}-?\d\d-?\d\d", text.strip()) is not None


def amount(text: str, currency: str) -> tuple[str, str]:
    """An amount and its currency, which is the given one if the text names none. Raises ValueError.

    ``1,299.00``, ``1.299,00``, ``1 299,00`` and ``1'299.-`` are one amount.
    """
    found = _AMOUNT.fullmatch(plain(text).replace("\u2019", "'"))
    if found is None or (found["before"] and found["after"]):
        raise ValueError(f"{text.strip()[:40]!r} is no amount")
    of = _currency(found["before"] or found["after"], currency)
    return _number(found["amount"].strip(), of), of


def _currency(written: str, default: str) -> str:
    sign = written.upper().rstrip(".")
    if not sign or money.is_of(written.rstrip("."), default):
        return default
    if sign in _CROWNS and default in _WITH_CROWNS:
        return default
    found = _SIGNS.get(sign) or money.named(sign)
    if found is None:
        raise ValueError(f"{written!r} does not name one currency (--currency)")
    return found


def _number(written: str, currency: str) -> str:
    """Digits with a point before decimals, whatever separates thousands."""
    bare = re.sub(r"[ ']", "", written).rstrip(".,")
    last = max(bare.rfind("."), bare.rfind(","))
    if last < 0:
        return bare
    whole, decimals = bare[:last], bare[last + 1 :]
    once = bare.count(bare[last]) == 1
    # Three digits behind are decimals only in a currency that has as many.
    thousands = len(decimals) == 3 and money.decimals(currency) < 3 and not re.search("[.,]", whole)
    if thousands or not once:
        whole, decimals = whole + decimals, ""
    whole = re.sub("[.,]", "", whole)
    return f"{whole or '0'}.{decimals}" if decimals else whole
