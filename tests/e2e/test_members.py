"""What members do: liking, watching, and reading their messages."""

from __future__ import annotations

import pytest

from tests.support.contract import assert_problem
from tests.support.site import PASSWORD, Site, Visitor, a_deal, fresh
from tests.support.waiting import eventually

topics = pytest.mark.parametrize("kind", ["brands", "categories"])


@pytest.fixture
def path(kind: str, brand: str) -> str:
    return f"/brands/{brand}" if kind == "brands" else "/categories/outdoors"


@topics
def test_liking_twice_counts_once(site: Site, path: str, kind: str) -> None:
    member = site.member()
    before = member.get(path).json()["likes"]

    first, second = member.put(f"{path}/like"), member.put(f"{path}/like")

    assert first.json() == second.json() == {"liked": True, "likes": before + 1}
    assert first.status_code == second.status_code == 200
    # A function shows the counts of a category as it read them within the last second.
    assert eventually(lambda: member.get(path).json()["likes"], lambda likes: likes != before) == before + 1


@topics
def test_unliking_twice_counts_once(site: Site, path: str, kind: str) -> None:
    member = site.member()
    before = member.put(f"{path}/like").json()["likes"]

    first, second = member.delete(f"{path}/like"), member.delete(f"{path}/like")

    assert first.json() == second.json() == {"liked": False, "likes": before - 1}


@topics
def test_watching_twice_counts_once_and_is_listed(site: Site, path: str, kind: str) -> None:
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
    site: Site, member: Visitor, kind: str, verb: str, method: str
) -> None:
    writes = site.writes()

    answer = member.request(method, f"/{kind}/no-such-thing/{verb}")

    assert_problem(answer, 404, "brand" if kind == "brands" else "category")
    assert writes.keys() == []


def test_a_brand_is_liked_under_any_spelling_of_its_name(site: Site, brand: str) -> None:
    member = site.member()

    member.put(f"/brands/{brand.upper()}/like")
    again = member.put(f"/brands/{brand.title()}/like")

    assert again.json()["likes"] == 1


def test_watchers_of_a_brand_and_its_category_get_one_message_each(site: Site, editor: Visitor, brand: str) -> None:
    of_brand, of_both, of_none = site.member("watcher"), site.member("watcher"), site.member("watcher")
    of_brand.put(f"/brands/{brand}/watch")
    of_both.put(f"/brands/{brand}/watch")
    of_both.put("/categories/electronics/watch")

    deal = editor.post("/deals", json=a_deal(brand, category="electronics")).json()

    for member in (of_brand, of_both):
        (message,) = eventually(lambda m=member: m.get("/messages?unread=true").json()["items"], bool)  # type: ignore[misc]
        assert message["deal"]["dealId"] == deal["dealId"]
        assert message["kind"] in ("brand", "category")
        assert message["unread"] is True
        assert member.get("/messages/unread-count").json() == {"unread": 1}
    assert of_none.get("/messages").json() == {"items": [], "next": None}


def test_messages_are_read_one_by_one_and_all_together(site: Site, editor: Visitor, brand: str) -> None:
    member = site.member("reader")
    member.put(f"/brands/{brand}/watch")
    for number in range(5):
        editor.post("/deals", json=a_deal(brand, title=f"Deal {number}", category="electronics"))
    eventually(lambda: member.get("/messages/unread-count").json()["unread"], lambda n: n == 5)

    newest_first = member.get("/messages").json()["items"]
    first_page = member.get("/messages?limit=2").json()
    second_page = member.get("/messages", params={"limit": 2, "cursor": first_page["next"]}).json()
    read = member.put(f"/messages/{newest_first[0]['messageId']}/read")
    read_again = member.put(f"/messages/{newest_first[0]['messageId']}/read")

    ids = [message["messageId"] for message in newest_first]
    assert ids == sorted(ids, reverse=True)
    assert first_page["items"] + second_page["items"] == newest_first[:4]
    assert read.status_code == read_again.status_code == 200
    assert read.json() == read_again.json() == newest_first[0] | {"unread": False}
    assert [m["messageId"] for m in member.get("/messages?unread=true").json()["items"]] == ids[1:]
    assert member.post("/messages/read-all").json() == {"marked": 4}
    assert member.post("/messages/read-all").json() == {"marked": 0}
    assert member.get("/messages/unread-count").json() == {"unread": 0}
    assert len(member.get("/messages").json()["items"]) == 5


