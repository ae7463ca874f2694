"""The shop's function, asked as API Gateway asks it: what is bought, what is refused and why, who may do what."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from features.shop import orders
from features.shop.data import stock
from features.shop.models import OrderStatus
from features.shop.tests.support import HOME, a_buyer, sent_as_many_as_an_hour_allows, written
from functions.api import accounts, editors
from shared.data.catalog import deals
from shared.data.members import messages, sessions, users
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.runtime import environment
from shared.values import identifiers, times
from tests.functions.conftest import context, deployed, table  # noqa: F401  # fixtures
from tests.support.factories import a_deal, a_user, account_of
from tests.support.surroundings import event
from tests.support.wire import lagging
from tools import openapi

Ask = Callable[..., tuple[int, Any]]
_keys = itertools.count()


@pytest.fixture
def ask(table: Table, context: LambdaContext) -> Ask:
    """Asks the shop something as a user, of whom Ana has an address; gives the status and the document."""
    a_buyer(table)
    for username, role in (("bo", "member"), ("ed", "editor")):
        users.create(table, a_user(username, role=role))

    def asked(
        method: str,
        resource: str,
        body: Any = None,
        *,
        who: str = "ana",
        headers: dict[str, str] | None = None,
        query: dict[str, str] | None = None,
        handler: Any = orders.handler,
        **parameters: str,
    ) -> tuple[int, Any]:
        asking = copy.deepcopy(event("editors-post-deal"))
        asking["httpMethod"], asking["resource"] = method, resource
        asking["path"] = resource.format(**parameters)
        asking["pathParameters"] = parameters
        asking["queryStringParameters"] = query
        asking["multiValueQueryStringParameters"] = {name: [value] for name, value in (query or {}).items()}
        asking["headers"] = {"Content-Type": "application/json", **(headers or {})}
        asking["multiValueHeaders"] = {name: [value] for name, value in asking["headers"].items()}
        asking["body"], asking["isBase64Encoded"] = None if body is None else json.dumps(body), False
        asking["requestContext"]["requestId"] = f"request-{next(_keys)}"
        role = "editor" if who == "ed" else "member"
        asking["requestContext"]["authorizer"] = {"username": who, "accountId": account_of(who), "role": role}
        answer = handler(asking, context)
        return answer["statusCode"], json.loads(answer["body"]) if answer["body"] else None

    return asked


@pytest.fixture
def deal(table: Table) -> Deal:
    """A deal of which five pieces are on sale."""
    made = a_deal(times.now(), brand="g-fore", category="clothing", price="10.00")
    posted = deals.create(table, made, times.now())
    stock.add(table, posted.deal_id, 5, times.now())
    return posted


def place(ask: Ask, *items: tuple[Deal, Any, str], key: str | None = None, **others: Any) -> tuple[int, Any]:
    lines = [
        {"dealId": deal.deal_id, "quantity": number, "price": price, "currency": "USD"} for deal, number, price in items
    ]
    headers = {"Idempotency-Key": key or f"key-{next(_keys)}"}
    return ask("POST", "/orders", {"address": "home", "items": lines, **others}, headers=headers)


def reasons(problem: Any) -> dict[str, str]:
    return {error["field"]: error["detail"] for error in problem.get("errors", ())}


def test_an_order_is_placed_once_sent_and_notified(ask: Ask, table: Table, deal: Deal) -> None:
    first, second = (place(ask, (deal, 2, "10.00"), key="twice") for _ in range(2))
    status, placed = first
    sent = ask("PUT", "/orders/{orderId}/status", {"status": "shipped"}, who="ed", orderId=placed["orderId"])

    assert first == second
    assert (status, placed["status"], placed["totals"]) == (201, "placed", [{"currency": "USD", "amount": "20.00"}])
    assert placed["address"] == HOME
    assert stock.of(table, deal.deal_id).left == 3
    assert (sent[0], sent[1]["status"]) == (200, "shipped")
    assert ask("GET", "/orders/{orderId}", orderId=placed["orderId"]) == sent
    told = messages.latest(table, "ana", limit=10, now=times.now()).items
    assert sorted((message.kind, message.subject) for message in told) == [
        ("placed", "We have your order of 2 pieces, $20.00."),
        ("sent", "Your order of 2 pieces is on its way."),
    ]


def test_a_cancelled_order_gives_back_and_stays_cancelled(ask: Ask, table: Table, deal: Deal) -> None:
    _, placed = place(ask, (deal, 2, "10.00"))

    answers = [ask("POST", "/orders/{orderId}/cancel", orderId=placed["orderId"]) for _ in range(2)]

    assert [(status, order["status"]) for status, order in answers] == [(200, "cancelled")] * 2
    assert stock.of(table, deal.deal_id).left == 5
    assert messages.unread_count(table, "ana", times.now()) == 2


WRONG_LINES = [
    ("street", "12\u0000Harbour"), ("street", "12\u202eHarbour"), ("street", "x" * 10_240),
    ("country", "United States"), ("country", "ZZ"), ("recipient", " "), ("planet", "Mars"), ("postalCode", None),
]  # fmt: skip
"""Lines of an address with something wrong."""


def test_a_postal_code_is_needed_where_the_country_has_them(ask: Ask) -> None:
    hong_kong = {"recipient": "Mei", "street": "1 Nathan Road", "city": "Kowloon", "country": "HK"}
    of_switzerland = hong_kong | {"country": "CH"}

    kept, spaced, with_one = (
        ask("PUT", "/me/addresses/{name}", hong_kong | more, name="work")
        for more in ({}, {"postalCode": "  "}, {"postalCode": "999077"})
    )
    refused = [
        ask("PUT", "/me/addresses/{name}", of_switzerland | more, name="work") for more in ({}, {"postalCode": " "})
    ]
    unknown = ask("PUT", "/me/addresses/{name}", hong_kong | {"country": "XX"}, name="work")

    assert [(status, body["postalCode"]) for status, body in (kept, spaced, with_one)] == [
        (200, ""), (200, ""), (200, "999077")
    ]  # fmt: skip
    assert [(status, [*reasons(body)]) for status, body in refused] == [(422, ["postalCode"])] * 2
    assert (unknown[0], [*reasons(unknown[1])]) == (422, ["country"])


UNSEEN = ["%00", "x" * 41, "%20", "%E2%80%AE"]
"""Names of addresses that cannot be seen, or are too long."""

WRONG_STOCK: list[tuple[int, str, dict[str, int]]] = [
    (422, "body", {}), (422, "body", {"add": 1, "left": 1}), (422, "left", {"left": -1}),
    (422, "shards", {"add": 1, "shards": 17}), (409, "add", {"add": -6}),
]  # fmt: skip
"""Changes of a stock of which four pieces are left."""


def test_what_is_refused_writes_nothing_and_takes_nothing(ask: Ask, table: Table, deal: Deal) -> None:
    """Each kind of bad input, with the status and the field that its answer names."""
    assert ask("PUT", "/me/addresses/{name}", HOME, who="bo", name="work")[0] == 200
    made = [a_deal(times.now(), brand="g-fore", category="clothing", price="10.00") for _ in range(3)]
    gone, over, elsewhere = (deals.create(table, each, times.now()) for each in made)
    for each in (gone, over):
        stock.add(table, each.deal_id, 1, times.now())
    place(ask, (gone, 1, "10.00"), key="twice")
    _, sent = place(ask, (deal, 1, "10.00"))
    of_sent = {"orderId": sent["orderId"], "who": "ed"}
    ask("PUT", "/orders/{orderId}/status", {"status": "shipped"}, **of_sent)
    absent = identifiers.random(times.now(), bytes(16))
    deals.edit(table, over.deal_id, {"withdrawn_at": times.now()}, times.now())
    many = [
        {"dealId": identifiers.random(times.now(), bytes([n] * 16)), "quantity": 1, "price": "1.00", "currency": "USD"}
        for n in range(21)
    ]
    before = written(table)

    answers = [
        (409, "items.0.quantity", place(ask, (gone, 1, "10.00"))),
        (409, "items.0.quantity", place(ask, (deal, 5, "10.00"))),
        (409, "items.0.price", place(ask, (deal, 1, "9.99"))),
        (409, "items.0.dealId", place(ask, (over, 1, "10.00"))),
        (409, "items.0.dealId", place(ask, (replace(deal, deal_id=absent), 1, "10.00"))),
        (409, "items.0.dealId", place(ask, (elsewhere, 1, "10.00"))),
        (409, "items.1.quantity", place(ask, (deal, 1, "10.00"), (gone, 1, "10.00"))),
        *((422, "items.0.quantity", place(ask, (deal, wrong, "10.00"))) for wrong in (0, 11, -1, 10**9)),
        (422, "items", place(ask, items=many)),
        (422, "body", place(ask, (deal, 1, "10.00"), (deal, 1, "10.00"))),
        (422, "items", place(ask)),
        (404, "address", place(ask, (deal, 1, "10.00"), address="nowhere")),
        (404, "address", place(ask, (deal, 1, "10.00"), address="work")),
        (422, "address", place(ask, (deal, 1, "10.00"), address="ho\u0000me")),
        (422, "address", place(ask, (deal, 1, "10.00"), address="x" * 10_240)),
        (422, "Idempotency-Key", place(ask, (deal, 1, "10.00"), key="twice")),
        (400, "Idempotency-Key", ask("POST", "/orders", {"address": "home", "items": many[:1]})),
        *(
            (404, None, ask(*how, orderId=order_id, who="bo"))
            for how in (("GET", "/orders/{orderId}"), ("POST", "/orders/{orderId}/cancel"))
            for order_id in (sent["orderId"], absent, "x" * 2_000)
        ),
        (409, "status", ask("POST", "/orders/{orderId}/cancel", orderId=sent["orderId"])),
        (409, "status", ask("PUT", "/orders/{orderId}/status", {"status": "cancelled"}, **of_sent)),
        (422, "status", ask("PUT", "/orders/{orderId}/status", {"status": "placed"}, **of_sent)),
        (422, "status", ask("PUT", "/orders/{orderId}/status", {"status": "lost"}, **of_sent)),
        (409, None, ask("PUT", "/me/cart/{dealId}", {"quantity": 1}, dealId=over.deal_id)),
        (409, None, ask("PUT", "/me/cart/{dealId}", {"quantity": 1}, dealId=elsewhere.deal_id)),
        (404, None, ask("PUT", "/me/cart/{dealId}", {"quantity": 1}, dealId=absent)),
        *(
            (422, field, ask("PUT", "/me/addresses/{name}", HOME | {field: wrong}, name="home"))
            for field, wrong in WRONG_LINES
        ),
        *((422, "name", ask("PUT", "/me/addresses/{name}", HOME, name=name)) for name in UNSEEN),
        *((404, "address", ask("DELETE", "/me/addresses/{name}", name=name)) for name in UNSEEN),
        *(
            (status, field, ask("PUT", "/deals/{dealId}/stock", change, dealId=deal.deal_id, who="ed"))
            for status, field, change in WRONG_STOCK
        ),
    ]

    expected = [(status, [field] if field else []) for status, field, _ in answers]
    assert [(status, list(reasons(problem))) for _, _, (status, problem) in answers] == expected
    assert written(table) == before


@pytest.mark.parametrize("quantity", [0, 11, -1, 10**9, 1.5, "1", None, True], ids=repr)
def test_a_quantity_is_a_number_from_1_to_10(ask: Ask, table: Table, deal: Deal, quantity: Any) -> None:
    status, problem = place(ask, (deal, quantity, "10.00"))

    assert status == 422
    assert any("quantity" in field for field in reasons(problem))
    assert not any("should" in detail for detail in reasons(problem).values())
    assert ask("PUT", "/me/cart/{dealId}", {"quantity": quantity}, dealId=deal.deal_id)[0] == 422
    assert stock.of(table, deal.deal_id).left == 5


def test_editors_see_a_customer_with_the_newest_orders(ask: Ask, deal: Deal) -> None:
    placed = [place(ask, (deal, 1, "10.00"))[1] for _ in range(2)]

    status, found = ask("GET", "/customers/{username}", who="ed", username="ana")

    assert (status, found["username"], found["addresses"]) == (200, "ana", {"home": HOME})
    assert {order["orderId"] for order in found["orders"]} == {order["orderId"] for order in placed}
    assert ask("GET", "/customers/{username}", who="ed", username="nobody")[0] == 404


def test_orders_on_their_way_are_listed_beside_those_to_be_sent(ask: Ask, deal: Deal) -> None:
    (_, sent), (_, waits) = (place(ask, (deal, 1, "10.00")) for _ in range(2))
    ask("PUT", "/orders/{orderId}/status", {"status": "shipped"}, who="ed", orderId=sent["orderId"])

    def listed(**query: str) -> tuple[int, list[str]]:
        status, page = ask("GET", "/open-orders", who="ed", query=query)
        return status, [order["orderId"] for order in page.get("items", ())]

    assert listed() == listed(status="placed") == (200, [waits["orderId"]])
    assert listed(status="shipped") == (200, [sent["orderId"]])
    assert listed(status="delivered") == (400, [])


@pytest.mark.parametrize("path", ["/orders", "/open-orders"])
def test_a_list_of_orders_takes_the_statuses_that_its_documentation_offers_and_no_other(ask: Ask, path: str) -> None:
    parameters = openapi.document()["paths"][path]["get"]["parameters"]
    (offered,) = (parameter["schema"]["enum"] for parameter in parameters if parameter["name"] == "status")

    taken = [each for each in OrderStatus if ask("GET", path, who="ed", query={"status": each})[0] == 200]

    assert taken == offered


def test_an_order_that_would_come_to_more_than_was_seen_is_a_409_with_the_sum(
    ask: Ask, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPPING", "USD=4.90")

    def seen(amount: str) -> tuple[int, Any]:
        return place(ask, (deal, 1, "10.00"), totals=[{"currency": "USD", "amount": amount}])

    status, problem = seen("10.00")

    assert status == 409
    assert "$14.90" in reasons(problem)["totals"]
    assert seen("14.90")[0] == 201


def test_too_many_orders_in_an_hour_are_a_429_that_says_when_to_try_again(ask: Ask, table: Table, deal: Deal) -> None:
    sent_as_many_as_an_hour_allows(table, "ana")

    status, problem = place(ask, (deal, 1, "10.00"))

    assert status == 429
    assert problem["detail"].startswith("You can send 30 orders an hour: try again in ")
    assert stock.of(table, deal.deal_id).left == 5


def test_pieces_taken_off_sale_with_one_key_are_taken_off_one_deal_once(ask: Ask, table: Table, deal: Deal) -> None:
    change = {"who": "ed", "dealId": deal.deal_id, "headers": {"Idempotency-Key": "once"}}
    other = deals.create(table, a_deal(times.now(), brand="g-fore", category="clothing"), times.now())

    answers = [ask("PUT", "/deals/{dealId}/stock", {"add": -5}, **change) for _ in range(2)]
    of_another, _ = ask("PUT", "/deals/{dealId}/stock", {"add": -5}, **{**change, "dealId": other.deal_id})

    assert [(status, found["left"]) for status, found in answers] == [(200, 0)] * 2
    assert of_another == 422


def test_stock_is_added_set_and_shown_by_shard(ask: Ask, deal: Deal) -> None:
    stock_of = {"who": "ed", "dealId": deal.deal_id}

    ask("PUT", "/deals/{dealId}/stock", {"add": 3, "shards": 4}, **stock_of)
    status, found = ask("PUT", "/deals/{dealId}/stock", {"left": 6}, **stock_of)

    assert (status, found["left"], found["ordered"], found["onSale"]) == (200, 6, 0, 6)
    assert len(found["shards"]) == 4
    assert ask("GET", "/deals/{dealId}/stock", **stock_of) == (200, found)


def test_what_was_posted_a_moment_ago_is_found_by_all_who_write(ask: Ask, table: Table) -> None:
    by_editors = partial(ask, who="ed", handler=editors.handler)
    new = {"title": "Runner", "link": "https://shop.example/runner", "brand": "g-fore", "category": "clothing",
           "price": "10.00"}  # fmt: skip

    with lagging(environment.table()):  # of which no read knows anything yet that is not consistent
        posted, deal = by_editors("POST", "/deals", new)
        found = {"dealId": deal["dealId"]}
        told = [
            by_editors("PATCH", "/deals/{dealId}", {"title": "Walker"}, **found),
            by_editors("PUT", "/deals/{dealId}/hot", **found),
            by_editors("GET", "/deals/{dealId}/hot", **found),
            ask("PUT", "/deals/{dealId}/stock", {"add": 5}, who="ed", **found),
            ask("PUT", "/deals/{dealId}/stock", {"left": 3}, who="ed", **found),
            ask("GET", "/deals/{dealId}/stock", who="ed", **found),
            ask("PUT", "/me/cart/{dealId}", {"quantity": 1}, **found),
        ]

    assert [posted, *(status for status, _ in told)] == [201, 200, 202, 200, 200, 200, 200, 200]


def test_the_cart_is_put_changed_viewed_and_ordered_once(ask: Ask, table: Table, deal: Deal) -> None:
    for quantity in (1, 2.0):
        assert ask("PUT", "/me/cart/{dealId}", {"quantity": quantity}, dealId=deal.deal_id)[0] == 200

    _, cart = ask("GET", "/me/cart")
    statuses = [place(ask, (deal, 2, "10.00"), fromCart=True)[0] for _ in range(2)]

    assert [(item["deal"]["dealId"], item["quantity"], item["changed"]) for item in cart["items"]] == [
        (deal.deal_id, 2, False)
    ]
    assert statuses == [201, 409]
    assert stock.of(table, deal.deal_id).left == 3
    assert ask("GET", "/me/cart")[1]["items"] == []
    assert ask("DELETE", "/me/cart/{dealId}", dealId=deal.deal_id)[0] == 204


def test_orders_are_listed_by_status_and_time(ask: Ask, deal: Deal) -> None:
    _, first = place(ask, (deal, 1, "10.00"))
    _, second = place(ask, (deal, 1, "10.00"))
    ask("POST", "/orders/{orderId}/cancel", orderId=first["orderId"])

    def listed(**query: str) -> set[str]:
        return {order["orderId"] for order in ask("GET", "/orders", query=query)[1]["items"]}

    assert listed() == {first["orderId"], second["orderId"]}
    assert listed(status="placed") == {second["orderId"]}
    assert listed(to="2020-01-01T00:00:00Z") == set()
    for wrong in ({"status": "lost"}, {"from": "yesterday"}, {"cursor": "x"}, {"limit": "0"}):
        assert ask("GET", "/orders", query=wrong)[0] == 400
    assert [order["orderId"] for order in ask("GET", "/open-orders", who="ed")[1]["items"]] == [second["orderId"]]


def test_an_account_shows_its_addresses_and_stays_while_an_order_is_open(ask: Ask, table: Table, deal: Deal) -> None:
    _, placed = place(ask, (deal, 1, "10.00"))
    token, _ = sessions.start(table, users.get(table, "ana"), times.now(), bytes(range(identifiers.BYTES)))
    me = {"handler": accounts.handler, "headers": {"Authorization": f"Bearer {token}"}}

    assert ask("GET", "/me", **me)[1]["addresses"] == {"home": HOME}
    assert ask("DELETE", "/me", **me)[0] == 409
    ask("POST", "/orders/{orderId}/cancel", orderId=placed["orderId"])
    assert ask("DELETE", "/me", **me)[0] == 204
    assert "ana" not in {item.get("Username") for item in table.scan()[0] if item["Type"] != "Idempotency"}
