"""The bodies that requests and import lines may have, and the rules for each of their fields (pydantic models)."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from shared.data.catalog.deals import new_id
from shared.data.catalog.featured import CATEGORY_FEATURED, MAX_FEATURED
from shared.data.orders.carts import MOST as MOST_DEALS
from shared.data.orders.carts import MOST_PIECES
from shared.data.orders.orders import STEPS
from shared.data.orders.stock import MAX_SHARDS
from shared.data.orders.stock import MOST as MOST_STOCK
from shared.errors import InvalidName, InvalidTime
from shared.models.catalog import CATEGORIES, Deal
from shared.values import ksuids, slugs, times
from shared.values.common_passwords import is_common
from shared.values.usernames import normalise_email, normalise_username

_REORDERING = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2028\u2029\u2060-\u2065"
    r"\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
)
_HIDDEN = rf"\u0000-\u001f\u007f-\u009f{_REORDERING}{_INVISIBLE}"
_HIDDEN_IN_PARAGRAPHS = rf"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f{_REORDERING}{_INVISIBLE}"
"""What cannot be seen but changes what is: control characters, separators of lines, marks that reorder text, and
letters and spaces without width or ink; not the joiners that emoji and scripts need. As in a regular expression.

The OpenAPI document's patterns have them too, in the dialect that JSON Schema, ECMAScript and Python share.
"""

_NOT_PLAIN = re.compile(rf"[{_HIDDEN}\ud800-\udfff]")
_NOT_PARAGRAPHS = re.compile(rf"[{_HIDDEN_IN_PARAGRAPHS}\ud800-\udfff]")
_SEEN = re.compile(r"[^\s\u200c\u200d\u2800\ufe00-\ufe0f]")
_NOT_IN_ADDRESSES = r"\s<>\"\\^`{|}" + _HIDDEN

CLOCK_SKEW = timedelta(seconds=60)
"""How far an editor's clock may be ahead of ours."""

MAX_KEY_BYTES = 1000
"""Bytes of a text that a key ends with; what begins the key has some of the 1,024, too."""

_PRICE = r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$"


def _without_defaults(schema: dict[str, Any]) -> None:
    for field in schema["properties"].values():
        field.pop("default", None)


class Body(BaseModel):
    """A JSON object in camelCase; fields it does not know are refused, and strings stay strings."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)


def _documented(pattern: str, **more: Any) -> dict[str, Any]:
    """What the OpenAPI document says of a text whose validator says the same, and why."""
    return {"pattern": f"^[ \\t\\n\\r]*{pattern}[ \\t\\n\\r]*$", **more}


def _whole(number: object) -> object:
    """A number without a fraction as an integer: JSON has one kind of numbers, and 2.0 is 2 there."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _trimmed(text: str) -> str:
    """A text without the white space around it."""
    return text.strip(" \t\n\r")


def _plain(text: str, refused: re.Pattern[str] = _NOT_PLAIN) -> str:
    """Refuse what cannot be seen but changes what is, and half characters; compose the rest."""
    found = refused.search(text)
    if found:
        raise ValueError(f"the character U+{ord(found[0]):04X} is not allowed")
    return unicodedata.normalize("NFC", text)


def _line(text: str) -> str:
    if not _SEEN.search(text):
        raise ValueError("a visible character is needed")
    return _plain(_trimmed(text))


def _paragraphs(text: str) -> str:
    return _plain(_trimmed(text), _NOT_PARAGRAPHS)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _web_address(text: str) -> str:
    text = _trimmed(text)
    _plain(text)
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        usable = usable and parts.port != 0  # reading it raises ValueError for what is no port
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s<>\"\\^`{|}]", text):
        raise ValueError("an http or https address is needed")
    return text


def _two_decimals(text: str) -> str:
    return f"{Decimal(text):.2f}"


def _slug_of_brand(text: str) -> str:
    _line(text)
    try:
        return slugs.slug(text)
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


def _step(text: str) -> str:
    if text not in STEPS:
        raise ValueError(f"must be one of {', '.join(STEPS)}")
    return text


def _uncommon(password: str) -> str:
    if is_common(password):
        raise ValueError("this is one of the first that are guessed; choose another")
    return password


def _time(value: Any) -> Any:
    if not isinstance(value, str):
        return value if isinstance(value, datetime) else _not_a_time()
    try:
        return times.from_iso(value).replace(microsecond=0)
    except (ValueError, OverflowError):
        return _not_a_time()


def _not_a_time() -> None:
    raise ValueError("an ISO 8601 time with an offset is needed, such as 2026-06-04T20:28:53Z")


def _fits_a_key(text: str) -> str:
    """Refuse a text that a sort key, which ends at 1,024 bytes, could not end with: its characters may have four each.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
    """
    if len(text.encode()) > MAX_KEY_BYTES:
        raise ValueError(f"at most {MAX_KEY_BYTES} bytes are possible")
    return text


