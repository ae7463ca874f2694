"""The limits in a typed search, a price or a discount: ``shoes under $80``, ``half price``, ``$100 and up``.

Prices with a currency are also read in German, French, Spanish, Italian, Dutch, Swedish and Polish.

The grammar has four forms, tried in this order: a discount in percent, a reduction by an amount (``$20 off``), a price
range, and one price with words before or after it that say which bound it is. A phrase that can mean something else
(``polo 29.99``, ``50% wool``, ``toys 3 and up``) stays part of the words to search; its reading is only offered.
``tests/phrases.txt`` has each phrase with its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from shared import settings
from shared.data.catalog.phrases import Offer, Phrases
from shared.models.catalog import Selection
from shared.values import money

HELP = "Words such as “under $80” and “half price” are limits."
"""What the help of ``btd deals search`` says of them."""

_NAMES = {
    "$": r"(?:us |u\.s\. |american )?(?:dollars?|bucks?)",
    "CA$": "canadian dollars?",
    "A$": "australian dollars?",
    "€": "euros?",
    "£": "pounds?(?: sterling)?|quid",
    "¥": "yen",
    "₹": "rupees?",
    "PLN": "z(?:ł|lot)(?:ys?|otych|ych|oty)?",
    "SEK": "kronor|swedish krona",
}
"""The names of currencies, by sign or code. ``kr`` names three."""

_OTHER_SIGNS = {"US$": "$", "C$": "CA$", "AU$": "A$"}

_CODES = ("CHF", "CZK", "DKK", "HUF", "NOK", "PLN", "SEK", "SGD", "ZAR")
"""Codes that are read beside those of currencies with a sign and those of the settings: other codes are words, too, as
are TOP, CUP and GEL."""

_AMOUNT = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,13})(?:\.\d{1,2})?|(?:\d{1,3}(?:\.\d{3}){1,3}|\d{1,10}),\d{1,2}"
"""An amount, with separators of thousands or without: ``1,299.00``, and as Europe writes it ``1.299,00``."""

_NUMBERS = {"five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty five": 25, "thirty": 30, "forty": 40}
_NUMBERS |= {"fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000}

_PRICE = r"(?P<{0}sign>SIGN|(?:CODE)(?= ?\d))? ?(?P<{0}>AMOUNT|(?:an? |one )?(?:NUMBERS)(?!\w))(?P<{0}k>k)?"
_PRICE += r"(?: ?(?P<{0}code>CODE|SIGN|NAMES|cents?|¢)(?!\w))?(?!\w|[.,:/]\d| ?(?:%|percent|per cent))"

_NOT = r"(?:not?|nothing|never|without|don['\u2019]?t|doesn['\u2019]?t|isn['\u2019]?t|can['\u2019]?t|won['\u2019]?t)"
_NOT += r"(?: (?:to|that|is|are|be|go|going|want|costs?|costing|pay|paying|spend|spending|priced|any|a|cent|penny))*"

_LEAD = r"(?:(?:that|which|and|is|are|at|in|for|my|the|with|a|of|prices?|priced|pricing|costs?|costing|budget|range"
_LEAD += r"|ranging|selling|sells|sold|spend|spending|pay|paying|limit|within"
_LEAD += r"|now|only|just|(?:reduced|marked down|down) to)[: ]{1,2})*"
_PRICED = r"(?i)\b(?:price|pricing|cost|budget|spend|pay)"
"""Words that make a number a price."""

_AT_MOST = r"under|below|beneath|(?:less|lower|cheaper) than|within|<=?|≤|up ?to"
_AT_MOST += (
    r"|sub|unter|bis(?: zu)?|h[öo]chstens|maximal|weniger als|billiger als|moins de|jusqu['\u2019]?[àa]|menos de"
)
_AT_MOST += (
    r"|hasta|meno di|sotto(?: [ai])?|fino a|onder|tot|minder dan|h[öo]gst|poni[żz]ej|do(?= ?\d[\d., ]* ?(?:z[łl]|pln))"
)
_AT_MOST += r"|at (?:the )?most|a? ?maximum(?: of)?|(?<!air )(?<!pro )(?<!m\d )(?<!ai )max(?:\.|:| of)?"
_AT_LEAST = (
    r"(?<!pull )over|above|(?:more|greater|higher|pricier|dearer|more expensive) than|>=?|≥|exceeding|upwards? of"
)
_AT_LEAST += r"|[üu]ber|mehr als|ab|plus de|[àa] partir (?:de|di)|m[áa]s de|desde|pi[ùu] di|oltre|meer dan|vanaf"
_AT_LEAST += r"|över|powy[żz]ej"
_AT_LEAST += r"|at (?:the )?least|a? ?minimum(?: of)?|min(?:\.|:| of)?|from|(?:starting|beginning) (?:from|at)"
_BARE = (
    r"(?i)"
    r"(?:under|below|less than|lower than|cheaper than|over|above|more than|greater than|higher than|pricier than"
    r"|dearer than|more expensive than|[<>]=?|[≤≥])\Z"
)
"""Words that make a number without a currency a price, unless a unit follows it."""
_OF_PRICES = r"(?i)cheaper|pricier|dearer|expensive"

_OR_LESS = r"(?:or|and|&) (?:less|under|below|cheaper|lower|down)(?! ?(?:than\b|[$€£\d]))"
_OR_LESS += r"|max(?:imum)?(?= ?(?:$|[,;]))|at most(?! ?[$€£\d])|tops"
_OR_MORE = (
    r"(?:or|and|&) (?:more|over|above|higher|up|upwards?|beyond|pricier)(?! ?(?:than\b|[$€£\d]))|\+|plus(?! sizes?\b)"
)
_OR_MORE += r"|min(?:imum)?(?= ?(?:$|[,;]))|at least(?! ?[$€£\d])|upwards?|up(?= ?$)"
_EACH = r"(?: (?:each|apiece|in total|total|altogether|(?:price )?range|in price|price|budget|only)(?!\w))?"

_UNIT = (
    r"(?i)"
    r" ?-?(?:[\"'\u201d\u2032\u2033\u00b0\u00d7/]|(?:in(?:ch(?:es)?)?|[cmk]?m|ft|feet|foot|yards?|miles?|lbs?"
    r"|oz|ounces?|m?g|grams?|kg|kilos?"
    r"|m?l|lit(?:er|re)s?|gal(?:lons?)?|qts?|quarts?|cups?|watts?|w|volts?|v|amps?|m?ah|k?wh|[kmg]?hz|[gtm]b|mp"
    r"|megapixels?|fps|p|dpi|rpm|[mk]ph|psi|bar|degrees?|hours?|hrs?|min(?:ute)?s?|sec(?:ond)?s?|days?|nights?"
    r"|weeks?|months?|years?|yrs?|yo|olds?|packs?|pieces?|pcs?|counts?|ct|persons?|people|man|players?|stars?"
    r"|ratings?|reviews?|points?|speed|gears?|denier|threads?|tc|gsm|mil|mcg|iu|carats?|karats?|k|calories?|percent"
    r"|kr\.?|sizes?|sets?|pairs?|seat(?:er)?s?|doors?|drawers?|tiers?|ply|lumens?|grit|gauge|pages?|x|reps?|rounds?)(?!\w))"
)
"""What makes the number before it no price."""
_SIZE = r"(?i)\b(?:sizes?|ages?|aged|us|eu|uk|level|version|v|no|number|iphone|pixel|gen)\.? ?\Z"
_AGED = (
    r"(?i)"
    r"\b(?:women|men|kids?|child(?:ren)?|toddlers?|bab(?:y|ies)|boys?|girls?|adults?|people|seniors?|teens?|toys?)"
    r"(?:['\u2019]?s)?(?: for)? ?\Z"
)
_SHIPPED = r"(?i)\b(?:shipping|delivery|orders?) ?\Z"
_SEVERAL = r"(?i)(?<![\w.$€£¥₹])\d{1,2} \Z"
"""A number of pieces: ``5 for $20``."""
_EITHER = r"(?i) ?(?:max|min)(?!\w)"
"""Words that may belong to a price or to a name: *$100 max*, and *$100 Max Cushion shoes*."""
_FORMER = r"(?:was|were|originally|original price|list price|rrp|msrp|retail(?: price)?|reg(?:ular(?:ly)?)?|valued? at"
_FORMER += r"|worth)"
_ABOUT = r"(?:(?:around|about|approximately|approx\.?|roughly|circa|ca\.?|near(?:ly)?|close to|almost) |~ ?)"

_PERCENT = r"(?P<percent>[1-9]\d?)\+? ?(?:%|percent|per cent|pct)(?!\w)"
_OFF = r"(?:off|(?:de |di )?(?:r[ée]duction|remise|descuento|sconto)|rabatt|korting|zni[żz]ki"
_OFF += r"|discount(?:ed)?|reductions?|reduced|cheaper|rebate|markdown|savings?|price cuts?)"
_SHARE = {"half": 50, "1/2": 50, "½": 50, "third": 33, "two thirds": 66, "quarter": 25, "three quarters": 75}
_SAVING = r"(?:save|saves|saving|savings of|discount(?: of|:|ed(?: by)?)?|(?:reduced|marked down)(?: by)?|rebate of"
_SAVING += r"|markdown of|off by)"
_BETTER = r"(?:better than )?"
_OR_BETTER = r"or better(?!\w)"
"""What makes a discount, but no price, higher."""

_MAY_HAVE = r"(?i)\d|½|\b(?:half|third|quarter)s?\b|dollar|buck|euro|pound|quid"
"""What a text with a limit has: few searches take the time to compile the grammar."""

HALF = 50
"""The discount in percent of half a price."""

_OLDEST = 100_00
"""A number below this (in units) may be an age: ``shoes for women over 50``."""

_ASIDE = r"(?i)\bon sale\b|\b(?:deals?|offers?) (?:on|for|of)\b"
"""What says nothing beside a limit, among words that do."""

_LOOSE = r"(?<!\S)[-\u2013\u2014()\[\],;:.!?|/]+(?!\S)"
"""Punctuation that a limit has left alone: ``polo - under $40``."""

_FILLERS = (
    r"(?i)"
    r"(?:an?|all|and|any(?:thing)?|buy|can|cost|deals?|everything|find|for|i|in|items?|less|me|my|of|offers?|or|price"
    r"|products?|sale|show|something|stuff|the|things?|to|want|with)[,;.!?]*"
)
"""Words that say nothing beside a limit: ``deals under $20``, ``anything half price``."""


class _Reading(NamedTuple):
    """What a phrase means. Unless it is certain it stays among the words, and without a selection offers nothing."""

    selection: Selection | None
    certain: bool = False


_WORDS = _Reading(None)
_Form = tuple[re.Pattern[str], Callable[[re.Match[str]], _Reading | None]]


@dataclass(slots=True)
class _Text:
    """A text while it is read: what is read of it is overwritten in ``left``, so that no other form reads it."""

    whole: str
    left: str
    selection: Selection = field(default_factory=Selection)
    certain: list[tuple[int, int]] = field(default_factory=list)
    unsure: list[tuple[int, int, Selection]] = field(default_factory=list)

    def take(self, found: re.Match[str], reading: _Reading) -> None:
        """Take a phrase out of what is left."""
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        end = found.start() + len(found[0].rstrip())
        self.left = self.left[:start] + "\0" * (end - start) + self.left[end:]
        if reading.selection is None:
            return
        both = _narrowed(self.selection, reading.selection) if reading.certain else None
        if both is None:
            self.unsure.append((start, end, reading.selection))
        else:
            self.selection = both
            self.certain.append((start, end))

    def without(self, spans: list[tuple[int, int]]) -> str:
        """The words outside of some phrases; none if they say nothing beside a limit."""
        text = self.whole
        for start, end in sorted(spans, reverse=True):
            text = f"{text[:start]} {text[end:]}"
        words = (re.sub(f"{_ASIDE}|{_LOOSE}", " ", text) if spans else text).split()
        says = not spans or any(not re.fullmatch(_FILLERS, word) for word in words)
        return " ".join(words).strip(",;: ") if says else ""


def read(typed: str) -> Phrases:
    """Read the limits in a typed text. Numbers without a currency may be sizes: only some words make them limits."""
    whole = " ".join(typed.split()).replace("\0", " ")
    text = _Text(whole, whole)
    for form, reading_of in _grammar() if re.search(_MAY_HAVE, whole) else ():
        for found in form.finditer(text.left):
            if (reading := reading_of(found)) is not None:
                text.take(found, reading)
    spans = sorted(text.certain)
    offered = [
        Offer(whole[start:end], text.without([*spans, (start, end)]), selection)
        for start, end, selection in sorted(text.unsure, key=lambda each: each[:2])
    ]
    offered = [offer for offer in offered if offer.rest or not offer.selection.is_all]
    return Phrases(text.without(spans), text.selection, tuple(whole[start:end] for start, end in spans), tuple(offered))


@cache
def _grammar() -> tuple[_Form, ...]:
    """The forms in the order in which they are tried, with what reads each."""
    known = money.currencies()
    parts = {
        "CODE": "|".join({*_CODES, *settings.CURRENCIES, *(code for code, (_, sign) in known.items() if sign)}),
        "SIGN": r"(?:[A-Z]{1,2}(?=[$¥]))?[$€£¥₹₩₪₱₫]",
        "NAMES": "|".join(_NAMES.values()),
        "AMOUNT": _AMOUNT,
        "NUMBERS": "|".join(sorted(_NUMBERS, key=len, reverse=True)),
    }

    def form(written: str) -> re.Pattern[str]:
        for name, part in parts.items():
            written = written.replace(name, part)
        return re.compile(rf"(?<![\w.$€£¥₹]){written}", re.IGNORECASE)

    least, most = _PRICE.format("least"), _PRICE.format("most")
    lead = rf"(?:(?P<not>{_NOT}) )?(?P<lead>{_LEAD})"
    bound = rf"(?:(?:(?P<below>{_AT_MOST})|(?P<above>{_AT_LEAST})) ?)?"
    after = rf"(?: ?(?:(?P<less>{_OR_LESS})|(?P<more>{_OR_MORE}))(?!\w))?"
    saving, former = rf"(?:{_SAVING}) ", rf"(?:{_SAVING}|{_FORMER}:?) (?:(?:{_AT_MOST}|{_AT_LEAST}) ?)?"
    percent = rf"(?P<minus>- ?)?(?:(?P<low>[1-9]\d?) ?%? ?(?:-|\u2013|to) ?)?{_PERCENT}"
    to = r"(?:-|\u2013|(?:to|and|und|et|y|e|en|och|bis|[àa]|tot)(?!\w))"
    between = "between|from|zwischen|von|entre|tra|tussen|van|mellan"
    off, of = rf"(?P<off> ?{_OFF}(?!\w))?", r"(?P<of>the price|priced?|off)(?!\w)"
    shares = "|".join(sorted(_SHARE, key=len, reverse=True))
    no_price = rf"{_OFF}|cash ?back|coupons?|vouchers?|credit|gift ?cards?|bills?"
    no_price += r"|(?:/|per|an?) ?(?:month|mo|week|day|year|yr|night|hour|person|lb|kg|oz)"
    return (
        (
            form(rf"{lead}(?P<save>{saving})?{bound}{_BETTER}{percent}{after}{off}(?: {_OR_MORE}| {_OR_BETTER})?"),
            _percent,
        ),
        (form(rf"{lead}{bound}{_BETTER}(?:an? )?(?P<share>{shares})[ -]{of}{after}(?: {_OR_BETTER})?"), _part),
        (form(rf"{former}{most}|{_FORMER} {most.replace('most', 'least')}"), _reduction),
        (form(rf"{most} ?(?:{no_price})(?!\w)"), _reduction),
        (form(rf"{_ABOUT}{most}{_EACH}"), _about),
        (form(rf"(?P<lead>{_LEAD})(?P<from>(?:{between}) )?{least} ?{to} ?{most}{_EACH}"), _range),
        (form(rf"{lead}{bound}{most}{after}{_EACH}"), _bound),
    )


def _percent(found: re.Match[str]) -> _Reading | None:
    """A discount in percent: certain with a word or a minus that says so, as a share may be of wool."""
    side = _side(found)
    reading = Selection(discount=int(found["low"] or found["percent"]))
    if side == "most":
        return _Reading(reading if re.match("up", found["below"] or "", re.IGNORECASE) else None)
    return _Reading(reading, bool(found["off"] or found["minus"] or found["save"]) and not found["low"])


def _part(found: re.Match[str]) -> _Reading | None:
    """Half of a price: ``half price``, ``less than half price``, ``half off or more``, ``a third off``."""
    share, is_off = _SHARE[found["share"].lower().replace("-", " ")], found["of"].lower() == "off"
    if _side(found) == ("most" if is_off else "least") or (share != HALF and not is_off):
        return _WORDS
    return _Reading(Selection(discount=share), certain=True)


def _reduction(found: re.Match[str]) -> _Reading | None:
    """An amount that is no price of now: ``$20 off``, ``save $20``, ``was $100``, ``$50 gift card``."""
    priced = _amount(found, "most")
    return None if priced is None or priced[1] is None else _Reading(Selection())


def _about(found: re.Match[str]) -> _Reading | None:
    """About a price: from four fifths to six fifths of it."""
    priced = _amount(found, "most")
    if priced is None or (currency := priced[1]) is None:
        return None
    near = [money.of_units(money.units(priced[0], currency) * fifths // 5, currency) for fifths in (4, 6)]
    return _Reading(Selection(least=near[0], most=near[1], currency=currency))


def _range(found: re.Match[str]) -> _Reading | None:
    """A price range. Of numbers alone it is one only with a word such as *price*; after *between* it is offered."""
    one, two = _amount(found, "least"), _amount(found, "most")
    if one is None or two is None or (one[1] and two[1] and one[1] != two[1]):
        return None
    currency = one[1] or two[1]
    lowest, highest = sorted((one[0], two[0]), key=_hundredths)
    reading = Selection(least=lowest, most=highest, currency=currency)
    is_introduced = found["from"] or re.search(_PRICED, found["lead"])
    if currency:
        return _Reading(reading, bool(is_introduced) or not _is_a_weight(found, "most"))
    if not is_introduced or _is_no_price(found):
        return _WORDS
    return _Reading(reading, re.search(_PRICED, found["lead"]) is not None)


def _bound(found: re.Match[str]) -> _Reading | None:
    """One price, the highest unless its words say that it is the lowest."""
    priced, side = _amount(found, "most"), _side(found)
    if priced is None or side is None or (found["not"] and not (found["below"] or found["above"])):
        return None if priced is None else _WORDS
    amount, currency = priced
    reading = (
        Selection(least=amount, currency=currency) if side == "least" else Selection(most=amount, currency=currency)
    )
    before, after = found.string[: found.start()], found.string[found.end() :]
    if currency and re.search(_SEVERAL, before) and found["lead"]:
        return _Reading(reading)
    if currency and (re.search(_SHIPPED, before) or (not side and re.match(_EITHER, after))):
        return _Reading(reading)
    if currency:
        return _Reading(reading, bool(side or re.search(_PRICED, found["lead"])) or not _is_a_weight(found, "most"))
    if _is_no_price(found):
        return _WORDS
    if not side and not re.search(_PRICED, found["lead"]):
        return _Reading(reading) if re.search(r"[.,]\d\d\Z", found["most"]) else None
    introduced = (found["below"] or found["above"] or "").strip()
    may_be_an_age = re.search(_AGED, before) and _hundredths(amount) < _OLDEST
    says_so = re.match(_BARE, introduced) and not found["mostk"] and not may_be_an_age
    return _Reading(reading, bool(says_so or re.match(_OF_PRICES, introduced) or re.search(_PRICED, found["lead"])))


def _side(found: re.Match[str]) -> str | None:
    """The bound that a phrase's words name, ``most`` or ``least``; empty without any, None if they disagree."""
    before = "most" if found["below"] else "least" if found["above"] else ""
    if found["not"] and before:
        before = "least" if before == "most" else "most"
    after = "most" if found["less"] else "least" if found["more"] else ""
    return None if before and after and before != after else before or after


