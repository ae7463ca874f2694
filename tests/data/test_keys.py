"""The golden test: every key of the table, spelled once more. No other test spells one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from shared import settings
from shared.data import keys
from shared.data.catalog import deals, picks
from shared.data.members import follows, messages, sessions, users
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Deal, Topic, feed_of
from tests.support.cases import cases
from tests.support.factories import NOW, a_deal, a_message, a_user, ahead, post, send

DEAL_ID = "0ujtsYcg"
WHEN = datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC)
G_FORE = Topic(BRAND, "g-fore")
CLOTHING = Topic(CATEGORY, "clothing")


def same(key: str) -> dict[str, str]:
    return {"PK": key, "SK": key}


LISTED = {
    "GSI1PK": "DEALS#2026-06-04T00:00:00",
    "GSI1SK": "DEAL#0ujtsYcg",
    "GSI2PK": "BRAND#g-fore#2026-06-01T00:00:00",
    "GSI2SK": "DEAL#0ujtsYcg",
    "GSI3PK": "CATEGORY#clothing#2026-06-04T00:00:00",
    "GSI3SK": "DEAL#0ujtsYcg",
}

GOLDEN: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (keys.deal, (DEAL_ID,), same("DEAL#0ujtsYcg")),
    (keys.deal_sort_key, (DEAL_ID,), "DEAL#0ujtsYcg"),
    (keys.deal_number, (1234,), same("DEALNUMBER#1234")),
    (keys.deal_source, ("allbirds:flip#flop",), same("DEALSOURCE#allbirds:flip#flop")),
    (keys.deal_numbers, (), same("SEQUENCE#DEAL")),
    (keys.counts, (ALL_DEALS,), "DEALS"),
    (keys.counts, (feed_of(G_FORE),), "BRAND#g-fore"),
    (keys.feed_partition, (ALL_DEALS, "2026-06-04"), "DEALS#2026-06-04T00:00:00"),
    (keys.feed_partition, (feed_of(G_FORE), "2026-06-01"), "BRAND#g-fore#2026-06-01T00:00:00"),
    (keys.feed_partition, (feed_of(CLOTHING), "2026-06-04"), "CATEGORY#clothing#2026-06-04T00:00:00"),
    (keys.product, ("0f1e",), "PRODUCT#0f1e"),
    (keys.product_offer, ("0f1e", DEAL_ID), {"PK": "PRODUCT#0f1e", "SK": "DEAL#0ujtsYcg"}),
    (keys.ended, (G_FORE,), "BRAND#g-fore#ENDED"),
    (keys.ended, (CLOTHING,), "CATEGORY#clothing#ENDED"),
    (
        keys.offer_of_ended,
        (DEAL_ID, "g-fore", "clothing"),
        {
            "GSI2PK": "BRAND#g-fore#ENDED",
            "GSI2SK": "DEAL#0ujtsYcg",
            "GSI3PK": "CATEGORY#clothing#ENDED",
            "GSI3SK": "DEAL#0ujtsYcg",
        },
    ),
    (keys.category_prices, ("clothing", "USD"), "PRICES#clothing#USD"),
    (keys.brand_prices, ("g-fore", "USD"), "BRANDPRICES#g-fore#USD"),
    (keys.discounts, ("clothing",), "DISCOUNTS#clothing"),
    (keys.offer_by_price, (3190, DEAL_ID), "00000000003190#0ujtsYcg"),
    (keys.offer_by_discount, (62, DEAL_ID), "062#0ujtsYcg"),
    (keys.prices_between, (None, None, None), ("00000000000000#", "99999999999999#~")),
    (keys.prices_between, (0, 8000, (3190, "x")), ("00000000003190#x~", "00000000008000#~")),
    (keys.scratches, (), "LEARN#"),
    (keys.scratch, ("k3J9-visitor", "0f1e"), "LEARN#k3J9-visitor#0f1e"),
    (keys.word, ("lamp",), "WORD#lamp"),
    (keys.word_of_deal, ("lamp", DEAL_ID), {"PK": "WORD#lamp", "SK": "DEAL#0ujtsYcg"}),
    (keys.words, ("lamp",), "WORDS#la"),
    (keys.word_count, ("lamp",), {"PK": "WORDS#la", "SK": "lamp"}),
    (
        keys.ending,
        ("2026-06-04", WHEN, DEAL_ID),
        {"PK": "ENDINGS#2026-06-04", "SK": "ENDING#2026-06-04T20:28:53Z#0ujtsYcg"},
    ),
    (keys.endings, (), same("ENDINGS")),
    (keys.topic, (G_FORE,), same("BRAND#g-fore")),
    (keys.topic, (CLOTHING,), same("CATEGORY#clothing")),
    (keys.brands, (), same("BRANDS")),
    (keys.like, (G_FORE, "ana"), same("BRANDLIKE#g-fore#ana")),
    (keys.like, (CLOTHING, "ana"), same("CATEGORYLIKE#clothing#ana")),
    (keys.like_in_likes, (G_FORE, "ana"), {"GSI1PK": "LIKES#ana", "GSI1SK": "BRAND#g-fore"}),
    (keys.like_in_likes, (CLOTHING, "ana"), {"GSI1PK": "LIKES#ana", "GSI1SK": "CATEGORY#clothing"}),
    (keys.likes, ("ana",), "LIKES#ana"),
    (keys.topic_named, ("BRANDLIKE#g-fore#ana",), G_FORE),
    (keys.topic_named, ("CATEGORYLIKE#clothing#ana",), CLOTHING),
    (keys.watch, (G_FORE, "ana"), {"PK": "BRANDWATCH#g-fore", "SK": "USER#ana"}),
    (keys.watch, (CLOTHING, "ana"), {"PK": "CATEGORYWATCH#clothing", "SK": "USER#ana"}),
    (keys.watchers, (G_FORE,), "BRANDWATCH#g-fore"),
    (keys.topic_named, ("BRANDWATCH#g-fore",), G_FORE),
    (keys.watchers, (CLOTHING,), "CATEGORYWATCH#clothing"),
    (keys.watch_in_watches, (G_FORE, "ana"), {"GSI1PK": "WATCHES#ana", "GSI1SK": "BRAND#g-fore"}),
    (keys.watch_in_watches, (CLOTHING, "ana"), {"GSI1PK": "WATCHES#ana", "GSI1SK": "CATEGORY#clothing"}),
    (keys.watches, ("ana",), "WATCHES#ana"),
    (keys.topic_named, ("BRAND#g-fore",), G_FORE),
    (keys.topic_named, ("CATEGORY#clothing",), CLOTHING),
    (keys.featured, (FRONT_PAGE,), same("FRONTPAGE")),
    (keys.featured, (CLOTHING,), {"PK": "CATEGORY#clothing", "SK": "FEATURED"}),
    (keys.periods, (ALL_DEALS, "2026-06-04"), {"PK": "DEALS", "SK": "PERIODS#2026-06"}),
    (keys.periods, (feed_of(CLOTHING), "2026-06-04"), {"PK": "CATEGORY#clothing", "SK": "PERIODS#2026-06"}),
    (keys.periods, (feed_of(G_FORE), "2026-06-01"), {"PK": "BRAND#g-fore", "SK": "PERIODS#2026"}),
    (keys.periods_between, (ALL_DEALS, "2026-06-04"), ("DEALS", "PERIODS#", "PERIODS#2026-06")),
    (keys.periods_between, (feed_of(G_FORE), None), ("BRAND#g-fore", "PERIODS#", "PERIODS#~")),
    (keys.deal_id_of, ({"PK": "PRODUCT#x", "GSI1SK": f"DEAL#{DEAL_ID}"},), DEAL_ID),
    (keys.deals_cache, (1,), same("DEALSCACHE#1")),
    (keys.page_cache, (FRONT_PAGE, 1), same("FRONTPAGECACHE#1")),
    (keys.page_cache, (EDITORS_CHOICE, 2), same("EDITORSCHOICECACHE#2")),
    (keys.category_cache, ("clothing", 3), same("CATEGORYCACHE#clothing#3")),
    (keys.html_copy, ({"PK": "DEALSCACHE#1", "SK": "DEALSCACHE#1"},), {"PK": "DEALSCACHE#1", "SK": "HTML"}),
    (keys.fan_out, (DEAL_ID,), "FANOUT#0ujtsYcg"),
    (keys.fan_out_segment, (DEAL_ID, 7), {"PK": "FANOUT#0ujtsYcg", "SK": "SEGMENT#7"}),
    (keys.fan_out_page, (DEAL_ID, "hot", 7, ""), same(f"FANOUTPAGE#{DEAL_ID}#hot#7#e3b0c44298fc1c149afbf4c8996fb924")),
    (keys.user, ("ana",), same("USER#ana")),
    (keys.user_in_users, ("ana",), {"UserIndex": "USER#ana"}),
    (keys.account, ("ana",), same("ACCOUNT#ana")),
    (keys.password, ("ana",), same("PASSWORD#ana")),
    (keys.user_email, ("ana@mail.example",), same("USEREMAIL#ana@mail.example")),
    (keys.message, ("ana", DEAL_ID), {"PK": "MESSAGES#ana", "SK": "MESSAGE#0ujtsYcg"}),
    (keys.messages, ("ana",), "MESSAGES#ana"),
    (keys.message_sort_key, (DEAL_ID,), "MESSAGE#0ujtsYcg"),
    (keys.message_in_unread, ("ana", DEAL_ID), {"GSI1PK": "MESSAGES#ana", "GSI1SK": f"MESSAGE#{DEAL_ID}"}),
    (keys.log, (DEAL_ID,), "LOG#0ujtsYcg"),
    (keys.log_line, (DEAL_ID, "0ujzPyRi"), {"PK": "LOG#0ujtsYcg", "SK": "0ujzPyRi"}),
    (keys.shop, ("shop.example",), same("SHOP#shop.example")),
    (keys.alerts, ("ana",), "ALERTS#ana"),
    (keys.alert, ("ana", "price-9f86d081"), {"PK": "ALERTS#ana", "SK": "ALERT#price-9f86d081"}),
    (
        keys.alert_in_prices,
        ("9f86d081", "USD", 8000, "ana"),
        {"GSI2PK": "PRODUCTWATCH#9f86d081#USD", "GSI2SK": "00000000008000#ana"},
    ),
    (keys.price_alerts, ("9f86d081", "USD"), "PRODUCTWATCH#9f86d081#USD"),
    (keys.offer_by_price, (8000, ""), "00000000008000#"),
    (
        keys.alert_in_words,
        ("shoe", "ana", "words-9f86d081"),
        {"GSI1PK": "WORDWATCH#shoe", "GSI1SK": "USER#ana#words-9f86d081"},
    ),
    (keys.words_alerts, ("shoe",), "WORDWATCH#shoe"),
    (
        keys.alert_in_joined,
        ("tshirt", "ana", "words-9f86d081"),
        {"GSI2PK": "JOINEDWATCH#tshirt", "GSI2SK": "USER#ana#words-9f86d081"},
    ),
    (keys.joined_alerts, ("tshirt",), "JOINEDWATCH#tshirt"),
    (keys.session, ("9f86d081",), same("SESSION#9f86d081")),
    (keys.session_in_sessions, ("ana", WHEN), {"GSI1PK": "SESSIONS#ana", "GSI1SK": "SESSION#2026-06-04T20:28:53Z"}),
    (keys.sessions, ("ana",), "SESSIONS#ana"),
    (keys.attempts, ("USER", "ana", 1978456), same("ATTEMPTS#USER#ana#1978456")),
    (keys.known_network, ("ana", "2001:db8::/56"), same("ATTEMPTS#KNOWN#a6a9775516d6aaaffb4e9be95a758385")),
    (keys.attempts, ("USERFROM", "ana", "192.0.2.1", 1978456), same("ATTEMPTS#USERFROM#ana#192.0.2.1#1978456")),
    (keys.attempts, ("ADDRESS", "192.0.2.1", 1978456), same("ATTEMPTS#ADDRESS#192.0.2.1#1978456")),
    (
        keys.idempotency,
        ("ana", "a client's # own"),
        same("IDEMPOTENCY#ana#a30f4ba78d16eb68613cebe54bdaa7c8b9821ed16bd3c572ac3dcbf3a365c26a"),
    ),
    (keys.user_in_removals, ("ana",), {"GSI1PK": "REMOVALS", "GSI1SK": "USER#ana"}),
    (keys.removals, (), "REMOVALS"),
    (keys.pattern_of, (same("DEAL#0ujtsYcg"),), "DEAL#*"),
    (keys.pattern_of, ("CATEGORY#clothing#2026-06-04T00:00:00",), "CATEGORY#*"),
    (keys.pattern_of, (same("BRANDS"),), "BRANDS"),
    (keys.listed_under, (LISTED,), ("2026-06-04", "g-fore", "clothing")),
    (keys.id_in, (f"ENDING#2026-06-04T20:28:53Z#{DEAL_ID}",), DEAL_ID),
    (keys.id_in, ("USER#ana",), "ana"),
    (keys.primary, ({"PK": "USER#ana", "SK": "USER#ana", "Name": "Ana"},), same("USER#ana")),
    *cases("GOLDEN"),
]


@pytest.mark.parametrize(("key", "arguments", "spelled"), GOLDEN, ids=lambda value: getattr(value, "__name__", None))
def test_a_key_is_spelled_as_the_data_model_says(
    key: Callable[..., Any], arguments: tuple[Any, ...], spelled: Any
) -> None:
    made = key(*arguments)

    assert made == spelled


def test_a_listed_deal_has_keys_in_three_indexes() -> None:
    made = keys.deal_in_feeds(DEAL_ID, day="2026-06-04", brand="g-fore", month="2026-06-01", category="clothing")

    assert made == LISTED


@pytest.mark.parametrize("percent", [79, None, 0])
def test_the_offer_of_a_listed_deal_has_keys_in_three_indexes_or_in_two_without_a_discount(percent: int | None) -> None:
    made = keys.offer_of_listed(
        DEAL_ID, brand="g-fore", category="clothing", price=3190, currency="USD", percent=percent
    )

    by_price = "00000000003190#0ujtsYcg"
    by_discount = {"GSI1PK": "DISCOUNTS#clothing", "GSI1SK": "079#0ujtsYcg"}
    assert made == {
        **(by_discount if percent else {}),
        "GSI2PK": "BRANDPRICES#g-fore#USD",
        "GSI2SK": by_price,
        "GSI3PK": "PRICES#clothing#USD",
        "GSI3SK": by_price,
    }


def test_no_key_goes_unspelled() -> None:
    written = {
        name: key
        for name, key in inspect.getmembers(keys, callable)
        if key.__module__ == keys.__name__ and not isinstance(key, type) and not name.startswith("_")
    }

    spelled: list[Callable[..., Any]] = [keys.deal_in_feeds, keys.offer_of_listed, *(key for key, _, _ in GOLDEN)]

    assert len(written) > 75
    assert [name for name, key in written.items() if key not in spelled] == []


INDEXING = {
    PARTITION_KEY, SORT_KEY, "ExpiresAt", *(key for i in INDEXES for key in (i.partition_key, i.sort_key) if key)
}  # fmt: skip


def indexing(item: Item | None) -> Item:
    """The attributes of an item that place it in the table, its indexes and its time to live."""
    assert item is not None
    return {name: value for name, value in item.items() if name in INDEXING}


def test_each_item_has_exactly_its_keys_and_a_session_not_its_token(table: Table) -> None:
    created_at = datetime(2050, 6, 4, 20, 28, 53, tzinfo=UTC)
    (deal,) = post(table, [a_deal(created_at, source_id="shop:1", ends_at=ahead(hours=1))])
    for page in (FRONT_PAGE, EDITORS_CHOICE):
        picks.set_featured(table, page, [deal.deal_id], NOW)
    users.create(table, a_user("ana"))
    token, session = sessions.start(table, a_user("ana"), NOW, bytes(32))
    follows.like(table, Topic(BRAND, "apple"), "ana", NOW)
    follows.watch(table, Topic(CATEGORY, "shoes"), "ana", NOW)

    items = {item["Type"]: item for item in table.scan()[0]}

    spelled = {
        "Deal": {
            "PK": f"DEAL#{deal.deal_id}",
            "SK": f"DEAL#{deal.deal_id}",
            "GSI1PK": "DEALS#2050-06-04T00:00:00",
            "GSI1SK": f"DEAL#{deal.deal_id}",
            "GSI2PK": "BRAND#apple#2050-06-01T00:00:00",
            "GSI2SK": f"DEAL#{deal.deal_id}",
            "GSI3PK": "CATEGORY#shoes#2050-06-04T00:00:00",
            "GSI3SK": f"DEAL#{deal.deal_id}",
        },
        "DealNumber": same("DEALNUMBER#1"),
        "DealSource": same("DEALSOURCE#shop:1"),
        "Ending": {"PK": "ENDINGS#2050-06-15", "SK": f"ENDING#2050-06-15T13:00:00Z#{deal.deal_id}"},
        "FrontPage": same("FRONTPAGE"),
        "EditorsChoice": same("EDITORSCHOICE"),
        "User": {**same("USER#ana"), "UserIndex": "USER#ana"},
        "Account": same("ACCOUNT#ana"),
        "Password": same("PASSWORD#ana"),
        "UserEmail": same("USEREMAIL#ana@mail.example"),
        "Session": {
            **same("SESSION#0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a"),
            "GSI1PK": "SESSIONS#ana",
            "GSI1SK": "SESSION#2050-06-15T12:00:00Z",
            "ExpiresAt": int(session.expires_at.timestamp()),
        },
        "BrandLike": {**same("BRANDLIKE#apple#ana"), "GSI1PK": "LIKES#ana", "GSI1SK": "BRAND#apple"},
        "CategoryWatch": {
            "PK": "CATEGORYWATCH#shoes",
            "SK": "USER#ana",
            "GSI1PK": "WATCHES#ana",
            "GSI1SK": "CATEGORY#shoes",
        },
    }
    assert {kind: indexing(items[kind]) for kind in spelled} == spelled
    assert token == "A" * 43
    assert token not in str(items)


def test_a_withdrawn_deal_keeps_its_primary_key_only(table: Table, deal: Deal) -> None:
    deals.withdraw(table, deal.deal_id, NOW)

    assert indexing(table.get(keys.deal(deal.deal_id))) == same(f"DEAL#{deal.deal_id}")


def test_an_unread_message_has_exactly_its_keys_and_a_read_one_none_of_the_index(table: Table) -> None:
    message = a_message(a_deal(), "ana", "brand", NOW)
    send(table, message)
    key = keys.message("ana", message.message_id)
    unread = {
        "PK": "MESSAGES#ana",
        "SK": f"MESSAGE#{message.message_id}",
        "ExpiresAt": int((NOW + settings.MESSAGE_LIFETIME).timestamp()),
    }

    before = indexing(table.get(key))
    messages.mark_read(table, "ana", message.message_id, NOW)
    after = indexing(table.get(key))

    assert before == unread | {"GSI1PK": "MESSAGES#ana", "GSI1SK": f"MESSAGE#{message.message_id}"}
    assert after == unread


def test_what_a_deployment_plants_has_exactly_its_keys(table: Table) -> None:
    planted, _ = table.scan()

    assert sorted((item["Type"], item["PK"], item["SK"]) for item in planted) == sorted(
        (kind, key, key)
        for kind, key in [
            ("Brands", "BRANDS"),
            ("Endings", "ENDINGS"),
            ("Sequence", "SEQUENCE#DEAL"),
            ("Brand", "BRAND#apple"),
            ("Brand", "BRAND#asics"),
            ("Category", "CATEGORY#clothing"),
            ("Category", "CATEGORY#outerwear"),
            ("Category", "CATEGORY#shoes"),
            ("Category", "CATEGORY#accessories"),
            ("Category", "CATEGORY#bags"),
            ("Category", "CATEGORY#electronics"),
            ("Category", "CATEGORY#home"),
            ("Category", "CATEGORY#outdoors"),
        ]
    )
    assert all(indexing(item).keys() == {"PK", "SK"} for item in planted)
