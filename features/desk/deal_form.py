"""A deal's form: its fields and values, and merging with other editors' changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from shared.api.bodies import DealChange, NewDeal
from shared.data.catalog import deals, feeds, shops, topics
from shared.dynamodb.table import Table
from shared.errors import InvalidName
from shared.html.forms import Fields, InvalidFields, check
from shared.models.catalog import BRAND, CATEGORIES, TYPED, TYPES, Deal, Topic, feed_of
from shared.values import links, money, naming
from shared.values.times import to_iso


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a deal's form, with its name in the API's bodies.

    ``attribute`` is the deal's field that it shows. ``needs`` is the error for a text that the rules refuse. The rest
    is its control: an ``<input>`` of a ``type`` with ``more`` attributes, a list of ``choices`` (texts by values, or
    the name of what the page fills in), or an ``area``.
    """

    name: str
    label: str
    attribute: str
    required: bool = False
    needs: str = ""
    hint: str = ""
    type: str = "text"
    more: Mapping[str, str] = field(default_factory=dict)
    choices: str | Mapping[str, str] = ""
    area: bool = False


_WEB = {"inputmode": "url", "autocomplete": "off", "maxlength": "2000"}
_MONEY = {"inputmode": "decimal", "autocomplete": "off", "maxlength": "20"}
_TEXT = {"autocomplete": "off", "maxlength": "100"}
_AN_ADDRESS = "This must be an http or https address."
_AN_AMOUNT = "Write the {} in digits, such as 31.90 or 31."
_A_CURRENCY = "Choose a currency."
_ANOTHER_CURRENCY = "The price is in {}, but the currency is {}. Choose one currency."
A_TIME = "This must be a day and a time."
_TIME, _IN_UTC = "datetime-local", "In UTC."
_ELSEWHERE = "The address of the picture. Readers see it only if this site allows pictures from other hosts."

_CATEGORIES = {"": "Choose", **CATEGORIES}

LINK = Field("link", "Address at the shop", "link", required=True, needs=_AN_ADDRESS, type="url", more=_WEB)
DESCRIPTION = Field("description", "Description", "description", area=True)


def _of_rule(name: str) -> Field:
    """The form field of a typed field, by its rule in the API's bodies."""
    attribute = TYPED[name]
    kind, label = TYPES[attribute], _as_label(attribute)
    hint = NewDeal.model_fields[attribute].description or ""
    if issubclass(kind, Enum):
        choices = {each.value: _as_label(each.value) for each in kind}
        return Field(name, label, attribute, hint=hint, choices={"": "Not stated", **choices})
    if kind is datetime:
        return Field(name, label, attribute, needs=A_TIME, hint=hint or _IN_UTC, type=_TIME)
    return Field(name, label, attribute, hint=hint, more=_TEXT if kind is str else {"inputmode": "numeric"})


def _as_label(name: str) -> str:
    """A name or a value as a label: ``like_new`` is "Like new"."""
    return re.sub("[_-]", " ", name).capitalize()


ROWS: tuple[tuple[Field, ...], ...] = (
    (Field("title", "Title", "title", required=True, more={**_TEXT, "maxlength": "300"}),),
    (
        Field("price", "Price", "price", required=True, needs=_AN_AMOUNT.format("price"), more=_MONEY),
        Field("listPrice", "List price", "list_price", needs=_AN_AMOUNT.format("list price"), more=_MONEY),
        Field("currency", "Currency", "currency", required=True, needs=_A_CURRENCY, choices="currencies"),
    ),
    (
        Field("brand", "Brand", "brand_name", required=True, more={"list": "brands", **_TEXT}),
        Field("category", "Category", "category", required=True, needs="Choose a category.", choices=_CATEGORIES),
    ),
    (
        *(_of_rule(name) for name in TYPED if name != DESCRIPTION.name),
        Field("expiresAt", "Ends", "ends_at", needs=A_TIME, hint=_IN_UTC, type=_TIME),
    ),
    (Field("image", "Picture at another host", "image", needs=_AN_ADDRESS, hint=_ELSEWHERE, type="url", more=_WEB),),
    (DESCRIPTION,),
)
"""The form, row by row; ``LINK`` is above it."""

