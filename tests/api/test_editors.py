"""Editors at work: posting and editing deals, creating brands, picking the pages' deals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.commands import eventually
from tests.support.site import Api, Visitor, a_deal, assert_problem, fresh


def test_an_editor_who_is_a_member_again_is_refused_at_once(site: Api, brand: str) -> None:
    editor = site.editor()
    assert editor.post("/deals", json=a_deal(brand)).status_code == 201

    site.demotes(editor)

    assert_problem(editor.post("/deals", json=a_deal(brand)), 403)


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
        "picture": None,
        "verdict": None,
        "status": "active",
        "hot": False,
        "stock": None,
    }


def test_a_draft_is_kept_replaced_planned_posted_and_discarded(site: Api, brand: str) -> None:
    editor, other = site.editor(), site.editor()
    key = {"Idempotency-Key": fresh("key")}
    begun = {"title": "Trail runner", "price": "31.9"}

    first, again = (editor.post("/me/drafts", json=begun, headers=key) for _ in range(2))
    path = f"/me/drafts/{first.json()['draftId']}"
    assert (first.status_code, first.json()) == (201, again.json())
    assert (first.json()["price"], first.json()["missing"]) == ("31.90", ["link", "brand", "category"])
    assert [each["title"] for each in editor.get("/me/drafts").json()["items"]] == ["Trail runner"]
    assert other.get("/me/drafts").json()["items"] == []
    assert_problem(other.put(path, json=begun), 404)
    assert_problem(editor.post(path), 422, "link", "brand", "category")

    whole = a_deal(brand) | {"startsAt": "2049-01-01T12:00:00Z"}
    assert_problem(
        editor.put(path, json=begun | {"startsAt": "2049-01-01T12:00:00Z"}), 422, "link", "brand", "category"
    )
    planned = editor.put(path, json=whole)
    assert (planned.status_code, planned.json()["startsAt"], planned.json()["missing"]) == (200, whole["startsAt"], [])

    posted, repeated = (editor.post(path) for _ in range(2))
    assert (posted.status_code, posted.json()) == (201, repeated.json())
    assert posted.headers["Location"] == f"/v1/deals/{posted.json()['dealId']}"
    assert editor.get("/me/drafts").json()["items"] == []

    discarded = f"/me/drafts/{editor.post('/me/drafts', json=begun).json()['draftId']}"
    assert editor.delete(discarded).status_code == 204
    assert_problem(editor.delete(discarded), 404)


def test_one_source_makes_one_deal(site: Api, editor: Visitor, brand: str) -> None:
    body = a_deal(brand, sourceId=fresh("source"))
    assert editor.post("/deals", json=body).status_code == 201
    writes = site.writes()

    assert_problem(editor.post("/deals", json=body | {"title": "Other"}), 409, "sourceId")

    # A number was drawn for the deal that was refused; it stays unused.
    assert set(writes.keys()) <= {"SEQUENCE#DEAL"}


def test_an_idempotency_key_makes_one_deal_and_is_refused_for_another(site: Api, editor: Visitor, brand: str) -> None:
    key = {"Idempotency-Key": fresh("key")}

    first = editor.post("/deals", json=a_deal(brand), headers=key)
    again = editor.post("/deals", json=a_deal(brand), headers=key)
    other = editor.post("/deals", json=a_deal(brand), headers={"Idempotency-Key": fresh("key")})
    writes = site.writes()
    refused = editor.post("/deals", json=a_deal(brand, price="1.00"), headers=key)

    assert first.status_code == again.status_code == 201
    assert again.json() == first.json()
    assert again.headers["Location"] == first.headers["Location"]
    assert other.json()["dealId"] != first.json()["dealId"]
    assert len(editor.get(f"/brands/{brand}/deals").json()["items"]) == 2
    assert_problem(refused, 422, "Idempotency-Key")
    assert set(writes.keys()) <= {"SEQUENCE#DEAL"}


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
    path, feed = f"/deals/{deal['dealId']}", f"/brands/{brand}/deals"

    assert editor.patch(path, json={"withdrawn": True}).json()["status"] == "withdrawn"
    assert visitor.get(feed).json()["items"] == []
    assert editor.patch(path, json={"withdrawn": False}).json()["status"] == "active"
    assert len(visitor.get(feed).json()["items"]) == 1
    ended = editor.patch(path, json={"expiresAt": "2026-01-01T00:00:00Z"}, params={"anyway": "expiresAt"})
    assert ended.json()["status"] == "expired"
    assert visitor.get(feed).json()["items"] == []
    assert editor.patch(path, json={"expiresAt": None}).json()["status"] == "active"
    other = fresh("elsewhere")
    editor.post("/brands", json={"name": other})
    assert editor.patch(path, json={"brand": other, "category": "bags"}).json()["brand"]["brand"] == other
    assert visitor.get(feed).json()["items"] == []
    assert len(visitor.get(f"/brands/{other}/deals").json()["items"]) == 1


def test_a_deal_that_is_over_is_not_made_hot(site: Api, editor: Visitor, brand: str) -> None:
    deal = editor.post("/deals", json=a_deal(brand)).json()
    editor.patch(f"/deals/{deal['dealId']}", json={"withdrawn": True})
    writes = site.writes()

    assert_problem(editor.put(f"/deals/{deal['dealId']}/hot"), 409)

    assert writes.keys() == []


def test_a_brand_is_created_once_however_it_is_written(site: Api, editor: Visitor, visitor: Visitor) -> None:
    name = fresh("Señor/Co + Söhne")

    created = editor.post("/brands", json={"name": name})
    slug = created.json()["brand"]
    writes = site.writes()
    again = [editor.post("/brands", json={"name": other}) for other in (name, name.upper(), slug)]

    assert created.status_code == 201
    assert created.headers["Location"] == f"/v1/brands/{slug}"
    assert slug.startswith("senor-co-sohne-")
    assert visitor.get(f"/brands/{slug}").json()["name"] == name
    for answer in again:
        assert_problem(answer, 409, "name")
    assert writes.keys() == []


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


@pytest.mark.parametrize("page", PICKS.values(), ids=PICKS)
def test_picking_deals_that_do_not_exist_names_them_and_changes_nothing(
    site: Api, editor: Visitor, page: str, five: list[str]
) -> None:
    writes = site.writes()
    unknown = ["0" * 27, "1" * 27]

    problem = assert_problem(editor.put(f"{page}/featured", json={"dealIds": [*five, *unknown]}), 404, "dealIds")

    assert all(deal_id in problem["detail"] for deal_id in unknown)
    assert not any(deal_id in problem["detail"] for deal_id in five)
    assert writes.keys() == []


def test_a_category_features_five_to_ten_deals(site: Api, editor: Visitor, five: list[str]) -> None:
    writes = site.writes()

    answer = editor.put("/categories/accessories/featured", json={"dealIds": five[:4]})

    assert_problem(answer, 422, "dealIds")
    assert writes.keys() == []


def test_no_picks_at_all_empty_a_curated_page(editor: Visitor, visitor: Visitor, five: list[str]) -> None:
    editor.put("/editors-choice/featured", json={"dealIds": five})

    assert editor.put("/editors-choice/featured", json={"dealIds": []}).json() == {"featured": []}

    eventually(lambda: featured(visitor, "/editors-choice"), lambda ids: ids == [])


def featured(visitor: Visitor, page: str) -> list[str]:
    document: dict[str, Any] = visitor.get(page).json()
    return [deal["dealId"] for deal in document["featured"]]