def _amount(found: re.Match[str], name: str) -> tuple[str, str | None] | None:
    """An amount with its currency, if it has one; None if it isn't valid, or there are two currencies."""
    written = [found[f"{name}{part}"] for part in ("sign", "code") if found[f"{name}{part}"]]
    if len(written) > 1:
        return None
    typed = re.sub(r"^(?:an?|one) ", "", found[name].lower())
    is_number = typed[0].isdigit()
    amount = money.read(typed)[0] if is_number else str(_NUMBERS[typed.replace("-", " ")])
    if found[f"{name}k"]:
        amount = money.of_units(money.units(money.normal(amount), "") * 1000, "")
    if written and re.fullmatch("cents?|¢", written[0], re.IGNORECASE):
        written, amount = ["$"], money.of_units(int(amount), "") if amount.isdigit() else "-"
    currency = _currency(written[0]) if written else None
    amount = money.normal(amount)
    if not re.fullmatch(money.PATTERN, amount) or (currency and money.fault(amount, currency)):
        return None
    return None if not is_number and currency is None else (amount, currency)


def _currency(written: str) -> str | None:
    for sign, names in _NAMES.items():
        if re.fullmatch(names, written, re.IGNORECASE):
            return money.named(sign)
    sign = written.upper()
    return money.named(_OTHER_SIGNS.get(sign, sign)) or money.named(sign.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def _is_a_weight(found: re.Match[str], name: str) -> bool:
    """Whether pounds may be those of a dumbbell."""
    return (found[f"{name}code"] or "").lower() in ("pound", "pounds", "cents", "cent")


def _is_no_price(found: re.Match[str]) -> bool:
    """Whether a unit follows a number, or a word such as *size* precedes it."""
    after, before = found.string[found.end() :], found.string[: found.start()]
    return re.match(_UNIT, after) is not None or re.search(_SIZE, before) is not None


def _narrowed(one: Selection, other: Selection) -> Selection | None:
    """Both limits; None for limits in two currencies, and for those that no price is within."""
    if one.currency and other.currency and one.currency != other.currency:
        return None
    currency = one.currency or other.currency
    both = replace(
        one,
        least=max(filter(None, (one.least, other.least)), key=_hundredths, default=None),
        most=min(filter(None, (one.most, other.most)), key=_hundredths, default=None),
        currency=currency,
        discount=max(filter(None, (one.discount, other.discount)), default=None),
    )
    lowest, highest = both.bounds
    return both if lowest <= highest else None


def _hundredths(amount: str) -> int:
    return money.units(amount, "")
