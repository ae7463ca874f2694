"""Accounts and sessions over the API: joining, signing in and out, guessing, what an account tells and changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared import settings
from shared.data import keys
from shared.data.members import rate_limits, sessions
from shared.dynamodb.schema import GSI1
from shared.dynamodb.writes import forget
from shared.errors import NotSignedIn
from shared.values import times
from tests.support.site import PASSWORD, Api, Visitor, assert_problem, dump, fresh

HERE = "127.0.0.1"


@pytest.mark.usefixtures("nothing_written")
def test_nothing_that_stands_in_the_table_signs_anyone_in(site: Api, member: Visitor, editor: Visitor) -> None:
    stolen = set(values(dump(site.table)))
    assert {member.username, editor.username, *hashes(site, editor)} <= stolen

    assert member.token not in str(stolen)
    assert editor.token not in str(stolen)
    for value in hashes(site, editor):
        assert_problem(site.visitor(value).get("/me"), 401)
    for value in stolen:
        with pytest.raises(NotSignedIn):  # as the authorizer asks it, which is quicker for a thousand values
            sessions.authenticate(site.table, value, datetime.now(UTC))


def values(node: Any) -> Iterator[str]:
    """Every text in a dump, and every part that a key is made of."""
    if isinstance(node, str):
        yield node
        if "#" in node:
            yield from node.split("#")
    elif isinstance(node, dict):
        for name, value in node.items():
            yield str(name)
            yield from values(value)
    elif isinstance(node, list | tuple | set):
        for value in node:
            yield from values(value)


def hashes(site: Api, who: Visitor) -> list[str]:
    """The items in which the table keeps a user's tokens."""
    return [item["PK"].partition("#")[2] for item in site.table.query(keys.sessions(who.username), index=GSI1)]


def test_no_client_chooses_its_token(site: Api) -> None:
    member, chosen = site.member("fixed"), "A" * 43
    login = {"username": member.username, "password": PASSWORD}
    carried = {
        "Authorization": f"Bearer {chosen}",
        "Cookie": f"session={chosen}; token={chosen}",
        "X-Session-Id": chosen,
        "X-Auth-Token": chosen,
    }

    answer = site.visitor().post("/sessions", params={"token": chosen}, json=login, headers=carried)

    assert answer.status_code == 201
    assert answer.json()["token"] != chosen
    assert "Set-Cookie" not in answer.headers
    assert_problem(site.visitor(chosen).get("/me"), 401)
    assert_problem(site.visitor().post("/sessions", json=login | {"token": chosen}), 422, "token")


