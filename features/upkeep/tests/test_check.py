"""A table is held against its invariants: each damage is named, and what others say is mended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import product

import pytest

from features.upkeep import repairs
from features.upkeep.keys import BACKFILL, backfill
from features.upkeep.survey import check, lasting, survey
from shared.data import account_checks, invariants, keys
from shared.data.catalog import deals, feed_counts, feeds, offers, search, words
from shared.data.members import follows, messages, sessions, users
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, forget, put, update
from shared.models.catalog import ALL_DEALS, Deal
from tests.support.cases import cases, cases_by_name
from tests.support.engines import FAST, put_all
from tests.support.factories import (
    APPLE,
    NOW,
    SHOES,
    a_deal,
    a_message,
    a_user,
    ago,
    ahead,
    indexed,
    join,
    listed,
    open_brands,
    post,
    send,
)
from tests.support.wire import before

ENDS = ahead(hours=3)
TOKEN = bytes(range(32))


def lived_in(table: Table) -> Deal:
    """A listed deal in a table that has something of everything: liked, sold, ended, withdrawn, read."""
    join(table, "bo", "cy")
    users.create(table, a_user("ana"))
    for topic in (APPLE, SHOES):
        follows.like(table, topic, "ana", NOW)
        follows.like(table, topic, "bo", NOW)
        follows.watch(table, topic, "cy", NOW)
    follows.unlike(table, SHOES, "bo")
    (lamp,) = post(table, [a_deal(title="Desk lamp", ends_at=ENDS)])
    (over,) = post(table, [a_deal(ago(hours=2), title="Old lamp", ends_at=ago(hours=1))], ago(hours=2))
    (withdrawn,) = post(table, [a_deal(title="Withdrawn shoe")])
    (another,) = post(table, [a_deal(title="Another shoe")])
    indexed(table, [lamp, over, withdrawn, another])
    for give, name in product(cases("OWNS"), ("ana", "bo")):
        give(table, lamp, name, NOW)
    feeds.sweep(table, NOW)
    listed = deals.get_many(table, [over.deal_id, withdrawn.deal_id])
    taken_back = deals.withdraw(table, withdrawn.deal_id, NOW)
    for each in listed:
        search.file(table, each, None)
    offers.file(table, over, deals.get(table, over.deal_id), has_ended=True)
    offers.file(table, withdrawn, taken_back)
    # Its offer has ended, and the next sweep is not due yet.
    (just_over,) = post(table, [a_deal(ago(minutes=5), ends_at=ago(seconds=1))], ago(minutes=5))
    indexed(table, [just_over])
    sessions.start(table, users.get(table, "bo"), NOW, TOKEN)
    for about, read in ((lamp, True), (another, False)):
        message = a_message(about, "bo")
        send(table, message)
        if read:
            messages.mark_read(table, "bo", message.message_id, NOW)
    return lamp


@cache
def _of_life() -> tuple[Deal, list[Item]]:
    """The deal, and all items of that table: fifty tests begin with them."""
    with FAST.table(open_brands) as table:
        return lived_in(table), list(table.everything())


@pytest.fixture
def lamp(table: Table) -> Deal:
    """That deal, in a table of a test's own."""
    deal, items = _of_life()
    put_all(table, items)
    return deal


def test_a_table_that_only_its_own_code_has_written_has_no_fault(table: Table, lamp: Deal) -> None:
    assert check(table, NOW) == []


def say(key: Key, **attributes: object) -> Write:
    """Write attributes by hand."""
    names = {f"#{name}": name for name in attributes}
    values = {f":{name}": value for name, value in attributes.items()}
    expression = "SET " + ", ".join(f"#{name} = :{name}" for name in attributes)
    return update(key, expression, condition=None, names=names, values=values, refused=None)


def lose(key: Key) -> Write:
    return forget(key, because="this is the damage")


def unplace(key: Key, *attributes: str) -> Write:
    return update(key, f"REMOVE {', '.join(attributes)}", refused=None)


def book_of(lamp: Deal) -> Key:
    """The counts of the month of all deals."""
    return next(iter(feed_counts.counters(lamp)))[0]


def offer_of(lamp: Deal) -> Key:
    return keys.primary(offers.to_item(lamp, has_ended=False))


