"""Mail in a test's own process: the queue and SES are moto's, and the mailer works when a test calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

import boto3
import pytest

from features.mail import mailer
from features.mail.data import digests, mailing
from features.mail.data.mailing import Purpose
from features.mail.sending import sender
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.errors import Busy
from shared.services import Queue
from shared.values import identifiers
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.rights import within_rights
from tests.support.surroundings import a_context, hand_over, queue_in_process

SENDER = "deals@mail.example"
VARIABLES = {
    "MAIL_SENDER": f"Big Time Deals <{SENDER}>",
    "MAIL_REPLY_TO": SENDER,
    "MAIL_POSTAL_ADDRESS": "1 Main Street, Springfield",
    "MAIL_CONFIGURATION_SET": "mails",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A mail as SES was asked to send it."""

    to: str
    subject: str
    text: str
    html: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Sent:
        simple = request["Content"]["Simple"]
        (to,) = request["Destination"]["ToAddresses"]
        text, html = (simple["Body"][form]["Data"] for form in ("Text", "Html"))
        headers = {each["Name"]: each["Value"] for each in simple["Headers"]}
        return cls(to, simple["Subject"]["Data"], text, html, headers)

    @property
    def link(self) -> str:
        """The path of the first link to the account's pages, with its query, and without the site's origin."""
        return str(re.findall(r"https?://[^/\s]+(/account\S+)", self.text)[0])


@dataclass(slots=True)
class PostOffice:
    """The queue of mail, and what SES was asked to send. While it is ``busy``, SES refuses all."""

    queue: Queue
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    busy: bool = False

    def deliver(self) -> list[Sent]:
        """Let the mailer work until nothing waits; returns the mails sent since the last time. What fails waits."""
        for message in self.queue.receive():
            record = {"messageId": message.message_id, "body": message.body, "eventSource": "aws:sqs"}
            failed = within_rights(mailer)({"Records": [record]}, a_context())["batchItemFailures"]
            assert bool(failed) == self.busy
            self.queue.release(message) if failed else self.queue.remove(message)
            if failed:
                break
        sent = [Sent.of(each) for each in self.asked]
        self.asked.clear()
        return sent


@contextmanager
def open_post_office(monkeypatch: pytest.MonkeyPatch, table: Table) -> Iterator[PostOffice]:
    """A stage that sends mail, and that does not wait before it asks a busy SES again."""
    with queue_in_process() as queue:
        ses = boto3.client("sesv2", **FAKE_CREDENTIALS)  # type: ignore[call-overload]  # all given
        ses.create_email_identity(EmailIdentity=SENDER.partition("@")[2])
        for name, value in {**VARIABLES, "MAIL_QUEUE_URL": queue.url}.items():
            monkeypatch.setenv(name, value)
        hand_over(monkeypatch, table, mailer)
        office = PostOffice(queue)

        def note(params: Mapping[str, Any], **_: Any) -> None:
            if office.busy:
                raise Busy("too many mails a second")
            office.asked.append(params)

        quick = replace(sender(), sleep=lambda _: None)
        quick.client.meta.events.register("provide-client-params.sesv2.SendEmail", note)
        monkeypatch.setattr(mailer, "sender", lambda: quick)
        yield office


def unsubscribing(table: Table, username: str, now: datetime) -> str:
    """The token of the link that ends the mails of a member, who gets them at seven from then on."""
    digests.choose_hour(table, users.get(table, username), 7, bytes(digests.KEY_BYTES), now)
    return quote(digests.unsubscribing(users.get(table, username)))


def token(table: Table, username: str, purpose: Purpose, now: datetime) -> str:
    """The token of another link."""
    return quote(mailing.issue_token(table, users.get(table, username), purpose, now, bytes(identifiers.BYTES)))
