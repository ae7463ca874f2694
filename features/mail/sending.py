"""Mail through Amazon SES: the queue for functions that request mail, and the sender for the function that sends it.

A stage without the setting has neither. A request without an answer may have sent the mail: SES takes no idempotency
key.
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
from shared.services import Queue

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_sesv2 import SESV2Client  # noqa: F401  # named in quotes

    from features.mail.models import Mail


def is_sent() -> bool:
    """Whether this stage sends mail."""
    return "MAIL_QUEUE_URL" in os.environ


@cache
def mail_queue() -> Queue | None:
    """The queue of mail to send, connected at first use; None on a stage that sends no mail."""
    return services.connect_queue(os.environ["MAIL_QUEUE_URL"], budget(), **credentials()) if is_sent() else None


@cache
def sender() -> Sender:
    """The sender of this stage's mail."""
    address, reply_to = os.environ["MAIL_SENDER"], os.environ["MAIL_REPLY_TO"]
    return connect_sender(address, reply_to, os.environ["MAIL_CONFIGURATION_SET"], budget(), **credentials())


REFUSED = {"MessageRejected", "BadRequestException"}
"""SES's refusals of a single mail: retrying doesn't help, and other mails may still be sent."""

DENIED = "AccessDeniedException"
"""SES's answer if the role has no right to an identity. If the recipient is an identity of the account too, as all are
in the sandbox, SES requires the right to that one (aws-sdk-js, issue 3641); the mailer has it for the sender's."""

TOO_FAST = {"TooManyRequestsException", "LimitExceededException"}
"""SES's answers above the account's rate; DynamoDB and SQS use other codes."""


class Refused(Impossible):
    """SES refuses this mail because of its content or recipient."""


@dataclass(frozen=True, slots=True)
class Sender(Service["SESV2Client"]):
    """The sender of mails: ``address`` may hold a name, ``configuration_set`` says where bounces are reported."""

    called = "SES"
    address: str
    reply_to: str
    configuration_set: str

    def send(self, mail: Mail) -> str:
        """Send a mail; returns SES's id. Raises Refused, Busy, Unavailable; NoAnswer if it may have been sent."""
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
        """The domain error of a refusal."""
        code = error.response["Error"]["Code"]
        ours = (
            f":identity/{self.address.rpartition('@')[2].rstrip('>')}",
            f":configuration-set/{self.configuration_set}",
        )
        if code in REFUSED or (code == DENIED and not any(each in str(error) for each in ours)):
            return Refused(f"SES refuses a mail: {code}")  # SES's message names the recipient
        return Busy(f"SES: {error}") if code in TOO_FAST else aws_errors.domain_error(error, self.called)


def connect_sender(
    address: str, reply_to: str, configuration_set: str, budget: Budget | None = None, /, **client_arguments: Any
) -> Sender:
    """A sender with an address, and the credentials that the environment gives boto3."""
    budget = budget or Budget()
    client = client_of("sesv2", budget, client_arguments)
    return Sender(address, reply_to, configuration_set, client=client, budget=budget)


def _text(data: str) -> dict[str, str]:
    return {"Data": data, "Charset": "UTF-8"}
