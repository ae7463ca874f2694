"""The access patterns of the data model, in its order: what each answers, and with which requests.

The fan-out of messages has tests of its own.
"""

from __future__ import annotations

import pytest

from shared.data.catalog import deals, feed_counts, feeds, picks, topics
from shared.data.members import follows, messages, sessions, users
from shared.dynamodb.table import Table
from shared.errors import AlreadyLiked, BrandExists, EmailTaken, NoSuchMessage, NotSignedIn, NotWatching, UsernameTaken
from shared.models.catalog import ALL_DEALS, CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Status, Topic, feed_of
from tests.support.engines import FAST, MINISTACK, MOTO, on
from tests.support.factories import (
    APPLE,
    HOME,
    NOW,
    SHOES,
    a_deal,
    a_message,
    a_user,
    ago,
    ahead,
    both_kinds,
    every_page,
    ids,
    join,
    post,
    send,
)
from tests.support.wire import watched

pytestmark = [on(*dict.fromkeys((FAST, MOTO)), thorough=[MINISTACK]), pytest.mark.usefixtures("counted_as_told")]


def test_01_a_created_deal_is_put_with_its_number_and_counted_in_its_feeds(table: Table) -> None:
    deal = deals.create(table, a_deal(), NOW)

    assert deals.get(table, deal.deal_id) == deal
    assert deal.number == 1
    assert feed_counts.counts(table, feed_of(APPLE)) == {"2050-06-01": 1}
    assert feed_counts.counts(table, feed_of(SHOES)) == {"2050-06-15": 1}


def test_02_a_created_brand_is_added_to_the_brands_in_one_transaction(table: Table) -> None:
    with watched(table) as wire:
        topics.create_brand(table, "g-fore", "G/Fore", NOW)

    assert wire.operations == {"TransactWriteItems": 1}
    assert topics.brand_names(table)["g-fore"] == "G/Fore"
    with pytest.raises(BrandExists):
        topics.create_brand(table, "g-fore", "g fore", NOW)
    assert topics.brand_names(table)["g-fore"] == "G/Fore"


def test_03_the_eight_categories_are_planted_as_often_as_one_likes(bare_table: Table) -> None:
    first = topics.plant_seeds(bare_table, NOW)
    join(bare_table, "ana")
    follows.like(bare_table, SHOES, "ana", NOW)

    second = topics.plant_seeds(bare_table, NOW)

    assert (first, second) == (11, 0)
    assert topics.get(bare_table, SHOES).likes == 1
    assert [topics.get(bare_table, Topic(CATEGORY, slug)).name for slug in CATEGORIES] == [
        "Clothing", "Outerwear", "Shoes", "Accessories", "Bags", "Electronics", "Home", "Outdoors",
    ]  # fmt: skip


def test_04_the_front_pages_picks_replace_the_ones_before_in_the_editors_order(table: Table) -> None:
    old, one, two = (deals.create(table, a_deal(), NOW) for _ in range(3))
    picks.set_featured(table, FRONT_PAGE, [old.deal_id], NOW)

    picks.set_featured(table, FRONT_PAGE, [two.deal_id, one.deal_id], NOW)

    assert picks.read(table, FRONT_PAGE, NOW) == [two, one]


def test_05_a_categorys_picks_stand_beside_the_category(table: Table) -> None:
    posted = post(table, [a_deal() for _ in range(5)])

    picks.set_category_featured(table, "shoes", ids(posted), NOW)

    assert picks.read(table, SHOES, NOW) == posted


def test_07_the_latest_deals_are_read_from_gsi1(table: Table) -> None:
    posted = post(table, [a_deal(ago(days=day)) for day in range(3)])

    with watched(table) as wire:
        page = feeds.read(table, ALL_DEALS, limit=25, now=NOW)

    assert ids(page.items) == ids(posted)
    assert wire.operations == {"GetItem": 1, "Query": 6}
    assert {request.body["IndexName"] for request in wire.requests if "IndexName" in request.body} == {"GSI1"}


def test_08_a_category_and_its_latest_deals_take_its_item_and_gsi3(table: Table) -> None:
    posted = post(table, [a_deal(), a_deal(ago(days=9))])
    deals.create(table, a_deal(category="home"), NOW)

    with watched(table) as wire:
        topics.get(table, SHOES)
        page = feeds.read(table, feed_of(SHOES), limit=25, now=NOW)

    assert ids(page.items) == ids(posted)
    assert wire.operations == {"GetItem": 2, "Query": 5}
    assert {request.body["IndexName"] for request in wire.requests if "IndexName" in request.body} == {"GSI3"}


def test_06_and_09_the_editors_choice_is_a_page_of_its_own_and_takes_one_read(table: Table) -> None:
    deal = deals.create(table, a_deal(), NOW)
    picks.set_featured(table, EDITORS_CHOICE, [deal.deal_id], NOW)

    with watched(table) as wire:
        found = picks.read(table, EDITORS_CHOICE, NOW)

    assert found == [deal]
    assert wire.operations == {"GetItem": 1}
    assert picks.read(table, FRONT_PAGE, NOW) == []


def test_10_the_latest_deals_of_a_brand_are_read_from_gsi2_by_the_month(table: Table) -> None:
    posted = post(table, [a_deal(), a_deal(ago(days=1)), a_deal(ago(days=90))])
    deals.create(table, a_deal(brand="asics"), NOW)

    with watched(table) as wire:
        page = feeds.read(table, feed_of(APPLE), limit=25, now=NOW)

    assert ids(page.items) == ids(posted)
    assert wire.operations == {"GetItem": 1, "Query": 5}
    assert {request.body["IndexName"] for request in wire.requests if "IndexName" in request.body} == {"GSI2"}


