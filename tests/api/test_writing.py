"""Editors and members at work: deals, brands and picks; likes, watches, alerts and messages."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from shared import features, hooks
from shared.values import times
from tests.support import factories
from tests.support.cases import cases
from tests.support.commands import eventually
from tests.support.factories import send
from tests.support.site import Api, Visitor, a_deal, assert_problem, fresh
from tests.support.surroundings import captured_log


def test_an_editor_who_is_a_member_again_is_signed_out_at_once_and_may_post_no_more(site: Api, brand: str) -> None:
    editor = site.editor()
    assert editor.post("/deals", json=a_deal(brand)).status_code == 201

    site.demotes(editor)

    assert_problem(editor.post("/deals", json=a_deal(brand)), 401)
    assert_problem(site.signs_in(editor.username).post("/deals", json=a_deal(brand)), 403)


def test_a_deal_is_posted_with_all_its_fields(editor: Visitor, visitor: Visitor, brand: str) -> None:
    body = {
        "title": "Señor's “Trail” runner – 100 % 👟",
        "link": "https://shop.example/a?b=c&d=%20#e",
        "image": "http://images.example/1.png",
        "price": "31.9",
        "listPrice": "158",
        "currency": "EUR",
        "brand": brand.upper(),
        "category": "Shoes",
        "description": "First line\nSecond line",
        "couponCode": "SAVE-10",
        "variant": "Navy, 42",
        "sourceId": fresh("source:#1/ü"),
        "createdAt": "2026-06-04T22:28:53+02:00",
        "expiresAt": "2037-01-01T00:00:00Z",
    }

    answer = editor.post("/deals", json=body)

    assert answer.status_code == 201
    deal = answer.json()
    assert answer.headers["Location"] == f"/v1/deals/{deal['dealId']}"
    assert visitor.get(f"/deals/{deal['dealId']}").json() == deal
    assert deal == body | {
        "dealId": deal["dealId"],
        "dealNumber": deal["dealNumber"],
        "price": "31.90",
        "listPrice": "158.00",
        "discountPercent": 79,
        "brand": {"brand": brand, "name": brand.title()},
        "category": "shoes",
        "createdAt": "2026-06-04T20:28:53Z",
        "updatedAt": None,
        "verdict": None,
        "status": "active",
        "hot": False,
        **{name: None for of in features.roles(hooks.Fields) for name in of.IN_ANSWERS},
    }


def test_a_key_and_a_source_make_one_deal_and_are_refused_for_another(editor: Visitor, brand: str) -> None:
    key, body = {"Idempotency-Key": fresh("key")}, a_deal(brand, sourceId=fresh("source"))

    first, again = (editor.post("/deals", json=body, headers=key) for _ in range(2))

    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Location"] == first.headers["Location"]
    assert_problem(editor.post("/deals", json=a_deal(brand, price="1.00"), headers=key), 422, "Idempotency-Key")
    assert_problem(editor.post("/deals", json=body | {"title": "Other"}), 409, "sourceId")


def test_editing_changes_what_is_sent_and_removes_what_is_null(editor: Visitor, visitor: Visitor, brand: str) -> None:
    deal = editor.post("/deals", json=a_deal(brand, description="Old", couponCode="OLD", listPrice="50.00")).json()

    edited = editor.patch(f"/deals/{deal['dealId']}", json={"title": "New", "couponCode": None, "listPrice": None})

    updated = {"updatedAt": edited.json()["updatedAt"]}
    expected = deal | {"title": "New", "couponCode": None, "listPrice": None, "discountPercent": None} | updated
    assert edited.json() == visitor.get(f"/deals/{deal['dealId']}").json() == expected
    assert visitor.get(f"/brands/{brand}/deals").json()["items"] == [expected]
    assert updated["updatedAt"] >= deal["createdAt"]


def test_a_deal_is_withdrawn_brought_back_and_moved(editor: Visitor, visitor: Visitor, brand: str) -> None:
    deal = editor.post("/deals", json=a_deal(brand, category="home")).json()
    path, feed, other = f"/deals/{deal['dealId']}", f"/brands/{brand}/deals", fresh("elsewhere")
    editor.post("/brands", json={"name": other})

    assert editor.patch(path, json={"withdrawn": True}).json()["status"] == "withdrawn"
    assert visitor.get(feed).json()["items"] == []
    assert_problem(editor.put(f"{path}/hot"), 409)
    assert editor.patch(path, json={"withdrawn": False}).json()["status"] == "active"
    ended = editor.patch(path, json={"expiresAt": "2026-01-01T00:00:00Z"}, params={"confirm": "expiresAt"})
    assert ended.json()["status"] == "expired"
    assert editor.patch(path, json={"expiresAt": None}).json()["status"] == "active"
    assert editor.patch(path, json={"brand": other, "category": "bags"}).json()["brand"]["brand"] == other
    assert len(visitor.get(f"/brands/{other}/deals").json()["items"]) == 1


def test_a_brand_has_an_address_of_its_name(editor: Visitor, visitor: Visitor) -> None:
    """``test_bad_input.py`` has spellings of a brand that is there."""
    name = fresh("Señor/Co + Söhne")

    created = editor.post("/brands", json={"name": name})

    slug = created.json()["brand"]
    assert (created.status_code, created.headers["Location"]) == (201, f"/v1/brands/{slug}")
    assert slug.startswith("senor-co-plus-sohne-")
    assert visitor.get(f"/brands/{slug}").json()["name"] == name


PICKS = {"front page": "/front-page", "editor's choice": "/editors-choice", "category": "/categories/accessories"}


@pytest.fixture
def five(editor: Visitor, brand: str) -> list[str]:
    """The ids of five deals of the accessories."""
    return [editor.post("/deals", json=a_deal(brand, category="accessories")).json()["dealId"] for _ in range(5)]


@pytest.mark.parametrize("page", PICKS.values(), ids=PICKS)
def test_picked_deals_are_featured_in_the_editors_order(
    editor: Visitor, visitor: Visitor, page: str, five: list[str]
) -> None:
    order = [five[2], five[0], five[4], five[1], five[3]]

    picked = editor.put(f"{page}/featured", json={"dealIds": order})

    assert [deal["dealId"] for deal in picked.json()["featured"]] == order
    eventually(lambda: featured(visitor, page), lambda ids: ids == order)
    assert editor.put(f"{page}/featured", json={"dealIds": order}).json() == picked.json()


def test_what_cannot_be_picked_is_named_and_no_picks_empty_a_page(editor: Visitor, five: list[str]) -> None:
    unknown = ["0" * 27, "1" * 27]

    problem = assert_problem(editor.put("/front-page/featured", json={"dealIds": [*five, *unknown]}), 404, "dealIds")

    assert all(deal_id in problem["detail"] for deal_id in unknown)
    assert not any(deal_id in problem["detail"] for deal_id in five)
    assert_problem(editor.put("/categories/accessories/featured", json={"dealIds": five[:4]}), 422, "dealIds")
    assert editor.put("/editors-choice/featured", json={"dealIds": []}).json() == {"featured": []}


def featured(visitor: Visitor, page: str) -> list[str]:
    document: dict[str, Any] = visitor.get(page).json()
    return [deal["dealId"] for deal in document["featured"]]


NO_LIMITS = {"ceiling": None, "currency": None, "leastDiscount": None, "words": None, "pace": "at-once"}

topics = pytest.mark.parametrize("kind", ["brands", "categories"])


@pytest.fixture
def path(kind: str, brand: str) -> str:
    return f"/brands/{brand}" if kind == "brands" else "/categories/outdoors"


@topics
def test_liking_and_unliking_twice_count_once_under_any_spelling(site: Api, path: str, brand: str, kind: str) -> None:
    member = site.member()
    before = member.get(path).json()["likes"]

    first, second = member.put(f"{path}/like"), member.put(f"{path.replace(brand, brand.upper())}/like")

    assert first.json() == second.json() == {"liked": True, "likes": before + 1}
    assert first.status_code == second.status_code == 200
    # A function shows the counts of a category as it read them within the last second.
    assert eventually(lambda: member.get(path).json()["likes"], lambda likes: likes != before) == before + 1
    assert [member.delete(f"{path}/like").json() for _ in range(2)] == [{"liked": False, "likes": before}] * 2


@topics
def test_watching_twice_counts_once_and_is_listed(site: Api, path: str, kind: str) -> None:
    member = site.member()
    before = member.get(path).json()["watchers"]

    first, second = member.put(f"{path}/watch"), member.put(f"{path}/watch")

    assert first.json() == second.json() == {"watching": True, "watchers": before + 1}
    label = "brand" if kind == "brands" else "category"
    slug = path.rpartition("/")[2]
    assert member.get("/me/watches").json() == {
        "items": [{"kind": label, label: slug, "limits": NO_LIMITS}],
        "next": None,
    }
    assert [member.delete(f"{path}/watch").json() for _ in range(2)] == [{"watching": False, "watchers": before}] * 2
    assert member.get("/me/watches").json()["items"] == []


def test_a_watch_has_the_limits_of_the_last_body(site: Api, brand: str) -> None:
    member = site.member()
    limits = {"ceiling": "80.00", "currency": "USD", "leastDiscount": 30, "words": "running", "pace": "daily"}

    made = member.put(f"/brands/{brand}/watch", json={"ceiling": "80", "leastDiscount": 30, "words": "running"})
    changed = member.put(f"/brands/{brand}/watch", json=limits)
    repeated = member.put(f"/brands/{brand}/watch")
    refused = member.put(f"/brands/{brand}/watch", json={"pace": "hourly", "color": "red"})

    assert made.json() == changed.json() == repeated.json()
    assert member.get("/me/watches").json()["items"][0]["limits"] == limits
    assert_problem(refused, 422, "pace", "color")
    assert_problem(member.put(f"/brands/{brand}/watch", json=["80"]), 422, "body")


def test_alerts_are_kept_listed_and_removed(site: Api, deal_id: str) -> None:
    member = site.member()

    of_price = member.put(f"/me/alerts/deals/{deal_id}", json={"ceiling": "25"})
    again = member.put(f"/me/alerts/deals/{deal_id}", json={"ceiling": "20", "pace": "daily"})
    of_words = member.post("/me/alerts", json={"words": "running shoes", "leastDiscount": 30})

    assert of_price.json()["limits"] == NO_LIMITS | {"ceiling": "25.00", "currency": "USD"}
    assert of_price.json()["alertId"] == again.json()["alertId"]
    assert member.get("/me/alerts").json()["items"] == [again.json(), of_words.json()]
    assert_problem(member.post("/me/alerts", json={"ceiling": "25"}), 422, "words")
    assert_problem(member.put(f"/me/alerts/deals/{deal_id}", json={"words": "running"}), 422, "ceiling")
    assert member.delete(f"/me/alerts/{again.json()['alertId']}").status_code == 204
    assert_problem(member.delete(f"/me/alerts/{again.json()['alertId']}"), 404)
    assert_problem(member.delete("/me/alerts/words-1"), 404)


def test_messages_are_read_one_by_one_and_all_together(site: Api) -> None:
    member, now = site.member("reader"), times.now()
    for minutes in range(5):
        send(
            site.table,
            factories.a_message(factories.a_deal(now - timedelta(minutes=minutes)), member.username, now=now),
        )

    newest_first = member.get("/messages").json()["items"]
    first_page = member.get("/messages?limit=2").json()
    second_page = member.get("/messages", params={"limit": 2, "cursor": first_page["next"]}).json()
    read, read_again = (member.put(f"/messages/{newest_first[0]['messageId']}/read") for _ in range(2))

    ids = [message["messageId"] for message in newest_first]
    assert len(ids) == 5
    assert ids == sorted(ids, reverse=True)
    assert first_page["items"] + second_page["items"] == newest_first[:4]
    assert read.status_code == read_again.status_code == 200
    assert read.json() == read_again.json() == newest_first[0] | {"unread": False}
    assert [m["messageId"] for m in member.get("/messages?unread=true").json()["items"]] == ids[1:]
    assert [member.post("/messages/read-all").json()["marked"] for _ in range(2)] == [4, 0]
    assert member.get("/messages/unread-count").json() == {"unread": 0}
    assert len(member.get("/messages").json()["items"]) == 5


def test_the_log_repeats_nothing_that_a_member_has_typed(site: Api, brand: str) -> None:
    member, visitor = site.member(), site.visitor()

    with captured_log() as log:
        answers = [
            member.patch("/me", json={"name": "Zebulon", "email": "zebulon@mail.example"}),
            member.post("/me/alerts", json={"words": "zebulon"}),
            member.put(f"/brands/{brand}/watch", json={"words": "zebulon"}),
            visitor.get("/deals", params={"q": "zebulon"}),
            visitor.post("/sessions", json={"username": "zebulon", "password": "zebulon"}),
            member.patch("/me", json={"email": "zebulon"}),
            *(member.request(method, path, json=body) for method, path, body, _ in cases("TYPED")),
        ]

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["status"] for line in lines if line["message"] == "request"] == [each.status_code for each in answers]
    assert [line for line in lines if "zebulon" in str(line).lower()] == []
    logged = {line.get("path") for line in lines}
    assert {route for *_, route in cases("TYPED")} <= logged
