"""The shop's commands: stock, orders, addresses and carts, and a rush of buyers."""

from __future__ import annotations

import pytest

from features.shop.data import stock
from features.shop.models import Order
from features.shop.tests.support import a_buyer, buy
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import times
from tests.cli.conftest import Ask, Btd, ask, bare_table, btd, server, table, wide_terminal  # noqa: F401  # fixtures
from tests.cli.test_commands import posted  # noqa: F401  # the fixture


@pytest.fixture
def ordered(posted: list[Deal], table: Table) -> Order:
    """Five pieces of the newest deal on sale, and one of them in an order of Bo's."""
    stock.add(table, posted[0].deal_id, 5, times.now())
    return buy(table, a_buyer(table, "bo"), posted[0], now=times.now())


def test_stock_is_put_on_sale_and_shown(ordered: Order, posted: list[Deal], ask: Ask) -> None:
    deal = posted[0].deal_id

    added = ask("stock", "add", deal, "3", "--shards", "2")["result"]
    shown = ask("stock", "show", deal)["result"]
    said = ask("stock", "set", deal, "1")["result"]

    assert (added["left"], shown["left"], said["left"]) == (7, 7, 1)
    assert shown["ordered"] == 1


def test_messages_of_orders_are_listed_among_those_of_deals(ordered: Order, btd: Btd) -> None:
    btd("orders", "follow", ordered.order_id, "shipped")

    (row,) = [line for line in btd("messages", "list", "bo").stdout.splitlines() if " sent " in line]

    assert ordered.order_id in row


def test_an_order_is_found_sent_and_no_longer_open(ordered: Order, ask: Ask) -> None:
    (listed,) = ask("orders", "list", "bo", "--status", "placed")["result"]["items"]
    (still_open,) = ask("orders", "open")["result"]["items"]
    shown = ask("orders", "show", ordered.order_id)["result"]

    sent = ask("orders", "follow", ordered.order_id, "shipped")["result"]

    assert {listed["orderId"], still_open["orderId"], shown["orderId"]} == {ordered.order_id}
    assert sent["status"] == "shipped"
    assert ask("orders", "open")["result"]["items"] == []


HOME = "--recipient Bo --street Elm-Street-1 --city Springfield --postal-code 12345 --country US"


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("orders follow {order} delivered", 1, "placed"),
        ("orders place bo one --address home", 1, "12=1"),
        (f"orders place bo 12=1 --address home --idempotency-key {'x' * 256}", 2, "1 to 255"),
        (f"addresses save bo work {HOME.replace('US', 'nowhere')}", 1, "country"),
        (f"addresses save bo \u200b {HOME}", 2, "NAME"),
        (f"stock set 1 {stock.MOST + 1}", 2, str(stock.MOST)),
        (f"stock add 1 {stock.MOST + 1}", 2, str(stock.MOST)),
    ],
    ids=[
        *("a step that cannot follow", "an unclear item", "a key that no request could have", "an unknown country"),
        *("a name that no order could name", "more stock than may be left", "more stock than may be added"),
    ],
)
def test_what_a_buyer_is_refused_ends_in_one_clear_line(
    ordered: Order, btd: Btd, line: str, code: int, expected: str
) -> None:
    result = btd(*line.format(order=ordered.order_id).split(), code=code)

    assert expected in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_rush_sells_what_there_is_and_says_that_the_sum_is_right(posted: list[Deal], table: Table, ask: Ask) -> None:
    stock.add(table, posted[0].deal_id, 5, times.now())

    came = ask("rush", posted[0].deal_id, "--buyers", "12")["result"]

    assert came["placed"] + came["busy"] + came["soldOut"] == 12
    assert came["placed"] + came["left"] == 5
    assert came["right"]


def test_a_rush_is_for_the_local_cloud_only(monkeypatch: pytest.MonkeyPatch, btd: Btd) -> None:
    monkeypatch.setenv("BTD_TABLE", "deals")
    for name in ("AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)

    assert "local cloud only" in btd("rush", "1", code=1).stderr


def test_an_address_is_saved_under_its_name_as_orders_write_it_and_removed(ordered: Order, ask: Ask) -> None:
    saved = ask("addresses", "save", "bo", " Mother\u2019s cafe\u0301 ", *HOME.split())["result"]
    listed = ask("addresses", "list", "bo")["result"]

    ask("addresses", "remove", "bo", "Mother\u2019s caf\u00e9")

    assert listed["Mother\u2019s caf\u00e9"] == saved
    assert saved["street"] == "Elm-Street-1"
    assert list(ask("addresses", "list", "bo")["result"]) == ["home"]


def test_a_cart_is_filled_shown_and_emptied(ordered: Order, posted: list[Deal], ask: Ask) -> None:
    ask("cart", "put", "bo", str(posted[0].number), "2")
    (shown,) = ask("cart", "show", "bo")["result"]["items"]

    ask("cart", "take-out", "bo", posted[0].deal_id)

    assert (shown["deal"]["dealId"], shown["quantity"]) == (posted[0].deal_id, 2)
    assert ask("cart", "show", "bo")["result"]["items"] == []


def test_an_order_is_placed_once_and_stands_beside_its_buyer(ordered: Order, posted: list[Deal], ask: Ask) -> None:
    wanted = ["orders", "place", "bo", f"{posted[0].number}=2", "--address", "home", "--idempotency-key", "once"]

    placed, again = ask(*wanted)["result"], ask(*wanted)["result"]
    customer = ask("orders", "customer", "bo")

    assert placed["orderId"] == again["orderId"]
    assert placed["pieces"] == 2
    # Not in this order: the ids of one second have none.
    assert {order["orderId"] for order in customer["result"]["orders"]} == {placed["orderId"], ordered.order_id}
    assert [request["operation"] for request in customer["requests"]] == ["Query"]
