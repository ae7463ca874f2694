"""All actions of the core that write, once each, and the table that they begin with.

Features add theirs (``WRITES`` and its neighbours in their cases). ``test_interleave.py`` finds what is missing: each
function that writes must have written in one of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from local.event_source import batch
from shared.data import keys, removal
from shared.data.catalog import deals, editing, page_cache, picks, topics
from shared.data.catalog.page_cache import Copy
from shared.data.members import accounts, alerts, fanout, follows, messages, sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, update
from shared.models.catalog import CATEGORIES, CATEGORY, FRONT_PAGE, Deal, Topic
from shared.models.members import Limits, Pace, User
from shared.values import identifiers, passwords
from tests.interleave import world
from tests.interleave.beginning import (
    ADDRESS,
    BROKEN,
    CHEAP,
    ENDED,
    FIRST,
    IMPORTED,
    LATER,
    LATEST,
    NEW,
    PASSWORD,
    SECOND,
)
from tests.interleave.exploring import Explorer
from tests.interleave.processes import Action, Process, failed
from tests.interleave.world import World, deliver, follow, publish, tick
from tests.support import factories
from tests.support.cases import cases, cases_by_name
from tests.support.factories import APPLE, LAUNCH, NOW, SHOES, a_deal, a_user, account_of, ago

TOKEN = identifiers.token(b"s" * 32)
"""The token of Ana's session."""

BY_HAND = "it is damage"
LAST = Topic(CATEGORY, [*CATEGORIES][-1])


def prepare(at: Process) -> None:
    """What all actions begin with: deals, brands, members, and what they follow."""
    table = at.table
    topics.plant_seeds(table, LAUNCH)
    table.write(forget(keys.topic(LAST), because="a later release adds a category"))
    factories.open_brands(table)
    for deal in (FIRST, SECOND, IMPORTED, BROKEN):
        deals.create(table, deal, NOW)
    for name in ("ana", "bo", "eve"):
        user = a_user(name, created_at=ago(days=400), password_hash=passwords.hash_password(PASSWORD))
        users.create(table, replace(user, role="editor" if name == "bo" else "member"))
    for name in ("ana", "eve"):
        follows.like(table, SHOES, name, NOW)
        follows.watch(table, SHOES, name, NOW)
    follows.watch(table, APPLE, "bo", NOW)
    follows.limit(table, APPLE, "bo", Limits(pace=Pace.DAILY), account_of("bo"))
    follows.watch(table, SHOES, "bo", NOW)
    alerts.on_words(table, "bo", account_of("bo"), Limits(words="summer"), NOW)
    alerts.on_price(table, SECOND, "ana", account_of("ana"), CHEAP, NOW)
    alerts.on_words(table, "ana", account_of("ana"), Limits(words="summer boot"), NOW)
    sessions.start(table, ana(table), ago(hours=2), b"s" * 32)
    factories.send(table, factories.a_message(FIRST, "ana"))
    # The copy of the last one is out of date from the next line on.
    picks.set_featured(table, FRONT_PAGE, [FIRST.deal_id, SECOND.deal_id, IMPORTED.deal_id], NOW)
    deals.edit(table, IMPORTED.deal_id, {"withdrawn_at": NOW}, NOW, by="ed")


def leave_pending(at: Process) -> None:
    """What the stream, the queue and the clock still have to do when an action begins."""
    for deal in (NEW, ENDED):
        deals.create(at.table, deal, NOW)
    deals.edit(at.table, SECOND.deal_id, {"price": "19.00"}, NOW, by="ed")
    new, second = (deals.get(at.table, deal.deal_id) for deal in (NEW, SECOND))
    units = [*fanout.news_of(new), *fanout.alerts_of(new, "words"), *fanout.alerts_of(second, "price")]
    at.queue.send([unit.to_json() for unit in [*units, *fanout.alarm_of(FIRST, segments=1)]])
    removal.leave(at.table, users.get(at.table, "eve", consistent=True), NOW)


def ana(table: Table) -> User:
    return users.get(table, "ana", consistent=True)


def first(table: Table) -> Deal:
    return deals.get(table, FIRST.deal_id, consistent=True)


def edit(at: Process, deal: Deal = FIRST, **changes: Any) -> None:
    deals.edit(at.table, deal.deal_id, changes, LATER, by="ed")


def edit_form(at: Process) -> None:
    """A form sends every field, and the version that it was filled with."""
    deal = first(at.table)
    deals.edit(at.table, deal.deal_id, {"title": "A form's title"}, LATER, by="ed", version=deal.version)


def post(at: Process, **fields: Any) -> None:
    """A client posts a deal, and repeats the request with the same id."""
    new = a_deal(LATER, entropy=at.entropy(), link=f"https://shop.example/{at.seed}", **fields)
    editing.create(at.table, new, LATER, {"ends_at"})


