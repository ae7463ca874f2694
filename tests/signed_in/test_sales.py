"""The desk's part of the shop: orders are sent and cancelled, and stock is put on sale."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shared.data.members import messages
from shared.data.orders import reading, stock
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.orders import Order, OrderStatus
from shared.values import times
from tests.signed_in.conftest import entered
from tests.support.browsing import Browser
from tests.support.shop import a_buyer, buy

Sell = Callable[..., Deal]


@pytest.fixture
def order(table: Table, sell: Sell) -> Order:
    """An order of Ana's."""
    a_buyer(table, "buyer")
    return buy(table, "buyer", sell(5), now=times.now())


def path_of(order: Order) -> str:
    return f"/desk/shop/orders/{order.order_id}"


def state(table: Table, order: Order) -> OrderStatus:
    return reading.get(table, order.username, order.order_id).status


def test_open_orders_are_shown_oldest_first(editor: Browser, table: Table, sell: Sell) -> None:
    deal = sell(5)
    for username in ("first", "second"):
        a_buyer(table, username)
    placed = [buy(table, username, deal, now=times.now()) for username in ("first", "second")]

    seen = editor.get("/desk/shop/orders")

    in_order = sorted(placed, key=lambda order: order.order_id)
    assert seen.text.index(in_order[0].order_id) < seen.text.index(in_order[1].order_id)
    assert "1 piece to Ana Blake, Portland" in seen.words


def test_without_open_orders_the_desk_says_so(editor: Browser) -> None:
    assert "Every order is sent." in editor.get("/desk/shop/orders").words
    assert editor.get("/desk/shop").location == "/desk/shop/orders"


@pytest.mark.parametrize("path", ["/desk/shop", "/desk/shop/orders", "/desk/shop/orders/x", "/desk/shop/stock/1"])
def test_only_editors_see_them(ana: Browser, anyone: Browser, path: str) -> None:
    assert ana.get(path).status == 403
    assert anyone.get(path).location.startswith("/account/sign-in?next=%2Fdesk")


def test_a_members_form_moves_no_order_and_no_stock(ana: Browser, table: Table, order: Order) -> None:
    deal_id = order.items[0].deal_id

    seen = [ana.post(f"{path_of(order)}/send"), ana.post(f"/desk/shop/stock/{deal_id}", {"pieces": "5", "do": "add"})]

    assert [each.status for each in seen] == [403, 403]
    assert state(table, order) is OrderStatus.PLACED
    assert stock.of(table, deal_id).left == 4


def test_a_form_from_elsewhere_changes_nothing(editor: Browser, table: Table, order: Order) -> None:
    editor.fetch_site = "cross-site"

    assert editor.post(f"{path_of(order)}/cancel").status == 403
    assert state(table, order) is OrderStatus.PLACED


def test_an_order_is_sent_delivered_and_its_owner_told(editor: Browser, table: Table, order: Order) -> None:
    sent = editor.post(f"{path_of(order)}/send")
    shown = editor.get(path_of(order))
    delivered = editor.post(f"{path_of(order)}/deliver")

    assert sent.location == f"{path_of(order)}?said=sent"
    assert "State Sent" in shown.words
    assert "By buyer" in shown.words
    assert delivered.location == f"{path_of(order)}?said=delivered"
    assert state(table, order) is OrderStatus.DELIVERED
    assert messages.unread_count(table, "buyer", times.now()) == 1
    assert "Every order is sent." in editor.get("/desk/shop/orders").words


def test_an_order_that_is_cancelled_gives_its_stock_back_once(editor: Browser, table: Table, order: Order) -> None:
    seen = [editor.post(f"{path_of(order)}/cancel") for _ in range(2)]

    assert [each.location for each in seen] == [f"{path_of(order)}?said=cancelled"] * 2
    assert stock.of(table, order.items[0].deal_id).left == 5


def test_of_two_editors_one_sends_and_the_other_is_told(editor: Browser, table: Table, order: Order) -> None:
    other = entered(table, "olga", "editor")
    editor.post(f"{path_of(order)}/send")

    told = other.post(f"{path_of(order)}/cancel")

    assert told.status == 409
    assert "The order is sent, and cannot be cancelled now." in told.words
    assert "Cancel it" not in told.words
    assert state(table, order) is OrderStatus.SHIPPED
    assert stock.of(table, order.items[0].deal_id).left == 4