def _after_epoch(when: datetime) -> datetime:
    if when < ksuids.EPOCH:
        raise ValueError(f"times start at {times.to_iso(ksuids.EPOCH)}")
    return when


_LINE = _documented(rf"[^{_HIDDEN}]*[^\s{_HIDDEN}][^{_HIDDEN}]*")
_PORT = r"(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})?"
_ADDRESS = _documented(
    rf"[hH][tT][tT][pP][sS]?://[^{_NOT_IN_ADDRESSES}/?#@:\[\]]+(:{_PORT})?([/?#][^{_NOT_IN_ADDRESSES}]*)?", format="uri"
)
_USERNAME = _documented(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,28}[A-Za-z0-9])?")
_EMAIL = _documented(r"[A-Za-z0-9.!$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+")

Title = Annotated[str, Field(min_length=1, max_length=300, json_schema_extra=_LINE), AfterValidator(_line)]
BrandName = Annotated[str, Field(min_length=1, max_length=100, json_schema_extra=_LINE), AfterValidator(_line)]
WebAddress = Annotated[str, Field(max_length=2000, json_schema_extra=_ADDRESS), AfterValidator(_web_address)]
Price = Annotated[str, Field(pattern=_PRICE, examples=["31.90"]), AfterValidator(_two_decimals)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", examples=["USD"])]
BrandSlug = Annotated[
    str,
    Field(min_length=1, max_length=100, examples=["allbirds"], json_schema_extra=_LINE),
    AfterValidator(_slug_of_brand),
]
CategorySlug = Annotated[
    str, Field(examples=["shoes"], json_schema_extra={"enum": list(CATEGORIES)}), AfterValidator(_slug_of_category)
]
Description = Annotated[
    str,
    Field(max_length=4000, json_schema_extra=_documented(f"[^{_HIDDEN_IN_PARAGRAPHS}]*")),
    AfterValidator(_paragraphs),
]
CouponCode = Annotated[str, Field(min_length=1, max_length=100, json_schema_extra=_LINE), AfterValidator(_line)]
SourceId = Annotated[
    str,
    Field(min_length=1, max_length=256, json_schema_extra=_LINE),
    AfterValidator(_line),
    AfterValidator(_fits_a_key),
]
Time = Annotated[datetime, BeforeValidator(_time), AfterValidator(_after_epoch)]
Username = Annotated[
    str,
    Field(min_length=1, max_length=64, json_schema_extra=_USERNAME),
    AfterValidator(_line),
    AfterValidator(normalise_username),
]
Email = Annotated[
    str,
    Field(min_length=3, max_length=254, json_schema_extra=_EMAIL),
    AfterValidator(_line),
    AfterValidator(normalise_email),
]
# White space in a password counts, around it too; letters are the same however a keyboard composes them (RFC 8265).
Password = Annotated[
    str,
    Field(min_length=10, max_length=200, json_schema_extra={"pattern": f"^[^{_HIDDEN}]*$"}),
    AfterValidator(_plain),
    AfterValidator(_uncommon),
]
AnyPassword = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_composed)]
PersonName = Annotated[str, Field(min_length=1, max_length=100, json_schema_extra=_LINE), AfterValidator(_line)]
DealId = Annotated[str, Field(pattern=r"^[0-9A-Za-z]{27}$")]
AddressLine = Annotated[str, Field(min_length=1, max_length=100, json_schema_extra=_LINE), AfterValidator(_line)]
AddressName = Annotated[str, Field(min_length=1, max_length=40, json_schema_extra=_LINE), AfterValidator(_line)]
PostalCode = Annotated[str, Field(min_length=1, max_length=20, json_schema_extra=_LINE), AfterValidator(_line)]
Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$", examples=["US"])]
WHOLE = BeforeValidator(_whole)
Quantity = Annotated[int, Field(ge=1, le=MOST_PIECES), WHOLE]
Shards = Annotated[int, Field(ge=1, le=MAX_SHARDS), WHOLE]


class NewUser(Body):
    """Sign up."""

    username: Username
    email: Email
    password: Password
    name: PersonName


class SignIn(Body):
    """Sign in."""

    username: Annotated[str, Field(min_length=1, max_length=64)]
    password: AnyPassword


class AccountChange(Body):
    """Change one's account; a new password or email address needs the current password."""

    name: PersonName | None = None
    email: Email | None = None
    password: Password | None = None
    current_password: AnyPassword | None = None

    @model_validator(mode="after")
    def _names_the_current_password(self) -> Self:
        if (self.password is not None or self.email is not None) and self.current_password is None:
            raise ValueError("currentPassword is needed to change the password or the email address")
        return self


class NewBrand(Body):
    """Create a brand. Its slug is made of its name."""

    name: Annotated[BrandName, AfterValidator(_with_slug)]


