"""Mail by Amazon SES: the queue of mail for the functions that ask for it, and the sender for the one that sends it.

A stage without the setting has neither. A request that got no answer may have been a mail that was sent: SES takes no
idempotency key.
https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from shared import services
from shared.dynamodb import aws_errors
from shared.dynamodb.aws_errors import Budget, Service
from shared.dynamodb.client import client_of
from shared.errors import Busy, DealsError, Impossible
from shared.runtime.environment import budget, credentials
from shared.runtime.metrics import Metric
from shared.services import Queue

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_sesv2 import SESV2Client  # noqa: F401  # named in quotes

    from shared.models.mail import Mail

MAILS_SENT = Metric("MailsSent", "Count", ("mailer",))
MAILS_REFUSED = Metric("MailsRefused", "Count", ("mailer",))
"""Mails that SES took, and those that it did not: in its sandbox it takes none to addresses that are not verified."""

DELIVERY = (MAILS_SENT, MAILS_REFUSED)
"""The metrics that the dashboard shows beside the messages delivered."""


def is_sent() -> bool:
    """Whether this stage sends mail."""
    return "MAIL_QUEUE_URL" in os.environ


@cache
def mail_queue() -> Queue | None:
    """The queue of what is to be mailed, connected at first use; None on a stage that sends no mail."""
    return services.connect_queue(os.environ["MAIL_QUEUE_URL"], budget(), **credentials()) if is_sent() else None


@cache
def sender() -> Sender:
    """Whom this stage's mails are from."""
    address, reply_to = os.environ["MAIL_SENDER"], os.environ["MAIL_REPLY_TO"]
    return connect_sender(address, reply_to, os.environ["MAIL_CONFIGURATION_SET"], budget(), **credentials())


REFUSED = {"MessageRejected", "BadRequestException"}
"""SES's answers about this one mail: sending it again would not help, and others may be sent."""

DENIED = "AccessDeniedException"
"""SES's answer where the role has no right to an identity. If the recipient is an identity of the account too, as all
are in the sandbox, SES asks for the right to that one (aws-sdk-js, issue 3641); the mailer has it to the sender's."""

TOO_FAST = {"TooManyRequestsException", "LimitExceededException"}
"""Answers of SES above the account's rate; DynamoDB and SQS have other words for it."""


class Refused(Impossible):
    """SES does not take this mail, for what is in it or for whom it is to."""


@dataclass(frozen=True, slots=True)
class Sender(Service["SESV2Client"]):
    """Whom mails are from: ``address`` may hold a name, ``configuration_set`` says where bounces are reported."""

    called = "SES"
    address: str
    reply_to: str
    configuration_set: str

    def send(self, mail: Mail) -> str:
        """Send a mail; returns SES's id of it. Raises Refused, Busy, Unavailable; NoAnswer where it may be sent."""
        simple = {
            "Subject": _text(mail.subject),
            "Body": {"Text": _text(mail.text), "Html": _text(mail.html)},
            "Headers": [{"Name": name, "Value": value} for name, value in mail.headers.items()],
        }
        asked: dict[str, Any] = {
            "FromEmailAddress": self.address,
            "ReplyToAddresses": [self.reply_to],
            "Destination": {"ToAddresses": [mail.to]},
            "Content": {"Simple": simple},
            "ConfigurationSetName": self.configuration_set,
        }
        answer = self.retry(lambda: self.ask(self.client.send_email, **asked), when=Busy)
        return str(answer["MessageId"])

    def meaning(self, error: ClientError) -> DealsError:
        """Our error for a refusal."""
        code = error.response["Error"]["Code"]
        ours = (
            f":identity/{self.address.rpartition('@')[2].rstrip('>')}",
            f":configuration-set/{self.configuration_set}",
        )
        if code in REFUSED or (code == DENIED and not any(each in str(error) for each in ours)):
            return Refused(f"SES refuses a mail: {code}")  # its message names whom the mail is to
        return Busy(f"SES: {error}") if code in TOO_FAST else aws_errors.domain_error(error, self.called)


def connect_sender(
    address: str, reply_to: str, configuration_set: str, budget: Budget | None = None, /, **client_arguments: Any
) -> Sender:
    """The sender of an address, with the credentials that the environment gives boto3."""
    budget = budget or Budget()
    client = client_of("sesv2", budget, client_arguments)
    return Sender(address, reply_to, configuration_set, client=client, budget=budget)


def _text(data: str) -> dict[str, str]:
    return {"Data": data, "Charset": "UTF-8"}
