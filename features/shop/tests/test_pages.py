"""The shop's pages: the cart, addresses, the checkout and orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from features.shop.data import addresses, carts, order_items, steps, stock
from features.shop.data import keys as shop_keys
from features.shop.models import OrderStatus
from features.shop.tests.conftest import Sell, shown_counts, timeline
from features.shop.tests.support import HOME as HOME_FIELDS
from features.shop.tests.support import HOME_ADDRESS, buy, checkout, form_of, sent_as_many_as_an_hour_allows, written
from shared.data import keys
from shared.data.catalog import deals
from shared.data.members import messages, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.errors import NoSuchUser
from shared.html import cookies
from shared.http import requests
from shared.models.catalog import Deal
from shared.models.messages import AboutOther, Announcement
from shared.values import times
from tests.signed_in.conftest import PASSWORD, PostDeal, ana, anyone, entered, post_deal, table  # noqa: F401  # fixtures
from tests.signed_in.test_account import pressed, signed_up
from tests.support.browsing import Browser, Seen, filled
from tests.support.factories import send

HOME = {**HOME_FIELDS, "name": "home", "country": "us"}


def with_address(table: Table, username: str = "ana") -> None:
    addresses.save(table, username, "home", HOME_ADDRESS)


def ordered(table: Table, username: str = "ana") -> int:
    return len(order_items.latest(table, username, limit=10).items)


def bought(browser: Browser, deal: Deal, quantity: str = "1") -> str:
    """The path of an order of a deal."""
    browser.post("/shop/cart", {"deal": str(deal.number), "quantity": quantity})
    return browser.post("/shop/checkout", checkout(browser)).location.partition("?")[0]


AtCheckout = Callable[..., tuple[Deal, dict[str, str]]]


@pytest.fixture
def at_checkout(ana: Browser, table: Table, sell: Sell) -> AtCheckout:
    """A deal that lies in Ana's cart, and her form of the checkout."""

    def opened(pieces: int = 5, *, wanted: str = "1", **fields: Any) -> tuple[Deal, dict[str, str]]:
        with_address(table)
        deal = sell(pieces, **fields)
        ana.post("/shop/cart", {"deal": str(deal.number), "quantity": wanted})
        return deal, checkout(ana)

    return opened


def test_what_is_bought_lies_in_the_cart_as_often_as_asked_until_it_is_removed(ana: Browser, sell: Sell) -> None:
    deal = str(sell(price="10.00").number)
    ana.post("/shop/cart", {"deal": deal, "quantity": "3"})

    again = ana.post("/shop/cart", {"deal": deal})
    shown = ana.get(again.location).words
    removed = ana.post("/shop/cart/remove", {"deal": deal})

    assert (again.status, again.location) == (303, "/shop/cart?notice=in-cart")
    assert ("Trail runner" in shown, "Total $30.00" in shown) == (True, True)
    assert removed.location == "/shop/cart?notice=taken-out"
    assert "Your cart is empty." in ana.get("/shop/cart").words


def test_an_impossible_number_of_pieces_is_refused_by_the_deals_name(ana: Browser, table: Table, sell: Sell) -> None:
    deal = sell()

    for quantity in ("0", "11", "-1", "1000000000", "", "two", "１"):
        seen = ana.post("/shop/cart", {"deal": str(deal.number), "quantity": quantity})
        assert (seen.status, "Trail runner: choose 1 to 10 pieces." in seen.words) == (422, True), quantity
    assert carts.deals_in(table, "ana", times.now()) == []


def test_what_does_not_come_into_the_cart_is_said(ana: Browser, post_deal: PostDeal) -> None:
    seen = ana.post("/shop/cart", {"deal": str(post_deal().number)})

    assert (seen.status, "Trail runner cannot be bought here any more." in seen.words) == (409, True)


def test_a_first_order_takes_its_address_along_once(ana: Browser, table: Table, sell: Sell) -> None:
    ana.post("/shop/cart", {"deal": str(sell(40).number)})
    asked, book = ana.get("/shop/checkout").values(), ana.get("/shop/addresses")
    form = asked | HOME | {"name": "home", "do": "order"}

    seen, again = ana.post("/shop/checkout", form), ana.post("/shop/checkout", form)

    assert (asked["name"], asked["recipient"]) == ("home", users.get(table, "ana").name)
    assert "No addresses yet. Add one to order with it." in book.words
    assert (seen.status, "/shop/orders/" in seen.location, again.location) == (303, True, seen.location)
    assert "Ana Blake · 12 Harbour Street · Portland, ME 04101 · US" in ana.get(seen.location).words
    assert addresses.of(table, "ana") == {"home": HOME_ADDRESS}


