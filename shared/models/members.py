"""Members: accounts, sessions, the limits of alerts, and the messages that an account gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from shared.values.stored import stored


class Pace(StrEnum):
    """When to notify: at once, in the day's digest, or never for now."""

    AT_ONCE = "at-once"
    DAILY = "daily"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Limits:
    """The deals of a watch or an alert that one wants: at most at a price, at least so much off, with some words.

    ``ceiling`` is in ``currency``; a deal in another currency is not known to be below it. ``least_discount`` is in
    whole percents. ``words`` are as typed. None means no limit.
    """

    ceiling: str | None = field(default=None, metadata=stored("Ceiling"))
    currency: str | None = field(default=None, metadata=stored("Currency"))
    least_discount: int | None = field(default=None, metadata=stored("LeastDiscount", int))
    words: str | None = field(default=None, metadata=stored("Words", personal=True))
    pace: Pace = field(default=Pace.AT_ONCE, metadata=stored("Pace", Pace))


NO_LIMITS = Limits()
"""Every deal, at once: what watches are that say nothing else."""


@dataclass(frozen=True, slots=True)
class PriceAlert:
    """An alert on a product: its owner is notified of each offer at the ceiling of ``limits`` or below.

    ``armed`` is the highest price, in cents, that it notifies of: the ceiling at first, then below the last that it
    notified of. The deal is the one on whose page it was made.
    """

    alert_id: str = field(metadata=stored("AlertId"))
    username: str = field(metadata=stored("Username", personal=True))
    account_id: str = field(metadata=stored("AccountId", personal=True))
    deal_id: str = field(metadata=stored("DealId"))
    title: str = field(metadata=stored("DealTitle"))
    armed: int = field(metadata=stored("Armed", int))
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    limits: Limits


@dataclass(frozen=True, slots=True)
class WordsAlert:
    """An alert on words: its owner is notified of new deals within ``limits``, which name the words.

    ``rarest`` is the one of them under which it is looked up: a stem, and of a part of a hyphenated word the joined
    word's, too. What its owner typed is personal, as is the id, its hash.
    """

    alert_id: str = field(metadata=stored("AlertId", personal=True))
    username: str = field(metadata=stored("Username", personal=True))
    account_id: str = field(metadata=stored("AccountId", personal=True))
    rarest: str = field(metadata=stored("Rarest", personal=True))
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    limits: Limits


Alert = PriceAlert | WordsAlert


Role = Literal["member", "editor"]


@dataclass(frozen=True, slots=True)
class User:
    """An account. ``password_hash`` is argon2id's encoded form, and None where it was not asked for.

    ``generation``, as it was read, is that of its sessions: it changes with a new password and a sign-out everywhere.
    ``hot_pace`` is when to notify of hot deals; None means at once. A name may have another owner later, an
    ``account_id`` never has. ``more`` are objects of features, of what its item says beside these.
    """

    username: str = field(metadata=stored("Username", personal=True))
    email: str = field(metadata=stored("Email", personal=True))
    name: str = field(metadata=stored("Name", personal=True))
    password_hash: str | None = field(compare=False, repr=False)
    role: Role = field(metadata=stored("Role"))
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    generation: str = field(default="", compare=False)
    account_id: str = field(default="", compare=False, metadata=stored("AccountId", personal=True))
    hot_pace: Pace | None = field(default=None, metadata=stored("HotPace", Pace))
    more: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in session; its token is known to the client only."""

    username: str = field(metadata=stored("Username"))
    account_id: str
    role: Role
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    expires_at: datetime


DealNews = Literal["brand", "category", "hot", "words", "price"]
"""Why a user is notified of a deal: a watched brand, a watched category, a hot deal, an alert on words, one on a
price."""

MessageKind = str
"""One of these, or of the ``news`` of a feature."""


@dataclass(frozen=True, slots=True)
class AboutDeal:
    """The deal that a message is about, as it was when the message was written.

    ``watched`` is the name of what is watched: a brand, a category, words, a product at a price; a hot deal goes to
    everyone. ``also`` are the names of the alerts that it meets beside that. Both may quote what a member typed.
    """

    deal_id: str = field(metadata=stored("DealId"))
    title: str = field(metadata=stored("DealTitle"))
    brand: str = field(metadata=stored("Brand"))
    brand_name: str = field(metadata=stored("BrandName"))
    price: str = field(metadata=stored("Price"))
    currency: str = field(metadata=stored("Currency"))
    watched: str | None = field(default=None, metadata=stored("Watched", personal=True))
    also: list[str] | None = field(default=None, metadata=stored("Also", list, personal=True))


@dataclass(frozen=True, slots=True)
class AboutOther:
    """What else a message is about: a ``thing`` of a feature, such as an order, and its id."""

    thing: str
    id: str


@dataclass(frozen=True, slots=True)
class Announcement:
    """News for one user or thousands: its kind, its words, what it is about, and when it came to be (``at``).

    ``correlation_id`` names the request that it follows from. ``about_price``: a deal's price fell.
    """

    kind: MessageKind
    subject: str
    about: AboutDeal | AboutOther
    at: datetime
    correlation_id: str | None = None
    about_price: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One notification of one user; ``created_at`` is the announcement's time. The other words are ``Announcement``'s.

    The id is made of the user's name, so it is as personal. Before ``shown_at`` it is in no list and not counted.
    """

    message_id: str = field(metadata=stored("MessageId", personal=True))
    username: str = field(metadata=stored("Username", personal=True))
    kind: MessageKind = field(metadata=stored("Kind"))
    subject: str = field(metadata=stored("Subject"))
    about: AboutDeal | AboutOther
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    unread: bool = True
    correlation_id: str | None = field(default=None, metadata=stored("CorrelationId", personal=True))
    shown_at: datetime | None = field(default=None, metadata=stored("ShownAt", datetime))
