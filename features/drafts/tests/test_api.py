"""Drafts over REST."""

from __future__ import annotations

from tests.api.conftest import brand, editor, site  # noqa: F401  # fixtures
from tests.support.site import Api, a_deal, assert_problem, fresh


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