def test_an_address_with_errors_stays_on_the_checkout_with_the_order(ana: Browser, sell: Sell) -> None:
    deal = sell(40)
    ana.post("/shop/cart", {"deal": str(deal.number)})
    lacking = dict.fromkeys(("recipient", "city", "country"), "")
    form = ana.get("/shop/checkout").values() | HOME | {"do": "order"}

    seen = ana.post("/shop/checkout", {**form, **lacking, "street": "1 Harbour St"})

    assert (seen.status, "<h1>Check out</h1>" in seen.text, deal.title in seen.words) == (422, True, True)
    errors = [link.text for link in seen.document.findall(".//*[@role='alert']//a")]
    assert errors == ["Recipient must be filled in.", "City must be filled in.", "Country must be filled in."]
    assert seen.document.find(".//input[@id='f-street']").get("value") == "1 Harbour St"


def test_a_country_is_proposed_from_the_last_order_or_else_the_currency(ana: Browser, table: Table, sell: Sell) -> None:
    def proposed() -> str:
        ana.post("/shop/cart", {"deal": str(deal.number)})
        country: str = (
            ana.get("/shop/checkout").document.find(".//select[@id='f-country']/option[@selected]").get("value")
        )
        return country

    deal = sell(40)
    before = proposed()
    addresses.save(table, "ana", "home", replace(HOME_ADDRESS, country="CH"))
    bought(ana, deal)
    addresses.remove(table, "ana", "home")

    assert (before, proposed()) == ("US", "CH")


def test_an_address_that_lacks_something_is_asked_for_again_with_what_was_typed(ana: Browser, table: Table) -> None:
    wrong = {"city": "", "country": "Switzerland", "street": "1 \x07 Street"}

    seen, of_switzerland = (
        ana.post("/shop/addresses", HOME | more) for more in (wrong, {"country": "CH", "postalCode": ""})
    )

    assert (seen.status, of_switzerland.status) == (422, 422)
    for said in ("This must be filled in.", "Choose a country.", "This must not have the character U+0007."):
        assert said in seen.words
    assert seen.values()["recipient"] == "Ana Blake"
    assert {"Hong Kong SAR China", "Switzerland"} <= {option.text for option in seen.document.iter("option")}
    assert addresses.of(table, "ana") == {}


def test_an_address_is_changed_and_removed(ana: Browser, table: Table) -> None:
    ana.post("/shop/addresses", HOME)
    (edit,) = [a.get("href") for a in ana.get("/shop/addresses").document.iter("a") if a.text == "Edit"]
    shown = ana.get(edit)
    filled = shown.values()
    ana.post("/shop/addresses", {**filled, "street": "1 Main Street"})
    changed = addresses.of(table, "ana")["home"].street

    seen = ana.post("/shop/addresses/remove", {"name": "home"})

    assert edit == "/shop/addresses?name=home#form"
    assert "Edit an address home" in shown.words
    assert changed == "1 Main Street"
    assert seen.location == "/shop/addresses?notice=address-removed"
    assert addresses.of(table, "ana") == {}


def test_an_order_takes_stock_empties_the_cart_and_is_notified(
    ana: Browser, table: Table, at_checkout: AtCheckout
) -> None:
    deal, form = at_checkout(wanted="2", price="10.00", variant="Navy, 42")
    before = [ana.get(path) for path in ("/shop/cart", "/shop/checkout")]

    seen = ana.post("/shop/checkout", form)

    assert seen.status == 303
    shown = ana.get(seen.location)
    assert "Order placed. We’ll send a message to your inbox when it ships." in shown.words
    assert "Total $20.00" in shown.words
    assert ["Navy, 42" in each.words for each in (*before, shown)] == [True, True, True]
    assert f'href="/deals/{deal.number}"' in shown.text
    assert list(timeline(shown)) == ["*Placed", "Sent", "Delivered"]
    assert stock.of(table, deal.deal_id).left == 3
    assert carts.deals_in(table, "ana", times.now()) == []
    assert messages.unread_count(table, "ana", times.now()) == 1
    listed = ana.get("/shop/orders")
    assert deal.title in listed.words
    assert "2 pieces to Ana Blake, Portland" in listed.words
    assert ['class="tile' in each.text for each in (listed, shown)] == [True, True]


