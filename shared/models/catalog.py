"""Deals, their topics, the pages and feeds that show them, and selections of a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from shared.values.money import units
from shared.values.stored import Extended, api_names, attribute_of, stored
from shared.values.times import from_iso, to_iso


class Period(StrEnum):
    """The time that one partition of a feed covers."""

    DAY = "day"
    MONTH = "month"

    def start_of(self, when: datetime) -> str:
        """The UTC date on which the period of a time starts, as ``2026-06-04``."""
        date = when.astimezone(UTC).date()
        return (date.replace(day=1) if self is Period.MONTH else date).isoformat()


@dataclass(frozen=True, slots=True)
class TopicKind:
    """The differences between brands and categories. Topics of both kinds are liked, watched and have a feed.

    ``attribute`` holds a topic's slug in items that belong to it; ``path`` is the beginning of its pages' paths.
    """

    label: Literal["brand", "category"]
    attribute: str
    path: str
    prefix: str
    feed_index: str
    period: Period


BRAND = TopicKind("brand", "Brand", path="brands", prefix="BRAND", feed_index="GSI2", period=Period.MONTH)
CATEGORY = TopicKind("category", "Category", path="categories", prefix="CATEGORY", feed_index="GSI3", period=Period.DAY)


@dataclass(frozen=True, slots=True)
class Topic:
    """One brand or category, named by its slug."""

    kind: TopicKind
    slug: str


CATEGORIES: Mapping[str, str] = {
    "clothing": "Clothing",
    "outerwear": "Outerwear",
    "shoes": "Shoes",
    "accessories": "Accessories",
    "bags": "Bags",
    "electronics": "Electronics",
    "home": "Home",
    "outdoors": "Outdoors",
}
"""The eight categories, slug to name. They don't change."""


@dataclass(frozen=True, slots=True)
class CountedTopic:
    """A brand or category with its counts."""

    topic: Topic
    name: str
    likes: int
    watchers: int


class Status(StrEnum):
    ACTIVE = "active"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Verdict(NamedTuple):
    """The verdict on a price: the ``cheapest`` other offer of its product in the 60 days before it, with its
    ``day``, and the prices that were ``usual`` then: the lowest and the highest of the middle half of those offers.
    ``before`` is the product's price on the day before the deal; None if it had no offer then.

    Prices are in units of the deal's currency.
    """

    cheapest: int
    day: date
    usual: tuple[int, int]
    before: int | None = None

    @classmethod
    def parse(cls, text: str) -> Verdict:
        """Read a verdict from its text in the table. Raises ValueError."""
        cheapest, day, least, most, *before = text.split(" ")
        if len(before) > 1:
            raise ValueError(f"{text} is no verdict")
        return cls(int(cheapest), date.fromisoformat(day), (int(least), int(most)), *map(int, before))

    def __str__(self) -> str:
        before = "" if self.before is None else f" {self.before}"
        return f"{self.cheapest} {self.day.isoformat()} {self.usual[0]} {self.usual[1]}{before}"


YESTERDAY = timedelta(days=1)
"""How long a change of a price is one since yesterday: the same hours in every time zone."""