FIELDS = {each.name: each for row in ((LINK,), *ROWS) for each in row}
REQUIRED = tuple(name for name, each in FIELDS.items() if each.required)
WORDS = {each.name: each.needs for each in FIELDS.values() if each.needs}

PRICES = ("price", "listPrice")

READ = "was-"
"""The prefix of hidden fields, each with a field's value when the form was read."""

CONFIRM = "confirm"
"""The hidden field that confirms warnings: the names of the fields whose warnings were shown."""

_LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")


def cleaned(typed: Mapping[str, str]) -> Fields:
    """The typed fields in the form of the API's bodies: prices without signs, times in UTC with their zone."""
    fields = {name: typed.get(name, "").strip() for name in FIELDS}
    for name in PRICES:
        fields[name], _ = money.read(fields[name])
    for name, each in FIELDS.items():
        fields[name] = in_utc(fields[name]) if each.type == _TIME else fields[name]
    fields["description"] = fields["description"].replace("\r\n", "\n")
    return fields


def ask_for_currency(typed: Mapping[str, str]) -> None:
    """Refuse prices whose signs aren't those of the chosen currency. Raises InvalidFields."""
    currency = typed.get("currency", "").strip()
    signs = {name: money.read(typed.get(name, ""))[1] for name in PRICES}
    others = {name: sign for name, sign in signs.items() if sign and currency and not money.is_of(sign, currency)}
    if others:
        raise InvalidFields({name: _ANOTHER_CURRENCY.format(sign, currency) for name, sign in others.items()})


def in_utc(when: str) -> str:
    """A browser's time with its zone; any other text unchanged."""
    return f"{when}{'' if when.count(':') == 2 else ':00'}Z" if _LOCAL_TIME.fullmatch(when) else when


def filled(typed: Mapping[str, str]) -> Fields:
    """The fields that aren't empty, as ``cleaned`` gives them."""
    return {name: value for name, value in cleaned(typed).items() if value}


def new(typed: Mapping[str, str]) -> NewDeal:
    """Read a new deal from a form. Raises InvalidFields."""
    ask_for_currency(typed)
    return check(NewDeal, dict.fromkeys(REQUIRED, "") | filled(typed), WORDS)