@pytest.mark.parametrize(
    ("change", "shown", "said"),
    [
        ({"price": "12.00"}, "$12.00", "More expensive than when you added it: it was $10.00."),
        ({"price": "8.00"}, "$8.00", "Cheaper than when you added it: it was $10.00."),
        ({"price": "9.00", "currency": "EUR"}, "€9.00", "It was $10.00 when you added it."),
    ],
    ids=["dearer", "cheaper", "another currency"],
)
def test_another_price_behind_the_form_orders_nothing_and_both_are_said_in_the_cart_too(
    ana: Browser, table: Table, at_checkout: AtCheckout, change: dict[str, str], shown: str, said: str
) -> None:
    deal, form = at_checkout(price="10.00")
    deals.edit(table, deal.deal_id, change, times.now())

    in_cart, refused = ana.get("/shop/cart"), ana.post("/shop/checkout", form)
    again = ana.post("/shop/checkout", form_of(refused))

    assert [said in each.words for each in (in_cart, refused)] == [True, True]
    assert refused.status == 409
    assert f"Trail runner costs {shown} now, not $10.00." in refused.words
    assert again.status == 303
    (order,) = order_items.latest(table, "ana", limit=10).items
    assert order.totals == {change.get("currency", "USD"): change["price"]}


def test_a_cart_is_ordered_once_by_a_form_that_is_sent_again_changed_or_in_another_window(
    ana: Browser, table: Table, at_checkout: AtCheckout
) -> None:
    _, form = at_checkout(1)
    addresses.save(table, "ana", "work", HOME_ADDRESS)
    in_another_window = checkout(ana)
    changed = {**form, "address": form["address"].replace("home", "work")}

    first, again, *late = (ana.post("/shop/checkout", each) for each in (form, form, changed, in_another_window))

    assert (first.status, first.location) == (again.status, again.location)
    path, _, said = first.location.partition("?")
    assert (first.status, said) == (303, "notice=bought")
    assert [each.location for each in late] == [f"{path}?notice=ordered-already"] * 2
    assert "You already ordered this cart in another window. Here is that order;" in ana.get(late[1].location).words
    assert ordered(table) == 1


def test_a_cart_with_more_than_an_order_takes_is_ordered_in_two(ana: Browser, table: Table, sell: Sell) -> None:
    with_address(table)
    ana.post("/shop/cart", {"deal": str(sell(price="1.00").number)})
    (item,) = table.query(shop_keys.cart("ana"), prefix=keys.deal_sort_key(""))
    for number in range(carts.MOST):
        deal = sell(price="1.00", title=f"Deal {number}")
        item = {**item, **shop_keys.cart_item("ana", deal.deal_id), "DealId": deal.deal_id}
        table.write(put(item, because="a test's own"))

    shown = ana.get("/shop/checkout")
    first = ana.post("/shop/checkout", form_of(shown))
    second = ana.post("/shop/checkout", checkout(ana))

    assert "An order has at most 20 deals." in shown.words
    assert [first.status, second.status] == [303, 303]
    assert carts.deals_in(table, "ana", times.now()) == []


def test_a_cart_partly_ordered_in_another_window_is_shown_again(ana: Browser, table: Table, sell: Sell) -> None:
    first, second = sell(title="First"), sell(title="Second")
    with_address(table)
    ana.post("/shop/cart", {"deal": str(first.number)})
    early = checkout(ana)
    ana.post("/shop/cart", {"deal": str(second.number)})
    both = checkout(ana)
    ana.post("/shop/checkout", early)
    ana.post("/shop/cart", {"deal": str(second.number), "quantity": "3"})
    ana.post("/shop/cart", {"deal": str(sell(title="Third").number)})

    seen = ana.post("/shop/checkout", both)

    assert seen.status == 409
    assert "Nothing was ordered: the cart has changed." in seen.words
    assert "Second: 3 in the cart now, not 1." in seen.words
    assert "Third was added to the cart." in seen.words
    assert ordered(table) == 1


def test_ten_in_cart_and_two_left_are_two_by_one_button(ana: Browser, table: Table, at_checkout: AtCheckout) -> None:
    deal, stale = at_checkout(10, wanted="10", price="10.00")
    stock.leave(table, deal.deal_id, 2)

    refused = ana.post("/shop/checkout", stale)
    shown = ana.get("/shop/checkout")
    (take,) = [each.get("value") for each in shown.document.iter("button") if "".join(each.itertext()) == "Take 2"]
    taken = ana.get(ana.post("/shop/checkout", {**shown.values(), "do": take}).location)
    done = ana.post("/shop/checkout", form_of(taken))

    assert (refused.status, "Trail runner: only 2 left." in refused.words) == (409, True)
    assert "Only 2 are left." in shown.words
    assert "Order for" not in shown.words
    assert "Order for $20.00" in taken.words
    assert done.status == 303
    assert stock.of(table, deal.deal_id).left == 0


