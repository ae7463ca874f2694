"""Reading without an account: pages, lists, single deals, and how they are cached."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from shared.data.catalog import deals, search
from tests.support.factories import indexed
from tests.support.site import Api, Visitor, a_deal, assert_problem

CATEGORIES = ["clothing", "outerwear", "shoes", "accessories", "bags", "electronics", "home", "outdoors"]

LISTS = ["/deals", "/front-page", "/brands/acme/deals", "/brands/acme", "/categories/shoes", "/categories/shoes/deals"]

PUBLIC = [*LISTS, "/editors-choice", "/brands", "/categories", "/openapi.json", "/docs"]


@pytest.fixture(scope="module", autouse=True)
def acme(editor: Visitor) -> list[str]:
    """A brand with seven deals; their ids, newest first."""
    assert editor.post("/brands", json={"name": "Acme"}).status_code == 201
    posted = [
        editor.post("/deals", json=a_deal("acme", title=f"Anvil {day}", createdAt=f"2026-03-{day:02}T12:00:00Z"))
        for day in range(1, 8)
    ]
    return [answer.json()["dealId"] for answer in reversed(posted)]


def feed_in(answer: httpx.Response) -> dict[str, Any]:
    """The list that an answer is, or holds as its latest deals."""
    document: dict[str, Any] = answer.json()
    found: dict[str, Any] = document.get("latest", document)
    return found


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_answer_may_be_cached_for_seconds_and_is_304_for_who_has_it(visitor: Visitor, path: str) -> None:
    first = visitor.get(path)
    again = visitor.get(path, headers={"If-None-Match": first.headers["ETag"]})

    assert first.status_code == 200
    cache_control = first.headers["Cache-Control"]
    assert re.fullmatch(r"public, max-age=\d, stale-while-revalidate=\d+", cache_control)
    # A copy of the page may have been rebuilt in between, to the same effect or with newer deals.
    if again.headers["ETag"] == first.headers["ETag"]:
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["Cache-Control"] == cache_control


def test_one_deal_is_cached_like_the_pages(visitor: Visitor, acme: list[str]) -> None:
    first = visitor.get(f"/deals/{acme[0]}")

    tag = first.headers["ETag"]
    known = {tag.removeprefix("W/"): 304, f'"other", {tag}': 304, "*": 304, '"other"': 200}
    answers = {has: visitor.get(f"/deals/{acme[0]}", headers={"If-None-Match": has}).status_code for has in known}

    assert first.headers["Cache-Control"].startswith("public")
    assert answers == known


def test_an_answer_changes_its_etag_with_its_content(visitor: Visitor, editor: Visitor, acme: list[str]) -> None:
    before = visitor.get(f"/deals/{acme[6]}")

    editor.patch(f"/deals/{acme[6]}", json={"description": "Heavier than it looks."})

    after = visitor.get(f"/deals/{acme[6]}", headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.headers["ETag"] != before.headers["ETag"]


def test_a_large_answer_is_compressed_for_who_asks_and_does_not_refuse(visitor: Visitor) -> None:
    plain, zipped, refused = (
        visitor.get("/openapi.json", headers={"Accept-Encoding": codings})
        for codings in ("identity", "br, gzip;q=0.5", "gzip;q=0, identity")
    )

    assert "Content-Encoding" not in plain.headers
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in zipped.headers["Vary"]
    assert zipped.content == plain.content
    assert zipped.num_bytes_downloaded < len(plain.content) / 4
    assert "Content-Encoding" not in refused.headers


def test_the_docs_page_needs_nothing_from_elsewhere(visitor: Visitor) -> None:
    answer = visitor.get("/docs")

    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "openapi.json" in answer.text
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", answer.text)


def test_the_eight_categories_are_there_from_the_start(visitor: Visitor) -> None:
    listed = visitor.get("/categories").json()

    assert [item["category"] for item in listed["items"]] == CATEGORIES
    for slug in CATEGORIES:
        assert visitor.get(f"/categories/{slug}").json()["category"] == slug


def test_a_brand_is_listed_with_its_name_and_has_a_page(visitor: Visitor, acme: list[str]) -> None:
    listed = visitor.get("/brands").json()
    page = visitor.get("/brands/acme").json()

    assert {"brand": "acme", "name": "Acme"} in listed["items"]
    assert listed["next"] is None
    assert (page["brand"], page["name"], page["likes"], page["watchers"]) == ("acme", "Acme", 0, 0)
    assert [deal["dealId"] for deal in page["latest"]["items"]] == acme


@pytest.mark.parametrize("spelling", ["acme", "ACME", "Acme", "%41cme", "acme%20", "%C3%A2cm%C3%A9"])
def test_a_brand_is_found_in_any_case_and_spelling(visitor: Visitor, spelling: str) -> None:
    assert visitor.get(f"/brands/{spelling}").json()["brand"] == "acme"


@pytest.mark.parametrize(
    "path", ["/brands/nobody", "/brands/nobody/deals", "/categories/cars", "/categories/cars/deals"]
)
def test_an_unknown_topic_is_404(visitor: Visitor, path: str) -> None:
    assert_problem(visitor.get(path), 404, path.split("/")[1].replace("ies", "y").removesuffix("s"))


def test_a_deal_is_found_by_its_id_and_by_its_number(visitor: Visitor, acme: list[str]) -> None:
    by_id = visitor.get(f"/deals/{acme[0]}").json()
    by_number = visitor.get(f"/deals/{by_id['dealNumber']}").json()

    assert by_id["dealId"] == acme[0]
    assert by_number == by_id


@pytest.mark.parametrize("path", ["/deals", "/brands/acme/deals", "/categories/shoes/deals"])
def test_a_feed_is_walked_page_by_page(visitor: Visitor, path: str, acme: list[str]) -> None:
    whole = visitor.get(path, params={"limit": 100}).json()

    page = visitor.get(path, params={"limit": 3}).json()
    items = page["items"]
    while page["next"] and len(items) < 12:
        page = visitor.get(path, params={"limit": 3, "cursor": page["next"]}).json()
        items += page["items"]

    assert items == whole["items"][: len(items)]
    assert len(items) >= len(acme)


def test_a_page_has_as_many_as_are_asked_for_and_25_without_a_limit(visitor: Visitor, acme: list[str]) -> None:
    for path in LISTS:
        one, most = (feed_in(visitor.get(path, params={"limit": limit})) for limit in (1, 100))
        usual = feed_in(visitor.get(path))

        assert len(one["items"]) == 1
        assert 1 <= len(most["items"]) <= 100
        assert len(usual["items"]) == 25 or (len(usual["items"]) < 25 and usual["next"] is None)


def test_deals_are_searched_by_their_words_and_mistyped_ones_corrected(
    site: Api, visitor: Visitor, acme: list[str]
) -> None:
    for deal in deals.get_many(site.table, acme, consistent=True):
        search.file(site.table, None, deal)

    first = visitor.get("/deals", params={"q": "anvils acme", "limit": 5}).json()
    second = visitor.get("/deals", params={"q": "anvils acme", "limit": 5, "cursor": first["next"]}).json()
    corrected = visitor.get("/deals", params={"q": "anvli"}).json()

    assert [deal["dealId"] for page in (first, second) for deal in page["items"]] == acme
    assert (second["next"], "searched" in second) == (None, False)
    assert (len(corrected["items"]), corrected["searched"]) == (7, "anvil")
    assert_problem(visitor.get("/deals", params={"q": "?!"}), 400, "q")
    assert_problem(visitor.get("/deals", params={"q": "anvil", "cursor": first["next"]}), 400, "cursor")


def test_a_deal_and_each_list_say_what_its_price_is_judged_by(site: Api, visitor: Visitor, editor: Visitor) -> None:
    assert editor.post("/brands", json={"name": "Judged"}).status_code == 201
    offered = {"link": "https://shop.example/judged", "title": "Judge"}
    dear, cheap, single = (
        editor.post("/deals", json=a_deal("judged", **{**offered, **fields})).json()["dealId"]
        for fields in (
            {"price": "88.00", "createdAt": "2026-03-01T12:00:00Z"},
            {"price": "70.00", "createdAt": "2026-03-20T12:00:00Z"},
            {"price": "70.00", "createdAt": "2026-03-20T12:00:00Z", "link": "https://shop.example/other"},
        )
    )
    indexed(site.table, deals.get_many(site.table, [dear, single, cheap], consistent=True))

    judged = visitor.get(f"/deals/{cheap}").json()["verdict"]

    assert judged == {
        "lowest": True,
        "cheapest": "88.00",
        "cheapestOn": "2026-03-01",
        "usualFrom": "88.00",
        "usualTo": "88.00",
    }
    for path in ("/brands/judged/deals", "/deals?q=judged"):
        listed = {deal["dealId"]: deal["verdict"] for deal in feed_in(visitor.get(path))["items"]}
        assert listed == {cheap: judged, dear: None, single: None}, path

    withdrawn = editor.patch(f"/deals/{cheap}", json={"withdrawn": True})
    assert withdrawn.json()["verdict"] is None
    assert visitor.get(f"/deals/{cheap}").json()["verdict"] is None
