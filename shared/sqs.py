"""SQS: sending units of work, and reading and removing what is in a queue, a dead-letter queue too.

After throttling or a broken connection a request is tried again, within the time that an invocation has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.dynamodb import aws_errors
from shared.dynamodb.aws_errors import Budget, Service
from shared.dynamodb.client import client_of
from shared.errors import Busy

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient  # noqa: F401  # named in quotes

BATCH = 10
"""Messages one SendMessageBatch takes."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message that was received. ``receipt`` is what removes it."""

    message_id: str
    body: str
    received: int
    receipt: str


@dataclass(frozen=True, slots=True)
class Queue(Service["SQSClient"]):
    """An SQS queue."""

    called = "The queue"
    url: str

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages, ten a request. Raises Busy where some are refused for too long; then send all again."""
        for start in range(0, len(bodies), BATCH):
            self._send_batch(bodies[start : start + BATCH])

    def receive(self, *, wait: int = 0) -> Iterator[Received]:
        """The messages that are visible now, each hidden from others for half a minute.

        With ``wait`` (in seconds, fewer than an answer may take) SQS asks all of its servers; else only some, and may
        overlook a message.
        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
        """
        while True:
            answer = self.call(
                self.client.receive_message,
                QueueUrl=self.url,
                MaxNumberOfMessages=BATCH,
                VisibilityTimeout=30,
                WaitTimeSeconds=wait,
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
            )
            if not answer.get("Messages"):
                return
            for message in answer["Messages"]:
                received = int(message.get("Attributes", {}).get("ApproximateReceiveCount", 1))
                yield Received(message["MessageId"], message["Body"], received, message["ReceiptHandle"])

    def remove(self, message: Received) -> None:
        """Remove a message that has been dealt with."""
        self.call(self.client.delete_message, QueueUrl=self.url, ReceiptHandle=message.receipt)

    def release(self, message: Received) -> None:
        """Make a message that was only looked at visible again."""
        self.call(
            self.client.change_message_visibility, QueueUrl=self.url, ReceiptHandle=message.receipt, VisibilityTimeout=0
        )

    def _send_batch(self, bodies: Sequence[str]) -> None:
        entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(bodies)]

        def once() -> None:
            nonlocal entries
            answer = self.ask(self.client.send_message_batch, QueueUrl=self.url, Entries=entries)
            # Count only what SQS lists as Successful.
            sent = {success["Id"] for success in answer.get("Successful", [])}
            entries = [entry for entry in entries if entry["Id"] not in sent]
            if entries:
                raise Busy("The queue refuses messages.")

        self.retry(once, when=aws_errors.AGAIN)


def connect(url: str, budget: Budget | None = None, /, **client_arguments: Any) -> Queue:
    """The queue of an address, with the credentials that the environment gives boto3. No request outlasts a budget."""
    budget = budget or Budget()
    return Queue(url, client=client_of("sqs", budget, client_arguments), budget=budget)
