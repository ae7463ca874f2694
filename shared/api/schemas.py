"""The API's answers as pydantic models: for the OpenAPI document and the tests that hold answers against it.

Answers are rendered by ``documents.py`` without pydantic; the end-to-end tests check every one against these.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model
from pydantic.json_schema import SkipJsonSchema

from shared import features, hooks
from shared.api.fields import Answer, Count, Currency, Cursor, Money, Price, without_defaults
from shared.models.catalog import CATEGORIES, TYPES, Status
from shared.models.members import Pace, Role
from shared.models.messages import DealNews

CategorySlug = Annotated[str, Field(json_schema_extra={"enum": list(CATEGORIES)})]


_KINDS = tuple(kind for each in features.roles(hooks.Fields) for news in each.NEWS for kind in news.kinds)


class FieldError(Answer):
    field: str
    detail: str


class Problem(BaseModel):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str = ""
    errors: list[FieldError] = []


class Brand(Answer):
    brand: str
    name: str


class Category(Answer):
    category: CategorySlug
    name: str


class Verdict(Answer):
    """How a deal's price compares with other offers of its product and variant in the 60 days before, in its currency.

    ``lowest``: no other offer was cheaper. ``usualFrom`` and ``usualTo`` bound the middle half of their prices.
    """

    lowest: bool
    cheapest: Annotated[Money, Field(description="The lowest price of the others.")]
    cheapest_on: Annotated[date, Field(description="The last day on which that offer began, in UTC.")]
    usual_from: Money
    usual_to: Money


typed: dict[str, Any] = {name: (kind | None, ...) for name, kind in TYPES.items()}
Typed = create_model("Typed", __base__=Answer, **typed)
"""The fields of a deal that are shown as typed."""


class Deal(Answer):
    typed_before: ClassVar = "sourceId"
    more_before: ClassVar = "verdict"

    deal_id: str
    deal_number: int | None
    title: str
    link: str
    image: str | None
    price: Money
    list_price: Money | None
    currency: str
    discount_percent: Annotated[int, Field(ge=0, le=100)] | None
    brand: Brand
    category: CategorySlug
    created_at: datetime
    updated_at: datetime | None
    expires_at: datetime | None
    status: Literal[*Status]  # type: ignore[valid-type]  # the same
    hot: bool
    source_id: str | None
    verdict: Annotated[Verdict | None, Field(description="Null if the product had no other offer in that time.")]


class DealList(Answer):
    items: list[Deal]
    next: Cursor


class FoundDeals(DealList):
    partly: Annotated[
        list[Deal] | None,
        Field(
            description="Deals with most words of q, if fewer than a page have all of them. Absent if there are none."
        ),
    ] = None
    searched: Annotated[
        str | None, Field(description="The corrected q, if no deal has the words of yours. Send it with next.")
    ] = None
    looked_through: Annotated[
        int | None,
        Field(
            description="With sort, prices or a brand: how many of the newest deals with these words were searched. "
            "Absent if all were."
        ),
    ] = None


class User(Answer):
    username: str
    email: str
    name: str
    role: Role
    created_at: datetime
    hot_pace: Annotated[str, Field(json_schema_extra={"enum": list(Pace)}, description="When to notify of hot deals.")]


class Limits(Answer):
    """Which deals of a watch or an alert to notify you of, and when. Null is no limit."""

    ceiling: Money | None
    currency: Annotated[str | None, Field(description="The ceiling's currency.")]
    least_discount: Annotated[int | None, Field(ge=1, le=99, description="Percent off the list price.")]
    words: str | None
    pace: Annotated[str, Field(json_schema_extra={"enum": list(Pace)})]


class NewLimits(Answer):
    """Which deals of a watch or an alert to notify you of, and when. A null or absent field is no limit."""

    model_config = ConfigDict(json_schema_extra=without_defaults)

    ceiling: Annotated[Price | None, Field(description="The highest price.")] = None
    currency: Annotated[Currency | None, Field(description="The ceiling's currency; USD by default.")] = None
    least_discount: Annotated[int | None, Field(ge=1, le=99, description="Percent off the list price.")] = None
    words: Annotated[str | None, Field(description="The deal must have all of these words.")] = None
    pace: Annotated[str, Field(json_schema_extra={"enum": list(Pace)})] = Pace.AT_ONCE


class ListedSession(Answer):
    """A session. ``usedAt`` is exact to an hour, and null if an earlier release began it and nobody used it since."""

    session_id: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    browser: Annotated[str | None, Field(description="The kind of program that signed in, if it said so.")]
    program: Annotated[str | None, Field(description="The name of the program that the token was made for, if any.")]
    created_at: datetime
    used_at: datetime | None
    expires_at: datetime
    current: Annotated[bool, Field(description="Whether this request is of this session.")]
    same_network: Annotated[
        bool | None, Field(description="Whether it began in the network of this request, as far as four digits tell.")
    ]


class Followed(Answer):
    kind: Literal["brand", "category"]
    brand: str = ""
    category: str = ""


class Watched(Followed):
    """A watched brand or category, in the field that ``kind`` names."""

    limits: Limits


class AlertDeal(Answer):
    deal_id: str
    title: str


class Alert(Answer):
    """An alert on offers of a ``deal``'s product up to the ceiling or, without a deal, on new deals with the words."""

    model_config = ConfigDict(json_schema_extra=without_defaults)

    alert_id: Annotated[str, Field(pattern="^(price|words)-[0-9a-f]{32}$")]
    deal: AlertDeal | SkipJsonSchema[None] = None
    limits: Limits
    created_at: datetime