def test_11_all_brands_take_one_read(table: Table) -> None:
    with watched(table) as wire:
        names = topics.brand_names(table)

    assert names == {"apple": "Apple", "asics": "ASICS"}
    assert wire.operations == {"GetItem": 1}


def test_12_one_deal_is_found_by_its_id_and_by_its_number(table: Table) -> None:
    deal = deals.create(table, a_deal(), NOW)

    with watched(table) as wire:
        by_id = deals.find(table, deal.deal_id)
    by_number = deals.find(table, str(deal.number))

    assert by_id == by_number == deal
    assert wire.operations == {"GetItem": 1}


def test_13_a_username_and_an_email_are_each_taken_once(table: Table) -> None:
    users.create(table, a_user("ana", email="ana@mail.example"))

    with pytest.raises(UsernameTaken):
        users.create(table, a_user("ana", email="other@mail.example"))
    with pytest.raises(EmailTaken):
        users.create(table, a_user("bo", email="ana@mail.example"))

    assert [user.username for user in users.everyone(table)] == ["ana"]


@both_kinds
def test_14_to_17_likes_and_watches_of_brands_and_categories_are_counted_apart(table: Table, topic: Topic) -> None:
    join(table, "ana", "bo")
    for name in ("ana", "bo"):
        follows.like(table, topic, name, NOW)
    follows.watch(table, topic, "ana", NOW)
    with pytest.raises(AlreadyLiked):
        follows.like(table, topic, "ana", NOW)
    before = topics.get(table, topic)

    follows.unlike(table, topic, "bo")
    follows.unwatch(table, topic, "ana")

    after, other = topics.get(table, topic), topics.get(table, HOME)
    counts = [(each.likes, each.watchers) for each in (before, after, other)]
    assert counts == [(2, 1), (1, 0), (0, 0)]
    with pytest.raises(NotWatching):
        follows.unwatch(table, topic, "ana")


def test_18_messages_are_the_newest_first_and_paged(table: Table) -> None:
    sent = [a_message(a_deal(ago(minutes=minute)), "ana", "brand", NOW) for minute in range(5)]
    spurious = a_message(a_deal(), "bo", "brand", NOW)
    for message in [*reversed(sent), spurious]:
        send(table, message)

    pages = every_page(lambda cursor: messages.latest(table, "ana", limit=3, now=NOW, cursor=cursor))

    assert [[*page.items] for page in pages] == [sent[:3], sent[3:]]


def test_19_unread_messages_are_read_from_gsi1(table: Table) -> None:
    sent = [a_message(a_deal(ago(minutes=minute)), "ana", "brand", NOW) for minute in range(3)]
    for message in sent:
        send(table, message)
    messages.mark_read(table, "ana", sent[1].message_id, NOW)

    with watched(table) as wire:
        unread = messages.latest(table, "ana", limit=25, now=NOW, unread=True)

    assert list(unread.items) == [sent[0], sent[2]]
    assert messages.unread_count(table, "ana", NOW) == 2
    assert [request.body["IndexName"] for request in wire.requests] == ["GSI1"]


def test_20_a_read_message_leaves_the_index_of_the_unread(table: Table) -> None:
    message = a_message(a_deal(), "ana", "brand", NOW)
    send(table, message)

    read = messages.mark_read(table, "ana", message.message_id, NOW)

    assert not read.unread
    assert messages.latest(table, "ana", limit=25, now=NOW).items == (read,)
    assert messages.latest(table, "ana", limit=25, now=NOW, unread=True).items == ()
    with pytest.raises(NoSuchMessage):
        messages.mark_read(table, "bo", message.message_id, NOW)


def test_24_a_session_lasts_from_signing_in_to_signing_out(table: Table) -> None:
    join(table, "ana")
    token, session = sessions.start(table, a_user("ana"), NOW, bytes(32))
    others, _ = sessions.start(table, a_user("ana"), NOW, bytes(31) + b"1")

    assert sessions.authenticate(table, token, NOW) == session
    sessions.end(table, token)

    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)
    assert sessions.authenticate(table, others, NOW).username == "ana"
    sessions.end_all(table, "ana")
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, others, NOW)


def test_25_what_a_user_watches_and_likes_takes_one_request_each(table: Table) -> None:
    join(table, "ana", "bo")
    follows.watch(table, SHOES, "ana", NOW)
    follows.watch(table, APPLE, "ana", NOW)
    follows.watch(table, HOME, "bo", NOW)
    follows.like(table, HOME, "ana", NOW)

    with watched(table) as wire:
        watching = follows.watches(table, "ana")
        liking = follows.likes(table, "ana")

    assert watching == [APPLE, SHOES]
    assert liking == [HOME]
    assert wire.operations == {"Query": 2}


def test_26_a_deal_is_edited_ends_and_is_withdrawn(table: Table) -> None:
    edited, ended, withdrawn = (deals.create(table, a_deal(ends_at=ahead(hours=1)), NOW) for _ in range(3))
    later = ahead(hours=2)

    deals.edit(table, edited.deal_id, {"title": "Road runner", "ends_at": ahead(days=1)}, NOW)
    deals.withdraw(table, withdrawn.deal_id, NOW)
    feeds.sweep(table, later)

    page = feeds.read(table, ALL_DEALS, limit=25, now=later)
    assert [(deal.deal_id, deal.title) for deal in page.items] == [(edited.deal_id, "Road runner")]
    assert deals.get(table, ended.deal_id).status(later) is Status.EXPIRED
    assert deals.get(table, withdrawn.deal_id).status(later) is Status.WITHDRAWN
