"""From the queue to the readers' mailboxes: each message of the queue is a mail to send."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import EventType

from shared import ses
from shared.data.members import email_tokens, users
from shared.data.members.email_tokens import Purpose
from shared.data.members.mail_work import MailWork
from shared.data.members.sessions import TOKEN_BYTES
from shared.errors import NoSuchUser
from shared.html import mails
from shared.models.mail import Mail
from shared.models.members import User
from shared.runtime import metrics
from shared.runtime.batches import each_record
from shared.runtime.environment import logger, table
from shared.runtime.mail import sender
from shared.runtime.reporting import measured, report
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Send each mail; those that fail go back to the queue, the others do not."""
    return each_record(event, context, EventType.SQS, work)


def work(record: SQSRecord) -> None:
    """Send what a message asks for, if there is still somebody to send it to."""
    asked = MailWork.from_json(record.body)
    try:
        outcome = _reset(asked)
    except NoSuchUser:
        outcome = "nobody"
    logger().info("mailed", kind=asked.kind, outcome=outcome, **measured())


def _reset(asked: MailWork) -> str:
    """Mail a link to a new password to whoever has an address. Raises NoSuchUser."""
    user = users.of_email(table(), asked.to)
    return _send(mails.reset(user, _token(user, "reset")))


def _token(user: User, purpose: Purpose) -> str:
    return email_tokens.issue(table(), user, purpose, times.now(), secrets.token_bytes(TOKEN_BYTES))


def _send(mail: Mail) -> str:
    """Send a mail; returns what became of it. A mail that SES refuses is not sent again, others are no worse for it."""
    try:
        sender().send(mail)
    except ses.Refused as error:
        report(metrics.MAILS_REFUSED)
        logger().warning("SES refuses a mail", reason=str(error))
        return "refused"
    report(metrics.MAILS_SENT)
    return "sent"
