"""The site's mails and their links, in a browser, with the mailer behind the queue."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from botocore.exceptions import ClientError

from features.mail.data import digests, mailing
from features.mail.data.mailing import MailWork
from features.mail.models import Mail, is_stopped, is_verified, settings_of
from features.mail.sending import Sender, sender
from features.mail.tests.post_office import PostOffice, open_post_office
from shared.data import account_checks, keys
from shared.data.members import messages, users
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import update
from shared.errors import Busy, NoAnswer
from shared.models.members import User
from shared.models.messages import AboutDeal, Message
from shared.values import times
from tests.signed_in.conftest import FUNCTIONS, PASSWORD, another, anyone, table  # noqa: F401  # fixtures
from tests.support.browsing import ORIGIN, Browser
from tests.support.factories import a_deal, join
from tests.support.surroundings import a_context, event_of

ANA = {"username": "ana", "name": "Ana <Müller>", "email": "ana@mail.example", "password": PASSWORD}
NEW = "another horse battery"
PAGE = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
DEAD = "This link does not work: it was used before, has expired, or is not ours."


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


def clicked(link: str) -> int:
    """The status that a mail program gets for its one click: it tells of no page and brings no cookie."""
    path, _, query = link.partition("?")
    program = {"Content-Type": "application/x-www-form-urlencoded"}
    event = event_of(path, "POST", query=dict(parse_qsl(query)), headers=program, body="List-Unsubscribe=One-Click")
    return int(FUNCTIONS["/account"](event, a_context())["statusCode"])


def test_the_notice_of_a_new_account_says_that_a_mail_was_sent(office: PostOffice, anyone: Browser) -> None:
    leads = anyone.post("/account/sign-up", ANA).location

    assert "Welcome! Your account was created. We sent you a mail" in anyone.get(leads).words
    assert [mail.to for mail in office.deliver()] == ["ana@mail.example"]


def test_a_forgotten_password_is_replaced_by_a_mailed_link_once(office: PostOffice, ana: Browser, table: Table) -> None:
    stranger = another()
    asked = stranger.post("/account/forgot", {"email": "Ana@Mail.example"})
    (mail,) = office.deliver()
    form = stranger.get(mail.link)
    done = stranger.post("/account/reset", {"token": form.values()["token"], "password": NEW})

    assert "If an account has the address ana@mail.example, we’ve sent a link to it." in asked.words
    assert (mail.to, mail.subject) == ("ana@mail.example", "Your link to a new password")
    assert (done.status, done.location) == (303, "/account/sign-in?notice=reset")
    assert ana.get("/account").status == 303  # every session has ended
    assert stranger.post("/account/sign-in", {"username": "ana", "password": NEW}).location == "/my/inbox"
    assert is_verified(users.get(table, "ana"))
    again = stranger.post("/account/reset", {"token": form.values()["token"], "password": PASSWORD})
    assert (again.status, DEAD in again.words) == (404, True)


def test_no_answer_says_whether_an_account_exists(office: PostOffice, ana: Browser, table: Table) -> None:
    with_account, without = (
        another().post("/account/forgot", {"email": f"{name}@mail.example"}) for name in ("ana", "bob")
    )

    assert without.text.replace("bob@", "ana@") == with_account.text
    assert [mail.to for mail in office.deliver()] == ["ana@mail.example"]


@pytest.mark.damages
def test_a_link_dies_after_an_hour_and_with_what_it_was_made_for(
    office: PostOffice, ana: Browser, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "MAILS_PER_ADDRESS", 9)

    def a_link() -> str:
        office.queue.send([MailWork("reset", "ana@mail.example").to_json()])
        (mail,) = office.deliver()
        assert another().get(mail.link).status == 200
        return mail.link

    link, later = a_link(), times.now() + timedelta(hours=1)
    with monkeypatch.context() as patched:
        patched.setattr(times, "now", lambda: later)
        assert another().get(link).status == 404
    assert another().get("/account/reset?token=a%23b.c").status == 404  # forged
    another_password, everywhere = ("SET Generation = :it", "one"), ("ADD SignOuts :it", 1)
    another_owner, another_address = ("SET AccountId = :it", "one"), ("SET Email = :it", "new@mail.example")
    for change, value in (another_password, everywhere, another_owner, another_address):
        link = a_link()
        table.write(account_checks.change("ana", change, values={":it": value}))

        seen = another().get(link)
        assert (seen.status, DEAD in seen.words) == (404, True), change


def test_links_are_asked_for_three_times_for_an_address(
    office: PostOffice, ana: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "MAILS_PER_ADDRESS", 7)  # one was mailed for signing up
    for path, done in (("/account/forgot", 200), ("/account/email/verify", 303)):
        asked = [ana.post(path, {"email": "ana@mail.example"}).status for _ in range(4)]

        assert asked == [done, done, done, 429], path
        assert len(office.deliver()) == 3


def test_a_mail_that_the_sandbox_refuses_is_counted_and_not_tried_again(
    office: PostOffice, ana: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    """A recipient that is an identity of the account asks for a right that the mailer does not have."""
    error = {"Error": {"Code": "AccessDeniedException", "Message": "on resource `arn:aws:ses:x:1:identity/ana@mail.x'"}}

    def refuse(**_: object) -> None:
        raise ClientError(error, "SendEmail")  # type: ignore[arg-type]  # that is all that is read

    sender().client.meta.events.register("before-call.sesv2.SendEmail", refuse)
    ana.post("/account/forgot", {"email": "ana@mail.example"})

    office.deliver()

    (line,) = (vars(each) for each in caplog.records if vars(each).get("outcome") == "refused")
    assert line["MailsRefused"] == [1]
    assert not [line for line in caplog.records if "ana@mail.x" in str(vars(line))]
    assert list(office.queue.receive()) == []


def test_no_address_is_mailed_without_limit_by_any_account_for_any_reason(
    office: PostOffice, anyone: Browser, table: Table
) -> None:
    mover = another()
    mover.post("/account/sign-up", ANA | {"username": "mover", "email": "mover@mail.example"})
    sent = []
    for number in range(12):
        anyone.post("/account/sign-up", ANA | {"username": f"ana{number}"})
        anyone.post("/account/remove", {"password": PASSWORD})
    for _ in range(3):
        for address in ("ana@mail.example", "mover@mail.example"):
            mover.post("/account/email", {"email": address, "email-password": PASSWORD})
    anyone.post("/account/sign-up", ANA)
    anyone.post("/account/forgot", {"email": "ana@mail.example"})
    sent += office.deliver()

    to_ana = [mail.to for mail in sent if mail.to == "ana@mail.example"]
    assert len(to_ana) == mailing.MAILS_PER_ADDRESS
    day = f"{keys.attempts('MAIL', hashlib.sha256(b'ana@mail.example').hexdigest()[:32], '')['PK']}"
    held = [item for item in table.everything() if item["PK"].startswith(day)]
    assert [len(item["Counted"]) for item in held] == [mailing.MAILS_PER_ADDRESS]


def test_a_mail_that_was_not_sent_is_not_counted(office: PostOffice, ana: Browser) -> None:
    ana.post("/account/forgot", {"email": "ana@mail.example"})
    office.busy = True
    for _ in range(mailing.MAILS_PER_ADDRESS):
        assert office.deliver() == []
    office.busy = False

    assert len(office.deliver()) == 1


def test_no_mail_has_a_text_that_a_stranger_chose_or_that_becomes_a_link(
    office: PostOffice, anyone: Browser, table: Table
) -> None:
    names = {"username": "win-a-prize.example", "name": "http://evil.example/ Claim it at evil\u3002example"}
    anyone.post("/account/sign-up", ANA | names)
    anyone.post("/account/forgot", {"email": ANA["email"]})
    unproved = office.deliver()
    (link,) = (mail.link for mail in unproved if mail.subject == "Is this your address?")
    anyone.post("/account/verify", {"token": another().get(link).values()["token"]})
    anyone.post("/account/forgot", {"email": ANA["email"]})
    proved = office.deliver()

    assert (len(unproved), len(proved)) == (2, 1)
    for mail in (*unproved, *proved):
        words = re.sub(r"https?://\S+", "", mail.text)
        assert not re.search("prize|evil", words), mail.subject
        assert not re.search("prize|evil", re.sub(r'href="[^"]*"', "", mail.html)), mail.subject
    assert "This changes the password of the account win-a-prize.example and" in another().get(proved[0].link).words


def test_the_owner_is_mailed_of_a_new_password_and_a_new_address(
    office: PostOffice, ana: Browser, table: Table
) -> None:
    ana.post("/account/password", {"password": NEW, "current-password": PASSWORD})
    (of_password,) = office.deliver()
    ana.post("/account/email", {"email": "new@mail.example", "email-password": NEW})
    of_address = office.deliver()
    another().post("/account/forgot", {"email": "new@mail.example"})
    (reset,) = office.deliver()
    another().post("/account/reset", {"token": another().get(reset.link).values()["token"], "password": PASSWORD})
    (of_reset,) = office.deliver()

    assert (of_password.to, of_password.subject) == ("ana@mail.example", "Your password was changed")
    assert {(mail.to, mail.subject) for mail in of_address} == {
        ("ana@mail.example", "Your email address was changed"),
        ("new@mail.example", "Is this your address?"),
    }
    assert (of_reset.to, of_reset.subject) == ("new@mail.example", "Your password was changed")
    assert "new@mail.example" not in "".join(mail.text for mail in of_address if mail.to == "ana@mail.example")


def test_without_mail_the_page_says_so(anyone: Browser) -> None:
    assert "This site doesn’t send mail" in anyone.get("/account/forgot").words
    assert anyone.post("/account/forgot", {"email": "ana@mail.example"}).status == 404


def test_an_address_is_verified_by_the_button_of_a_mail(office: PostOffice, anyone: Browser, table: Table) -> None:
    anyone.post("/account/sign-up", ANA)
    (mail,) = office.deliver()
    form = another().get(mail.link)
    assert not is_verified(users.get(table, "ana"))  # what follows links presses no buttons

    done = another().post("/account/verify", {"token": form.values()["token"]})

    assert "Ana <" not in mail.text  # the name is anyone's text, and the address perhaps a stranger's
    assert "Your email address is confirmed" in done.words
    assert "ana@mail.example · confirmed" in anyone.get("/account").words
    assert another().get(mail.link).status == 404
    anyone.post("/account/email", {"email": "new@mail.example", "email-password": PASSWORD})
    assert "new@mail.example isn’t confirmed yet" in anyone.get("/account").words
    assert [each.to for each in office.deliver()] == ["ana@mail.example", "new@mail.example"]  # the old one is told


HOUR = times.now().replace(minute=0, second=0)


def hour_of(when: datetime) -> str:
    """The message that the clock puts into the queue."""
    return MailWork("digests", "", at=times.to_iso(when)).to_json()


@pytest.fixture
def reader(office: PostOffice, ana: Browser, table: Table) -> Browser:
    """Ana, who wants the day's messages at the hour that it is, and has some. One is in her inbox later."""
    table.write(account_checks.change("ana", "SET VerifiedEmail = Email"))
    ana.post("/account/digest", {"hour": str(HOUR.hour)})
    for number, hours in enumerate((1, 20, 30)):
        about = a_deal(HOUR - timedelta(hours=hours), title=f"Shoe {number}", link=f"https://shop.example/{number}")
        shown_at = HOUR + timedelta(hours=7) if number == 1 else None
        table.write(messages.sending(messages.compose(messages.of_deal(about, "hot"), "ana", shown_at)))
    return ana


