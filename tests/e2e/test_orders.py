"""The shop over REST, as deployed: an order is placed and sent, and its buyer reads of it among the messages."""

from __future__ import annotations

from tests.support.shop import HOME
from tests.support.site import Site, Visitor, a_deal, fresh


def test_a_member_orders_and_reads_what_becomes_of_it(site: Site, editor: Visitor, brand: str) -> None:
    buyer = site.member("buyer")
    deal = editor.post("/deals", json=a_deal(brand, price="10.00")).json()
    editor.put(f"/deals/{deal['dealId']}/stock", json={"add": 5})
    buyer.put("/me/addresses/home", json=HOME)
    wanted = {"dealId": deal["dealId"], "quantity": 2, "price": "10.00"}

    placed = buyer.post(
        "/orders", json={"address": "home", "items": [wanted]}, headers={"Idempotency-Key": fresh("key")}
    ).json()
    sent = editor.put(f"/orders/{placed['orderId']}/status", json={"status": "shipped"}).json()

    assert buyer.get(f"/orders/{placed['orderId']}").json() == sent
    assert sent["totals"] == [{"currency": "USD", "amount": "20.00"}]
    assert editor.get(f"/deals/{deal['dealId']}/stock").json()["left"] == 3
    messages = buyer.get("/messages").json()["items"]
    assert {message["kind"]: message["order"] for message in messages} == {
        "placed": {"orderId": placed["orderId"]},
        "sent": {"orderId": placed["orderId"]},
    }
