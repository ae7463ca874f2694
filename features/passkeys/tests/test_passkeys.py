"""Passkeys at sign-in: what registers one, what proves it, what doesn't, and the way in without it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest
from argon2 import PasswordHasher

from features.passkeys import ceremonies, cookie, data, keys
from features.passkeys.models import passkeys_of
from features.passkeys.tests.authenticator import Authenticator
from functions.api import accounts as api
from shared.data import keys as core_keys
from shared.data.members import sessions, users
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.errors import NotSignedIn
from shared.html import cookies
from shared.http import requests
from shared.models.members import Role
from shared.values import passwords, times
from tests.signed_in.conftest import PASSWORD, another, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser, Seen
from tests.support.cases import cases
from tests.support.factories import a_user
from tests.support.surroundings import a_context, event
from tests.support.wire import before

SIGN_IN = {"username": "eddy", "password": PASSWORD, "next": "/desk"}


@pytest.fixture(autouse=True)
def _eddy(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    join(table, "eddy", "editor")
    join(table, "ana")


def join(table: Table, username: str, role: Role = "member") -> None:
    users.create(table, a_user(username, password_hash=passwords.hash_password(PASSWORD), role=role))


def options(seen: Seen) -> str:
    """The options of a page's form."""
    (found,) = [form.get("data-options") for form in seen.document.iter("form") if form.get("data-options")]
    return str(found)


def signed_in(username: str = "eddy") -> Browser:
    """A browser in which somebody has just signed in by a password alone."""
    browser = another()
    assert browser.post("/account/sign-in", SIGN_IN | {"username": username}).location == "/desk"
    return browser


def with_passkey(username: str = "eddy") -> tuple[Browser, Authenticator, list[str]]:
    """Somebody's browser after registering a passkey, with the passkey and the recovery codes."""
    browser, own = signed_in(username), Authenticator()
    made = browser.post("/passkeys", {"credential": own.creates(options(browser.get("/passkeys"))), "name": "Laptop"})
    codes = re.findall("<code>([a-z2-7-]+)</code>", made.text)
    assert (made.status, len(codes)) == (200, 10), made.words
    return browser, own, codes


def half(username: str = "eddy") -> tuple[Browser, Seen]:
    """A browser in which the password was right, and the page of the second step."""
    browser = another()
    seen = browser.post("/account/sign-in", SIGN_IN | {"username": username})
    assert seen.location == "/passkeys/sign-in?next=%2Fdesk"
    return browser, browser.get(seen.location)


def is_in(browser: Browser) -> bool:
    return cookies.SESSION in browser.cookies and browser.get("/account").status == 200


def test_an_account_with_a_passkey_signs_in_by_password_and_passkey(table: Table) -> None:
    own = with_passkey()[1]
    browser, asked = half()

    without = is_in(browser)
    done = browser.post("/passkeys/sign-in", {"credential": own.proves(options(asked)), "next": "/desk"})

    assert not without
    assert (done.status, done.location) == (303, "/desk")
    assert is_in(browser)
    assert requests.name(cookie.COOKIE) not in browser.cookies
    (passkey,) = data.of_user(table, "eddy")
    assert (passkey.name, passkey.sign_count, passkey.used_at is not None) == ("Laptop", 1, True)
    assert "Laptop" in browser.get("/account").words


def test_a_half_session_opens_nothing_but_the_second_step() -> None:
    with_passkey()
    browser, _ = half()
    token = browser.cookies[requests.name(cookie.COOKIE)]

    for name in (cookies.SESSION, requests.name(cookie.COOKIE)):
        for path in ("/account", "/passkeys", "/my/inbox", *cases("EDITORS_PAGES")):
            tried = Browser(browser.functions, {name: token, cookies.HINT: "1"}).get(path)
            assert tried.location.startswith("/account/sign-in"), path


def test_the_api_refuses_a_password_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with_passkey()
    body = json.dumps({"username": "eddy", "password": PASSWORD})
    changes = {"path": "/sessions", "resource": "/sessions", "body": body, "isBase64Encoded": False}

    refused = api.handler(event("accounts-sign-up") | changes, a_context())
    member = api.handler(event("accounts-sign-up") | changes | {"body": body.replace("eddy", "ana")}, a_context())

    assert (refused["statusCode"], member["statusCode"]) == (403, 201)
    assert '"token"' not in refused["body"]


