"""Members: accounts, sessions, alerts, and the limits of notifications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from shared.values.stored import Extended, stored


class Pace(StrEnum):
    """When to notify: at once, in the day's digest, or never for now."""

    AT_ONCE = "at-once"
    DAILY = "daily"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Limits:
    """Which deals of a watch or an alert to notify of: a highest price, a least discount, and words.

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

    @property
    def product(self) -> str:
        """The product's hash (``links.product_hash``), which the id ends with."""
        return self.alert_id.removeprefix("price-")


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
class User(Extended):
    """An account. ``password_hash`` is argon2id's encoded form, and None where it was not asked for.

    ``generation``, as it was read, is that of its sessions: it changes with a new password and a sign-out everywhere.
    ``hot_pace`` is when to notify of hot deals; None means at once. A name may have another owner later, an
    ``account_id`` never has. ``more`` has the values of features: ``user.own(Kind)`` is one of them.
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
    more: Mapping[type, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in session; its token is known to the client only. ``session_id`` is the token's hash. ``generation`` is
    that of the account's sessions when it began.

    ``browser`` names the kind of program that signed in, such as "Firefox on Linux". ``network`` is four digits of a
    hash of its network and the account: enough to recognize a network, and too few to find an address. Sessions of
    1.1.0 have neither, and no ``used_at`` until their first use.

    ``program`` is the name of the program for which a signed-in user made the token. It is for the API: pages don't
    take it, and it never counts as a recent sign-in.
    """

    session_id: str
    username: str = field(metadata=stored("Username"))
    account_id: str
    role: Role
    generation: str = field(metadata=stored("Generation"))
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    expires_at: datetime
    used_at: datetime | None = field(default=None, metadata=stored("UsedAt", datetime))
    browser: str | None = field(default=None, metadata=stored("Browser"))
    network: str | None = field(default=None, metadata=stored("Network"))
    program: str | None = field(default=None, metadata=stored("Program"))
