"""Send the mails in the queue, and record SES's reports about mail.

Templates make the mails, in plain text and HTML, without pictures or anything that tracks readers.
"""

from __future__ import annotations

import os
import re
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from features.mail.data import digests, mailing
from features.mail.data.mailing import MailWork, Purpose, Report
from features.mail.metrics import MAILS_REFUSED, MAILS_SENT
from features.mail.models import Mail, is_stopped, is_verified, settings_of
from features.mail.sending import Refused, mail_queue, sender
from shared.data.members import rate_limits, users
from shared.dynamodb import damage
from shared.errors import NoAnswer, NoSuchUser, SlowDown, Unavailable
from shared.html.inbox import address_of, more_of, part_that_stops, why
from shared.html.links import absolute
from shared.html.views import money, render
from shared.models.members import User
from shared.models.messages import AboutDeal, Message
from shared.runtime.batches import each_message
from shared.runtime.environment import logger, table
from shared.runtime.metrics import measured, report
from shared.values import identifiers, times
from shared.values.naming import counted

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

_LIKE_A_LINK = re.compile(r"[.\u3002\uff0e\uff61:/@]\S")
"""Characters that may make mail programs see a link: a dot (also an ideographic one), a colon, a slash or an @ within a
word."""


def reset(user: User, token: str) -> Mail:
    """The password reset mail."""
    return _mail("reset", user, "Your link to a new password", address=absolute("/account/reset", token=token))


def verify(user: User, token: str) -> Mail:
    """The verification mail."""
    return _mail("verify", user, "Is this your address?", address=absolute("/account/verify", token=token))


def changed(address: str, what: str) -> Mail:
    """The notice to an account's old address that its ``what`` (password or address) was changed."""
    return _mail("changed", address, f"Your {what} was changed", what=what, address=absolute("/account/forgot"))


