"""Bodies of editors' requests and import lines: deals, brands and picks (pydantic models)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from shared.api.fields import (
    HIDDEN_IN_PARAGRAPHS,
    LINE,
    NOT_IN_ADDRESSES,
    Body,
    Currency,
    DealId,
    Price,
    documented,
    line,
    paragraphs,
    plain,
    trimmed,
    without_defaults,
)
from shared.data.catalog.deals import new_id
from shared.data.catalog.picks import CATEGORY_FEATURED, MAX_FEATURED
from shared.errors import InvalidName, InvalidTime
from shared.models.catalog import CATEGORIES, Deal
from shared.values import identifiers, naming, times

CLOCK_SKEW = timedelta(seconds=60)
"""How far an editor's clock may be ahead."""

MAX_KEY_BYTES = 1000
"""The most bytes of a text that ends a key of at most 1,024; its prefix takes the rest."""


def _web_address(text: str) -> str:
    text = trimmed(text)
    plain(text)
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        usable = usable and parts.port != 0  # reading it raises ValueError for an invalid port
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s<>\"\\^`{|}]", text):
        raise ValueError("must be an http or https address")
    return text


def _slug_of_brand(text: str) -> str:
    line(text)
    try:
        return naming.slug(text)
    except InvalidName as error:
        raise ValueError(str(error)) from error


def _with_slug(text: str) -> str:
    _slug_of_brand(text)
    return text


def _slug_of_category(text: str) -> str:
    slug = text.lower()
    if slug not in CATEGORIES:
        raise ValueError(f"must be one of {', '.join(CATEGORIES)}")
    return slug


def _time(value: Any) -> datetime:
    try:
        when = value if isinstance(value, datetime) else times.from_iso(value).replace(microsecond=0)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("must be an ISO 8601 time with an offset, such as 2026-06-04T20:28:53Z") from error
    if when < identifiers.EPOCH:
        raise ValueError(f"must not be before {times.to_iso(identifiers.EPOCH)}")
    return when


def _fits_a_key(text: str) -> str:
    """Refuse a text too long for a sort key of 1,024 bytes; a character may take four.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
    """
    if len(text.encode()) > MAX_KEY_BYTES:
        raise ValueError(f"must have at most {MAX_KEY_BYTES} bytes")
    return text


_PORT = r"(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})?"
_ADDRESS = documented(
    rf"[hH][tT][tT][pP][sS]?://[^{NOT_IN_ADDRESSES}/?#@:\[\]]+(:{_PORT})?([/?#][^{NOT_IN_ADDRESSES}]*)?", format="uri"
)

Title = Annotated[str, Field(min_length=1, max_length=300, json_schema_extra=LINE), AfterValidator(line)]
BrandName = Annotated[str, Field(min_length=1, max_length=100, json_schema_extra=LINE), AfterValidator(line)]
WebAddress = Annotated[str, Field(max_length=2000, json_schema_extra=_ADDRESS), AfterValidator(_web_address)]
BrandSlug = Annotated[
    str,
    Field(min_length=1, max_length=100, examples=["allbirds"], json_schema_extra=LINE),
    AfterValidator(_slug_of_brand),
]
CategorySlug = Annotated[
    str, Field(examples=["shoes"], json_schema_extra={"enum": list(CATEGORIES)}), AfterValidator(_slug_of_category)
]
Description = Annotated[
    str, Field(max_length=4000, json_schema_extra=documented(f"[^{HIDDEN_IN_PARAGRAPHS}]*")), AfterValidator(paragraphs)
]
Line = Annotated[str, Field(min_length=1, json_schema_extra=LINE), AfterValidator(line)]
SourceId = Annotated[
    str, Field(min_length=1, max_length=256, json_schema_extra=LINE), AfterValidator(line), AfterValidator(_fits_a_key)
]
Time = Annotated[datetime, BeforeValidator(_time)]


class NewBrand(Body):
    """Create a brand. Its slug is derived from its name."""

    name: Annotated[BrandName, AfterValidator(_with_slug)]


class Featured(Body):
    """The featured deals of a page, in this order."""

    deal_ids: Annotated[list[DealId], Field(max_length=MAX_FEATURED, json_schema_extra={"uniqueItems": True})]


SO_MANY = {"minItems": CATEGORY_FEATURED[0], "maxItems": CATEGORY_FEATURED[1]}
"""The number of a category's picks, for the document only; ``picks`` checks it."""


class CategoryFeatured(Body):
    """The featured deals of a category's page, in this order."""

    deal_ids: Annotated[
        list[DealId], Field(max_length=MAX_FEATURED, json_schema_extra={**SO_MANY, "uniqueItems": True})
    ]


class OptionalFields(Body):
    """A deal's optional fields, shared by the bodies that post and change a deal."""

    list_price: Annotated[Price | None, Field(description="The price before the discount.")] = None
    image: Annotated[WebAddress | None, Field(description="An http or https address.")] = None
    description: Description | None = None
    coupon_code: Annotated[Line, Field(max_length=100)] | None = None
    variant: Annotated[
        Annotated[Line, Field(max_length=60)] | None,
        Field(description="Colour and size, if there are several."),
    ] = None
    expires_at: Annotated[Time | None, Field(description="When its offer ends.")] = None


class NewDeal(OptionalFields):
    """Post a deal. ``createdAt`` may be in the past (imports), never in the future."""

    title: Title
    link: Annotated[WebAddress, Field(description="An http or https address.")]
    price: Price
    brand: Annotated[BrandSlug, Field(description="An existing brand, by name or slug.")]
    category: CategorySlug
    currency: Currency = "USD"
    source_id: Annotated[SourceId | None, Field(description="The deal's identity at its source.")] = None
    created_at: Annotated[Time | None, Field(description="A time in the past, such as 2026-06-04T20:28:53Z.")] = None

    def to_deal(self, now: datetime, entropy: bytes) -> Deal:
        """The deal to create, with an id made from 16 random bytes. Raises InvalidTime for a future time."""
        created_at = self.created_at or now
        if created_at > now + CLOCK_SKEW:
            raise InvalidTime
        created_at = min(created_at, now)
        as_sent = self.model_dump(include=NewDeal.model_fields.keys() - {"created_at", "expires_at"})
        return Deal(
            **as_sent,
            deal_id=new_id(created_at, self.source_id, entropy),
            brand_name=self.brand,
            created_at=created_at,
            ends_at=self.expires_at,
        )


class DealChange(OptionalFields):
    """Edit a deal. Null removes a field; ``withdrawn`` withdraws or restores the deal."""

    # A field that isn't sent isn't changed: the defaults below are never used, and not documented.
    model_config = ConfigDict(json_schema_extra=without_defaults)

    title: Title = ""
    link: WebAddress = ""
    price: Price = ""
    brand: BrandSlug = ""
    category: CategorySlug = ""
    currency: Currency = ""
    withdrawn: bool = False

    def changes(self, now: datetime) -> dict[str, Any]:
        """The fields of ``Deal`` to change, with their new values (``Deal.changed``)."""
        named = {name: getattr(self, name) for name in self.model_fields_set}
        if "expires_at" in named:
            named["ends_at"] = named.pop("expires_at")
        if "withdrawn" in named:
            named["withdrawn_at"] = now if named.pop("withdrawn") else None
        return named
