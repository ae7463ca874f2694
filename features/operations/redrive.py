"""``btd redrive``: list what failed permanently, and send it again; ``docs/failures.md`` says when.

That is units of work in the fan-out's dead-letter queue, batches of the stream, and uploads.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Annotated, Any

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from cli.commands import AsJson, NoTable, local_cloud, open_table
from cli.dead_letters import Kind
from cli.output import complain, note, say, show_json, show_rows
from infra.functions import DEAD_LETTERS, OF_FEATURES, QUEUES, WORK
from shared import features, hooks, services
from shared.data import keys
from shared.data.catalog.changes import change_of
from shared.data.members.cohorts import Unit
from shared.dynamodb.attributes import marshal_item, unmarshal_item
from shared.dynamodb.damage import UNREADABLE
from shared.dynamodb.table import Table
from shared.errors import DealsError, Unavailable
from shared.services import NoMoveTasks, Queue, Received
from shared.values.naming import counted

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_lambda import LambdaClient


Record = dict[str, Any]
"""A record of the stream as Lambda delivers it."""

EMPTY_ANSWERS = 10
"""Consecutive empty answers after which a shard counts as read: a single one can be empty by chance."""

GONE = ("TrimmedDataAccessException", "ExpiredIteratorException")
"""The stream's error codes for records that it no longer has."""