DAMAGES: dict[str, tuple[str, Callable[[Deal], Write]]] = {
    **cases_by_name("DAMAGES"),
    "likes are miscounted": (invariants.FOLLOWERS, lambda _: say(keys.topic(APPLE), LikesCount=7)),
    "watches are miscounted": (invariants.FOLLOWERS, lambda _: say(keys.topic(SHOES), WatchCount=0)),
    "a feed is miscounted": (invariants.FEEDS, lambda lamp: say(book_of(lamp), Total=1)),
    "a feed counts a day without deals": (invariants.FEEDS, lambda lamp: say(book_of(lamp), Day01=2)),
    "a feed's counts are gone": (invariants.FEEDS, lambda lamp: lose(book_of(lamp))),
    "a deal is in two feeds of three": (
        invariants.INDEX,
        lambda lamp: unplace(keys.deal(lamp.deal_id), "GSI3PK", "GSI3SK"),
    ),
    "an account is gone": (invariants.ACCOUNTS, lambda _: lose(keys.account("cy"))),
    "an account is nobody's": (
        invariants.ACCOUNTS,
        lambda _: put(account_checks.to_item("dee", "account-dee"), because="this is the damage"),
    ),
    "a read message counts as unread": (
        invariants.INDEX,
        lambda lamp: say(
            keys.message("bo", a_message(lamp, "bo").message_id),
            **keys.message_in_unread("bo", a_message(lamp, "bo").message_id),
        ),
    ),
    "a note of an ending is gone": (invariants.NOTES, lambda lamp: lose(keys.ending("2050-06-15", ENDS, lamp.deal_id))),
    "a word is gone": (invariants.WORDS, lambda lamp: lose(keys.word_of_deal("lamp", lamp.deal_id))),
    "a word names too few others": (
        invariants.WORDS,
        lambda lamp: say(keys.word_of_deal("lamp", lamp.deal_id), Words="lamp"),
    ),
    "a word of a deal that has it no more": (
        invariants.WORDS,
        lambda lamp: put(
            {**search.items_of(lamp)["lamp"], **keys.word_of_deal("torch", lamp.deal_id)}, because="this is the damage"
        ),
    ),
    "an offer is gone": (invariants.OFFERS, lambda lamp: lose(offer_of(lamp))),
    "an offer has another price than its deal": (invariants.OFFERS, lambda lamp: say(offer_of(lamp), Price="1.00")),
    "an offer of a product that is another by now": (
        invariants.OFFERS,
        lambda lamp: put(
            offers.to_item(replace(lamp, link="https://shop.example/before"), has_ended=False), because="the damage"
        ),
    ),
    "a deal's verdict is none that its product's offers make": (
        invariants.VERDICTS,
        lambda lamp: say(keys.deal(lamp.deal_id), Verdict="1 2050-06-01 1 1"),
    ),
    "a word is miscounted": (invariants.WORD_COUNTS, lambda _: say(keys.word_count("lamp"), Deals=5)),
    "the count of a word is gone": (invariants.WORD_COUNTS, lambda _: lose(keys.word_count("desk"))),
    "a word's count has no spellings, as in 1.0.0": (
        invariants.WORD_COUNTS,
        lambda _: unplace(keys.word_count("desk"), "Forms"),
    ),
    "a word's count is text": (invariants.WORD_COUNTS, lambda _: say(keys.word_count("desk"), Deals="one")),
}
"""Some of each rule, to be mended: ``test_entities.py`` makes all damages that the rows of items name."""


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_is_named_and_mended(table: Table, lamp: Deal, damage: str) -> None:
    rule, write = DAMAGES[damage]
    table.write(write(lamp))

    faults = check(table, NOW)

    # The count of a word counts the items of the word: one that is there too often or is gone makes the count wrong.
    counts = [fault for fault in faults if fault.rule == invariants.WORD_COUNTS != rule]
    assert {fault.rule for fault in faults if fault not in counts} == {rule}
    assert (len(faults), len(counts)) in ((1, 0), (2, 1))
    assert all(repairs.mend_group(table, group) for groups in repairs.groups(faults) for group in groups)
    assert check(table, NOW) == []