@dataclass(frozen=True, slots=True)
class PriceBefore:
    """The price that a deal had on the day before its last change, in ``units`` of its currency, and when that was."""

    units: int
    changed_at: datetime

    @classmethod
    def parse(cls, text: str) -> PriceBefore:
        """Read it from its text in the table. Raises ValueError."""
        amount, changed_at = text.split(" ")
        return cls(int(amount), from_iso(changed_at))

    def __str__(self) -> str:
        return f"{self.units} {to_iso(self.changed_at)}"


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Deal(Extended):
    """One deal, as an editor posted it.

    ``number`` is its short id. ``ends_at`` is when its offer ends, ``hot_at`` when every user was notified of it.
    ``variant`` is its colour or size, if its product has several. ``image`` is a picture's address at another host.
    ``correlation_id`` names the request that wrote it last. ``edited_by`` is the last version that an editor wrote,
    with the editor's name; ``ended_from`` is when an editor ended it, with the previous end, if any. ``verdict``
    compares its price with the offers of its product in the 60 days before; None if there were none. ``price_before``
    is None if the price never changed. ``more`` has the values of features: ``deal.own(Kind)`` is one of them.
    """

    deal_id: str = field(metadata=stored("DealId"))
    title: str = field(metadata=stored("Title"))
    link: str = field(metadata=stored("Link"))
    brand: str = field(metadata=stored("Brand"))
    brand_name: str = field(metadata=stored("BrandName"))
    category: str = field(metadata=stored("Category"))
    price: str = field(metadata=stored("Price"))
    currency: str = field(metadata=stored("Currency"))
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    list_price: str | None = field(default=None, metadata=stored("ListPrice"))
    image: str | None = field(default=None, metadata=stored("Image"))
    description: str | None = field(default=None, metadata=stored("Description", typed=True))
    coupon_code: str | None = field(default=None, metadata=stored("CouponCode", typed=True))
    variant: str | None = field(default=None, metadata=stored("Variant", typed=True))
    source_id: str | None = field(default=None, metadata=stored("SourceId"))
    ends_at: datetime | None = field(default=None, metadata=stored("EndsAt", datetime))
    withdrawn_at: datetime | None = field(default=None, metadata=stored("WithdrawnAt", datetime, listed=False))
    hot_at: datetime | None = field(default=None, metadata=stored("HotAt", datetime))
    number: int | None = field(default=None, metadata=stored("DealNumber", int))
    version: int = field(default=1, metadata=stored("Version", int, listed=False))
    correlation_id: str | None = field(default=None, metadata=stored("CorrelationId", listed=False, copied=False))
    updated_at: datetime | None = field(default=None, metadata=stored("UpdatedAt", datetime))
    edited_by: str | None = field(default=None, metadata=stored("EditedBy", listed=False, copied=False, personal=True))
    ended_from: str | None = field(default=None, metadata=stored("EndedFrom", listed=False, copied=False))
    verdict: Verdict | None = field(default=None, metadata=stored("Verdict", Verdict))
    price_before: PriceBefore | None = field(
        default=None, metadata=stored("PriceBefore", PriceBefore, listed=False, copied=False)
    )
    more: Mapping[type, object] = field(default_factory=dict, hash=False)

    def changed(self, changes: Mapping[str, Any]) -> Deal:
        """The deal with other values of some fields. ``more`` names only those to change, and None removes one.

        A deal that its source has withdrawn, and that is restored, loses the end that it has from there.
        """
        if "withdrawn_at" in changes and changes["withdrawn_at"] is None and self.ends_at == self.withdrawn_at:
            changes = {"ends_at": None, **changes}
        own = {**self.more, **changes.get("more", {})}
        return replace(self, **{**changes, "more": {kind: value for kind, value in own.items() if value is not None}})

    def with_own(self, value: object) -> Deal:
        """The deal with another value of a feature."""
        return self.changed({"more": {type(value): value}})

    @property
    def editor(self) -> str | None:
        """The editor who wrote this version; None if unknown. An earlier version's editor doesn't count."""
        version, _, name = (self.edited_by or "").partition(" ")
        return name if version == str(self.version) else None

    def signed(self, by: str | None) -> Deal:
        """The deal with an editor as the author of this version."""
        return replace(self, edited_by=f"{self.version} {by}" if by else None)

    @property
    def page_id(self) -> int | str:
        """The last part of its page's address: its number, or its id if it has none yet."""
        return self.number or self.deal_id

    @property
    def changed_at(self) -> datetime:
        """When an editor last changed the deal, or else when it was posted."""
        return self.updated_at or self.created_at

    def seen_changing_at(self, now: datetime) -> datetime:
        """When the deal last changed as readers see it. Its end is a change, too."""
        over = [self.ends_at] if self.ends_at is not None and self.ends_at <= now else []
        return max([self.changed_at, *over])

    def status(self, now: datetime) -> Status:
        """The deal's status at a time: withdrawn, expired or active."""
        if self.withdrawn_at is not None:
            return Status.WITHDRAWN
        if self.ends_at is not None and self.ends_at <= now:
            return Status.EXPIRED
        return Status.ACTIVE

    @property
    def over_at(self) -> datetime | None:
        """When the offer ended or ends: by its end, or by being withdrawn before that."""
        return min(filter(None, (self.ends_at, self.withdrawn_at)), default=None)

    @property
    def is_retracted(self) -> bool:
        """Whether it was withdrawn after it was posted, as a wrong price is.

        One that came withdrawn is history, and so is one whose source said later when it was over: that is its end.
        """
        if self.withdrawn_at is None:
            return False
        return self.withdrawn_at <= self.created_at or (self.version > 1 and self.withdrawn_at != self.ends_at)

    @property
    def discount_percent(self) -> int | None:
        """Whole percents off the list price, rounded down so that it never promises too much."""
        full = units(self.list_price, self.currency) if self.list_price else 0
        return max(0, (full - self.units) * 100 // full) if full else None

    @property
    def units(self) -> int:
        """The price in units of its currency."""
        return units(self.price, self.currency)

    @property
    def is_lowest(self) -> bool:
        """Whether the price is as low as any other of its product in the 60 days before, and there was another."""
        return self.verdict is not None and self.units <= self.verdict.cheapest

    def next_version(self, new: Deal, now: datetime, **written: Any) -> Deal:
        """What an edit makes of this deal: ``new`` with the next version's number, and the price before."""
        return replace(new, version=self.version + 1, price_before=self._price_before(new, now), **written)

    def _price_before(self, new: Deal, now: datetime) -> PriceBefore | None:
        """The price to keep when an edit makes ``new`` of this deal.

        Of several prices of one day, the one that the day began with is kept. A deal has none that was posted, or was
        over, within the day before, or that has become another offer.
        """
        if new.link != self.link or new.currency != self.currency:
            return None
        if new.units == self.units:
            return self.price_before
        if now - self.created_at < YESTERDAY or (self.over_at is not None and self.over_at <= now - YESTERDAY):
            return None
        kept = self.price_before
        is_of_today = kept is not None and kept.changed_at.date() == now.date()
        return PriceBefore(kept.units if kept and is_of_today else self.units, now)

    def dearer_than_yesterday(self, now: datetime) -> int:
        """How much dearer the offer is than a day ago, in units; negative if it is cheaper, and 0 if it isn't known."""
        if self.price_before is not None:
            before, changed_at = self.price_before.units, self.price_before.changed_at
        elif self.verdict is not None and self.verdict.before is not None:
            before, changed_at = self.verdict.before, self.created_at
        else:
            return 0
        return self.units - before if now - changed_at < YESTERDAY else 0

    def is_alike(self, other: Deal) -> bool:
        """Whether two offers of a product have the same variant, as far as it is known."""
        return None in (self.variant, other.variant) or self.variant == other.variant


_STORED = {each.name: attribute for each in fields(Deal) if (attribute := attribute_of(each))}
TYPES: Mapping[str, type] = {name: attribute.kind for name, attribute in _STORED.items() if attribute.typed}
"""The fields of a deal that are shown as typed, with their kinds."""

TYPED: Mapping[str, str] = {name: field for name, field in api_names(Deal).items() if field in TYPES}
"""The same fields, by their API names."""


class Changed(NamedTuple):
    """A changed field of a deal, by its API name, with the old and the new value; None for empty."""

    field: str
    was: str | None
    now: str | None


class LogLine(NamedTuple):
    """A change of a deal, field by field; no fields for its posting. ``by`` is None if unknown."""

    line_id: str
    at: datetime
    by: str | None
    changes: tuple[Changed, ...]


class CuratedPage(NamedTuple):
    """The differences between the two pages whose deals editors pick."""

    label: str
    prefix: str
    type: str


FRONT_PAGE = CuratedPage(label="front page", prefix="FRONTPAGE", type="FrontPage")
EDITORS_CHOICE = CuratedPage(label="editor's choice", prefix="EDITORSCHOICE", type="EditorsChoice")


@dataclass(frozen=True, slots=True)
class Feed:
    """One of the three kinds of feed: all deals, a brand's or a category's (``topic``)."""

    index: str
    period: Period
    topic: Topic | None = None


ALL_DEALS = Feed(index="GSI1", period=Period.DAY)


def feed_of(topic: Topic) -> Feed:
    """The feed of a brand or category."""
    return Feed(topic.kind.feed_index, topic.kind.period, topic)


class Page(NamedTuple, Generic[T]):
    """Some items of a list, in its order, and the cursor of the next page, or None at the end."""

    items: tuple[T, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Mark:
    """A feature's mark on a card: a ``text``, with a ``name`` that screen readers say, or a ``sign`` in small lists."""

    name: str
    sign: str
    text: str


class Listed(NamedTuple):
    """A deal in a feature's list, with the marks of its card and further fields of its JSON."""

    deal: Deal
    marks: tuple[Mark, ...] = ()
    fields: Mapping[str, Any] = MappingProxyType({})


class Sort(StrEnum):
    """The order of a brand's or a category's deals."""

    NEWEST = "newest"
    CHEAPEST = "cheapest"
    DISCOUNT = "discount"


@dataclass(frozen=True, slots=True)
class Selection:
    """The deals to show of a list, and their order; ``brand`` is a slug and selects from a category.

    ``least`` and ``most`` are prices in ``currency``, both included; ``discount`` is the least that is off the list
    price, in percent; ``lowest`` are the deals whose price is the lowest of its product's in 60 days. Prices of two
    currencies cannot be compared: with a currency, deals in another one are left out, and a list that ``is_priced`` is
    shown in one.
    """

    sort: Sort = Sort.NEWEST
    least: str | None = None
    most: str | None = None
    currency: str | None = None
    brand: str | None = None
    discount: int | None = None
    lowest: bool = False

    @property
    def name(self) -> str:
        """The whole selection as text: the scope of its list's cursors."""
        more = [*([] if self.discount is None else [self.discount]), *(["lowest"] if self.lowest else [])]
        return "/".join(map(str, (self.sort, self.least, self.most, self.currency, self.brand, *more)))

    def takes(self, price: str, currency: str | None) -> bool:
        """Whether a price is in the selected currency and between the selected prices."""
        least, most = self.bounds
        return self.currency in (None, currency) and least <= units(price, self.currency or "") <= most

    def admits(self, discount: int | None, *, lowest: bool) -> bool:
        """Whether a discount is large enough, and a price the ``lowest`` if only those are selected."""
        return (discount or 0) >= (self.discount or 0) and (lowest or not self.lowest)

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest price in units of the currency."""
        return units(self.least or "0", self.currency or ""), units(self.most or "9999999999", self.currency or "")

    @property
    def is_priced(self) -> bool:
        """Whether the selection or its order depends on prices."""
        return self.sort is not Sort.NEWEST or self.least is not None or self.most is not None

    @property
    def is_all(self) -> bool:
        """Whether this selects the whole list, newest first."""
        return self == Selection()
