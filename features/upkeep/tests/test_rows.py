"""The rows of item types: in a table in which everything has happened, each damage that they name is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from features.upkeep.survey import Values, partners_of, survey
from shared.data import invariants, keys
from shared.data.entities import row_of
from shared.data.entity import Entity
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEX_KEYS
from shared.models.catalog import BRAND
from tests.data.test_entities import NOW, items, of, rows  # noqa: F401  # items is a fixture
from tests.support.cases import cases_by_name


def without(items: list[Item], item: Item, *names: str) -> list[Item]:
    """The items, of which one has lost some attributes, or all of it."""
    left = {name: value for name, value in item.items() if name not in names}
    return [each for each in items if each is not item] + ([left] if names else [])


def having(items: list[Item], item: Item, **attributes: object) -> list[Item]:
    return [{**each, **attributes} if each is item else each for each in items]


def test_a_table_in_which_everything_has_happened_has_no_fault(items: list[Item]) -> None:
    assert survey(items, NOW) == []


def test_an_item_of_no_type_that_is_declared_is_named(items: list[Item]) -> None:
    new = {**keys.deal("x"), "Type": "New"}
    misplaced = {**keys.user("x"), "Type": keys.DEAL}

    faults = survey([*items, new, misplaced], NOW)

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
        name = row_of(item)[1].get("Username") or item["Username"]
        owner = next(each for each in items if each["PK"] == each["SK"] == keys.user(name)["PK"])
        yield "no owner", without(items, owner)
    values = Values({**item, **row_of(item)[1], "Now": ""})
    for _, key, says in partners_of(row, item, values):
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
        faults = survey(damaged, NOW)
        if not faults:
            missed.append(damage)
        repaired = {(each["PK"], each["SK"]): each for each in damaged}
        for fault in faults if all(fault.derived for fault in faults) else ():
            place = (fault.key["PK"], fault.key["SK"])
            repaired.pop(place, None)
            if fault.due is not None:
                repaired[place] = fault.due
        if all(fault.derived for fault in faults) and survey(repaired.values(), NOW):
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

    faults = survey(harm(items), NOW)

    assert [(fault.rule, fault.derived) for fault in faults] == [(rule, derived)]
