"""The domain's nouns, as frozen dataclasses. Times are aware UTC datetimes of whole seconds, money decimal strings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Generic, Literal, TypeVar

T = TypeVar("T")


class Period(StrEnum):
    """How much time one feed partition covers."""

    DAY = "day"
    MONTH = "month"

    def start_of(self, when: datetime) -> str:
        """The UTC date on which the period of a time starts, as ``2026-06-04``."""
        date = when.astimezone(UTC).date()
        return (date.replace(day=1) if self is Period.MONTH else date).isoformat()


@dataclass(frozen=True, slots=True)
class TopicKind:
    """What differs between brands and categories: a topic is liked, watched and has a feed, of either kind."""

    label: str
    prefix: str
    feed_index: str
    period: Period


BRAND = TopicKind(label="brand", prefix="BRAND", feed_index="GSI2", period=Period.MONTH)
CATEGORY = TopicKind(label="category", prefix="CATEGORY", feed_index="GSI3", period=Period.DAY)


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
"""The eight categories, slug to name. They do not change."""


@dataclass(frozen=True, slots=True)
class TopicPage:
    """A brand or category with its counts."""

    topic: Topic
    name: str
    likes: int
    watchers: int


class Status(StrEnum):
    ACTIVE = "active"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class StockLevel(StrEnum):
    """How much is left of a deal that the site sells itself, as readers are told."""

    AVAILABLE = "available"
    LOW = "low"
    SOLD_OUT = "sold-out"


def cents(money: str) -> int:
    """The hundredths in a price: prices are stored with two decimals, so these need no rounding."""
    return int(money.replace(".", ""))


def money(cents: int) -> str:
    """Hundredths as a price with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"


@dataclass(frozen=True, slots=True)
class Deal:
    """One deal. ``ends_at`` is when its offer ends; ``hot_at`` when everyone was told; ``number`` its short id.

    ``correlation_id`` names the request that wrote it last, for the logs of what follows. ``stock`` is how much is left
    of it where the site sells it itself, and None where it does not.
    """

    deal_id: str
    title: str
    link: str
    brand: str
    brand_name: str
    category: str
    price: str
    currency: str
    created_at: datetime
    list_price: str | None = None
    image: str | None = None
    description: str | None = None
    coupon_code: str | None = None
    source_id: str | None = None
    ends_at: datetime | None = None
    withdrawn_at: datetime | None = None
    hot_at: datetime | None = None
    number: int | None = None
    version: int = 1
    correlation_id: str | None = None
    stock: StockLevel | None = None

    def status(self, now: datetime) -> Status:
        """What the deal is at a time: withdrawn by an editor, expired by itself, or active."""
        if self.withdrawn_at is not None:
            return Status.WITHDRAWN
        if self.ends_at is not None and self.ends_at <= now:
            return Status.EXPIRED
        return Status.ACTIVE

    @property
    def discount_percent(self) -> int | None:
        """Whole percents off the list price, rounded down so as never to promise more than there is."""
        full = cents(self.list_price) if self.list_price else 0
        return max(0, (full - cents(self.price)) * 100 // full) if full else None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, newest first, and the cursor of the next page, or None at the end."""

    items: tuple[T, ...]
    next: str | None


Role = Literal["member", "editor"]


@dataclass(frozen=True, slots=True)
class User:
    """An account. ``password_hash`` is argon2id's encoded form, and None where it was not asked for.

    ``generation`` is that of its sessions, as it was read: who signs out everywhere begins another.
    """

    username: str
    email: str
    name: str
    password_hash: str | None = field(compare=False, repr=False)
    role: Role
    created_at: datetime
    generation: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in session; its token is known to the client only."""

    username: str
    role: Role
    created_at: datetime
    expires_at: datetime


DealNews = Literal["brand", "category", "hot"]
"""Why one is told of a deal: a watched brand, a watched category, or a hot deal."""

OrderNews = Literal["placed", "sent", "cancelled"]
"""Why one is told of an order of one's own: what has become of it."""

MessageKind = DealNews | OrderNews


@dataclass(frozen=True, slots=True)
class AboutDeal:
    """The deal that a message is about, as it was when the message was written."""

    deal_id: str
    title: str
    brand: str
    brand_name: str


@dataclass(frozen=True, slots=True)
class AboutOrder:
    """The order that a message is about."""

    order_id: str


@dataclass(frozen=True, slots=True)
class Announcement:
    """What one user is told, or thousands are: why, in which words, about what, and when it came to be (``at``).

    ``correlation_id`` names the request that it follows from.
    """

    kind: MessageKind
    subject: str
    about: AboutDeal | AboutOrder
    at: datetime
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One user told of something; ``created_at`` is when. The other words are ``Announcement``'s."""

    message_id: str
    username: str
    kind: MessageKind
    subject: str
    about: AboutDeal | AboutOrder
    created_at: datetime
    unread: bool = True
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True)
class CuratedPage:
    """What differs between the two pages whose deals editors pick."""

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


@dataclass(frozen=True, slots=True)
class Address:
    """Where an order goes: ``region`` a state or province, where a country has them, ``country`` two letters."""

    recipient: str
    street: str
    city: str
    postal_code: str
    country: str
    region: str | None = None


class OrderStatus(StrEnum):
    PLACED = "placed"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a buyer asks for: so many pieces of a deal, at the price that the buyer saw."""

    deal_id: str
    quantity: int
    price: str


@dataclass(frozen=True, slots=True)
class OrderItem:
    """So many pieces of a deal as it was when they were ordered; ``shards`` of the stock gave so many each."""

    item_id: str
    deal_id: str
    title: str
    brand: str
    brand_name: str
    price: str
    currency: str
    quantity: int
    shards: Mapping[int, int]
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """What a user ordered, and where it stands. ``times`` says when it took each status, ``placed`` included."""

    order_id: str
    username: str
    status: OrderStatus
    times: Mapping[OrderStatus, datetime]
    address: Address
    item_count: int
    pieces: int
    totals: Mapping[str, str]
    items: tuple[OrderItem, ...] = ()
    correlation_id: str | None = None

    @property
    def placed_at(self) -> datetime:
        return self.times[OrderStatus.PLACED]


@dataclass(frozen=True, slots=True)
class Customer:
    """A user as the shop knows them: name, addresses by their own names, and the newest orders."""

    username: str
    name: str
    addresses: Mapping[str, Address]
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class CartItem:
    """So many pieces of a deal in a cart. ``price`` is what it cost when it was put in; ``deal`` is the deal today."""

    deal: Deal
    quantity: int
    price: str
    put_at: datetime

    @property
    def changed(self) -> bool:
        """Whether the price is another one since."""
        return self.price != self.deal.price


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a deal's stock: what is left, what is in orders, what was put on sale; and how often it changed."""

    number: int
    left: int
    ordered: int
    on_sale: int
    changes: int


@dataclass(frozen=True, slots=True)
class Stock:
    """What is left of a deal, and what is in orders that are not cancelled: both together were put on sale."""

    deal_id: str
    shards: tuple[Shard, ...]

    @property
    def left(self) -> int:
        return sum(shard.left for shard in self.shards)

    @property
    def ordered(self) -> int:
        return sum(shard.ordered for shard in self.shards)

    @property
    def on_sale(self) -> int:
        return sum(shard.on_sale for shard in self.shards)

    @property
    def changes(self) -> int:
        return sum(shard.changes for shard in self.shards)