@pytest.mark.parametrize("pressed", ["pieces", "order"])
def test_pieces_are_changed_at_the_checkout(ana: Browser, table: Table, at_checkout: AtCheckout, pressed: str) -> None:
    deal, form = at_checkout(price="10.00")

    changed = ana.post("/shop/checkout", form | {f"pieces-{deal.deal_id}": "3", "do": pressed})
    shown = ana.get(changed.location)
    refused = ana.post("/shop/checkout", form_of(shown) | {f"pieces-{deal.deal_id}": "11", "do": pressed})

    assert changed.location == "/shop/checkout?address=home&notice=pieces"
    assert "Order for $30.00" in shown.words
    assert refused.status == 422
    assert "Choose 1 to 10 pieces of each deal." in refused.words
    assert ordered(table) == 0


def test_an_address_changed_behind_the_form_is_asked_about(ana: Browser, table: Table, at_checkout: AtCheckout) -> None:
    _, form = at_checkout()
    elsewhere = replace(HOME_ADDRESS, street="1 Elsewhere")
    addresses.save(table, "ana", "home", elsewhere)

    refused = ana.post("/shop/checkout", form)
    again = ana.post("/shop/checkout", form_of(refused))

    assert refused.status == 409
    assert "The address “home” has changed." in refused.words
    assert "1 Elsewhere" in refused.words
    assert again.status == 303
    assert order_items.latest(table, "ana", limit=1).items[0].address == elsewhere


def test_too_many_orders_in_an_hour_keep_the_checkout_and_say_when_to_try_again(
    ana: Browser, table: Table, at_checkout: AtCheckout
) -> None:
    _, form = at_checkout(price="10.00")
    sent_as_many_as_an_hour_allows(table, "ana")

    refused = ana.post("/shop/checkout", form)

    assert refused.status == 429
    assert 0 < int(refused.headers["Retry-After"][0]) <= 7200
    assert "You can send 30 orders an hour: try again in " in refused.words
    assert "Order for $10.00" in refused.words
    assert ordered(table) == 0