def changes(typed: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """Read a deal's changes from a whole form. Raises InvalidFields."""
    ask_for_currency(typed)
    body = {name: value if name in REQUIRED else value or None for name, value in cleaned(typed).items()}
    return check(DealChange, body, WORDS).changes(now)


def deal_typed(table: Table, typed: Mapping[str, str], now: datetime, deal: Deal | None) -> Deal:
    """The deal that a form would make, or change ``deal`` to.

    Raises what posting it would: InvalidFields, NoSuchTopic, DealTooLarge.
    """
    shown = deal.changed(changes(typed, now)) if deal else new(typed).to_deal(now, bytes(16))
    shown = shown.changed(deals.stored_brand(table, shown.brand))
    deals.check(shown, deal)
    return shown


def seen(typed: Mapping[str, str]) -> list[str]:
    """The fields whose warnings the form's editor has seen."""
    return typed.get(CONFIRM, "").split()


def typed_of(deal: Deal) -> Fields:
    """A deal's values in its form."""
    return {name: as_typed(getattr(deal, each.attribute)) for name, each in FIELDS.items()}


def as_typed(value: Any) -> str:
    if isinstance(value, datetime):
        return to_iso(value).removesuffix("Z")
    return "" if value is None else str(value.value if isinstance(value, Enum) else value)


def lost(fields: Collection[str]) -> Fields:
    """The errors of a damaged deal's form; ``fields`` are its unreadable fields."""
    gone = "This value is damaged. Enter it again."
    return {name: gone for name, each in FIELDS.items() if each.attribute in fields}


def read_values(typed: Mapping[str, str], deal: Deal) -> Fields:
    """The hidden fields with each field's original value: from the form, or else from the deal."""
    return {READ + name: typed.get(READ + name, value) for name, value in typed_of(deal).items()}


@dataclass(frozen=True, slots=True)
class Merged:
    """A form merged with another editor's changes since it was read.

    ``theirs`` are fields that only the other editor changed: ``typed`` has the new values. ``conflicts`` are fields
    that both changed: ``typed`` has this editor's values. Each is a row for the page.
    """

    typed: Fields
    theirs: list[dict[str, str]]
    conflicts: list[dict[str, str]]


def merged(typed: Mapping[str, str], changes: Mapping[str, Any], deal: Deal) -> Merged:
    """Merge a form, and the ``changes`` it requests, with the current deal.

    A field whose original value the form lacks counts as changed by both.
    """
    now_is = typed_of(deal)
    # As the deal would be: a typed price of 9.5 equals the deal's 9.50.
    asked = typed_of(deal.changed(changes)) | {"brand": typed.get("brand", "")}
    merges = Merged({name: typed.get(name, "") for name in FIELDS}, [], [])
    for name, each in FIELDS.items():
        was = typed.get(READ + name)
        if _same(name, asked[name], now_is[name]) or (was is not None and _same(name, was, now_is[name])):
            continue
        row = {"name": each.label, "now": in_words(name, now_is[name])}
        if was is not None and _same(name, was, asked[name]):
            merges.typed[name] = now_is[name]
            merges.theirs.append(row | {"was": in_words(name, was)})
        else:
            merges.conflicts.append(row | {"yours": in_words(name, asked[name])})
    return merges


def _same(name: str, one: str, other: str) -> bool:
    if name == "brand":
        return slug_of(one) == slug_of(other)
    return cleaned({name: one})[name] == cleaned({name: other})[name]


def in_words(name: str, text: str) -> str:
    """A field's text for display."""
    if not text:
        return "nothing"
    each = FIELDS[name]
    if each.type == _TIME:
        return f"{text.removesuffix('Z').replace('T', ' ')} UTC"
    return each.choices.get(text, text) if isinstance(each.choices, Mapping) else text


def slug_of(name: str) -> str:
    """The slug of a brand's name; empty for a text that has none."""
    try:
        return naming.slug(name)
    except InvalidName:
        return ""


def last_offer(offers: Sequence[Deal]) -> Deal | None:
    """The deal that prefills a new one: the product's last one, or a withdrawn one if there is no other."""
    return max(offers, key=lambda deal: deal.withdrawn_at is None, default=None)


def typed_of_product(last: Deal) -> Fields:
    """A new deal's fields, from the product's last one. Nothing is fetched from the shop.

    A withdrawn deal's price may have been wrong, so it isn't used.
    """
    typed = typed_of(last)
    names = ("title", "listPrice", "currency", "brand", "category", "image")
    return {name: typed[name] for name in (*names, *(("price",) if last.withdrawn_at is None else ()))}


def known_of_shop(table: Table, link: str, now: datetime) -> Fields:
    """Guess a new product's fields from its shop: the brand if the shop has its name, with its last deal's category and
    currency; and the category that an editor chose last."""
    host = links.host(link)
    category = shops.category_of(table, host)
    chosen = {"category": category} if category else {}
    letters = re.sub(r"[^a-z0-9]", "", host.rpartition(".")[0])
    names = topics.brand_names(table, consistent=True)
    brand = next((slug for slug in names if letters in naming.run_together(slug)), None)
    if brand is None:
        return chosen
    newest = feeds.read(table, feed_of(Topic(BRAND, brand)), limit=1, now=now).items
    sold = {"category": newest[0].category, "currency": newest[0].currency} if newest else {}
    return {"brand": names[brand], **sold, **chosen}
