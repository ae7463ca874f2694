"""A new local cloud's sample: deals of invented brands with earlier prices, picks and hot deals; and accounts.

``deals.jsonl`` has one deal a line, in the API's format but with ages for times: it was posted ``hoursAgo`` and ends in
``endsInHours`` (below zero: it has ended). So the sample is fresh on any day.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from local.settings import write_private
from shared import features, hooks
from shared.api.bodies import NewDeal
from shared.data.catalog import deals, picks, topics
from shared.data.members import follows, sessions, users
from shared.dynamodb.table import Table
from shared.errors import AlreadyLiked, AlreadyWatching, BrandExists, NoSuchUser
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Deal, Status, Topic
from shared.models.members import Role, User
from shared.values import times
from shared.values.passwords import hash_password, verify_password

FILE = Path(__file__).with_name("deals.jsonl")

FRONT, CHOICE, IN_CATEGORY = 13, 24, 8
"""Deals picked for the front page, the editor's choice, and each category."""

HOT = 3
"""Deals that every user is notified of."""

FOLLOWED = (
    *(Topic(BRAND, slug) for slug in ("pace-theory", "lumen-audio", "granite-trail")),
    *(Topic(CATEGORY, slug) for slug in ("shoes", "outdoors")),
)
"""Brands and categories that the sample's member likes and watches."""

Reach = Callable[[str, Callable[..., Any]], Any]
"""Connects to the place that an output of the stack names, with a feature's function for it."""


def read(now: datetime) -> list[Deal]:
    """The sample's deals, oldest first."""
    return [_deal(json.loads(line), now) for line in FILE.read_text(encoding="utf-8").splitlines()]


def plant(table: Table, now: datetime, member: str, reach: Reach | None = None) -> int:
    """Write the sample to a table, for a member who follows some of it; returns how many deals were new.

    With ``reach``, each deal gets its drawing. Repeating it adds nothing: a deal is known by its source, and likes
    and watches count once.
    """
    sample = read(now)
    for slug, name in {deal.brand: deal.brand_name for deal in sample}.items():
        with suppress(BrandExists):
            topics.create_brand(table, slug, name, now)
    known = _known(table, sample)
    new = [deal for deal in sample if deal.source_id not in known]
    if reach is not None:
        new = drawn(new, reach)
    for topic in FOLLOWED:
        with suppress(AlreadyLiked):
            follows.like(table, topic, member, now)
        with suppress(AlreadyWatching):
            follows.watch(table, topic, member, now)
    deals.create_many(table, new, now)
    if new:
        _pick(table, _known(table, sample), sample, now)
    return len(new)


def drawn(found: list[Deal], reach: Reach) -> list[Deal]:
    """Store the drawings of the sample's deals; returns the deals with them."""
    for each in features.roles(hooks.Sample):
        for output, (connect, draw) in each.DRAWS.items():
            found = [*map(partial(draw, reach(output, connect)), found)]
    return found


def _pick(table: Table, ids: dict[str, str], sample: Sequence[Deal], now: datetime) -> None:
    """Fill the curated pages with the largest discounts, and make the largest hot."""
    active = [deal for deal in sample if deal.status(now) is Status.ACTIVE]
    best = sorted(active, key=lambda deal: deal.discount_percent or 0, reverse=True)
    front = [ids[deal.source_id or ""] for deal in _varied(best, FRONT)]
    picks.set_featured(table, FRONT_PAGE, front, now)
    newest = sorted(active, key=lambda deal: deal.created_at, reverse=True)
    for each in features.roles(hooks.Sample):
        each.plant(table, front, [ids[deal.source_id or ""] for deal in newest], now)
    picks.set_featured(table, EDITORS_CHOICE, [ids[deal.source_id or ""] for deal in _varied(newest, CHOICE)], now)
    for category in CATEGORIES:
        there = [ids[deal.source_id or ""] for deal in best if deal.category == category]
        picks.set_category_featured(table, category, there[:IN_CATEGORY], now)
    for deal in best[:HOT]:
        deals.make_hot(table, ids[deal.source_id or ""], now)


def _varied(found: Sequence[Deal], most: int) -> Iterator[Deal]:
    """Each brand's first deals, so that a page shows many brands."""
    return iter(list({deal.brand: deal for deal in reversed(found)}.values())[::-1][:most])


def _known(table: Table, wanted: Sequence[Deal]) -> dict[str, str]:
    return deals.by_source(table, [deal.source_id or "" for deal in wanted])


def _deal(line: dict[str, Any], now: datetime) -> Deal:
    line["createdAt"] = times.to_iso(now - timedelta(hours=line.pop("hoursAgo")))
    if "endsInHours" in line:
        line["expiresAt"] = times.to_iso(now + timedelta(hours=line.pop("endsInHours")))
    deal = NewDeal.model_validate(line).to_deal(now, entropy=b"")  # its id is derived from the source's
    return replace(deal, brand_name=line["brand"])


@dataclass(frozen=True, slots=True)
class Login:
    """A demo account's username and password."""

    username: str
    password: str


def ensure_account(file: Path, table: Table, role: Role) -> Login:
    """The demo account of a role, created at the first start; its random password is stored in a file."""
    login = _kept(file) or Login(role, secrets.token_urlsafe(12))
    name = login.username
    try:
        user = users.get(table, name)
    except NoSuchUser:
        password_hash, now = hash_password(login.password), times.now()
        users.create(table, User(name, f"{name}@example.com", name.title(), password_hash, role, now))
    else:
        if not verify_password(sessions.with_password(table, user).password_hash, login.password):
            users.change_password(table, name, hash_password(login.password))
    write_private(file, json.dumps(asdict(login)))
    return login


def _kept(file: Path) -> Login | None:
    try:
        return Login(**json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