def test_a_words_damaged_count_is_not_repaired_by_who_has_not_seen_all_of_its_words(table: Table, lamp: Deal) -> None:
    table.write(say(keys.word_count("desk"), Deals="one"))
    first = survey(table.everything(), NOW)
    for number in range(2):
        (other,) = post(table, [a_deal(title=f"Desk {number}")])
        search.file(table, None, other)

    same = lasting(first, survey(table.everything(), NOW))

    (count,) = (fault for fault in same if fault.key == keys.word_count("desk"))
    assert not repairs.mend(table, count)
    (count,) = (fault for fault in check(table, NOW) if fault.rule == invariants.WORD_COUNTS)
    assert repairs.mend(table, count)
    assert (table.get(keys.word_count("desk")) or {}).items() >= {("Deals", 3)}
    assert search.UNCOUNTED not in (table.get(keys.word_count("desk")) or {})


def test_of_two_repairs_the_one_that_began_last_goes_on_even_if_it_is_killed_and_begun_again(
    table: Table, lamp: Deal
) -> None:
    table.write(say(keys.topic(APPLE), LikesCount=7))
    table.write(say(keys.word_count("desk"), Deals=7))
    killed = {**backfill("Repair", 1, 0), "Type": BACKFILL, "Start": "killed"}

    with repairs.repairing(table, "first", NOW) as first:
        counts = check(table, NOW)
        table.write(put(killed, because="it has begun, and ended nothing"))
        with repairs.repairing(table, "last", NOW) as last:
            with pytest.raises(repairs.Overtaken):
                repairs.mend_group(table, counts[:1], first)
            assert [repairs.mend_group(table, [count], last) for count in counts] == [True, True]

    assert check(table, NOW) == []
    assert table.get(backfill("Repair", 1, 0)) is None


def test_a_deal_that_was_lost_to_all_feeds_is_found_by_its_readers_again(table: Table, lamp: Deal) -> None:
    table.write(unplace(keys.deal(lamp.deal_id), "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK"))

    (fault,) = check(table, NOW)

    assert fault.attributes == ["GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK"]
    assert repairs.mend(table, fault)
    assert lamp.deal_id in listed(table, ALL_DEALS)


def test_an_item_that_cannot_be_read_is_named_and_left_to_a_person(table: Table, lamp: Deal) -> None:
    table.write(say(keys.deal(lamp.deal_id), Price=1))

    faults = check(table, NOW)

    damaged = [fault for fault in faults if fault.rule == invariants.DAMAGE]
    assert [fault.key for fault in damaged] == [keys.deal(lamp.deal_id)]
    assert not repairs.mend(table, damaged[0])


def test_a_damaged_deal_leaves_only_its_own_items_and_the_counts_of_all_deals_unknown(table: Table, lamp: Deal) -> None:
    table.write(say(keys.deal(lamp.deal_id), Price=1))
    (other,) = post(table, [a_deal(title="Camping stove")])
    table.write(say(keys.topic(APPLE), LikesCount=7))

    faults = check(table, NOW)
    unknown = repairs.unknown(faults)
    known = [fault for fault in faults if fault.derived and fault not in unknown]
    mended = [repairs.mend_group(table, group) for groups in repairs.groups(known) for group in groups]

    assert all(mended)
    assert {fault.rule for fault in unknown if fault.due is None} >= {invariants.WORDS, invariants.OFFERS}
    assert {keys.id_in(fault.key["SK"]) for fault in unknown if fault.rule == invariants.WORDS} == {lamp.deal_id}
    assert invariants.FEEDS in {fault.rule for fault in unknown}
    left = check(table, NOW)
    assert [fault for fault in left if fault.derived and fault not in repairs.unknown(left)] == []
    assert search.find(table, words.asked("lamp"), limit=9).deal_ids[0] == lamp.deal_id
    assert table.get_many([keys.primary(item) for item in search.items_of(other).values()])


def test_what_is_written_while_the_table_is_read_is_no_fault(table: Table, lamp: Deal) -> None:
    table.write(say(keys.topic(SHOES), LikesCount=7))

    # Between the two scans the count is put right, as if its change had only now become visible.
    with before(table, "Scan", lambda: table.write(say(keys.topic(SHOES), LikesCount=1)), skip=1):
        assert check(table, NOW) == []


def test_what_was_written_since_it_was_found_is_not_mended(table: Table, lamp: Deal) -> None:
    table.write(say(keys.topic(APPLE), LikesCount=7))
    (fault,) = check(table, NOW)
    follows.like(table, APPLE, "cy", NOW + timedelta(minutes=1))

    assert not repairs.mend(table, fault)
    assert check(table, NOW)[0].found == {**(fault.found or {}), "LikesCount": 8}