def digest(user: User, news: Sequence[Sequence[Message]], more: int, token: str) -> Mail:
    """A day's unread messages, how many more the next mail has, and an unsubscribe link that mail programs can follow.

    The messages of a row of ``news`` are one in the mail, as they are in the inbox.

    https://www.rfc-editor.org/rfc/rfc8058
    """
    leave = absolute("/account/unsubscribe", token=token)
    rows = [
        {
            "subject": each.subject,
            "price": money(each.about.price, each.about.currency) if isinstance(each.about, AboutDeal) else "",
            "address": absolute((of := address_of(alike))[0], alike=of[1]),
            "more": more_of(alike),
            "why": why(each),
            "stop": (part := part_that_stops(each)) and f"{absolute('/my/watches')}#{part}",
        }
        for alike in news
        for each in alike[:1]
    ]
    links = {"inbox": absolute("/my/inbox"), "account": absolute("/account"), "leave": leave}
    subject = counted(len(rows) + more, "new unread message")
    mail = _mail("digest", user, subject, rows=rows, more=more and counted(more, "more message"), **links)
    headers = {"List-Unsubscribe": f"<{leave}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    return replace(mail, headers=headers)


def _mail(template: str, to: User | str, subject: str, **values: Any) -> Mail:
    # A new account may have someone else's address, and any text as a name. So mails to unverified addresses have no
    # name, and no mail has a username, which mail programs turn into a link if it looks like a domain.
    name = to.name if isinstance(to, User) and is_verified(to) and not _LIKE_A_LINK.search(to.name) else ""
    known = {
        "subject": subject,
        "greeting": f"Hello {name}," if name else "Hello,",
        "site": absolute("/"),
        "postal_address": os.environ.get("MAIL_POSTAL_ADDRESS", ""),
    }
    text, html = (render(f"mail/templates/{template}.{form}", **known, **values) for form in ("txt", "html"))
    return Mail(to.email if isinstance(to, User) else to, subject, text, html)


def work(record: SQSRecord) -> None:
    """Handle a message: send its mail if the account still exists, or record a bounce or complaint."""
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
            outcome = _deliver(changed(notice.to, what), proved=False)
            logger().info("mailed", kind=notice.kind, outcome=outcome, **measured())
        case MailWork() as asked:
            outcome = _link(asked)
            logger().info("mailed", kind=asked.kind, outcome=outcome, **measured())


handler = each_message(work)


def _link(asked: MailWork) -> str:
    """Mail a link to the account of an address, or to the requesting account if it is unchanged."""
    try:
        if asked.kind == "reset":
            user = users.of_email(table(), asked.to)
            return _send(user, reset(user, _token(user, "reset")))
        user = users.without_addresses(table(), asked.to)
    except NoSuchUser:
        return "nobody"
    if user.account_id != asked.account_id or is_verified(user):
        return "nobody"
    return _send(user, verify(user, _token(user, "verify")))


def _digests(hour: MailWork) -> list[str]:
    """Mail some readers their digests, then queue the next readers; returns the outcome of each mail.

    Receipts make repetition harmless. The next readers wait, because SES limits the rate of all senders together.
    Readers whose mail fails are queued one by one. If all fail, the cause isn't theirs: the last failure is raised, and
    the queue repeats the work.
    """
    due = times.from_iso(hour.at).replace(minute=0, second=0)
    if times.now() - due > digests.TOO_LATE:
        return []
    one = hour.kind == "digest"
    names = [hour.to] if one else digests.readers(table(), due.hour, hour.to, digests.COHORT)
    failures: damage.Failures = []
    outcomes = list(damage.each(names, lambda name: _digest(name, due), str, failures=failures))
    if len(failures) == len(names):
        damage.raise_last(failures)
    work = [replace(hour, kind="digest", to=name) for name, _ in failures]
    if len(names) == digests.COHORT and not one:
        work.append(replace(hour, to=names[-1]))
    queue = mail_queue()
    if queue is not None and work:
        queue.send([each.to_json() for each in work])
    return outcomes


def _digest(name: str, due: datetime) -> str:
    """Mail a reader the day's messages, once. A mail that may have been sent isn't repeated that day: its messages come
    with the next one."""
    try:
        user = users.without_addresses(table(), name)
    except NoSuchUser:
        return "nobody"
    if settings_of(user).digest_hour != due.hour or not is_verified(user) or is_stopped(user):
        return "unwanted"
    news, more = digests.news(table(), user, due)
    if not news:
        return "nothing"
    mail, claimant = digest(user, news, more, digests.unsubscribing(user)), secrets.token_hex(8)
    if not digests.claim(table(), user, due, claimant):
        return "before"
    try:
        outcome = _send(user, mail)
    except NoAnswer as error:
        logger().warning("SES did not answer", reason=str(error))
        return "perhaps"
    except Unavailable:
        digests.release(table(), user, due, claimant)
        raise
    if outcome == "sent":
        digests.note_mailed(table(), [*chain.from_iterable(news)], times.now())
    return outcome


def _token(user: User, purpose: Purpose) -> str:
    return mailing.issue_token(table(), user, purpose, times.now(), secrets.token_bytes(identifiers.BYTES))


def _send(user: User, mail: Mail) -> str:
    """Send a mail; returns the outcome. A mail that SES refuses isn't sent again, and doesn't stop the others."""
    return "stopped" if is_stopped(user) else _deliver(mail, proved=is_verified(user))


def _deliver(mail: Mail, *, proved: bool) -> str:
    """Send a mail, unless its address has reached the limit for all kinds of mail."""
    try:
        counted = mailing.count_mail(table(), mail.to, times.now(), proved=proved)
    except SlowDown:
        return "too many"
    try:
        sender().send(mail)
    except NoAnswer:
        raise
    except Unavailable:
        rate_limits.succeed(table(), counted)
        raise
    except Refused as error:
        report(MAILS_REFUSED)
        logger().warning("SES refuses a mail", reason=str(error))
        return "refused"
    report(MAILS_SENT)
    return "sent"