class MessageDeal(AlertDeal):
    brand: Brand


class Message(Answer):
    """A message, with the one thing that it is about."""

    more_before: ClassVar = "createdAt"

    model_config = ConfigDict(json_schema_extra=without_defaults)

    message_id: str
    kind: Literal[DealNews, *_KINDS]  # type: ignore[valid-type]  # the names are of records
    subject: str
    deal: MessageDeal | SkipJsonSchema[None] = None
    created_at: datetime
    unread: bool


class Progress(Answer):
    """How many users were notified of a hot deal so far, and whether that is all."""

    deal_id: str
    hot: bool
    told: Count
    finished: bool


class Changed(Answer):
    field: str
    from_: Annotated[str | None, Field(alias="from")]
    to: Annotated[str | None, Field(description="Null if the field is now empty; a long text is cut.")]


class LogLine(Answer):
    at: datetime
    by: Annotated[str | None, Field(description="The editor's username; null if unknown.")]
    changes: Annotated[list[Changed], Field(description="Empty for the posting of the deal.")]


class Account(User):
    """Your own account."""

    more_before: ClassVar = ""


class OpenApi(RootModel[dict[str, Any]]):
    """An OpenAPI 3.1 document."""


class Html(RootModel[str]):
    """A page for a browser."""


def list_of(of: Any, following: Any = None) -> dict[str, Any]:
    """A list with the cursor of its next page, or without further pages."""
    return {"items": list[of], "next": following}


COUNTS = {"likes": Count, "watchers": Count}

FIELDS: dict[str, dict[str, Any]] = {
    "BrandList": list_of(Brand),
    "CategoryList": list_of(Category),
    "AlertList": list_of(Alert),
    "WatchList": list_of(Watched),
    "MessageList": list_of(Message, Cursor),
    "Log": list_of(LogLine, Cursor),
    "FrontPage": {"featured": list[Deal], "latest": DealList},
    "EditorsChoice": {"featured": list[Deal]},
    "Picked": {"featured": list[Deal]},
    "BrandPage": {"brand": str, "name": str, **COUNTS, "latest": DealList},
    "CategoryPage": {"category": CategorySlug, "name": str, **COUNTS, "featured": list[Deal], "latest": DealList},
    "SessionToken": {"token": str, "expires_at": datetime},
    "SessionList": list_of(ListedSession),
    "Like": {"liked": bool, "likes": Count},
    "Watch": {"watching": bool, "watchers": Count},
    "UnreadCount": {"unread": Count},
    "Marked": {"marked": Count},
}
"""The fields of top-level answers."""

Models = Mapping[str, type[BaseModel] | Mapping[str, Any]]
"""Answers by the names of their schemas: a model each, or the fields of one."""

ANSWERS: Models = {
    **FIELDS,
    **{
        each.__name__: each
        for each in (
            *(Account, Alert, Brand, Deal, DealList, FoundDeals, Html, Message, NewLimits, OpenApi),
            *(Problem, Progress, User, Verdict),
        )
    },
}
"""The answers that routes name, and those that others extend: a model each, or the fields of one."""