class Featured(Body):
    """The deals an editor picks for a page, in this order."""

    deal_ids: Annotated[list[DealId], Field(max_length=MAX_FEATURED, json_schema_extra={"uniqueItems": True})]


class CategoryFeatured(Body):
    """The deals an editor picks for a category's page, in this order."""

    deal_ids: Annotated[
        list[DealId],
        Field(
            max_length=MAX_FEATURED,
            json_schema_extra={
                "minItems": CATEGORY_FEATURED[0],
                "maxItems": CATEGORY_FEATURED[1],
                "uniqueItems": True,
            },
        ),
    ]


class NewDeal(Body):
    """Post a deal. ``createdAt`` may lie in the past (imports), never in the future."""

    title: Title
    link: WebAddress
    price: Price
    brand: BrandSlug
    category: CategorySlug
    currency: Currency = "USD"
    list_price: Price | None = None
    image: WebAddress | None = None
    description: Description | None = None
    coupon_code: CouponCode | None = None
    source_id: SourceId | None = None
    created_at: Time | None = None
    expires_at: Time | None = None

    def to_deal(self, now: datetime, entropy: bytes) -> Deal:
        """The deal this asks for, with an id made of 16 bytes of randomness. Raises InvalidTime for a future time."""
        created_at = self.created_at or now
        if created_at > now + CLOCK_SKEW:
            raise InvalidTime
        created_at = min(created_at, now)
        return Deal(
            deal_id=new_id(created_at, self.source_id, entropy),
            title=self.title,
            link=self.link,
            brand=self.brand,
            brand_name=self.brand,
            category=self.category,
            price=self.price,
            currency=self.currency,
            created_at=created_at,
            list_price=self.list_price,
            image=self.image,
            description=self.description,
            coupon_code=self.coupon_code,
            source_id=self.source_id,
            ends_at=self.expires_at,
        )


class DealChange(Body):
    """Edit a deal. A field set to null is removed; ``withdrawn`` takes the deal back or brings it back."""

    # A field that is not sent is not changed: the defaults below are never used, and not to be shown.
    model_config = ConfigDict(json_schema_extra=_without_defaults)

    title: Title = ""
    link: WebAddress = ""
    price: Price = ""
    brand: BrandSlug = ""
    category: CategorySlug = ""
    currency: Currency = ""
    list_price: Price | None = None
    image: WebAddress | None = None
    description: Description | None = None
    coupon_code: CouponCode | None = None
    expires_at: Time | None = None
    withdrawn: bool = False

    def changes(self, now: datetime) -> dict[str, Any]:
        """The fields of ``Deal`` that this sets, and to what."""
        named = {name: getattr(self, name) for name in self.model_fields_set}
        if "expires_at" in named:
            named["ends_at"] = named.pop("expires_at")
        if "withdrawn" in named:
            named["withdrawn_at"] = now if named.pop("withdrawn") else None
        return named


class NewAddress(Body):
    """An address that orders can go to."""

    recipient: AddressLine
    street: AddressLine
    city: AddressLine
    region: AddressLine | None = None
    postal_code: PostalCode
    country: Country

    def to_address(self) -> Address:
        """The address this asks for."""
        return Address(**self.model_dump())


class CartChange(Body):
    """How many pieces of a deal are in the cart."""

    quantity: Quantity


class NewOrderItem(Body):
    """So many pieces of a deal, at the price that the buyer saw."""

    deal_id: DealId
    quantity: Quantity
    price: Price


class NewOrder(Body):
    """Place an order, to be sent to one of one's addresses."""

    address: AddressName
    items: Annotated[list[NewOrderItem], Field(min_length=1, max_length=MOST_DEALS)]

    @model_validator(mode="after")
    def _names_each_deal_once(self) -> Self:
        if len({item.deal_id for item in self.items}) < len(self.items):
            raise ValueError("each deal is named once, with its quantity")
        return self

    def wanted(self) -> list[Wanted]:
        """What this asks for."""
        return [Wanted(item.deal_id, item.quantity, item.price) for item in self.items]


class OrderStep(Body):
    """The status that an order takes."""

    status: Annotated[str, Field(json_schema_extra={"enum": [step.value for step in STEPS]}), AfterValidator(_step)]


class StockChange(Body):
    """Put stock on sale: so much more (or, below zero, less), or so much left; spread over so many shards."""

    add: Annotated[int, Field(ge=-MOST_STOCK, le=MOST_STOCK), WHOLE] | None = None
    left: Annotated[int, Field(ge=0, le=MOST_STOCK), WHOLE] | None = None
    shards: Shards | None = None

    @model_validator(mode="after")
    def _says_one_number(self) -> Self:
        if (self.add is None) == (self.left is None):
            raise ValueError("either add or left is needed, and not both")
        return self