def test_a_new_password_takes_the_second_step_because_a_new_session_may_change_passkeys(table: Table) -> None:
    browser, own, _ = with_passkey()

    changed = browser.post("/account/password", {"current-password": PASSWORD, "password": "another horse battery"})

    assert changed.location == "/passkeys/sign-in?next=%2Faccount%3Fnotice%3Dpassword"
    assert not is_in(browser)
    done = browser.post("/passkeys/sign-in", {"credential": own.proves(options(browser.get(changed.location)))})
    assert done.status == 303
    assert is_in(browser)


def test_a_program_calls_the_api_with_a_token_that_is_made_after_the_second_step(table: Table) -> None:
    browser = with_passkey()[0]
    assert "Make a token" in browser.get("/passkeys").words
    seen = browser.post("/passkeys/token", {"program": " Nightly\u202e  import\0 "})
    (token,) = re.findall("<code>([\\w-]{43})</code>", seen.text)

    session = sessions.authenticate(table, token, times.now())

    assert (session.username, session.program) == ("eddy", "Nightly import")
    assert not is_in(Browser(browser.functions, {cookies.SESSION: token, cookies.HINT: "1"}))
    assert "Program: Nightly import" in browser.get("/account").words
    browser.post("/account/sessions/end", {"session": session.session_id})
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, times.now())


def test_an_account_without_a_passkey_has_no_tokens_for_programs(table: Table) -> None:
    browser = signed_in()
    before = table.scan()[0]

    assert browser.post("/passkeys/token", {"program": "Import"}).location == "/passkeys"
    assert table.scan()[0] == before


FORGED: dict[str, Callable[[Authenticator, str], str]] = {
    "another key": lambda own, asked: Authenticator(credential_id=own.credential_id).proves(asked),
    "an unknown passkey": lambda _, asked: Authenticator().proves(asked),
    "another site's page": lambda own, asked: replace(own, origin="https://evil.example").proves(asked),
    "a sibling's page": lambda own, asked: replace(own, origin="https://x.deals.example").proves(asked),
    "another relying party": lambda own, asked: replace(own, host="evil.example").proves(asked),
    "no verified user": lambda own, asked: replace(own, verifies=False).proves(asked),
    "another account's handle": lambda own, asked: own.proves(asked, "somebody else"),
    "a registration": lambda own, asked: own.creates(asked),
    "another challenge": lambda own, asked: own.proves(json.dumps({**json.loads(asked), "challenge": "AAAA"})),
    "a changed signature": lambda own, asked: _with_signature(own.proves(asked), "AAAA"),
    "a text": lambda _own, _asked: "<b>",
    "nothing": lambda _own, _asked: "",
    "a long text": lambda own, asked: own.proves(asked) + " " * ceremonies.MOST_CHARACTERS,
}


def _with_signature(answer: str, signature: str) -> str:
    told = json.loads(answer)
    return json.dumps({**told, "response": {**told["response"], "signature": signature}})


@pytest.mark.parametrize("forged", FORGED)
def test_what_does_not_prove_the_passkey_signs_nobody_in(table: Table, forged: str) -> None:
    own = with_passkey()[1]
    browser, asked = half()

    seen = browser.post("/passkeys/sign-in", {"credential": FORGED[forged](own, options(asked))})

    assert seen.status == 422
    assert "We couldn't verify this passkey." in seen.words
    assert not is_in(browser)
    assert data.of_user(table, "eddy")[0].sign_count == 0


def test_an_answer_works_once_and_in_no_other_browser() -> None:
    own = with_passkey()[1]
    browser, asked = half()
    thief, _ = half()
    answer = own.proves(options(asked))

    stolen = thief.post("/passkeys/sign-in", {"credential": answer})
    first = browser.post("/passkeys/sign-in", {"credential": answer})
    browser_again, _ = half()
    replayed = browser_again.post("/passkeys/sign-in", {"credential": answer})

    assert (stolen.status, first.status, replayed.status) == (422, 303, 422)


def test_a_wrong_answer_uses_its_challenge_up() -> None:
    own = with_passkey()[1]
    browser, asked = half()
    browser.post("/passkeys/sign-in", {"credential": FORGED["another key"](own, options(asked))})

    late = browser.post("/passkeys/sign-in", {"credential": own.proves(options(asked))})

    assert late.status == 422


