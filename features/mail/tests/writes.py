"""The actions of mail, for ``tests/interleave``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

from features.mail import mailer
from features.mail.data import digests, mailing
from features.mail.data.mailing import MailWork
from shared.data.members import users
from shared.values import identifiers
from shared.values.times import to_iso
from tests.interleave.beginning import ADDRESS, LATER
from tests.interleave.processes import CONTEXT, failed, serving
from tests.interleave.stepping import HERE
from tests.support import surroundings
from tests.support.factories import NOW

if TYPE_CHECKING:
    from shared.models.members import User
    from tests.interleave.processes import Process

DUE = LATER.replace(minute=0)


def prepare(at: Process) -> None:
    """Ana has a digest at this hour, of one unread message."""
    token = mailing.issue_token(at.table, ana(at), "verify", NOW, b"v" * 32)
    mailing.verify_email(at.table, token, NOW)
    digests.choose_hour(at.table, ana(at), DUE.hour, b"k" * 16, NOW)
    mailing.stop(at.table, "bo@mail.example", "bounce")
    for purpose in ("verify", "reset"):
        mailing.issue_token(at.table, ana(at), purpose, NOW, purpose.encode().ljust(32, b"-"))


def ana(at: Process) -> User:
    return users.get(at.table, "ana", consistent=True)


def token(purpose: str) -> str:
    return f"ana.{identifiers.token(purpose.encode().ljust(32, b'-'))}"


def claimant(_size: int) -> str:
    """The name of a delivery, another one in each process."""
    return f"claimant {HERE.actor.number}"


@contextmanager
def posted() -> Iterator[None]:
    """A post office that takes every mail."""
    with (
        mock.patch.object(mailer, "sender", return_value=SimpleNamespace(send=lambda _mail: "an id")),
        mock.patch.object(mailer, "mail_queue", return_value=None),
        mock.patch.object(mailer, "secrets", SimpleNamespace(token_hex=claimant, token_bytes=bytes)),
        mock.patch.dict("os.environ", SITE_URL="https://deals.example"),
    ):
        yield


def work(at: Process, body: str) -> str:
    """The mailer handles a message of its queue."""
    (like, *_) = surroundings.event("mailer-work")["Records"]
    with serving(at):
        return failed(mailer.handler({"Records": [{**like, "body": body}]}, CONTEXT))


def mail_digest(at: Process) -> bool:
    """Mail Ana's digest; returns whether it was sent. Of two deliveries one sends it."""
    with serving(at):
        return mailer._digest("ana", DUE) == "sent"


def release(at: Process) -> bool:
    """A delivery claims a mail, and gives it up."""
    claimed = digests.claim(at.table, ana(at), DUE, f"claimant {at.seed}")
    digests.release(at.table, ana(at), DUE, f"claimant {at.seed}")
    return claimed


def ask_for_reset(at: Process) -> None:
    """Its work is for the queue of mail."""
    queue: Any = SimpleNamespace(send=lambda _bodies: None)
    mailing.ask_for_reset(at.table, queue, "nobody@mail.example", ADDRESS, LATER)


WRITES = {
    "choose digest": lambda at: digests.choose_hour(at.table, ana(at), 7, at.entropy(), LATER),
    "leave digest": lambda at: digests.choose_hour(at.table, ana(at), None, at.entropy(), LATER),
    "mail digest": mail_digest,
    "claim and release digest": release,
    "work of the mailer": lambda at: work(at, MailWork("digests", "", at=to_iso(DUE)).to_json()),
    "mail verification": lambda at: work(at, MailWork("verify", "bo", ana(at).account_id).to_json()),
    "stop mail": lambda at: mailing.stop(at.table, "ana@mail.example", "bounce"),
    "resume mail": lambda at: mailing.resume(at.table, "bo"),
    "ask for a new password": ask_for_reset,
    "issue link": lambda at: mailing.issue_token(at.table, ana(at), "reset", LATER, at.entropy(32)),
    "verify email": lambda at: mailing.verify_email(at.table, token("verify"), LATER),
    "reset password": lambda at: mailing.reset_password(at.table, token("reset"), f"reset {at.seed}", LATER).username,
}
BEFORE_WRITES = (prepare,)
AROUND_WRITES = (posted,)
_NOT_AGAIN = "a digest that may have been sent isn't sent again that day"
WRITES_DIFFER = {frozenset({"crash", name}): _NOT_AGAIN for name in ("mail digest", "work of the mailer")}
WRITES_DIFFER[frozenset({"claim and release digest"})] = "another delivery leaves the mail to this one"
_PART = "of a delivery, the digest has what was sent before"
WRITES_DIFFER |= {frozenset({name, "deliver"}): _PART for name in ("mail digest", "work of the mailer")}
WRITES_ONCE_FAILED = (("change email", "stop mail"),)
