"""The rows of item types, against a table in which everything has happened and each damage that may be done to it.

The chart of the entities, the kinds of collections and what is shown of people, held against items and models.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shared.data import idempotency, invariants, keys, partitions, removal
from shared.data.catalog import deals, feeds, offers, page_cache, search
from shared.data.catalog.deals import from_item
from shared.data.entities import PLACES, ROWS
from shared.data.entity import Entity
from shared.data.idempotency import Idempotency
from shared.data.invariants import Fault
from shared.data.members import rate_limits, users
from shared.dynamodb.attributes import Item, unmarshal_items
from shared.dynamodb.schema import INDEX_KEYS, INDEXES, key_names
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import ALL_DEALS, BRAND, Deal
from shared.models.members import User
from shared.values.stored import attribute_of
from tests.support.cases import cases, cases_by_name
from tests.support.engines import FAST
from tests.support.factories import a_user
from tools import workbench

NOW = workbench.NOW


def upkeep(table: Table, _deal: Deal) -> None:
    table.write(put({**keys.backfill("any", 0, 1), "Type": keys.BACKFILL, "Start": "{}"}, because="as a backfill does"))
    rate_limits.remember(table, "ana", "203.0.113.7", NOW)
    table.write(idempotency.receipt(Idempotency("account-ana", "a key", {}), "a result", NOW))
    for part in page_cache.PARTS:
        copy = page_cache.Copy("<ul></ul>" if part.picks else None, "<ul></ul>" if part.feed else None)
        page_cache.write(table, part, copy, began=NOW, expires=NOW + timedelta(minutes=1), form=page_cache.HTML)


def imported(table: Table, deal: Deal) -> None:
    again: dict[str, Any] = {
        "deal_id": deals.new_id(NOW, None, bytes(16)),
        "created_at": NOW,
        "number": None,
        "source_id": None,
    }
    deals.create_many(table, [replace(deal, **again)], NOW)


def leaving(table: Table, _deal: Deal) -> None:
    users.create(table, a_user("flo"))
    removal.leave(table, users.get(table, "flo", consistent=True), NOW)


def filed(table: Table, _deal: Deal) -> None:
    """What the stream's readers write: they come after all of it."""
    for item in [item for item in table.everything() if item["Type"] == keys.DEAL]:
        search.file(table, None, from_item(item))
        offers.file(table, None, from_item(item))
    for item in [item for item in table.everything() if item["Type"] == keys.DEAL]:
        offers.judge_anew(table, None, from_item(item))
        judged = from_item(table.get(keys.primary(item), consistent=True) or {})
        offers.file(table, None, judged)
        search.file(table, from_item(item), judged)


PARTS = (*cases("HAPPENS"), upkeep, imported, leaving, filed)
"""What happens in a table besides what the model for Workbench shows."""


def everything(table: Table) -> None:
    """What the model for Workbench shows, and what it leaves out."""
    workbench.fill(table)
    deal = feeds.read(table, ALL_DEALS, limit=9, now=NOW).items[4]
    for part in PARTS:
        part(table, deal)


@pytest.fixture(scope="module")
def items() -> list[Item]:
    with FAST.table() as table:
        everything(table)
        return list(table.everything())


def check(some: Iterable[Item]) -> list[Fault]:
    """The faults of a table that holds some items."""
    table: Any = SimpleNamespace(everything=lambda: iter(list(some)))
    return invariants.survey(table, NOW)


def of(row: Entity, items: list[Item]) -> list[Item]:
    """The items of a row."""
    return [item for item in items if invariants.row_of(item)[0] is row]


def named(row: Entity) -> str:
    return f"{row.type} {row.own.keys[1]}"


rows = pytest.mark.parametrize("row", ROWS, ids=named)


def without(items: list[Item], item: Item, *names: str) -> list[Item]:
    """The items, of which one has lost some attributes, or all of it."""
    left = {name: value for name, value in item.items() if name not in names}
    return [each for each in items if each is not item] + ([left] if names else [])


def having(items: list[Item], item: Item, **attributes: object) -> list[Item]:
    return [{**each, **attributes} if each is item else each for each in items]


def test_a_table_in_which_everything_has_happened_has_no_fault(items: list[Item]) -> None:
    assert check(items) == []


@rows
def test_everything_has_an_item_of_each_type(row: Entity, items: list[Item]) -> None:
    assert of(row, items)


def test_an_item_of_no_type_that_is_declared_is_named(items: list[Item]) -> None:
    new = {**keys.deal("x"), "Type": "New"}
    misplaced = {**keys.user("x"), "Type": keys.DEAL}

    faults = check([*items, new, misplaced])

    assert [(fault.rule, fault.key, fault.derived) for fault in faults] == [
        (invariants.UNKNOWN, keys.deal("x"), False),
        (invariants.UNKNOWN, keys.user("x"), False),
    ]


