"""AWS's services other than DynamoDB: SQS for units of work.

After throttling or a broken connection a request is tried again, within the time that an invocation has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.dynamodb import aws_errors
from shared.dynamodb.aws_errors import Budget, Service
from shared.dynamodb.client import client_of
from shared.errors import Busy, DealsError, Unavailable

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_sqs import SQSClient  # noqa: F401  # named in quotes


BATCH = 10
"""Messages one SendMessageBatch takes."""

_NO_TASKS = ("InvalidAction", "AWS.SimpleQueueService.UnsupportedOperation")
"""Codes of an endpoint that has no tasks that move messages: MiniStack's, and AWS's."""


class NoMoveTasks(Unavailable):
    """The endpoint has no tasks that move messages."""


@dataclass(frozen=True, slots=True)
class Received:
    """A received message. Its ``receipt`` removes it."""

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
        """Send messages, ten a request. Raises Busy if some are refused for too long; then send all again."""
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
        """Remove a message that is done."""
        self.call(self.client.delete_message, QueueUrl=self.url, ReceiptHandle=message.receipt)

    def release(self, message: Received) -> None:
        """Make a message visible again."""
        self.call(
            self.client.change_message_visibility, QueueUrl=self.url, ReceiptHandle=message.receipt, VisibilityTimeout=0
        )

    def move(self, messages: Iterable[Received], to: Queue, progress: Callable[[str], object]) -> None:
        """Have SQS move all messages of this dead-letter queue, these included, to a queue, and wait for it.

        An interruption ends the task, too; what is moved stays moved. Raises NoMoveTasks, and Unavailable where a task
        is refused (one may run at a time) or fails.
        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
        """
        arn = self._arn()
        earlier = self._tasks(arn)  # an endpoint without tasks says so before the messages are released
        for message in messages:  # a task may overlook what is hidden
            self.release(message)
        begun = self.ask(self.client.start_message_move_task, SourceArn=arn, DestinationArn=to._arn())
        try:
            while (listed := self._tasks(arn)) == earlier or listed[0]["Status"] == "RUNNING":
                if listed != earlier:  # the list may lag behind the start
                    progress(_moved(listed[0]))
                self.sleep(1)
        except KeyboardInterrupt:
            self.call(self.client.cancel_message_move_task, TaskHandle=begun["TaskHandle"])
            raise
        task = listed[0]
        if task["Status"] != "COMPLETED":
            why = task.get("FailureReason", "no reason given")
            raise Unavailable(f"{_moved(task)}, then the task was {task['Status']}: {why}")

    def meaning(self, error: ClientError) -> DealsError:
        """Our error for a refusal."""
        if error.response["Error"]["Code"] in _NO_TASKS:
            return NoMoveTasks(f"The queue cannot do this: {error}")
        return aws_errors.domain_error(error, self.called)

    def _arn(self) -> str:
        answer = self.call(self.client.get_queue_attributes, QueueUrl=self.url, AttributeNames=["QueueArn"])
        return str(answer["Attributes"]["QueueArn"])

    def _tasks(self, arn: str) -> Any:
        """The tasks that move messages out of a queue, newest first."""
        return self.call(self.client.list_message_move_tasks, SourceArn=arn)["Results"]

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


def _moved(task: Mapping[str, Any]) -> str:
    """A task's progress. SQS's counts are approximate, and the total comes only after the start."""
    count, total = task["ApproximateNumberOfMessagesMoved"], task.get("ApproximateNumberOfMessagesToMove", "?")
    return f"{count} of {total} messages are moved"


def connect_queue(url: str, budget: Budget | None = None, /, **client_arguments: Any) -> Queue:
    """The queue of an address, with the credentials that the environment gives boto3. No request outlasts a budget."""
    budget = budget or Budget()
    return Queue(url, client=client_of("sqs", budget, client_arguments), budget=budget)


def regions(service: str) -> list[str]:
    """The regions that have a service, by its name in boto3, as far as boto3 knows."""
    import botocore.session  # noqa: PLC0415  # for those who deploy; no function needs it

    return [*botocore.session.get_session().get_available_regions(service)]
