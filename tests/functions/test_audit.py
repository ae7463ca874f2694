"""The audit: each event of an account is a line that the runbook's query finds, without names and addresses."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import accounts
from functions.background import refresher
from functions.pages import account
from local.settings import ROOT
from shared.data import keys
from shared.data.members import users
from shared.data.removal import leave
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.models.members import User
from shared.values import times
from shared.values.passwords import hash_password
from tests.support.factories import a_user
from tests.support.surroundings import batch, event, record

Lines = Callable[[], list[dict[str, Any]]]

PASSWORD = "correct horse battery staple"
ADDRESS = event("accounts-sign-up")["requestContext"]["identity"]["sourceIp"]


@pytest.fixture
def ana(table: Table) -> User:
    return users.create(table, a_user("ana", password_hash=hash_password(PASSWORD)))


def by_api(username: str, password: str = PASSWORD) -> dict[str, Any]:
    body = json.dumps({"username": username, "password": password})
    changes = {"path": "/sessions", "resource": "/sessions", "body": body, "isBase64Encoded": False}
    return event("accounts-sign-up") | changes


def by_form(username: str, password: str = PASSWORD) -> dict[str, Any]:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    changes = {"path": "/account/sign-in", "resource": "/{proxy+}", "pathParameters": {"proxy": "account/sign-in"}}
    return by_api(username) | changes | {"headers": headers, "body": f"username={username}&password={password}"}


def audited(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if "audit" in line]


def found(lines: list[dict[str, Any]], account_id: str) -> list[dict[str, Any]]:
    """What the runbook's query displays of some lines, for an account."""
    (query,) = re.findall(r"filter (account_id = .*)\"", (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8"))
    condition, _, display = query.partition(" | sort @timestamp desc | display ")
    id_, events = re.fullmatch(r"account_id = '(\w+)' and audit in \[(.*)\]", condition).groups()  # type: ignore[union-attr]
    wanted = re.findall(r"'([\w-]+)'", events)
    assert id_ == "ID"
    named = [name for name in display.split(", ") if not name.startswith("@")]
    return [
        {name: line[name] for name in named if name in line}
        for line in lines
        if line.get("account_id") == account_id and line.get("audit") in wanted
    ]


def test_the_runbooks_query_tells_who_signed_in_as_ana(
    table: Table, ana: User, lines: Lines, context: LambdaContext
) -> None:
    users.create(table, a_user("bo", password_hash=hash_password(PASSWORD)))
    token = json.loads(accounts.handler(by_api("ana"), context)["body"])["token"]
    accounts.handler(by_api(ana.email.upper(), "a guess"), context)
    accounts.handler(by_api("bo"), context)
    account.handler(by_form(ana.email), context)
    leaving = event("accounts-sign-up") | {"httpMethod": "DELETE", "path": "/sessions/current", "body": None}
    who = {"username": "ana", "accountId": ana.account_id, "role": "member"}
    leaving |= {"resource": "/sessions/current", "headers": {"Authorization": f"Bearer {token}"}}
    leaving["requestContext"] = leaving["requestContext"] | {"authorizer": who}
    accounts.handler(leaving, context)

    seen = found(lines(), ana.account_id)

    assert [(each["audit"], each.get("by") or each.get("because")) for each in seen] == [
        ("sign-in", "password"),
        ("sign-in-failed", "password"),
        ("sign-in", "password"),
        ("sign-out", None),
    ]
    assert seen[0]["session_id"] == seen[3]["session_id"] != seen[2]["session_id"]


@pytest.mark.parametrize("way", [by_api, by_form])
def test_a_failed_sign_in_is_nobodys_if_no_account_has_the_name(
    ana: User, lines: Lines, context: LambdaContext, way: Callable[[str, str], dict[str, Any]]
) -> None:
    handler = accounts.handler if way is by_api else account.handler

    for name in ("ana", "nobody", "nobody@mail.example", "#"):
        handler(way(name, "a guess"), context)

    assert [line["account_id"] for line in audited(lines())] == [ana.account_id, *["unknown"] * 3]


def test_no_event_has_a_name_or_an_address(table: Table, ana: User, lines: Lines, context: LambdaContext) -> None:
    for name in ("ana", ana.email, "nobody", "nobody@mail.example"):
        for password in (PASSWORD, "a guess"):
            accounts.handler(by_api(name, password), context)
            account.handler(by_form(name, password), context)
    refresher.handler(changes_of(table, "ana"), context)

    events = audited(lines())

    assert len(events) == 16 + 6
    for word in ("ana", "nobody", "mail.example", ana.name, ADDRESS, PASSWORD, "a guess"):
        values = [value for each in events for name, value in each.items() if name != "account_id"]
        assert not [value for value in values if word in str(value)], word


def changes_of(table: Table, username: str) -> dict[str, Any]:
    """The stream's records of all that may become of an account."""

    def now() -> Item | None:
        return table.get(keys.user(username), consistent=True)

    states = [None, now()]
    for change in (
        lambda: users.rename(table, username, "Ana Again"),
        lambda: users.set_role(table, username, "editor"),
        lambda: users.change_password(table, username, "another-hash"),
        lambda: users.change_email(table, users.get(table, username, consistent=True), "new@mail.example"),
        lambda: leave(table, users.get(table, username, consistent=True), times.now()),
    ):
        change()
        states.append(now())
    pairs = itertools.pairwise(states)
    return batch([record(before, after) for before, after in pairs])


def test_changes_of_an_account_are_recorded_whoever_makes_them(
    table: Table, ana: User, lines: Lines, context: LambdaContext
) -> None:
    refresher.handler(changes_of(table, "ana"), context)

    events = audited(lines())

    assert [(each["audit"], each.get("role")) for each in events] == [
        ("created", "member"),
        ("role", "editor"),
        ("sessions-ended", None),
        ("password", None),
        ("email", None),
        ("removed", None),
    ]
    assert {each["account_id"] for each in events} == {ana.account_id}