def test_guessing_one_users_password_stops_after_ten_whether_there_is_such_a_user_or_not(
    site: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = times.now()
    monkeypatch.setattr(times, "now", lambda: now)  # no new window begins meanwhile
    known, unknown = site.member("guessed").username, fresh("unheard-of")

    seen = {}
    for username in (known, unknown):
        guess_in_vain(site, username, settings.SIGN_INS_PER_USER - 2)
        seen[username] = [
            site.visitor().post("/sessions", json={"username": spelling, "password": "a guess"})
            for spelling in (username, username.upper(), f" {username}")
        ]

    assert [answer.status_code for answer in seen[known]] == [401, 401, 429]
    assert seen[known][0].json() == seen[unknown][0].json()
    for one, other in zip(seen[known], seen[unknown], strict=True):
        assert one.status_code == other.status_code
        assert {**one.json(), "detail": ""} == {**other.json(), "detail": ""}
        assert one.headers.keys() == other.headers.keys()
    right = site.visitor().post("/sessions", json={"username": known, "password": PASSWORD})
    assert_problem(right, 429)
    assert 1 <= int(right.headers["Retry-After"]) <= 900


def windows() -> tuple[datetime, datetime]:
    """A moment of this window of attempts, and one of the next: a test may still run when that begins."""
    now = datetime.now(UTC)
    return now, now + settings.SIGN_IN_WINDOW


@pytest.fixture(autouse=True)
def forgiven(site: Api) -> None:
    """All tests sign in from one address: what those before have counted against it is forgotten."""
    for moment in windows():
        window = int(moment.timestamp()) // rate_limits.WINDOW_SECONDS
        site.table.write(forget(keys.attempts("ADDRESS", HERE, window), because="the next test signs in from here"))


def guess_in_vain(site: Api, username: str, times: int) -> None:
    """Count failed attempts against a user, without the second that each takes."""
    for moment in windows():
        for _ in range(times):
            rate_limits.begin(site.table, username, HERE, moment)


ELSEWHERE = "203.0.113.9"
DISGUISE = {
    **dict.fromkeys(("X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP"), ELSEWHERE),
    "Forwarded": f"for={ELSEWHERE}",
    "CloudFront-Viewer-Address": f"{ELSEWHERE}:1",
}


def test_one_password_for_many_users_stops_after_fifty_wherever_it_says_it_comes_from(
    site: Api, member: Visitor
) -> None:
    """X-Forwarded-For is looked at in ``tests/e2e/test_gateway.py`` and in ``tests/functions``."""
    for number in range(settings.SIGN_INS_PER_NETWORK):
        guess_in_vain(site, f"sprayed-{number}", 1)

    for username in (member.username, fresh("sprayed")):
        login = {"username": username, "password": PASSWORD}
        answer = site.visitor().post("/sessions", json=login, headers=DISGUISE)

        assert_problem(answer, 429)
        assert int(answer.headers["Retry-After"]) > 0


def test_a_stolen_session_guesses_no_faster(site: Api) -> None:
    owner = site.member("pressed")
    guess_in_vain(site, owner.username, settings.SIGN_INS_PER_USER - 1)

    guesses = [
        owner.patch("/me", json={"password": "a new password", "currentPassword": password})
        for password in ("a guess", "another guess", PASSWORD)
    ]

    assert [answer.status_code for answer in guesses] == [422, 429, 429]
    assert owner.get("/me").status_code == 200


def test_the_white_space_around_a_password_belongs_to_it(site: Api) -> None:
    username, chosen = fresh("spelled"), "  au lait  "
    account = {"username": username, "email": f"{username}@mail.example", "name": "Zoë", "password": chosen}
    assert site.visitor().post("/users", json=account).status_code == 201

    assert site.signs_in(username, chosen).get("/me").status_code == 200
    assert_problem(site.visitor().post("/sessions", json={"username": username, "password": chosen.strip()}), 401)


def test_signing_up_answers_with_the_account_and_without_the_password(visitor: Visitor) -> None:
    name = fresh("Zoe")
    account = {"username": name.upper(), "email": f"{name}@Mail.Example", "password": PASSWORD, "name": "Zoë"}

    answer = visitor.post("/users", json=account)

    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert {key: answer.json()[key] for key in ("username", "email", "name", "role")} == {
        "username": name.lower(),
        "email": f"{name}@mail.example".lower(),
        "name": "Zoë",
        "role": "member",
    }
    assert PASSWORD not in answer.text


def test_a_member_chooses_when_to_hear_of_hot_deals(site: Api) -> None:
    member = site.member()

    answers = [member.get("/me"), member.patch("/me", json={"hotPace": "daily"}), member.get("/me")]

    assert [answer.json()["hotPace"] for answer in answers] == ["at-once", "daily", "daily"]
    assert_problem(member.patch("/me", json={"hotPace": "hourly"}), 422, "hotPace")


def test_a_username_and_an_email_address_are_each_taken_once(visitor: Visitor, member: Visitor) -> None:
    other = fresh("other")
    account = {"username": other, "email": f"{other}@mail.example", "password": PASSWORD, "name": "Other"}

    assert_problem(visitor.post("/users", json=account | {"username": member.username.upper()}), 409, "username")
    assert_problem(visitor.post("/users", json=account | {"email": member.email.upper()}), 409, "email")
    assert visitor.post("/users", json=account).status_code == 201


def test_signing_in_gives_a_token_that_lasts(site: Api, member: Visitor) -> None:
    answer = site.visitor().post("/sessions", json={"username": member.username.upper(), "password": PASSWORD})

    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert len(answer.json()["token"]) == 43
    assert datetime.fromisoformat(answer.json()["expiresAt"]) > datetime.now(UTC) + timedelta(days=7)


def test_one_sees_and_changes_ones_own_account(site: Api) -> None:
    member = site.member()
    address = f"new-{member.email}"

    changed = member.patch("/me", json={"name": "New Name", "email": address, "currentPassword": PASSWORD})

    assert changed.json() == member.get("/me").json()
    assert (changed.json()["name"], changed.json()["email"]) == ("New Name", address)
    assert changed.json()["username"] == member.username


def test_anothers_email_address_is_refused(site: Api, member: Visitor) -> None:
    other = site.member()

    taken = {"email": member.email, "currentPassword": PASSWORD}
    assert_problem(other.patch("/me", json={"email": member.email}), 422, "body")
    assert_problem(other.patch("/me", json=taken | {"currentPassword": "a guess"}), 422, "currentPassword")
    assert_problem(other.patch("/me", json=taken), 409, "email")
    assert other.get("/me").json()["email"] == other.email


def test_changing_the_password_needs_the_current_one_and_signs_out_everywhere(site: Api) -> None:
    member = site.member()
    elsewhere = site.signs_in(member.username)

    assert_problem(member.patch("/me", json={"password": "a new password"}), 422, "body")
    wrong = {"password": "a new password", "currentPassword": "not this one"}
    assert_problem(member.patch("/me", json=wrong), 422, "currentPassword")
    assert member.get("/me").status_code == 200
    changed = member.patch("/me", json={"password": "a new password", "currentPassword": PASSWORD})

    assert changed.status_code == 200
    assert_problem(member.get("/me"), 401)
    assert_problem(elsewhere.get("/me"), 401)
    assert_problem(site.visitor().post("/sessions", json={"username": member.username, "password": PASSWORD}), 401)
    assert site.signs_in(member.username, "a new password").get("/me").status_code == 200


def test_sessions_are_listed_and_ended_one_by_one(site: Api, member: Visitor) -> None:
    here = site.member()
    there = site.signs_in(here.username)

    listed = here.get("/sessions").json()["items"]

    assert sorted(each["current"] for each in listed) == [False, True]
    (others,) = (each["sessionId"] for each in listed if not each["current"])
    assert_problem(member.delete(f"/sessions/{others}"), 404)
    assert_problem(here.delete(f"/sessions/{others[::-1]}"), 404)
    assert here.delete(f"/sessions/{others}").status_code == 204
    assert_problem(there.get("/me"), 401)
    assert [each["current"] for each in here.get("/sessions").json()["items"]] == [True]


def test_signing_out_here_and_everywhere_takes_effect_at_once(site: Api, member: Visitor) -> None:
    here = site.member()
    there, over = site.signs_in(here.username), site.signs_in(here.username)

    assert over.delete("/sessions/current").status_code == 204
    assert_problem(over.get("/me"), 401)
    assert there.get("/me").status_code == 200
    assert here.delete("/sessions").status_code == 204

    assert_problem(here.get("/me"), 401)
    assert_problem(there.get("/me"), 401)
    assert member.get("/me").status_code == 200