def test_what_the_stage_adds_is_shown_before_and_kept_in_the_order(
    ana: Browser, at_checkout: AtCheckout, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, before = at_checkout(price="10.00")
    monkeypatch.setenv("SHIPPING", "USD=5.00")
    monkeypatch.setenv("TAX", "10")

    refused = ana.post("/shop/checkout", before)
    placed = ana.post("/shop/checkout", form_of(refused))

    assert "The total has changed since you last saw it." in refused.words
    assert "Shipping $5.00 Tax $1.50 Total $16.50" in refused.words
    assert "Shipping $5.00 Tax $1.50 Total $16.50" in ana.get(placed.location).words


def test_what_is_sold_out_stays_in_the_cart_and_out_of_the_order(ana: Browser, table: Table, sell: Sell) -> None:
    gone, there = sell(1, title="Gone"), sell(title="There", price="10.00")
    with_address(table)
    for deal in (gone, there):
        ana.post("/shop/cart", {"deal": str(deal.number)})
    stock.leave(table, gone.deal_id, 0)
    stock.show_level(table, gone.deal_id)

    shown = ana.get("/shop/checkout")
    seen = ana.post("/shop/checkout", form_of(shown))

    assert "Left out: Gone (Sold out.)" in shown.words
    assert "Total $10.00" in shown.words
    assert seen.status == 303
    assert carts.deals_in(table, "ana", times.now()) == [gone.deal_id]
    assert "Check out" not in ana.get("/shop/cart").words


def test_a_form_that_was_never_shown_is_refused(ana: Browser, table: Table, sell: Sell) -> None:
    deal = sell(price="1.00").deal_id
    with_address(table)
    lines = ("*0*1.00*USD", "*11*1.00*USD", "*-1*1.00*USD", "*1000000000*1.00*USD", "*1*-1*USD")
    twice, too_many = ([f"{each:0>27}*1*1.00*USD" for each in some] for some in ([deal, deal], range(21)))

    for items in ("", "x", *(f"{deal}{line}" for line in lines), ",".join(twice), ",".join(too_many)):
        seen = ana.post("/shop/checkout", {"key": "k", "address": "x home", "totals": "USD=1.00", "items": items})
        assert seen.status == 400, items
    assert ordered(table) == 0


def test_a_refusal_is_said_and_writes_nothing(ana: Browser, table: Table, sell: Sell, post_deal: PostDeal) -> None:
    """The fields of a form that stood open while the shop changed, or that was never shown."""
    with_address(table)
    few, elsewhere = sell(2, title="Few"), post_deal(title="Elsewhere")
    ana.post("/shop/cart", {"deal": str(few.number)})
    before = written(table)

    def said(deal: Deal, pieces: int = 1, *, address: str = "home") -> Seen:
        items = f"{deal.deal_id}*{pieces}*{deal.price}*{deal.currency}"
        goes_to = f"{addresses.fingerprint(HOME_ADDRESS)} {address}"
        return ana.post("/shop/checkout", {"key": "k", "address": goes_to, "totals": "USD=1.00", "items": items})

    seen = [
        (409, "Few: only 2 left.", said(few, 3)),
        (409, "Elsewhere is not sold here.", said(elsewhere)),
        (422, "This address was removed. Choose another.", said(few, address="nowhere")),
        (422, "Choose a delivery address.", said(few, address="x" * 10_240)),
        (422, "100", ana.post("/shop/addresses", {**HOME, "street": "x" * 10_240})),
        (422, "40", ana.post("/shop/addresses", {**HOME, "name": "x" * 41})),
    ]

    assert [each.status for _, _, each in seen] == [status for status, _, _ in seen]
    assert [words for _, words, each in seen if words not in each.words] == []
    assert written(table) == before


def test_an_order_that_is_cancelled_gives_its_stock_back_once(ana: Browser, table: Table, sell: Sell) -> None:
    deal = sell(5)
    with_address(table)
    path = bought(ana, deal, "2")
    asked = ana.get(f"{path}/cancel")

    seen = [ana.post(f"{path}/cancel") for _ in range(2)]

    assert "This can’t be undone" in asked.words
    assert [each.location for each in seen] == [f"{path}?notice=cancelled"] * 2
    assert list(timeline(ana.get(path))) == ["Placed", "*Cancelled"]
    assert stock.of(table, deal.deal_id).left == 5
    assert "No orders with this status." in ana.get("/shop/orders?status=placed").words
    assert "2 pieces to Ana Blake" in ana.get("/shop/orders?status=cancelled").words
    assert ana.get("/shop/orders?status=lost").status == 400


def test_an_order_is_not_cancelled_by_a_stranger_or_once_it_is_sent(ana: Browser, table: Table, sell: Sell) -> None:
    with_address(table)
    path = bought(ana, sell())
    bo = entered(table, "bo")

    by_bo = [bo.get(path), bo.get(f"{path}/cancel"), bo.post(f"{path}/cancel")]
    order = order_items.get(table, "ana", path.rpartition("/")[2])
    steps.advance(table, order, OrderStatus.SHIPPED, times.now())
    late = ana.post(f"{path}/cancel")

    assert [each.status for each in by_bo] == [404, 404, 404]
    assert order.status is OrderStatus.PLACED
    assert (late.status, "It is sent, and cannot be cancelled any more." in late.words) == (409, True)


def test_a_page_without_anything_says_what_one_can_do(ana: Browser) -> None:
    for path, said, next_step in (
        ("/shop/cart", "Your cart is empty. Deals that we sell have a “Buy here” button.", "/sold-here"),
        ("/shop/orders", "You have no orders yet.", "/sold-here"),
        ("/shop/orders?status=shipped", "No orders with this status.", "/shop/orders"),
    ):
        seen = ana.get(path)

        (way_on,) = [a.get("href") for a in seen.document.iter("a") if a.get("class") == "button first"]
        assert (said in seen.words, way_on) == (True, next_step)
        assert ("Delivered" in seen.words) == ("status" in path)  # orders are not offered by status before the first


def test_prices_of_another_day_are_not_spoken_of_where_todays_stand(ana: Browser, at_checkout: AtCheckout) -> None:
    at_checkout()

    for path in ("/shop/cart", "/shop/checkout", "/shop/orders"):
        words = ana.get(path).words
        assert ("Times without a zone are UTC." in words, "those of the day" in words) == (True, False), path


def test_pages_of_ones_own_show_both_counts_without_script_too(ana: Browser, table: Table, sell: Sell) -> None:
    deal = sell()
    with_address(table)
    order = bought(ana, deal)  # of which a message tells
    before = shown_counts(entered(table, "bo").get("/my/inbox"))
    ana.post("/shop/cart", {"deal": str(deal.number), "quantity": "2"})
    paths = [*(f"/shop/{name}" for name in ("cart", "checkout", "addresses", "orders")), order, f"{order}/cancel"]
    paths += ["/my/inbox", "/my/watches"]

    shown = {path: shown_counts(ana.get(path)) for path in paths}
    refused = shown_counts(ana.post("/shop/cart", {"deal": str(deal.number), "quantity": "77"}))

    assert before == ["", ""]
    assert shown == {path: ["1 unread", "2 items"] for path in paths}
    assert refused == ["1 unread", "2 items"]


def test_a_message_of_an_order_leads_to_the_order(ana: Browser, table: Table) -> None:
    told_of = Announcement("sent", "Your order is on its way", AboutOther("order", "2Zorder"), times.now())
    message = messages.compose(told_of, "ana")
    send(table, message)

    assert "Your order is on its way" in ana.get("/my/inbox").words
    assert ana.get(f"/my/inbox/{message.message_id}").location == "/shop/orders/2Zorder"


def test_an_account_with_an_order_that_was_not_sent_stays_until_it_is_cancelled(
    anyone: Browser, table: Table, sell: Sell
) -> None:
    names = {"username": "ana", "name": "Ana Müller", "email": "ana@mail.example", "password": PASSWORD}
    anyone.post("/account/sign-up", names)
    with_address(table)
    order = buy(table, "ana", sell(), now=times.now(), account_id=users.get(table, "ana").account_id)

    early = anyone.post("/account/remove", {"password": PASSWORD})
    links = {" ".join(a.itertext()): a.get("href") for a in early.document.iter("a")}
    orders = anyone.get(links["Orders to be sent"])
    still_there = users.get(table, "ana").name
    anyone.post(f"/shop/orders/{order.order_id}/cancel")
    right = anyone.post("/account/remove", {"password": PASSWORD})

    assert (early.status, "<title>Error: Remove the account" in early.text) == (409, True)
    assert "An order hasn’t been sent yet" in early.words
    assert links["Orders to be sent"] == "/shop/orders?status=placed"
    assert "Ana Blake" in orders.words
    assert still_there == "Ana Müller"
    assert (right.status, right.location) == (303, "/?notice=removed")
    with pytest.raises(NoSuchUser):
        users.get(table, "ana")


def test_what_a_visitor_buys_lies_in_the_cart_once_they_have_an_account(
    anyone: Browser, table: Table, sell: Sell
) -> None:
    deal = sell()

    asked = pressed(anyone, "/shop/cart", {"deal": str(deal.number)})
    done = signed_up(anyone, asked)

    assert (done.status, done.location) == (303, "/shop/cart?notice=in-cart")
    assert carts.deals_in(table, "ana", times.now()) == [deal.deal_id]


@pytest.mark.parametrize(
    "wish",
    ["/shop/cart/remove?deal={number}", "/my/likes/brand/apple?on=1", "/shop/orders/x/cancel?", "/shop/cart?%ff=%ff"],
)
def test_a_deferred_form_other_than_the_carts_does_nothing(ana: Browser, table: Table, sell: Sell, wish: str) -> None:
    deal = sell()
    carts.put_in(table, "ana", deal.deal_id, 1, times.now())
    ana.cookies[requests.name(cookies.COOKIE)] = wish.format(number=deal.number)

    ana.get("/shop/wish")

    assert carts.deals_in(table, "ana", times.now()) == [deal.deal_id]


def test_the_preview_of_a_deal_says_that_it_is_on_sale_here(table: Table, sell: Sell) -> None:
    deal = sell(40)
    editor = entered(table, "eddy", "editor")
    form = f"/desk/deals/{deal.number}"

    seen = editor.post(f"{form}/preview", filled(editor.get(form)))

    assert f"Here On sale Number {deal.number}" in seen.words


def test_the_status_counts_what_is_in_the_cart(ana: Browser, sell: Sell) -> None:
    empty = ana.get("/my/status").json["cart"]
    ana.post("/shop/cart", {"deal": str(sell().number), "quantity": "2"})

    assert (empty, ana.get("/my/status").json["cart"]) == (0, 2)
