"""What the site mails, and what its links do: in a browser, with the mailer behind the queue."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from shared.data import keys
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.html import mails
from shared.values import times
from tests.signed_in.conftest import FUNCTIONS, PASSWORD
from tests.support.browsing import Browser
from tests.support.post_office import PostOffice, open_post_office

ANA = {"username": "ana", "name": "Ana <Müller>", "email": "ana@mail.example", "password": PASSWORD}
NEW = "another horse battery"
DEAD = "This link does not work: it was used before, is too old, or was never ours."


@pytest.fixture
def office(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    with open_post_office(monkeypatch, table) as opened:
        yield opened


@pytest.fixture
def ana(office: PostOffice, anyone: Browser) -> Browser:
    """Ana's browser, in which she has just signed up."""
    anyone.post("/account/sign-up", ANA)
    office.deliver()
    return anyone


def another() -> Browser:
    return Browser(FUNCTIONS)


def test_a_forgotten_password_is_replaced_by_a_mailed_link_once(office: PostOffice, ana: Browser, table: Table) -> None:
    stranger = another()
    asked = stranger.post("/account/forgot", {"email": "Ana@Mail.example"})
    (mail,) = office.deliver()
    form = stranger.get(mail.link)
    done = stranger.post("/account/reset", {"token": form.values()["token"], "password": NEW})

    assert "If an account has the address ana@mail.example, a link is on its way there." in asked.words
    assert (mail.to, mail.subject) == ("ana@mail.example", "Your link to a new password")
    assert "Ana <Müller>" in mail.text
    assert "Ana &lt;Müller&gt;" in mail.html
    assert (done.status, done.location) == (303, "/account/sign-in?said=reset")
    assert ana.get("/account").status == 303  # every session has ended
    assert stranger.post("/account/sign-in", {"username": "ana", "password": NEW}).location == "/my/inbox"
    assert users.get(table, "ana").is_verified
    again = stranger.post("/account/reset", {"token": form.values()["token"], "password": PASSWORD})
    assert (again.status, DEAD in again.words) == (404, True)


def test_nobody_learns_whether_an_account_exists(office: PostOffice, ana: Browser, table: Table) -> None:
    with_account = another().post("/account/forgot", {"email": "ana@mail.example"})
    without = another().post("/account/forgot", {"email": "bob@mail.example"})

    sent = office.deliver()

    assert without.text.replace("bob@", "ana@") == with_account.text
    assert [mail.to for mail in sent] == ["ana@mail.example"]


@pytest.mark.parametrize(
    "change",
    [
        "SET Generation = :any",  # another password
        "ADD SignOuts :one",  # signed out everywhere
        "SET Email = :any",
        "SET AccountId = :any",  # the name has another owner
    ],
)
def test_a_link_dies_with_what_it_was_made_for(office: PostOffice, ana: Browser, table: Table, change: str) -> None:
    another().post("/account/forgot", {"email": "ana@mail.example"})
    (mail,) = office.deliver()
    value = {":one": {"N": "1"}} if ":one" in change else {":any": {"S": "another"}}
    key = {name: {"S": text} for name, text in keys.user("ana").items()}
    table.client.update_item(TableName=table.name, Key=key, UpdateExpression=change, ExpressionAttributeValues=value)

    seen = another().get(mail.link)

    assert (seen.status, DEAD in seen.words) == (404, True)


def test_a_link_works_for_an_hour(office: PostOffice, ana: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    another().post("/account/forgot", {"email": "ana@mail.example"})
    (mail,) = office.deliver()
    later = times.now() + timedelta(hours=1)
    monkeypatch.setattr(times, "now", lambda: later)

    assert another().get(mail.link).status == 404
    assert another().get("/account/reset?token=a%23b.c").status == 404  # forged


def test_links_are_asked_for_three_times_for_an_address(office: PostOffice, anyone: Browser) -> None:
    asked = [anyone.post("/account/forgot", {"email": "ana@mail.example"}).status for _ in range(4)]

    assert asked == [200, 200, 200, 429]


def test_without_mail_the_page_says_so(anyone: Browser) -> None:
    assert "This site sends no mail" in anyone.get("/account/forgot").words
    assert anyone.post("/account/forgot", {"email": "ana@mail.example"}).status == 404


def test_a_mail_is_small_and_loads_nothing(office: PostOffice, ana: Browser) -> None:
    ana.post("/account/forgot", {"email": "ana@mail.example"})

    for mail in office.deliver():
        assert len((mail.text + mail.html).encode()) <= mails.MOST_BYTES
        assert "src=" not in mail.html
        assert "url(" not in mail.html
        assert "1 Main Street, Springfield" in mail.text
