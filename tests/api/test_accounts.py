"""Accounts and sessions, from signing up to removing it all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.data import keys
from shared.dynamodb.schema import GSI1
from shared.dynamodb.writes import update
from tests.support.contract import assert_problem
from tests.support.site import PASSWORD, Api, Visitor, fresh


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


def test_a_member_says_when_hot_deals_are_told(site: Api) -> None:
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


@pytest.mark.parametrize("password", ["wrong password", PASSWORD.upper(), "x"])
def test_a_wrong_password_and_an_unknown_user_get_the_same_answer(
    visitor: Visitor, member: Visitor, password: str
) -> None:
    wrong = visitor.post("/sessions", json={"username": member.username, "password": password})
    unknown = visitor.post("/sessions", json={"username": "nobody-at-all", "password": password})

    assert assert_problem(wrong, 401) == assert_problem(unknown, 401)


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


def test_an_expired_session_is_refused_before_ttl_deletes_it(site: Api) -> None:
    member = site.member()
    (session,) = site.table.query(keys.sessions(member.username), index=GSI1)
    an_hour_ago = {":then": int((datetime.now(UTC) - timedelta(hours=1)).timestamp())}

    site.table.write(update(keys.primary(session), "SET ExpiresAt = :then", values=an_hour_ago, refused=None))

    assert_problem(member.get("/me"), 401)
