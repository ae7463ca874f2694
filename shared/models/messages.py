"""Messages: announcements, their subjects, and the copy for each user."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from shared.values.stored import stored

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
    ``alike`` is shared by a product's colours and sizes (``links.alike``); None in messages of 1.1.0.
    """

    deal_id: str = field(metadata=stored("DealId"))
    title: str = field(metadata=stored("DealTitle"))
    brand: str = field(metadata=stored("Brand"))
    brand_name: str = field(metadata=stored("BrandName"))
    price: str = field(metadata=stored("Price"))
    currency: str = field(metadata=stored("Currency"))
    watched: str | None = field(default=None, metadata=stored("Watched", personal=True))
    also: list[str] | None = field(default=None, metadata=stored("Also", list, personal=True))
    alike: str | None = field(default=None, metadata=stored("Alike"))


@dataclass(frozen=True, slots=True)
class AboutOther:
    """A message's subject other than a deal: a feature's ``thing``, such as an order, and its id."""

    thing: str
    id: str


@dataclass(frozen=True, slots=True)
class Announcement:
    """News for one user or thousands: its kind, its text, its subject and its time (``at``).

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
