"""What failed for good: units of work in the fan-out's dead-letter queue, and batches of the stream.

A parked unit is sent to its queue again. A parked batch names its place in the stream, not its records: they are read
again, for as long as the stream remembers them (24 hours), and handed to the function that failed on them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from shared.data.queues import Parked, Queue
from shared.errors import DealsError, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_lambda import LambdaClient


class Forgotten(DealsError):
    """The stream no longer has these records: they are older than 24 hours."""


class StillFailing(DealsError):
    """The function failed on these records again."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of the stream that a function failed on."""

    function: str
    stream: str
    shard: str
    first: str
    last: str
    size: int
    reason: str

    @classmethod
    def of(cls, body: str) -> Batch | None:
        """The batch that a parked message tells of, or None for a message of another kind.

        Shape: https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
        """
        told = json.loads(body)
        place = told.get("DDBStreamBatchInfo") if isinstance(told, Mapping) else None
        if not place:
            return None
        context = told["requestContext"]
        return cls(
            function=context["functionArn"],
            stream=place["streamArn"],
            shard=place["shardId"],
            first=place["startSequenceNumber"],
            last=place["endSequenceNumber"],
            size=int(place["batchSize"]),
            reason=context["condition"],
        )


def resend(queue: Queue, dead_letters: Queue, parked: Parked) -> None:
    """Send a parked unit to its queue again, then take it out of the dead-letter queue."""
    queue.send([parked.body])
    dead_letters.remove(parked)


@dataclass(frozen=True, slots=True)
class Replayer:
    """Reads a parked batch's records from the stream again and hands them to its function."""

    streams: DynamoDBStreamsClient
    functions: LambdaClient

    def replay(self, batch: Batch) -> int:
        """Hand a batch to its function; returns its number of records. Raises Forgotten, StillFailing."""
        records = self._records(batch)
        try:
            answer = self.functions.invoke(
                FunctionName=batch.function, Payload=json.dumps({"Records": records}, default=_plain).encode()
            )
            said = json.loads(answer["Payload"].read() or b"null") or {}
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"The function cannot be called: {error}") from error
        if answer.get("FunctionError") or said.get("batchItemFailures"):
            raise StillFailing(f"The function failed again: {json.dumps(said)[:300]}")
        return len(records)

    def _records(self, batch: Batch) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        try:
            iterator: str | None = self.streams.get_shard_iterator(
                StreamArn=batch.stream,
                ShardId=batch.shard,
                ShardIteratorType="AT_SEQUENCE_NUMBER",
                SequenceNumber=batch.first,
            )["ShardIterator"]
            while iterator and len(records) < batch.size:
                answer = self.streams.get_records(ShardIterator=iterator, Limit=batch.size - len(records))
                records += [dict(record) for record in answer["Records"]]
                iterator = answer.get("NextShardIterator") if answer["Records"] else None
        except ClientError as error:
            if error.response["Error"]["Code"] in ("TrimmedDataAccessException", "ExpiredIteratorException"):
                raise Forgotten("The stream no longer has these records.") from error
            raise Unavailable(f"The stream cannot be read: {error}") from error
        within = [r for r in records if int(r["dynamodb"]["SequenceNumber"]) <= int(batch.last)]
        if not within:
            raise Forgotten("The stream no longer has these records.")
        return within


def _plain(value: Any) -> Any:
    """What an API answers as a rich type, as Lambda delivers it: times as epoch seconds, bytes as base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.timestamp()


def replayer(**client_arguments: Any) -> Replayer:
    """A replayer with the credentials that the environment gives boto3."""
    return Replayer(boto3.client("dynamodbstreams", **client_arguments), boto3.client("lambda", **client_arguments))