def test_anothers_message_is_not_there(site: Site, editor: Visitor, member: Visitor, brand: str) -> None:
    owner = site.member("owner")
    owner.put(f"/brands/{brand}/watch")
    editor.post("/deals", json=a_deal(brand))
    (message,) = eventually(lambda: owner.get("/messages").json()["items"], bool)
    writes = site.writes()

    assert_problem(member.put(f"/messages/{message['messageId']}/read"), 404)

    assert writes.keys() == []
    assert owner.get("/messages/unread-count").json() == {"unread": 1}


@pytest.mark.parametrize("message_id", ["0" * 27, "x", "MESSAGE%23" + "0" * 27, "%F0%9F%8E%89", "z" * 27])
def test_marking_a_message_that_is_not_there_makes_no_phantom(site: Site, member: Visitor, message_id: str) -> None:
    before = member.get("/messages").json()["items"]

    assert_problem(member.put(f"/messages/{message_id}/read"), 404)

    assert member.get("/messages").json()["items"] == before


def test_a_hot_deal_reaches_every_user_once(site: Site, editor: Visitor, brand: str) -> None:
    everyone = [site.member("listener") for _ in range(3)]
    everyone[0].put(f"/brands/{brand}/watch")
    deal = editor.post("/deals", json=a_deal(brand, title=fresh("Hot"))).json()

    first, second = editor.put(f"/deals/{deal['dealNumber']}/hot"), editor.put(f"/deals/{deal['dealId']}/hot")

    assert first.status_code == second.status_code == 202
    assert first.json()["hot"] is True
    progress = eventually(lambda: editor.get(f"/deals/{deal['dealId']}/hot").json(), lambda seen: seen["finished"])
    assert progress["told"] >= len(everyone)
    for member in everyone:
        about = [m for m in member.get("/messages").json()["items"] if m["deal"]["dealId"] == deal["dealId"]]
        assert len(about) == 1


def test_a_deal_with_an_old_date_and_an_edited_one_tell_nobody(site: Site, editor: Visitor, brand: str) -> None:
    member = site.member("quiet")
    member.put(f"/brands/{brand}/watch")
    old = editor.post("/deals", json=a_deal(brand, createdAt="2026-05-01T12:00:00Z")).json()
    editor.patch(f"/deals/{old['dealId']}", json={"title": "Edited"})

    news = editor.post("/deals", json=a_deal(brand, title="News")).json()

    (message,) = eventually(lambda: member.get("/messages").json()["items"], bool)
    assert message["deal"]["dealId"] == news["dealId"]


def test_removing_ones_account_removes_all_that_is_ones_own(site: Site, editor: Visitor, brand: str) -> None:
    leaver, stayer = site.member("leaver"), site.member("stayer")
    elsewhere = site.signs_in(leaver.username)
    shoes = stayer.get("/categories/home").json()
    for who in (leaver, stayer):
        for path in (f"/brands/{brand}", "/categories/home"):
            assert who.put(f"{path}/like").status_code == 200
            assert who.put(f"{path}/watch").status_code == 200
    editor.post("/deals", json=a_deal(brand, category="home"))
    for who in (leaver, stayer):
        eventually(lambda who=who: who.get("/messages/unread-count").json()["unread"], lambda n: n == 1)  # type: ignore[misc]

    assert leaver.delete("/me").status_code == 204

    assert_problem(leaver.get("/me"), 401)
    assert_problem(elsewhere.get("/me"), 401)
    assert_problem(site.visitor().post("/sessions", json={"username": leaver.username, "password": PASSWORD}), 401)
    page, category = stayer.get(f"/brands/{brand}").json(), topic(site, stayer, "/categories/home")
    assert (page["likes"], page["watchers"]) == (1, 1)
    assert (category["likes"], category["watchers"]) == (shoes["likes"] + 1, shoes["watchers"] + 1)
    assert items_of(site, leaver) == []
    assert len(items_of(site, stayer)) >= 8
    assert stayer.get("/messages/unread-count").json() == {"unread": 1}


def topic(site: Site, who: Visitor, path: str) -> dict[str, int]:
    """A topic's counts, past every cache."""
    found: dict[str, int] = who.get(path, params={"limit": 1}).json()
    return found


def items_of(site: Site, who: Visitor) -> list[str]:
    """The keys of all items that name a user or their address, in whatever way."""
    found, start = [], None
    while True:
        items, start = site.table.scan(start=start)
        found += [
            item["PK"]
            for item in items
            if (
                who.username in str(item["PK"] + item["SK"])
                or item.get("Username") == who.username
                or who.email in item["PK"]
            )
            and item["Type"] != "Attempts"  # counters go by themselves
        ]
        if start is None:
            return found