@pytest.mark.parametrize("path", ["/desk/shop/orders/x", f"/desk/shop/orders/{'0' * 27}", "/desk/shop/stock/999"])
def test_what_is_not_there_is_not_found(editor: Browser, path: str) -> None:
    assert editor.get(path).status == 404
    assert editor.post(path if "stock" in path else f"{path}/send", {"pieces": "1"}).status == 404


def test_a_step_that_there_is_not_is_not_found(editor: Browser, order: Order) -> None:
    assert editor.post(f"{path_of(order)}/lose").status == 404


def test_stock_is_put_on_sale_over_shards_and_shown_by_them(
    editor: Browser, table: Table, post_deal: Callable[..., Deal]
) -> None:
    path = f"/desk/shop/stock/{post_deal().number}"
    before = editor.get(path)

    seen = editor.post(path, {"key": before.values()["key"], "pieces": "10", "shards": "4", "do": "add"})

    shown = editor.get(path)
    assert "The site does not sell this deal." in before.words
    assert seen.location == f"{path}?said=stock"
    assert "Left 10 Ordered so far 0 Put on sale 10" in shown.words
    assert "1 3 0 2 3 0 3 2 0 4 2 0" in shown.words


def test_a_form_that_is_sent_twice_adds_once(editor: Browser, table: Table, sell: Sell) -> None:
    deal = sell(5)
    form = {"key": "one form", "pieces": "3", "do": "add"}

    for _ in range(2):
        editor.post(f"/desk/shop/stock/{deal.number}", form)

    assert stock.of(table, deal.deal_id).left == 8


def test_a_form_that_was_used_and_changed_adds_nothing_and_asks_again(
    editor: Browser, table: Table, sell: Sell
) -> None:
    deal = sell(5)
    path = f"/desk/shop/stock/{deal.number}"
    editor.post(path, {"key": "k", "pieces": "3", "do": "add"})

    asked = editor.post(path, {"key": "k", "pieces": "4", "do": "add"})
    again = editor.post(path, {"key": asked.values()["key"], "pieces": "4", "do": "add"})

    assert asked.status == 409
    assert again.status == 303
    assert stock.of(table, deal.deal_id).left == 12


def test_so_many_are_left_and_ordered_ones_stay_ordered(editor: Browser, table: Table, order: Order) -> None:
    deal_id = order.items[0].deal_id

    editor.post(f"/desk/shop/stock/{deal_id}", {"pieces": "2", "do": "left"})

    found = stock.of(table, deal_id)
    assert (found.left, found.ordered, found.on_sale) == (2, 1, 3)


def test_more_cannot_be_taken_off_than_are_left(editor: Browser, table: Table, sell: Sell) -> None:
    deal = sell(5)

    seen = editor.post(f"/desk/shop/stock/{deal.number}", {"pieces": "-6", "do": "add"})

    assert seen.status == 409
    assert "5 are on sale: at most 5 can be taken off, and 999,995 added." in seen.words
    assert stock.of(table, deal.deal_id).left == 5


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("pieces", "", "This must be filled in."),
        ("pieces", "many", "A whole number up to 1,000,000; below zero takes pieces off sale."),
        ("pieces", "1.5", "A whole number up to 1,000,000; below zero takes pieces off sale."),
        ("pieces", "9999999", "A whole number up to 1,000,000; below zero takes pieces off sale."),
        ("pieces", "１", "A whole number up to 1,000,000; below zero takes pieces off sale."),
        ("shards", "0", "1 to 16, or nothing to leave them as they are."),
        ("shards", "17", "1 to 16, or nothing to leave them as they are."),
    ],
)
def test_what_cannot_be_used_is_named_and_kept(
    editor: Browser, table: Table, sell: Sell, field: str, typed: str, said: str
) -> None:
    deal = sell(5)

    seen = editor.post(f"/desk/shop/stock/{deal.number}", {"pieces": "1", "shards": "", "do": "add"} | {field: typed})

    assert seen.status == 422
    assert said in seen.words
    assert f'id="e-{field}"' in seen.text
    assert seen.values()[field] == typed
    assert stock.of(table, deal.deal_id).left == 5


def test_the_form_of_a_deal_leads_to_its_stock_and_says_whether_it_is_sold(editor: Browser, sell: Sell) -> None:
    deal = sell(5)

    seen = editor.get(f"/desk/deals/{deal.number}")

    assert f"/desk/shop/stock/{deal.number}" in seen.text
    assert "Sold here low" in seen.words