MAX_PAYLOAD = 5_000_000
"""Bytes in one invocation of a function, of the 6 MB that Lambda allows.

https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""


class Forgotten(DealsError):
    text = "The stream no longer has these records: they are older than 24 hours."


class StillFailing(DealsError):
    """The function failed again on these records."""


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

    @property
    def reader(self) -> str:
        """The function's name: the last part of its ARN."""
        return self.function.split(":function:")[-1].split(":")[0]

    @classmethod
    def of(cls, body: str) -> Batch:
        """Read the batch from a message. Raises ValueError for a message of another kind.

        Shape: https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
        """
        try:
            content = json.loads(body)
            place, context = content["DDBStreamBatchInfo"], content["requestContext"]
            return cls(
                function=context["functionArn"],
                stream=place["streamArn"],
                shard=place["shardId"],
                first=place["startSequenceNumber"],
                last=place["endSequenceNumber"],
                size=int(place["batchSize"]),
                reason=context["condition"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a batch of the stream: {body[:200]}") from error


@cache
def kinds() -> tuple[Kind, ...]:
    """The kinds of work of the queues."""
    return (
        Kind(Unit.from_json, lambda unit: (f"{unit.kind} news", [unit.deal_id]), "work", "messenger"),
        *chain.from_iterable(each.REDRIVEN for each in features.roles(hooks.Commands)),
    )


Content = tuple[Kind, Any] | Batch
"""A dead-letter queue's message: some work and its kind, or a batch to read again."""


def content_of(message: Received) -> Content | None:
    """The work of a message, or None if no function understands it."""
    for kind in kinds():
        with suppress(ValueError):
            return kind, kind.read(message.body)
    with suppress(ValueError):
        return Batch.of(message.body)
    return None


@dataclass(frozen=True, slots=True)
class Replayer:
    """Reads a failed batch's records from the stream again and hands them to its function."""

    streams: DynamoDBStreamsClient
    functions: LambdaClient
    table: Table

    def replay(self, batch: Batch) -> int:
        """Hand a batch to its function; returns its number of records. Raises Forgotten, StillFailing.

        The stream holds other records between those of the batch. They are handed over too: the functions check each
        record themselves, and an event source's filters only save calls.
        """
        wanted = self._as_of_now if "Publisher" in batch.reader else self._mended
        records = [record for each in self._records(batch) if (record := wanted(each)) is not None]
        for part in _parts(records):
            try:
                answer = self.functions.invoke(FunctionName=batch.function, Payload=f'{{"Records":[{part}]}}'.encode())
                said = json.loads(answer["Payload"].read() or b"null") or {}
            except (BotoCoreError, ClientError) as error:
                raise Unavailable(f"The function cannot be called: {error}") from error
            if answer.get("FunctionError") or said.get("batchItemFailures"):
                raise StillFailing(f"The function failed again: {json.dumps(said)[:300]}")
        return len(records)

    def about(self, batch: Batch) -> list[str]:
        """The deals that a batch's records are about. Raises Forgotten."""
        changes = [record["dynamodb"] for record in self._records(batch)]
        images = [each.get("NewImage") or each.get("OldImage") or {} for each in changes]
        of_deals = [image for image in images if image.get("Type") == {"S": keys.DEAL}]
        return list(dict.fromkeys(image["DealId"]["S"] for image in of_deals if "DealId" in image))

    def _records(self, batch: Batch) -> list[Record]:
        """A batch's records as Lambda delivers them, with the stream's other records in between."""
        records: list[Record] = []
        try:
            iterator: str | None = self.streams.get_shard_iterator(
                StreamArn=batch.stream,
                ShardId=batch.shard,
                ShardIteratorType="AT_SEQUENCE_NUMBER",
                SequenceNumber=batch.first,
            )["ShardIterator"]
            silent = 0
            while iterator and silent < EMPTY_ANSWERS:
                answer = self.streams.get_records(ShardIterator=iterator)
                found = answer["Records"]
                within = [each for each in found if int(each["dynamodb"]["SequenceNumber"]) <= int(batch.last)]
                records += [_as_delivered(record, batch.stream) for record in within]
                if len(within) < len(found):
                    break
                silent = 0 if found else silent + 1
                iterator = answer.get("NextShardIterator")
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in GONE:
                raise Forgotten from error
            raise Unavailable(f"The stream cannot be read: {error}") from error
        if not records:
            raise Forgotten
        return records

    def _mended(self, record: Record) -> Record | None:
        """A record, with the current item if its own is damaged; None if that item is gone."""
        with suppress(*UNREADABLE):
            change_of(record)
            return record
        return self._as_of_now(record)

    def _as_of_now(self, record: Record) -> Record | None:
        """A record with the current item. If the item is gone: the record itself if it is a removal, else None.

        The publisher gets all records this way: it may have handled later records of the same deal since, which must
        not be undone. The old image stays, so that what the lost record should have removed is removed.
        """
        item = self.table.get(keys.primary(unmarshal_item(record["dynamodb"]["Keys"])), consistent=True)
        if item is None:
            return record if record["eventName"] == "REMOVE" else None
        return {**record, "dynamodb": {**record["dynamodb"], "NewImage": _plain(marshal_item(item))}}


def _as_delivered(record: Mapping[str, Any], stream: str) -> Record:
    """A record of the stream's API in Lambda's format."""
    event: Record = {**_plain(record), "eventSourceARN": stream}
    if identity := record.get("userIdentity"):
        event["userIdentity"] = {name[0].lower() + name[1:]: text for name, text in identity.items()}
    return event


def _plain(value: Any) -> Any:
    """The JSON form of a value from an API: times as epoch seconds, bytes as base64."""
    match value:
        case Mapping():
            return {name: _plain(content) for name, content in value.items()}
        case list():
            return [_plain(content) for content in value]
        case datetime():
            return value.timestamp()
        case bytes():
            return base64.b64encode(value).decode()
    return value


def _parts(records: Sequence[Record]) -> Iterator[str]:
    """Records as JSON, in parts for one invocation each."""
    part: list[str] = []
    size = 0
    for text in map(json.dumps, records):  # ASCII: each character is a byte
        if part and size + len(text) > MAX_PAYLOAD:
            yield ",".join(part)
            part, size = [], 0
        part.append(text)
        size += len(text) + 1
    if part:
        yield ",".join(part)


VARIABLES = {output: "BTD" + re.sub("[A-Z]", r"_\g<0>", output).upper() for output in QUEUES}
"""The stack's outputs, and the environment's names for them: ``QueueUrl`` is ``BTD_QUEUE_URL``."""

OPTIONAL = {output for name in OF_FEATURES for output in (WORK[name], DEAD_LETTERS[name])}
"""Outputs that some stages lack."""


def redrive(
    send: Annotated[bool, typer.Option("--send", help="Send it again; without this, it is only shown.")] = False,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="MESSAGE", help="Remove a message that cannot be processed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the messages in the dead-letter queues, and send them again."""
    plumbing = _Plumbing.connect()
    with ThreadPoolExecutor(len(DEAD_LETTERS)) as pool:  # each queue is waited for a second
        found = pool.map(lambda named: list(plumbing.cases(*named)), plumbing.dead_letters.items())
    cases = [case for of_queue in found for case in of_queue]
    for case in cases:
        if case.message.message_id in (drop or ()):
            case.queue.remove(case.message)
            case.row["outcome"] = "dropped"
        elif not send:
            case.queue.release(case.message)
    if send:
        plumbing.send([case for case in cases if case.row["outcome"] == "waiting"])
    rows = [case.row for case in cases]
    if as_json:
        show_json({"result": rows})
    elif rows:
        head = ["Queue", "Kind", "Deals", "Received", "Reason", "Message", "Outcome"]
        show_rows(head, [[*row.values()] for row in rows])
    else:
        say("The dead-letter queues are empty.")
    unknown = set(drop or ()) - {case.message.message_id for case in cases}
    if unknown:
        complain(f"No such message is in a dead-letter queue: {', '.join(sorted(unknown))}")
    if unknown or any(case.failed for case in cases):
        raise typer.Exit(1)


@dataclass(slots=True)
class _Case:
    """One message of a dead-letter queue, its work, and its row: kind, reason and outcome."""

    queue: Queue
    message: Received
    content: Content | None
    row: dict[str, Any]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _Plumbing:
    """The queues of work and the dead-letter queues, by name, and the way back into the stream's functions."""

    queues: dict[str, Queue]
    dead_letters: dict[str, Queue]
    replayer: Replayer

    @classmethod
    def connect(cls) -> _Plumbing:
        """Connect to the queues. Raises NoTable if they are unknown."""
        addresses, client_arguments = _addresses()
        work = services.connect_queue(addresses["QueueUrl"], **client_arguments)

        def there(outputs: Mapping[str, str]) -> dict[str, Queue]:
            known = {name: addresses[output] for name, output in outputs.items() if output in addresses}
            return {name: Queue(address, client=work.client) for name, address in known.items()}

        streams = boto3.client("dynamodbstreams", **client_arguments)
        replayer = Replayer(streams, boto3.client("lambda", **client_arguments), open_table())
        return cls(there(WORK), there(DEAD_LETTERS), replayer)

    def cases(self, source: str, queue: Queue) -> Iterator[_Case]:
        seen: set[str] = set()
        for message in queue.receive(wait=1):
            if message.message_id in seen:  # looking has taken so long that the first are visible again
                return
            seen.add(message.message_id)
            content = content_of(message)
            kind, deal_ids, reason = self._described(content)
            case = {"queue": source, "kind": kind, "dealIds": deal_ids, "received": message.received, "reason": reason}
            yield _Case(queue, message, content, case | {"messageId": message.message_id, "outcome": "waiting"})

    def send(self, cases: Iterable[_Case]) -> None:
        """Send messages again and note each outcome. SQS moves whole queues if it can."""
        for source, of_queue in groupby(cases, lambda case: str(case.row["queue"])):
            together = list(of_queue)
            if not self._moved(source, together):
                for case in together:
                    self._send(case)

    def _moved(self, source: str, cases: Sequence[_Case]) -> bool:
        """Try to have SQS move a dead-letter queue's messages to the queue of work of the same name.

        A task of SQS takes no filter, so each message must be work of this queue; and it takes nothing that came from
        elsewhere, so a batch of the stream is never moved.
        """
        if not all(isinstance(case.content, tuple) and case.content[0].queue == source for case in cases):
            return False
        messages = [case.message for case in cases]
        outcome, failed = "sent again", False
        try:
            cases[0].queue.move(messages, self.queues[source], lambda text: note(f"{source}: {text}"))
        except NoMoveTasks:
            note(f"{source}: SQS has no task here that moves messages, so each is sent by itself.")
            return False
        except DealsError as error:
            outcome, failed = f"left: {error}", True
        for case in cases:
            case.row["outcome"], case.failed = outcome, failed
        return True

    def _send(self, case: _Case) -> None:
        """Send one message again and note the outcome."""
        try:
            case.row["outcome"] = self._sent(case)
            case.queue.remove(case.message)
        except DealsError as error:
            case.row["outcome"], case.failed = f"left: {error}", True
            case.queue.release(case.message)

    def _sent(self, case: _Case) -> str:
        """Hand a batch to its function, or other work unchanged to its queue; returns the outcome in words."""
        match case.content:
            case None:
                raise DealsError("nothing that a function understands")
            case Batch():
                return f"{counted(self.replayer.replay(case.content), 'record')} replayed"
            case kind, _:
                self.queues[kind.queue].send([case.message.body])
                return "sent again"

    def _described(self, content: Content | None) -> tuple[str, list[str], str]:
        """The kind of work, its deals, and the reason it is there, if known."""
        match content:
            case Batch():
                kind = f"{counted(content.size, 'record')} of the stream, for {content.reader}"
                with suppress(DealsError):
                    return kind, self.replayer.about(content), content.reason
                return kind, [], f"{content.reason}; the stream cannot be read any more"
            case None:
                return "unknown", [], "not a message of ours"
            case kind_of_work, work:
                return *kind_of_work.report(work), f"every delivery failed; the {kind_of_work.worker}'s log says why"


def _addresses() -> tuple[dict[str, str], dict[str, Any]]:
    """The queues' addresses by output of the stack, and the clients' arguments to reach them."""
    named = {output: os.environ[name] for output, name in VARIABLES.items() if os.environ.get(name)}
    if named or os.environ.get("BTD_TABLE"):
        missing = [name for output, name in VARIABLES.items() if output not in {*named, *OPTIONAL}]
        if missing:
            raise NoTable(f"Set {', '.join(missing)} to the stack's outputs of these names.")
        return named, {"region_name": os.environ.get("AWS_REGION")}
    cloud, arguments = local_cloud("BTD_TABLE names no table")
    return {output: cloud[output[0].lower() + output[1:]] for output in VARIABLES}, arguments