def has_news(table: Table, name: str) -> None:
    """Let another reader of that hour have a message."""
    join(table, name)
    table.write(account_checks.change(name, "SET VerifiedEmail = Email"))
    digests.choose_hour(table, users.get(table, name), HOUR.hour, bytes(16), HOUR)
    news = messages.of_deal(a_deal(HOUR - timedelta(hours=2)), "hot")
    table.write(messages.sending(messages.compose(news, name)))


def test_the_days_unread_messages_are_mailed_once(office: PostOffice, reader: Browser) -> None:
    office.queue.send([hour_of(HOUR), hour_of(HOUR)])
    sent = office.deliver()
    office.queue.send([hour_of(HOUR + timedelta(minutes=7)), hour_of(HOUR - timedelta(days=2))])

    (mail,) = sent
    assert mail.subject == "2 new unread messages"
    assert ("Ana <Müller>" in mail.text, "Ana &lt;Müller&gt;" in mail.html) == (True, True)
    assert ["Shoe 0" in mail.text, "Shoe 1" in mail.html, "Shoe 2" in mail.text] == [True, True, False]
    assert office.deliver() == []


def test_a_mail_shows_colours_of_a_product_as_one_says_why_and_leads_to_what_stops_such_messages(
    office: PostOffice, reader: Browser, table: Table
) -> None:
    alike = [a_deal(HOUR - timedelta(hours=2), title="Coat", variant=colour) for colour in ("blue", "red")]
    for deal in alike:
        table.write(messages.sending(messages.compose(messages.of_deal(deal, "brand"), "ana")))

    office.queue.send([hour_of(HOUR)])
    (mail,) = office.deliver()
    (opened,) = re.findall('href="[^"]*(/my/inbox/[^"]*[?]alike=yes)"', mail.html)
    reader.get(opened)

    assert mail.subject == "3 new unread messages"
    for form in (mail.text, mail.html):
        assert form.count("2 colours and sizes") == 1
        assert [why in form for why in ("Hot", "You watch Apple")] == [True, True]
        assert ["/my/watches#row-brand-apple" in form, "/my/watches#hot" in form] == [True, True]
    left = messages.latest(table, "ana", limit=9, now=HOUR, unread=True).items
    assert not {each.about.deal_id for each in left if isinstance(each.about, AboutDeal)} & {d.deal_id for d in alike}


