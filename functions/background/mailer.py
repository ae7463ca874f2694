"""From the queue to the readers' mailboxes: each message of the queue is mail to send, or what became of some."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from shared import services, settings
from shared.data.members import mailing, rate_limits, users
from shared.data.members.mailing import MailWork, Purpose, Report
from shared.dynamodb import damage
from shared.errors import NoAnswer, NoSuchUser, SlowDown, Unavailable
from shared.html import mails
from shared.models.members import Mail, User
from shared.runtime import metrics
from shared.runtime.batches import each_message
from shared.runtime.clients import mail_queue, sender
from shared.runtime.environment import logger, table
from shared.runtime.metrics import measured, report
from shared.values import identifiers, times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord


def work(record: SQSRecord) -> None:
    """Handle a message: send a mail if its account still exists, or record a bounce or complaint."""
    match mailing.read_work(record.body):
        case Report() as report_:
            for _ in damage.each(report_.addresses, lambda to: mailing.stop(table(), to, report_.because), str):
                pass
            logger().info("reported", because=report_.because, addresses=len(report_.addresses), **measured())
        case MailWork(kind="digests" | "digest") as hour:
            outcomes = dict(Counter(_digests(hour)))
            logger().info("mailed", kind=hour.kind, at=hour.at, outcomes=outcomes, **measured())
        case MailWork(kind="password" | "email") as notice:
            what = "email address" if notice.kind == "email" else notice.kind
            outcome = _deliver(mails.changed(notice.to, what), proved=False)
            logger().info("mailed", kind=notice.kind, outcome=outcome, **measured())
        case MailWork() as asked:
            outcome = _link(asked)
            logger().info("mailed", kind=asked.kind, outcome=outcome, **measured())


handler = each_message(work)


def _link(asked: MailWork) -> str:
    """Mail a link to the account of an address, or to the account that asked, if it is unchanged."""
    try:
        if asked.kind == "reset":
            user = users.of_email(table(), asked.to)
            return _send(user, mails.reset(user, _token(user, "reset")))
        user = users.to_mail(table(), asked.to)
    except NoSuchUser:
        return "nobody"
    if user.account_id != asked.account_id or user.is_verified:
        return "nobody"
    return _send(user, mails.verify(user, _token(user, "verify")))


def _digests(hour: MailWork) -> list[str]:
    """Mail some readers their day's messages, then queue the readers after them; returns what became of each mail.

    The receipts make a repetition harmless, so the next readers may wait until these are done: SES takes so many mails
    a second, from all senders. Readers who cannot be mailed now are queued one by one, and keep no other waiting. Where
    that is all of them, the fault is not theirs: the last failure is raised, and the queue brings the same work again.
    """
    due = times.from_iso(hour.at).replace(minute=0, second=0)
    if times.now() - due > settings.DIGEST_TOO_LATE:
        return []
    one = hour.kind == "digest"
    names = [hour.to] if one else mailing.readers(table(), due.hour, hour.to, settings.DIGEST_COHORT)
    failures: damage.Failures = []
    outcomes = list(damage.each(names, lambda name: _digest(name, due), str, failures=failures))
    if len(failures) == len(names):
        damage.raise_last(failures)
    work = [replace(hour, kind="digest", to=name) for name, _ in failures]
    if len(names) == settings.DIGEST_COHORT and not one:
        work.append(replace(hour, to=names[-1]))
    queue = mail_queue()
    if queue is not None and work:
        queue.send([each.to_json() for each in work])
    return outcomes


def _digest(name: str, due: datetime) -> str:
    """Mail a reader the day's messages, once. A mail that may have been sent is not sent again that day: its messages
    come with the next one."""
    try:
        user = users.to_mail(table(), name)
    except NoSuchUser:
        return "nobody"
    if user.digest_hour != due.hour or not user.is_verified or user.mail_is_stopped:
        return "unwanted"
    news, more = mailing.news(table(), user, due)
    if not news:
        return "nothing"
    mail, claimant = mails.digest(user, news, more, mailing.unsubscribing(user)), secrets.token_hex(8)
    if not mailing.claim(table(), user, due, claimant):
        return "before"
    try:
        outcome = _send(user, mail)
    except NoAnswer as error:
        logger().warning("SES did not answer", reason=str(error))
        return "perhaps"
    except Unavailable:
        mailing.release(table(), user, due, claimant)
        raise
    if outcome == "sent":
        mailing.note_mailed(table(), news, times.now())
    return outcome


def _token(user: User, purpose: Purpose) -> str:
    return mailing.issue_token(table(), user, purpose, times.now(), secrets.token_bytes(identifiers.BYTES))


def _send(user: User, mail: Mail) -> str:
    """Send a mail; returns what became of it. A mail that SES refuses is not sent again, others are no worse for it."""
    return "stopped" if user.mail_is_stopped else _deliver(mail, proved=user.is_verified)


def _deliver(mail: Mail, *, proved: bool) -> str:
    """Send a mail, unless its address has reached the limit across all kinds of mail."""
    try:
        counted = rate_limits.mail(table(), mail.to, times.now(), proved=proved)
    except SlowDown:
        return "too many"
    try:
        sender().send(mail)
    except NoAnswer:
        raise
    except Unavailable:
        rate_limits.succeed(table(), counted)
        raise
    except services.Refused as error:
        report(metrics.MAILS_REFUSED)
        logger().warning("SES refuses a mail", reason=str(error))
        return "refused"
    report(metrics.MAILS_SENT)
    return "sent"
