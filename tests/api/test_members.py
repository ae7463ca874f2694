"""Members like, watch and mark messages."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from shared import settings
from shared.data import keys
from shared.dynamodb.writes import update
from shared.values import times
from tests.support import factories
from tests.support.commands import eventually
from tests.support.factories import send
from tests.support.shop import HOME
from tests.support.site import Api, Visitor, a_deal, assert_problem
from tests.support.surroundings import captured_log

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


def test_a_private_feed_is_made_told_of_and_revoked(site: Api) -> None:
    member = site.member()

    before, made, there = member.get("/me/feed"), member.post("/me/feed"), member.get("/me/feed")
    revoked = [member.delete("/me/feed").status_code for _ in range(2)]

    assert before.json() == member.get("/me/feed").json() == {"createdAt": None, "ended": False}
    assert made.status_code == 201
    assert len(made.json()["key"]) == 43
    assert there.json() == {"createdAt": made.json()["createdAt"], "ended": False}
    assert revoked == [204, 204]


def test_a_vote_is_given_changed_and_taken_back(site: Api, editor: Visitor, brand: str) -> None:
    then = times.now() - timedelta(minutes=20)
    deal = editor.post("/deals", json=a_deal(brand, createdAt=times.to_iso(then))).json()
    newcomer, member = site.member(), site.member()
    joined = {":then": times.to_iso(then - settings.NEWCOMER)}
    site.table.write(update(keys.user(member.username), "SET CreatedAt = :then", values=joined, refused=None))
    vote = f"/deals/{deal['dealNumber']}/vote"

    answers = [newcomer.put(f"{vote}/up")]
    answers += [member.request(*each) for each in (("PUT", f"{vote}/down"), ("PUT", f"{vote}/down"), ("DELETE", vote))]

    assert [answer.json() for answer in answers] == [
        {"vote": "up", "counts": False, "score": 0},
        {"vote": "down", "counts": True, "score": -1},
        {"vote": "down", "counts": True, "score": -1},
        {"vote": None, "counts": False, "score": 0},
    ]


def test_what_is_no_deal_or_is_over_takes_no_vote(
    site: Api, member: Visitor, visitor: Visitor, editor: Visitor, brand: str
) -> None:
    deal = editor.post("/deals", json=a_deal(brand)).json()["dealId"]
    editor.patch(f"/deals/{deal}", json={"withdrawn": True})
    writes = site.writes()

    refused = [
        member.put("/deals/999999/vote/up"),
        member.delete("/deals/x/vote"),
        member.put(f"/deals/{deal}/vote/up"),
    ]

    for answer, status in zip(refused, (404, 404, 409), strict=True):
        assert_problem(answer, status)
    assert_problem(visitor.put(f"/deals/{deal}/vote/up"), 401)
    assert writes.keys() == []


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


@pytest.mark.needs("shop")
def test_the_log_repeats_nothing_that_a_member_has_typed(site: Api, brand: str) -> None:
    member, visitor = site.member(), site.visitor()

    with captured_log() as log:
        answers = [
            member.patch("/me", json={"name": "Zebulon", "email": "zebulon@mail.example"}),
            member.put("/me/addresses/zebulon", json=HOME | {"recipient": "Zebulon", "street": "1 Zebulon Street"}),
            member.delete("/me/addresses/zebulon"),
            member.post("/me/alerts", json={"words": "zebulon"}),
            member.put(f"/brands/{brand}/watch", json={"words": "zebulon"}),
            visitor.get("/deals", params={"q": "zebulon"}),
            visitor.post("/sessions", json={"username": "zebulon", "password": "zebulon"}),
            member.patch("/me", json={"email": "zebulon"}),
            member.put("/me/addresses/zebulon", json={"city": "Zebulon"}),
        ]

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["status"] for line in lines if line["message"] == "request"] == [each.status_code for each in answers]
    assert [line for line in lines if "zebulon" in str(line).lower()] == []
    assert "/me/addresses/{name}" in [line.get("path") for line in lines]
