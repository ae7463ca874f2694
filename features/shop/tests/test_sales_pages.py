"""The desk's part of the shop: orders are sent and cancelled, and stock is put on sale."""

from __future__ import annotations

from datetime import timedelta

import pytest

from features.shop.data import keys as shop_keys
from features.shop.data import order_items, steps, stock
from features.shop.models import Order, OrderStatus, order_number
from features.shop.tests.conftest import Sell, timeline
from features.shop.tests.support import a_buyer, buy
from shared.data.members import messages
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.values import times
from tests.signed_in.conftest import PostDeal, editor, entered, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser


@pytest.fixture
def order(table: Table, sell: Sell) -> Order:
    """An order of Ana's."""
    return buy(table, a_buyer(table, "buyer"), sell(5), now=times.now())


def path_of(order: Order) -> str:
    return f"/desk/shop/orders/{order.order_id}"


def state(table: Table, order: Order) -> OrderStatus:
    return order_items.get(table, order.username, order.order_id).status


@pytest.mark.damages
def test_an_order_that_cannot_be_read_is_left_out_of_the_list_with_a_note(
    editor: Browser, table: Table, sell: Sell
) -> None:
    deal = sell(9)
    a_buyer(table, "buyer")
    sound, of_part, itself = (buy(table, "buyer", deal, now=times.now()) for _ in range(3))
    damaged = [shop_keys.order_item(of_part.order_id, "001"), shop_keys.order("buyer", itself.order_id)]
    for key, name in zip(damaged, ("Price", "Totals"), strict=True):
        table.write(update(key, f"SET {name} = :free", values={":free": "abc"}, condition=None, refused=None))

    listed = editor.get("/desk/shop/orders")
    own = [editor.get(path_of(order)) for order in (sound, of_part, itself)]

    shown = [order for order in (sound, of_part, itself) if f'{path_of(order)}"' in listed.text]
    named = [" / ".join(key.values()) for key in damaged]
    assert (listed.status, shown) == (200, [sound])
    assert "2 items can’t be read and are left out of this page" in listed.words
    assert all(name in listed.words for name in named)
    assert [seen.status for seen in own] == [200, 404, 404]
    assert "This can’t be read" in own[1].words
    assert "can't be read" not in editor.get("/desk/shop/orders?status=shipped").words


def test_an_order_is_sent_delivered_listed_so_and_its_owner_notified(
    editor: Browser, table: Table, order: Order
) -> None:
    def lists() -> list[str]:
        found = {name: editor.get(f"/desk/shop/orders?status={name}").text for name in NOTHING}
        return [name for name, text in found.items() if f'orders/{order.order_id}"' in text]

    before = lists()
    sent, in_sent = editor.post(f"{path_of(order)}/send"), lists()
    shown = editor.get(path_of(order))
    delivered, in_delivered = editor.post(f"{path_of(order)}/deliver"), lists()

    assert (before, in_sent, in_delivered) == (["placed"], ["shipped"], ["delivered"])
    assert sent.location == delivered.location == f"{path_of(order)}?done={order.order_id}"
    assert list(timeline(shown)) == ["Placed", "*Sent", "Delivered"]
    assert timeline(shown)["Delivered"] == "not yet"
    assert "By buyer" in shown.words
    assert state(table, order) is OrderStatus.DELIVERED
    assert {each.subject for each in messages.latest(table, "buyer", limit=9, now=times.now()).items} == {
        "Your order of 1 piece is on its way.",
        "Your order of 1 piece was delivered.",
    }


def test_an_order_that_is_cancelled_gives_its_stock_back_once(editor: Browser, table: Table, order: Order) -> None:
    seen = [editor.post(f"{path_of(order)}/cancel") for _ in range(2)]

    assert [each.location for each in seen] == [f"{path_of(order)}?done={order.order_id}"] * 2
    assert stock.of(table, order.items[0].deal_id).left == 5


def test_of_two_editors_one_sends_and_the_other_is_refused(editor: Browser, table: Table, order: Order) -> None:
    other = entered(table, "olga", "editor")
    editor.post(f"{path_of(order)}/send")

    told = other.post(f"{path_of(order)}/cancel")

    assert told.status == 409
    assert "The order is sent, and cannot be cancelled now." in told.words
    assert "Cancel it" not in told.words
    assert state(table, order) is OrderStatus.SHIPPED
    assert stock.of(table, order.items[0].deal_id).left == 4


def test_what_is_not_there_is_not_found(editor: Browser, order: Order) -> None:
    for path in ("/desk/shop/orders/x", f"/desk/shop/orders/{'0' * 27}", "/desk/shop/stock/999"):
        assert editor.get(path).status == 404
        assert editor.post(path if "stock" in path else f"{path}/send", {"pieces": "1"}).status == 404
    assert editor.post(f"{path_of(order)}/lose").status == 404


