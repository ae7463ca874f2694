"""Messages of a deployed site are read and marked, and an account is removed with all that follows from it."""

from __future__ import annotations

from tests.support.contract import assert_problem
from tests.support.site import PASSWORD, Site, Visitor, a_deal
from tests.support.waiting import eventually


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