def test_messages_of_a_mail_that_ses_has_not_confirmed_come_with_the_next(
    office: PostOffice, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unanswered(_: Sender, mail: Mail) -> None:
        raise NoAnswer("SES")

    with monkeypatch.context() as patched:
        patched.setattr(Sender, "send", unanswered)
        office.queue.send([hour_of(HOUR)])
        assert office.deliver() == []
    office.queue.send([hour_of(HOUR)])
    assert office.deliver() == []  # perhaps it was sent

    office.queue.send([hour_of(HOUR + timedelta(days=1))])

    assert [mail.subject for mail in office.deliver()] == ["2 new unread messages"]


def test_a_message_that_cannot_be_marked_comes_again_and_the_mail_counts_as_sent(
    office: PostOffice, reader: Browser, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, failing = digests.mark, [messages.latest(table, "ana", limit=1, now=HOUR).items[0].message_id]

    def throttled_once(table: Table, message: Message, now: datetime) -> None:
        if message.message_id in failing:
            failing.remove(message.message_id)
            raise Busy("throttled")
        mark(table, message, now)

    monkeypatch.setattr(digests, "mark", throttled_once)
    office.queue.send([hour_of(HOUR)])
    assert [mail.subject for mail in office.deliver()] == ["2 new unread messages"]
    assert office.deliver() == []

    office.queue.send([hour_of(HOUR + timedelta(days=1))])

    (again,) = office.deliver()
    assert ["Shoe 0" in again.text, "Shoe 1" in again.text] == [True, False]


def test_what_mails_take_is_what_the_document_says(office: PostOffice, reader: Browser, table: Table) -> None:
    for number in range(8):
        coat = a_deal(HOUR - timedelta(hours=2), title=f"Coat {number}", link=f"https://shop.example/coat-{number}")
        about = messages.of_deal(coat, "hot")
        table.write(messages.sending(messages.compose(about, "ana")))
    trace = Trace(detailed=False).attach(table)

    def a_days_mail() -> None:
        (name,) = digests.readers(table, HOUR.hour, "", digests.COHORT)
        ana = users.without_addresses(table, name)
        rows, _ = digests.news(table, ana, HOUR)
        shown = [*chain.from_iterable(rows)]
        assert len(shown) == 10
        assert digests.claim(table, ana, HOUR, "delivery")
        digests.note_mailed(table, shown, HOUR)

    def a_link() -> None:
        mailing.issue_token(table, users.of_email(table, "ana@mail.example"), "reset", HOUR, bytes(32))

    for name, step in {"a day's mail of ten messages": a_days_mail, "a link to a new password": a_link}.items():
        trace.start_over()
        step()
        took = trace.capacity
        assert f"| {name} | {took.read:g} | {took.write:g} | {took.dollars / 1000:.4f} |" in PAGE


def test_all_readers_of_an_hour_are_mailed_later_where_ses_is_too_busy(
    office: PostOffice, reader: Browser, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "COHORT", 1)
    has_news(table, "ben")
    office.queue.send([hour_of(HOUR)])
    office.busy = True
    assert office.deliver() == []
    office.busy = False

    assert [mail.to for _ in range(3) for mail in office.deliver()] == ["ana@mail.example", "ben@mail.example"]


@pytest.mark.damages
def test_a_readers_failure_keeps_no_other_reader_from_being_mailed(
    office: PostOffice, reader: Browser, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "COHORT", 2)
    for name in ("abe", "ben", "cy"):  # ana comes second
        has_news(table, name)
    table.write(account_checks.change("ben", "REMOVE CreatedAt"))  # damaged by hand
    read, failing = digests.news, ["ana"]

    def throttled_once(table: Table, user: User, due: datetime) -> tuple[Sequence[Sequence[Message]], int]:
        if user.username in failing:
            failing.remove(user.username)
            raise Busy("throttled")
        return read(table, user, due)

    monkeypatch.setattr(digests, "news", throttled_once)
    office.queue.send([hour_of(HOUR)])

    sent = [mail.to for _ in range(4) for mail in office.deliver()]

    assert sorted(sent) == ["abe@mail.example", "ana@mail.example", "cy@mail.example"]
    assert sent[0] == "abe@mail.example"


@pytest.mark.damages
def test_a_digest_leaves_out_a_message_that_cannot_be_read(
    office: PostOffice, reader: Browser, table: Table, caplog: pytest.LogCaptureFixture
) -> None:
    newest = messages.latest(table, "ana", limit=1, now=HOUR).items[0]
    key = keys.message("ana", newest.message_id)
    table.write(update(key, "SET Price = :price", values={":price": "abc"}, condition=None, refused=None))

    office.queue.send([hour_of(HOUR)])
    (mail,) = office.deliver()

    assert mail.subject == "1 new unread message"
    assert ["Shoe 0" in mail.text, "Shoe 1" in mail.text] == [False, True]
    assert reader.get("/my/inbox").status == 200
    named = [f"{key['PK']} / {key['SK']}"]
    lines = [(line.message, line.__dict__["damaged"]) for line in caplog.records if hasattr(line, "damaged")]
    assert lines == [("mailed", named), ("request", named)]


def test_one_click_of_a_mail_program_ends_the_mails(office: PostOffice, reader: Browser, table: Table) -> None:
    office.queue.send([hour_of(HOUR)])
    (mail,) = office.deliver()
    link = mail.headers["List-Unsubscribe"].strip("<>").partition(ORIGIN)[2]

    reader.post("/account/digest", {"hour": str(HOUR.hour)})  # older links go on working
    page = another().get(link)
    forged = clicked(link.replace("token=ana.", "token=ana.0"))
    assert settings_of(users.get(table, "ana")).digest_hour == HOUR.hour
    done = clicked(link)

    assert mail.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "Stop the daily mails?" in page.words
    assert (forged, done) == (404, 200)
    assert settings_of(users.get(table, "ana")).digest_hour is None
    assert digests.readers(table, HOUR.hour, "", 9) == []


def test_bounces_for_good_and_complaints_stop_all_mail(office: PostOffice, reader: Browser, table: Table) -> None:
    about = [{"emailAddress": "Ana@mail.example"}]
    bounces = {
        kind: {"eventType": "Bounce", "bounce": {"bounceType": kind, "bouncedRecipients": about}}
        for kind in ("Transient", "Permanent")
    }
    complaint = {"eventType": "Complaint", "complaint": {"complainedRecipients": about}}
    praise = {
        "eventType": "Complaint",
        "complaint": {"complainedRecipients": about, "complaintFeedbackType": "not-spam"},
    }
    wanted = ((bounces["Transient"], False), (praise, False), (bounces["Permanent"], True), (complaint, True))
    for told, stops in wanted:
        office.queue.send([json.dumps(told)])
        office.deliver()
        office.queue.send([MailWork("reset", "ana@mail.example").to_json()])

        assert len(office.deliver()) == (0 if stops else 1)
        assert ("no longer send mail to it" in reader.get("/account").words) == stops
        mailing.resume(table, "ana")

    assert not is_stopped(users.get(table, "ana"))


def test_a_mail_is_small_and_loads_nothing(office: PostOffice, reader: Browser, table: Table) -> None:
    for number in range(digests.ROWS):
        address = f"https://shop.example/coat-{number}"
        about = a_deal(HOUR - timedelta(minutes=number + 1), title=f"{number:Ü>200}", link=address)
        table.write(messages.sending(messages.compose(messages.of_deal(about, "hot"), "ana")))
    reader.post("/account/forgot", {"email": "ana@mail.example"})
    office.queue.send([hour_of(HOUR)])

    sent = office.deliver()

    (digest,) = (mail for mail in sent if mail.subject == f"{digests.ROWS + 2} new unread messages")
    assert all("2 more messages will come with the next mail" in form for form in (digest.text, digest.html))
    for mail in sent:
        assert len((mail.text + mail.html).encode()) <= 20 * 1024  # Gmail cuts a mail of more than 102 KB
        assert "src=" not in mail.html
        assert "url(" not in mail.html
        assert "1 Main Street, Springfield" in mail.text
