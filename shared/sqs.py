"""SQS: sending units of work, and reading, resending and removing those that were parked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from shared.errors import Busy, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

BATCH = 10
"""Messages one SendMessageBatch takes."""

MAX_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Parked:
    """A message in a dead-letter queue. ``receipt`` is what removes it."""

    message_id: str
    body: str
    received: int
    receipt: str


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue."""

    url: str
    client: SQSClient
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages, ten a request. Raises Busy where some are refused for too long; then send all again."""
        for start in range(0, len(bodies), BATCH):
            self._send_batch(bodies[start : start + BATCH])

    def parked(self, *, wait: int = 0) -> Iterator[Parked]:
        """The messages that are visible now, each hidden from others for half a minute.

        With ``wait`` (in seconds) SQS asks all of its servers; else only some, and may overlook a message.
        """
        while True:
            answer = _request(
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
                yield Parked(message["MessageId"], message["Body"], received, message["ReceiptHandle"])

    def remove(self, parked: Parked) -> None:
        """Remove a message that has been dealt with."""
        _request(self.client.delete_message, QueueUrl=self.url, ReceiptHandle=parked.receipt)

    def release(self, parked: Parked) -> None:
        """Make a message that was only looked at visible again."""
        _request(
            self.client.change_message_visibility, QueueUrl=self.url, ReceiptHandle=parked.receipt, VisibilityTimeout=0
        )

    def _send_batch(self, bodies: Sequence[str]) -> None:
        entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(bodies)]
        for attempt in range(MAX_ATTEMPTS):
            answer = _request(self.client.send_message_batch, QueueUrl=self.url, Entries=entries)
            failed = {failure["Id"] for failure in answer.get("Failed", [])}
            entries = [entry for entry in entries if entry["Id"] in failed]
            if not entries:
                return
            self.sleep(0.05 * 2**attempt)
        raise Busy("The queue refuses messages; try again.")


def _request(request: Callable[..., Any], **arguments: Any) -> Any:
    try:
        return request(**arguments)
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"The queue cannot answer: {error}") from error


def connect(url: str, **client_arguments: Any) -> Queue:
    """The queue of an address, with the credentials that the environment gives boto3."""
    return Queue(url, boto3.client("sqs", **client_arguments))
