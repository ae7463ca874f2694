"""Members like, watch and mark messages."""

from __future__ import annotations

import pytest

from tests.support.contract import assert_problem
from tests.support.site import Api, Visitor
from tests.support.waiting import eventually

topics = pytest.mark.parametrize("kind", ["brands", "categories"])


@pytest.fixture
def path(kind: str, brand: str) -> str:
    return f"/brands/{brand}" if kind == "brands" else "/categories/outdoors"


@topics
def test_liking_twice_counts_once(site: Api, path: str, kind: str) -> None:
    member = site.member()
    before = member.get(path).json()["likes"]

    first, second = member.put(f"{path}/like"), member.put(f"{path}/like")

    assert first.json() == second.json() == {"liked": True, "likes": before + 1}
    assert first.status_code == second.status_code == 200
    # A function shows the counts of a category as it read them within the last second.
    assert eventually(lambda: member.get(path).json()["likes"], lambda likes: likes != before) == before + 1


@topics
def test_unliking_twice_counts_once(site: Api, path: str, kind: str) -> None:
    member = site.member()
    before = member.put(f"{path}/like").json()["likes"]

    first, second = member.delete(f"{path}/like"), member.delete(f"{path}/like")

    assert first.json() == second.json() == {"liked": False, "likes": before - 1}


@topics
def test_watching_twice_counts_once_and_is_listed(site: Api, path: str, kind: str) -> None:
    member = site.member()
    before = member.get(path).json()["watchers"]

    first, second = member.put(f"{path}/watch"), member.put(f"{path}/watch")

    assert first.json() == second.json() == {"watching": True, "watchers": before + 1}
    label = "brand" if kind == "brands" else "category"
    slug = path.rpartition("/")[2]
    assert member.get("/me/watches").json() == {"items": [{"kind": label, label: slug}], "next": None}
    assert member.delete(f"{path}/watch").json() == {"watching": False, "watchers": before}
    assert member.delete(f"{path}/watch").json() == {"watching": False, "watchers": before}
    assert member.get("/me/watches").json()["items"] == []


@topics
@pytest.mark.parametrize("verb", ["like", "watch"])
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_an_unknown_topic_is_neither_liked_nor_watched(
    site: Api, member: Visitor, kind: str, verb: str, method: str
) -> None:
    writes = site.writes()

    answer = member.request(method, f"/{kind}/no-such-thing/{verb}")

    assert_problem(answer, 404, "brand" if kind == "brands" else "category")
    assert writes.keys() == []


def test_a_brand_is_liked_under_any_spelling_of_its_name(site: Api, brand: str) -> None:
    member = site.member()

    member.put(f"/brands/{brand.upper()}/like")
    again = member.put(f"/brands/{brand.title()}/like")

    assert again.json()["likes"] == 1


@pytest.mark.parametrize("message_id", ["0" * 27, "x", "MESSAGE%23" + "0" * 27, "%F0%9F%8E%89", "z" * 27])
def test_marking_a_message_that_is_not_there_makes_no_phantom(site: Api, member: Visitor, message_id: str) -> None:
    before = member.get("/messages").json()["items"]

    assert_problem(member.put(f"/messages/{message_id}/read"), 404)

    assert member.get("/messages").json()["items"] == before