def damages(row: Entity, items: list[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Each damage that the row says can be done to an item of it or to what belongs to it, and the items then."""
    item = next((each for each in of(row, items) if INDEX_KEYS & each.keys()), of(row, items)[0])
    for name in row.required:
        yield f"no {name}", without(items, item, name)
    for name in INDEX_KEYS & item.keys():
        yield f"no {name}", without(items, item, name)
        yield f"another {name}", having(items, item, **{name: "elsewhere"})
    for name in sorted(INDEX_KEYS - item.keys())[:1]:
        yield f"a stray {name}", having(items, item, **{name: "nowhere"})
    for name in row.says:
        wrong = 77 if isinstance(item[name], int) else "another"
        yield f"another {name}", having(items, item, **{name: wrong})
    if row.type in (keys.DEAL, keys.PRODUCT_OFFER):
        item = next(each for each in of(row, items) if "Verdict" in each)
        yield "no verdict", without(items, item, "Verdict")
        yield "another verdict", having(items, item, Verdict="1 2026-07-01 1 1")
        unjudged = next(each for each in of(row, items) if "Verdict" not in each and "WithdrawnAt" not in each)
        yield "a stray verdict", having(items, unjudged, Verdict="1 2026-07-01 1 1")
    if row.owned:
        name = invariants.row_of(item)[1].get("Username") or item["Username"]
        owner = next(each for each in items if each["PK"] == each["SK"] == keys.user(name)["PK"])
        yield "no owner", without(items, owner)
    values = invariants.Values({**item, **invariants.row_of(item)[1], "Now": ""})
    for _, key, says in invariants.partners_of(row, item, values):
        partner = next(each for each in items if keys.primary(each) == key)
        yield f"no {key['PK']}", without(items, partner)
        for name in says.keys() - {"Type"}:
            yield (
                f"another {name} of {key['PK']}",
                having(items, partner, **{name: 77 if name == "Number" else "another"}),
            )
    if row.claimed:
        lost = {**item, **dict.fromkeys(("PK", "SK"), item["PK"] + "7")}
        said = {name: lost["PK"].rpartition("#")[2] for name in row.says}
        lost |= {name: int(text) if isinstance(item[name], int) else text for name, text in said.items()}
        yield "a second one that nothing needs", [*items, lost]


@rows
def test_each_damage_to_an_item_of_a_type_is_found_and_repaired_or_named(row: Entity, items: list[Item]) -> None:
    missed, stays = [], []
    for damage, damaged in damages(row, items):
        faults = check(damaged)
        if not faults:
            missed.append(damage)
        repaired = {(each["PK"], each["SK"]): each for each in damaged}
        for fault in faults if all(fault.derived for fault in faults) else ():
            place = (fault.key["PK"], fault.key["SK"])
            repaired.pop(place, None)
            if fault.due is not None:
                repaired[place] = fault.due
        if all(fault.derived for fault in faults) and check(repaired.values()):
            stays.append(damage)

    assert (missed, stays) == ([], [])


def the(items: list[Item], type_: str, **attributes: object) -> Item:
    return next(each for each in items if each["Type"] == type_ and attributes.items() <= each.items())


def a_like(items: list[Item], username: str) -> Item:
    topic = keys.topic_named(the(items, keys.TOPIC[BRAND])["PK"])
    return {
        **keys.like(topic, username),
        **keys.like_in_likes(topic, username),
        "Type": keys.LIKE[BRAND],
        "Username": username,
        "LikedAt": "2026-08-01T09:00:00Z",
    }


LOST: dict[str, tuple[str, bool, Callable[[list[Item]], list[Item]]]] = {
    "a deal's number leads elsewhere": (
        invariants.PARTNERS, True, lambda all_: having(all_, the(all_, keys.DEAL_NUMBER), DealId="elsewhere")),
    "a brand is missing from the list of brands": (
        invariants.BRANDS, True,
        lambda all_: having(
            all_, the(all_, keys.BRANDS), Brands=dict(list(the(all_, keys.BRANDS)["Brands"].items())[1:]))),
    "the list names a brand that is not there": (
        invariants.BRANDS, False,
        lambda all_: having(all_, the(all_, keys.BRANDS), Brands=the(all_, keys.BRANDS)["Brands"] | {"none": "None"})),
    "an email address leads nowhere": (
        invariants.PARTNERS, True, lambda all_: without(all_, the(all_, keys.USER_EMAIL))),
    "an email address is another's": (
        invariants.PARTNERS, True,
        lambda all_: having(all_, the(all_, keys.USER_EMAIL, Username="bo"), Username="ana")),
    "a password is lost": (invariants.PARTNERS, False, lambda all_: without(all_, the(all_, keys.PASSWORD))),
    "a deal's source is lost": (invariants.PARTNERS, True, lambda all_: without(all_, the(all_, keys.DEAL_SOURCE))),
    "a sequence would give a number again": (
        invariants.NUMBERS, True,
        lambda all_: having(all_, the(all_, keys.SEQUENCE, **keys.deal_numbers()), LastNumber=1)),
    "a message is nobody's": (
        invariants.PARTNERS, False,
        lambda all_: [*all_, message_of(the(all_, keys.MESSAGE, Username="ana"), "gus")]),
    "a like is nobody's": (invariants.PARTNERS, False, lambda all_: [*all_, a_like(all_, "gus")]),
    "a like is nobody's, and counted": (
        invariants.PARTNERS, False,
        lambda all_: [*liked_once_more(all_), a_like(all_, "gus")]),
    **cases_by_name("LOST"),
}  # fmt: skip


def message_of(message: Item, username: str) -> Item:
    places = keys.message_in_unread(username, message["MessageId"]) if "GSI1PK" in message else {}
    return {**message, **keys.message(username, message["MessageId"]), **places, "Username": username}


def liked_once_more(items: list[Item]) -> list[Item]:
    brand = the(items, keys.TOPIC[BRAND])
    return having(items, brand, LikesCount=brand["LikesCount"] + 1)


@pytest.mark.parametrize("damage", LOST)
def test_what_only_other_items_show_to_be_missing_is_found(items: list[Item], damage: str) -> None:
    rule, derived, harm = LOST[damage]

    faults = check(harm(items))

    assert [(fault.rule, fault.derived) for fault in faults] == [(rule, derived)]


def owner_of(item: Item) -> str | None:
    """The account that an item or its key names."""
    name: str | None = ({**item, **invariants.row_of(item)[1]}).get("Username")
    return name


def test_what_an_account_owns_goes_with_it() -> None:
    with FAST.table() as table:
        everything(table)
        ana = users.get(table, "ana", consistent=True)
        for release in cases("RELEASES"):
            release(table, "ana")
        before = list(table.everything())

        removal.remove_account(table, ana, NOW)

        after = list(table.everything())
    owned = [item for item in before if owner_of(item) == "ana"]
    assert [named(row) for row in ROWS if row.owned and not of(row, owned)] == []
    assert [item for item in after if owner_of(item) == "ana"] == []
    # Receipts are kept under the account's id, which nothing leads to any more, until they expire.
    named_by_id = [invariants.row_of(item)[0] for item in after if ana.account_id in str(item)]
    assert [row.type for row in named_by_id if row and not row.expires] == []
    assert check(after) == []


ROOT = Path(__file__).resolve().parents[2]
MODEL = json.loads((ROOT / "docs" / "nosql-workbench.json").read_text(encoding="utf-8"))["DataModel"][0]


def matches(form: str, key: Any) -> bool:
    """Whether a key has the form that the chart says."""
    return re.fullmatch(re.sub(r"<[^>]+>", ".+", form.replace("<", "\0<")).replace("\0", ""), key) is not None


def fits(entity: Entity, item: dict[str, Any]) -> bool:
    """Whether an item is as the chart says: its type, its key, and all of its places in indexes that are shown."""
    there = [index for index in (None, *INDEXES) if index is None or index.partition_key in item]
    return entity.type == item["Type"] and all(
        any(all(map(matches, pair, [item.get(name or "") for name in key_names(index)])) for pair in entity.at(index))
        for index in there
        if index is None or index.sort_key
    )


def test_every_item_of_the_sample_is_in_the_chart() -> None:
    items = unmarshal_items(item for facet in MODEL["TableFacets"] for item in facet["TableData"])

    assert len({item["Type"] for item in items}) > 30
    assert [item for item in items if not any(fits(entity, item) for entity in ROWS)] == []


def test_every_type_of_item_is_in_the_chart() -> None:
    types: set[str] = set()
    for name, value in vars(keys).items():
        if name.isupper() and isinstance(value, str):
            types.add(value)
        elif name in ("TOPIC", "LIKE", "WATCH"):
            types.update(value.values())

    assert types - {entity.type for entity in ROWS} == set()


def test_every_partition_is_of_a_kind_or_is_hidden_and_not_both() -> None:
    kinds = [(place.index, keys.pattern_of(place.partition), place.kind, place.because) for place in PLACES]

    for index, pattern in {(index, pattern) for index, pattern, *_ in kinds}:
        same = [(kind, because) for at, of, kind, because in kinds if (at, of) == (index, pattern)]
        assert any(kind for kind, _ in same) != any(because for _, because in same), (index, pattern)


@pytest.mark.parametrize(("of", "type_"), [(User, keys.USER), *cases("OF_PEOPLE")])
def test_it_is_decided_of_each_attribute_of_people_whether_it_is_shown(of: Any, type_: str) -> None:
    stored = {attribute.name for field in dataclasses.fields(of) if (attribute := attribute_of(field))}
    hidden = set(partitions.HIDDEN_ATTRIBUTES.get(type_, {}))

    assert stored - hidden - set(partitions.SHOWN_ATTRIBUTES) == set()
    assert not hidden & set(partitions.SHOWN_ATTRIBUTES)