def post_several(at: Process) -> None:
    some = [a_deal(LATER, entropy=at.entropy(15) + bytes([each]), title=f"Clog {each}") for each in range(2)]
    deals.create_many(at.table, some, LATER)


def mend_deal(at: Process) -> None:
    """An editor saves a deal that was damaged by hand."""
    at.table.write(update(keys.deal(BROKEN.deal_id), "SET Price = :odd", values={":odd": 7}, refused=None))
    editing.mend(at.table, BROKEN.deal_id, {"price": "30.00"}, LATER, by="ed")


def write_copy(at: Process) -> None:
    """The refresher stores a page; of two builds, the one that began later stays."""
    began = LATER + timedelta(seconds=at.seed)
    page_cache.write(at.table, page_cache.FRONT_PAGE_PICKS, Copy(f"page {at.seed}"), began=began, expires=LATEST)


def refresh(at: Process) -> str:
    """The refresher gets the records of the stream that nobody has read yet."""
    return failed(follow(at, batch(at.records)))


def publish_pending(at: Process) -> str:
    return failed(publish(at, batch(at.records)))


def deliver_pending(at: Process) -> int:
    return len(deliver(at, at.messages))


def sign_up(at: Process, username: str, email: str) -> None:
    accounts.sign_up(at.table, username=username, email=email, name="Cy", password=PASSWORD, address=ADDRESS, now=LATER)


def sign_in(at: Process) -> None:
    accounts.sign_in(at.table, "ana", PASSWORD, ADDRESS, LATER, at.entropy(32))


def change_password(at: Process) -> None:
    user = accounts.prove(at.table, ana(at.table), PASSWORD, ADDRESS, LATER)
    accounts.change_password(at.table, user, f"a new password {at.seed}")


def change_email(at: Process, name: str) -> None:
    user = users.get(at.table, name, consistent=True)
    accounts.change_email(at.table, user, "new@mail.example", ADDRESS, LATER)


def read_all(at: Process) -> None:
    messages.mark_all_read(at.table, "ana", LATER, account_of("ana"))


def rehash(at: Process) -> None:
    user = sessions.with_password(at.table, ana(at.table))
    users.rehash(at.table, user, f"a better hash {at.seed}")


def change_alert(at: Process) -> None:
    alert = alerts.get(at.table, "ana", alerts.id_on(SECOND))
    alerts.change(at.table, alert, Limits(ceiling="10.00", currency="USD"))


def leave(at: Process) -> None:
    removal.remove_account(at.table, ana(at.table), LATER)


def seeded(at: Process) -> None:
    topics.plant_seeds(at.table, LATER)