def test_another_users_passkey_proves_nothing() -> None:
    with_passkey()
    of_ana = with_passkey("ana")[1]
    browser, asked = half("eddy")

    seen = browser.post("/passkeys/sign-in", {"credential": of_ana.proves(options(asked))})

    assert seen.status == 422
    assert not is_in(browser)


def test_a_copied_key_is_noticed_by_its_count(table: Table) -> None:
    own = with_passkey()[1]
    copy = replace(own)
    for each in (own, own):
        browser, asked = half()
        assert browser.post("/passkeys/sign-in", {"credential": each.proves(options(asked))}).status == 303

    browser, asked = half()
    seen = browser.post("/passkeys/sign-in", {"credential": copy.proves(options(asked))})

    assert seen.status == 422
    assert data.of_user(table, "eddy")[0].sign_count == 2


@pytest.mark.parametrize(
    ("ends", "later"),
    [("the half-session", data.HALF_LIFETIME), ("the challenge", data.CHALLENGE_LIFETIME)],
)
def test_the_second_step_ends_with_its_time(ends: str, later: timedelta, monkeypatch: pytest.MonkeyPatch) -> None:
    own = with_passkey()[1]
    browser, asked = half()
    then: datetime = times.now() + later + timedelta(seconds=1)
    monkeypatch.setattr(times, "now", lambda: then)

    seen = browser.post("/passkeys/sign-in", {"credential": own.proves(options(asked))})

    assert seen.status == (403 if ends == "the half-session" else 422)
    assert not is_in(browser)


def test_the_second_step_may_be_tried_ten_times(table: Table) -> None:
    own, codes = with_passkey()[1:]
    browser, asked = half()
    for _ in range(data.TRIES):
        assert browser.post("/passkeys/sign-in", {"code": "aaaa-bbbb-cccc-dddd"}).status == 422

    assert browser.post("/passkeys/sign-in", {"code": codes[0]}).status == 403
    assert browser.post("/passkeys/sign-in", {"credential": own.proves(options(asked))}).status == 403
    assert data.codes_left(table, "eddy") == data.CODES


@pytest.mark.parametrize("change", ["a new password", "another role"])
def test_a_half_session_ends_with_the_accounts_sessions(table: Table, change: str) -> None:
    own = with_passkey()[1]
    browser, asked = half()
    if change == "a new password":
        users.change_password(table, "eddy", "another-hash")
    else:
        users.set_role(table, "eddy", "member")

    seen = browser.post("/passkeys/sign-in", {"credential": own.proves(options(asked))})

    assert seen.status == 403
    assert not is_in(browser)


@pytest.mark.parametrize("path", ["sign-in", "token"])
def test_sessions_that_end_during_a_request_stay_ended_whatever_its_step(table: Table, path: str) -> None:
    """With a stolen session and endless requests, one is always under way when its owner ends all sessions."""
    own = with_passkey()[1]
    for step in count():
        ended: list[None] = []
        browser, asked = half()
        proof = {"credential": own.proves(options(asked))}
        if path != "sign-in":
            browser.post("/passkeys/sign-in", proof)

        def end(ended: list[None] = ended) -> None:
            ended.append(None)
            sessions.end_all(table, "eddy")

        with before(table, "*", end, skip=step):
            seen = browser.post(f"/passkeys/{path}", proof)
        if not ended:
            break
        begun = table.query(core_keys.sessions("eddy"), index=GSI1)
        generation = users.get(table, "eddy", consistent=True).generation
        assert [each for each in begun if each["Generation"] == generation] == [], (step, seen.words)

    assert step > 3


def test_a_recovery_code_signs_in_once_in_any_spelling(table: Table) -> None:
    codes = with_passkey()[2]
    first, again = half()[0], half()[0]

    done = first.post("/passkeys/sign-in", {"code": f" {codes[3].upper().replace('-', ' ')} "})
    repeated = again.post("/passkeys/sign-in", {"code": codes[3]})

    assert (done.status, done.location) == (303, "/passkeys?notice=code-used")
    assert is_in(first)
    assert (repeated.status, is_in(again)) == (422, False)
    assert data.codes_left(table, "eddy") == data.CODES - 1
    assert not {code.replace("-", "") for code in codes} & set(re.findall("[a-z2-7]{24}", str(table.scan()[0])))