def test_stock_is_put_on_sale_over_shards_and_shown_by_them(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    path = f"/desk/shop/stock/{post_deal().number}"
    before = editor.get(path)

    seen = editor.post(path, {"key": before.values()["key"], "pieces": "10", "shards": "4", "do": "add"})

    shown = editor.get(path)
    assert "We don’t sell this deal yet." in before.words
    assert seen.location == f"{path}?notice=stock"
    assert "Left 10 Ordered so far 0 Put on sale 10" in shown.words
    assert "1 3 0 2 3 0 3 2 0 4 2 0" in shown.words


def test_a_form_sent_twice_adds_once_and_a_changed_one_asks_again(editor: Browser, table: Table, sell: Sell) -> None:
    deal = sell(5)
    path, form = f"/desk/shop/stock/{deal.number}", {"key": "one form", "pieces": "3", "do": "add"}

    once = [editor.post(path, form).status for _ in range(2)]
    left = stock.of(table, deal.deal_id).left
    asked = editor.post(path, form | {"pieces": "4"})
    again = editor.post(path, form | {"pieces": "4", "key": asked.values()["key"]})

    assert (once, left) == ([303, 303], 8)
    assert (asked.status, again.status) == (409, 303)
    assert stock.of(table, deal.deal_id).left == 12


def test_so_many_are_left_and_ordered_ones_stay_ordered(editor: Browser, table: Table, order: Order) -> None:
    deal_id = order.items[0].deal_id
    path = f"/desk/shop/stock/{deal_id}"

    editor.post(path, {"pieces": "2", "do": "left"})
    refused = editor.post(path, {"pieces": "-3", "do": "add"})

    found, form = stock.of(table, deal_id), editor.get(f"/desk/deals/{deal_id}")
    assert (found.left, found.ordered, found.on_sale) == (2, 1, 3)
    assert refused.status == 409
    assert "2 are on sale: take off at most 2, or add at most 999,998." in refused.words
    assert "/desk/shop/stock/1" in form.text
    assert "Sold here low" in form.words


def test_what_cannot_be_used_is_named_and_kept(editor: Browser, table: Table, sell: Sell) -> None:
    deal = sell(5)
    number = "Enter a whole number up to 1,000,000. A negative number takes pieces off sale."
    shards = "Enter 1 to 16, or leave this empty to keep the number of shards."

    for field, typed, said in (
        ("pieces", "", "This must be filled in."),
        *(("pieces", typed, number) for typed in ("many", "1.5", "9999999", "１")),
        *(("shards", typed, shards) for typed in ("0", "17")),
    ):
        form = {"pieces": "1", "shards": "", "do": "add"} | {field: typed}
        seen = editor.post(f"/desk/shop/stock/{deal.number}", form)

        assert (seen.status, said in seen.words, f'id="e-{field}"' in seen.text) == (422, True, True), typed
        assert seen.values()[field] == typed
    assert stock.of(table, deal.deal_id).left == 5


def test_a_button_in_a_list_leads_back_and_can_be_undone_for_a_minute(
    editor: Browser, table: Table, order: Order
) -> None:
    number = order_number(order.number)

    seen = editor.post(f"{path_of(order)}/send", {"back": "placed"})
    told = editor.get(seen.location)
    undone = [editor.post(f"{path_of(order)}/undo", {"status": "shipped"}) for _ in range(2)]
    listed, stands = editor.get("/desk/shop/orders").words, state(table, order)
    again = order_items.get(table, order.username, order.order_id)
    steps.advance(table, again, OrderStatus.SHIPPED, times.now() - timedelta(minutes=2))
    late = editor.get(f"{path_of(order)}?done={order.order_id}")
    refused = editor.post(f"{path_of(order)}/undo", {"status": "shipped"})

    assert seen.location == f"/desk/shop/orders?status=placed&done={order.order_id}"
    assert f"{number} is sent: 1 piece to Ana Blake, Portland . We’ll notify the buyer. Undo" in told.words
    assert [each.location for each in undone] == [f"{path_of(order)}?notice=undone"] * 2
    assert (stands, "1 × Trail runner" in listed) == (OrderStatus.PLACED, True)
    assert "Undo" not in late.words
    assert (refused.status, "It is too late to undo that" in refused.words) == (409, True)
    assert state(table, order) is OrderStatus.SHIPPED


def test_an_order_is_found_by_its_number(editor: Browser, order: Order) -> None:
    number = order_number(order.number)

    for text in (number, f"+{number.lower()}+", str(order.number)):
        assert editor.get(f"/desk/shop/orders?find={text}").location == path_of(order)
    missing = editor.get("/desk/shop/orders?find=BTD-99999")

    assert f"Order {number}" in editor.get(path_of(order)).words
    assert (missing.status, "There is no order with this number." in missing.words) == (404, True)


NOTHING = {
    "placed": "All orders have been sent.",
    "shipped": "No orders are on their way.",
    "delivered": "No orders have been delivered yet.",
    "cancelled": "No orders have been cancelled.",
}
"""The words of each list of orders where it is empty."""


def test_each_list_says_when_it_is_empty(editor: Browser) -> None:
    for name, said in NOTHING.items():
        assert said in editor.get(f"/desk/shop/orders?status={name}").words
    assert NOTHING["placed"] in editor.get("/desk/shop/orders").words
    assert editor.get("/desk/shop/orders?status=lost").status == 400
    assert editor.get("/desk/shop").location == "/desk/shop/orders"


def test_an_order_leads_to_its_customer_with_the_newest_orders(editor: Browser, order: Order) -> None:
    path = "/desk/shop/customers/buyer"

    seen = editor.get(path)

    assert path in editor.get(path_of(order)).text
    assert f"{order_number(order.number)} Placed" in seen.words
    assert "home Ana Blake · 12 Harbour Street" in seen.words
    assert editor.get("/desk/shop/customers/nobody").status == 404