CORE: Mapping[str, Action] = {
    "post": post,
    "post in another category": partial(post, category="home"),
    "post with an end": partial(post, ends_at=LATER + timedelta(hours=1)),
    "post several": post_several,
    "post again": lambda at: deals.create(at.table, a_deal(LATER, source_id="shop:2"), LATER),
    "edit price": partial(edit, price="25.00"),
    "edit title": partial(edit, title="Another title"),
    "edit form": edit_form,
    "edit link": partial(edit, link="https://shop.example/boot"),
    "edit brand": partial(edit, brand="asics"),
    "edit category": partial(edit, category="home"),
    "edit end": partial(edit, ends_at=LATER + timedelta(hours=1)),
    "end": partial(edit, ends_at=LATER),
    "withdraw": lambda at: deals.withdraw(at.table, FIRST.deal_id, LATER, by="ed"),
    "withdraw second": lambda at: deals.withdraw(at.table, SECOND.deal_id, LATER, by="ed"),
    "undo withdrawal": lambda at: editing.undo(at.table, IMPORTED.deal_id, LATER, by="ed"),
    "make hot": lambda at: deals.make_hot(at.table, FIRST.deal_id, LATER, by="ed"),
    "mend deal": mend_deal,
    "create brand": lambda at: topics.create_brand(at.table, "runa", f"Runa {at.seed}", LATER),
    "create brands": lambda at: topics.create_brands(at.table, {"runa": "Runa", "sola": "Sola"}, LATER),
    "seed": seeded,
    "pick": lambda at: picks.set_featured(at.table, FRONT_PAGE, [SECOND.deal_id], LATER),
    "pick none": lambda at: picks.set_featured(at.table, FRONT_PAGE, [], LATER),
    "refresh picks": lambda at: picks.refresh(at.table, FRONT_PAGE, LATER),
    "write copy": write_copy,
    "like": lambda at: follows.like(at.table, APPLE, "ana", LATER, account_of("ana")),
    "like bo": lambda at: follows.like(at.table, APPLE, "bo", LATER, account_of("bo")),
    "unlike": lambda at: follows.unlike(at.table, SHOES, "ana", account_of("ana")),
    "watch": lambda at: follows.watch(at.table, APPLE, "ana", LATER, account_of("ana")),
    "limit watch": lambda at: follows.limit(
        at.table, SHOES, "ana", Limits(ceiling="9.00", currency="USD"), account_of("ana")
    ),
    "unwatch": lambda at: follows.unwatch(at.table, SHOES, "ana", account_of("ana")),
    "alert": lambda at: alerts.on_price(at.table, first(at.table), "ana", account_of("ana"), CHEAP, LATER),
    "alert words": lambda at: alerts.on_words(at.table, "ana", account_of("ana"), Limits(words="runner"), LATER),
    "change alert": change_alert,
    "remove alert": lambda at: alerts.remove(at.table, "ana", alerts.id_on(SECOND), account_of("ana")),
    "sign up": lambda at: sign_up(at, "cy", f"cy{at.seed}@mail.example"),
    "sign up by email": lambda at: sign_up(at, f"cy{at.seed}", "cy@mail.example"),
    "sign in": sign_in,
    "use session": lambda at: sessions.authenticate(at.table, TOKEN, LATER),
    "end session": lambda at: sessions.end_one(at.table, "ana", sessions.id_of(TOKEN)),
    "sign out": lambda at: sessions.end(at.table, TOKEN),
    "sign out everywhere": lambda at: sessions.end_all(at.table, "ana", account_of("ana")),
    "start session": lambda at: sessions.start(at.table, ana(at.table), LATER, at.entropy(32)),
    "change password": change_password,
    "set password": lambda at: users.change_password(at.table, "ana", f"a hash {at.seed}"),
    "rehash": rehash,
    "change email": lambda at: change_email(at, "ana"),
    "change email of bo": lambda at: change_email(at, "bo"),
    "rename": lambda at: users.rename(at.table, "ana", f"Ana {at.seed}", account_of("ana")),
    "set pace": lambda at: users.set_hot_notifications(at.table, "ana", Pace.DAILY, account_of("ana")),
    "set role": lambda at: users.set_role(at.table, "ana", "editor"),
    "read message": lambda at: messages.mark_read(at.table, "ana", factories.a_message(FIRST, "ana").message_id, LATER),
    "read all messages": read_all,
    "leave": leave,
}


CORE_PENDING: Mapping[str, Action] = {
    "withdraw new": lambda at: deals.withdraw(at.table, NEW.deal_id, LATER, by="ed"),
    "reopen ended": lambda at: edit(at, ENDED, ends_at=None),
    "publish": publish_pending,
    "refresh": refresh,
    "deliver": deliver_pending,
    "tick": tick,
    "sign up as eve": lambda at: sign_up(at, "eve", "eve2@mail.example"),
    "go on removing": lambda at: removal.go_on(at.table, "eve", most=1),
    "withdraw second early": CORE["withdraw second"],
    "remove alert early": CORE["remove alert"],
    "unwatch early": CORE["unwatch"],
    "leave early": leave,
}
"""Actions that meet what the stream, the queue and the clock have not done yet, or do it. Each pair with one of them
begins with such work; the others begin with a settled table."""


def actions() -> dict[str, Action]:
    """All actions, by name: the core's, and those of features."""
    return {**CORE, **cases_by_name("WRITES"), **pending(), **damaged()}


def pending() -> dict[str, Action]:
    """Those that begin with pending work."""
    return {**CORE_PENDING, **cases_by_name("PENDING_WRITES")}


def damaged() -> dict[str, Action]:
    """Those that begin with damage beside it, which they repair."""
    return cases_by_name("DAMAGED_WRITES")


def pairs() -> list[list[str]]:
    """All pairs by name, one of those that differ only in name: beside an early action, another one is early, too."""
    every = actions()
    found: dict[object, list[str]] = {}
    for pair in itertools.combinations_with_replacement(every, 2):
        begins = [not those.keys().isdisjoint(pair) for those in (damaged(), pending())]
        found[begins[0], any(begins), frozenset(id(every[name]) for name in pair)] = list(pair)
    return [*found.values()]


def opened() -> AbstractContextManager[World]:
    """The world that all actions begin with."""
    before, later = [prepare, *cases("BEFORE_WRITES")], [leave_pending, *cases("LEFT_PENDING")]
    return world.opened(before, later, cases("LEFT_DAMAGED"), cases("AROUND_WRITES"), [*damaged().values()])


@contextmanager
def explored() -> Iterator[Explorer]:
    """What tries all actions, in a world of its own."""
    with opened() as world_of_all:
        yield Explorer(world_of_all, actions(), pending(), damaged())