def test_a_new_factor_ends_all_other_sessions_and_so_does_its_removal(table: Table) -> None:
    elsewhere = signed_in()
    browser, own, _ = with_passkey()
    assert (is_in(elsewhere), is_in(browser)) == (False, True)
    again, asked = half()
    again.post("/passkeys/sign-in", {"credential": own.proves(options(asked))})
    (passkey,) = data.of_user(table, "eddy")

    gone = browser.post("/passkeys/remove", {"passkey": passkey.passkey_id})

    assert gone.location == "/passkeys?notice=passkey-removed"
    assert (is_in(again), is_in(browser)) == (False, True)
    assert (passkeys_of(users.get(table, "eddy")), data.codes_left(table, "eddy")) == (0, 0)
    assert is_in(signed_in())


def test_passkeys_are_changed_only_by_who_has_just_signed_in(
    table: Table,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    browser, own, _ = with_passkey()
    (passkey,) = data.of_user(table, "eddy")
    then = times.now() + timedelta(minutes=11)
    monkeypatch.setattr(times, "now", lambda: then)

    page = browser.get("/passkeys")
    answers = [
        browser.post("/passkeys", {"credential": own.proves('{"challenge": "AAAA"}')}),
        browser.post("/passkeys/remove", {"passkey": passkey.passkey_id}),
        browser.post("/passkeys/codes", {}),
        browser.post("/passkeys/token", {"program": "Import"}),
    ]

    assert "sign in again first" in page.words
    assert [each.status for each in answers] == [403] * 4
    assert len(data.of_user(table, "eddy")) == 1


@pytest.mark.parametrize(
    "forged",
    [
        lambda own, asked: replace(own, origin="https://evil.example").creates(asked),
        lambda own, asked: replace(own, host="evil.example").creates(asked),
        lambda own, asked: replace(own, verifies=False).creates(asked),
        lambda own, asked: own.creates(json.dumps({**json.loads(asked), "challenge": "AAAA"})),
        lambda _own, _asked: "{}",
    ],
    ids=["origin", "relying party", "user", "challenge", "nothing"],
)
def test_a_forged_registration_is_refused(
    table: Table,
    forged: Callable[[Authenticator, str], str],
) -> None:
    browser = signed_in()

    seen = browser.post("/passkeys", {"credential": forged(Authenticator(), options(browser.get("/passkeys")))})

    assert seen.status == 422
    assert data.of_user(table, "eddy") == []


def test_editors_are_led_to_their_first_passkey_where_they_need_one(
    table: Table,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EDITORS_NEED_PASSKEYS", "true")
    is_member_in = is_in(signed_in("ana"))
    browser, asked = half()
    thief, stolen = half()
    own = Authenticator()

    without = is_in(browser)
    made = browser.post("/passkeys/first", {"credential": own.creates(options(asked)), "next": "/desk"})
    late = thief.post("/passkeys/first", {"credential": Authenticator().creates(options(stolen))})

    assert (is_member_in, without, is_in(browser)) == (True, False, True)
    assert "Save these codes now" in made.words
    assert late.status == 403  # the new factor has ended the half-session, too
    assert len(data.of_user(table, "eddy")) == 1


def test_a_right_password_alone_adds_no_second_passkey(table: Table) -> None:
    with_passkey()
    user = users.get(table, "eddy", consistent=True)
    (passkey,) = data.of_user(table, "eddy")

    with pytest.raises(data.TooManyPasskeys):
        data.add(table, user, replace(passkey, passkey_id="another"), first=True)


def test_all_of_it_goes_with_the_account(table: Table) -> None:
    browser, _, _ = with_passkey("ana")

    browser.post("/account/remove", {"password": PASSWORD})

    left = [item for item in table.scan()[0] if item["Type"] in (keys.PASSKEY, keys.RECOVERY_CODES)]
    assert left == []


def test_an_operator_resets_the_passkeys_of_somebody_who_has_lost_them(table: Table) -> None:
    browser = with_passkey()[0]

    removed = data.reset(table, "eddy")

    assert (removed, is_in(browser)) == (1, False)
    assert is_in(signed_in())
