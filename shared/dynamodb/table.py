"""The table's client: sends requests, and raises the domain errors that refusals mean.

Conflicts, throttling and broken connections are retried (``aws_errors``). A retried write recognizes its own earlier
attempt whose answer was lost.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from botocore.exceptions import ClientError

from shared.dynamodb import aws_errors
from shared.dynamodb.attributes import Item, marshal, marshal_item, unmarshal_item, unmarshal_items
from shared.dynamodb.aws_errors import Service
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, Index, Key, key_names
from shared.dynamodb.writes import Write
from shared.errors import Busy, DealsError, NoAnswer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient  # noqa: F401  # named in quotes

R = TypeVar("R")

MAX_BATCH_KEYS = 100
MAX_BATCH_WRITES = 25
"""Statements in one BatchExecuteStatement."""

MAX_PARALLEL_REQUESTS = 128
"""Enough for a page of 100 deals in different partitions: one round trip."""

_OF_WRITES = aws_errors.REFUSED | {"TransactionCanceledException"}


class Projection(NamedTuple):
    """The attributes that a read asks for, as DynamoDB's expression and placeholders."""

    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, *names: str) -> Projection:
        placeholders = {f"#p{number}": name for number, name in enumerate(names)}
        return cls({"ProjectionExpression": ", ".join(placeholders), "ExpressionAttributeNames": placeholders})


KEYS_ONLY = Projection.of(PARTITION_KEY, SORT_KEY)


ROUND_TRIPS: ContextVar[int] = ContextVar("round_trips", default=0)
"""How many round trips have ended before the next request, for traces (``tracing``)."""

ASKED_FOR: ContextVar[tuple[Write, ...]] = ContextVar("asked_for", default=())
"""The writes of the current request, with their refusals, for traces."""


def gathered(before: int, request: Callable[[], R]) -> tuple[R, int]:
    """Make one of several parallel requests after ``before`` round trips; returns its result and its last round
    trip."""
    ROUND_TRIPS.set(before)
    return request(), ROUND_TRIPS.get()


@contextmanager
def _asked_for(*writes: Write) -> Iterator[None]:
    before = ASKED_FOR.set(writes)
    try:
        yield
    finally:
        ASKED_FOR.reset(before)


@dataclass(frozen=True, slots=True)
class Table(Service["DynamoDBClient"]):
    """The table: its client, its name, and a source of transaction tokens."""

    called = "The table"
    name: str
    token: Callable[[], str] = field(default=lambda: str(uuid.uuid4()), repr=False, kw_only=True)

    def get(self, key: Key, *, consistent: bool = False, projection: Projection | None = None) -> Item | None:
        """Read one item, or None. One GetItem: 0.5 RRU per 4 KB, 1 if consistent."""
        arguments = dict(projection.arguments) if projection else {}
        answer = self.call(
            self.client.get_item, TableName=self.name, Key=marshal_item(key), ConsistentRead=consistent, **arguments
        )
        return unmarshal_item(answer["Item"]) if answer.get("Item") else None

    def get_many(
        self, keys: Sequence[Key], *, consistent: bool = False, projection: Projection | None = None
    ) -> list[Item]:
        """Read items by their keys, in the keys' order, without missing ones. BatchGetItem, 100 keys each, all at
        once."""
        how = {"ConsistentRead": consistent, **(projection.arguments if projection else {})}
        request = partial(self._all_of, self.client.batch_get_item, "UnprocessedKeys")
        batches = [partial(request, {"Keys": batch, **how}) for batch in _batches(keys, MAX_BATCH_KEYS)]
        answers = itertools.chain.from_iterable(self.gather(batches))
        items = (unmarshal_item(item) for answer in answers for item in answer["Responses"].get(self.name, []))
        found = {(item["PK"], item["SK"]): item for item in items}
        return [found[pair] for key in keys if (pair := (key["PK"], key["SK"])) in found]

    def query(
        self,
        partition: str,
        *,
        index: Index | None = None,
        after: str | None = None,
        until: str | None = None,
        prefix: str | None = None,
        newest_first: bool = False,
        limit: int | None = None,
        page_size: int | None = None,
        projection: Projection | None = None,
        consistent: bool = False,
    ) -> Iterator[Item]:
        """Read a partition's items, ``limit`` at most, page by page.

        A page holds 1 MB at most:
        https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html
        ``page_size`` limits the items of one request, for a caller that may stop early. ``after`` is an exclusive bound
        in the direction of reading. ``until`` is an inclusive upper bound, with ``prefix`` as the lower one.
        """
        condition, values = _key_condition(index, partition, after, until, prefix, newest_first)
        arguments: dict[str, Any] = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": marshal_item(values),
            "ScanIndexForward": not newest_first,
            **({"IndexName": index.name} if index else {"ConsistentRead": consistent}),
            **({"Limit": page_size} if page_size is not None else {}),
            **(projection.arguments if projection else {}),
        }
        left = limit
        while left is None or left > 0:
            if left is not None:
                arguments["Limit"] = left
            answer = self.call(self.client.query, **arguments)
            yield from unmarshal_items(answer["Items"])
            if not answer.get("LastEvaluatedKey"):
                return
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
            if left is not None:
                left -= len(answer["Items"])

    def scan(
        self,
        *,
        index: Index | None = None,
        segment: int = 0,
        segments: int = 1,
        start: Mapping[str, Any] | None = None,
        limit: int | None = None,
        projection: Projection | None = None,
    ) -> tuple[list[Item], Mapping[str, Any] | None]:
        """Read one page of a parallel scan's segment; returns it and the next page's start key, None at the end."""
        arguments: dict[str, Any] = {
            "TableName": self.name,
            "Segment": segment,
            "TotalSegments": segments,
            **({"IndexName": index.name} if index else {}),
            **({"ExclusiveStartKey": dict(start)} if start else {}),
            **({"Limit": limit} if limit else {}),
            **(projection.arguments if projection else {}),
        }
        answer = self.call(self.client.scan, **arguments)
        return unmarshal_items(answer["Items"]), answer.get("LastEvaluatedKey")

    def everything(self, *, index: Index | None = None) -> Iterator[Item]:
        """Read all items of the table or an index, in no order, page by page."""
        start: Mapping[str, Any] | None = {}
        while start is not None:
            items, start = self.scan(index=index, start=start)
            yield from items

    def roughly(self) -> int:
        """The approximate number of items in the table, which DynamoDB updates about every six hours.

        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TableDescription.html
        """
        answer = self.call(self.client.describe_table, TableName=self.name)
        return int(answer["Table"].get("ItemCount", 0))

    def write(self, write: Write, *, returning: str = "NONE") -> Item:
        """Make one write; returns the attributes that ``returning`` names (``ALL_NEW``, ``UPDATED_NEW``, ``ALL_OLD``).

        Raises the write's own error if it is refused. If the refusal comes from its own earlier attempt, whose answer
        was lost, it returns the item's attributes instead.
        """
        requests: dict[str, Callable[..., Any]] = {
            "Put": self.client.put_item,
            "Update": self.client.update_item,
            "Delete": self.client.delete_item,
        }
        arguments: dict[str, Any] = {"TableName": self.name, "ReturnValues": returning, **write.arguments}
        lost = _Lost()

        def once() -> Item:
            if lost.any and _is_recognized(write):
                arguments["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
            try:
                with lost, _asked_for(write):
                    return unmarshal_item(self.ask(requests[write.operation], **arguments).get("Attributes", {}))
            except ClientError as error:
                there = unmarshal_item(cast("Any", error.response).get("Item", {}))
                if lost.any and write.left(there):
                    return there
                raise (write.refused or aws_errors.domain_error(error, "The table")) from error

        return self.retry(once, when=aws_errors.AGAIN)

    def transact(self, *writes: Write) -> None:
        """Make all writes or none. Raises the error of the first refused write.

        A lost answer is retried with the same token, by which DynamoDB recognizes the transaction. A cancellation takes
        a new token; then the items show whether an earlier attempt succeeded after all.
        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
        """
        items: list[dict[str, Any]] = [
            {write.operation: {"TableName": self.name, **write.arguments}} for write in writes
        ]
        token = self.token()
        lost = _Lost()

        def once() -> None:
            nonlocal token
            with lost, _asked_for(*writes):
                try:
                    self.ask(self.client.transact_write_items, TransactItems=items, ClientRequestToken=token)
                except ClientError as error:
                    if lost.renamed and _ones_own(error, writes):
                        return
                    token = self.token()
                    if lost.any:
                        lost.renamed = True
                        # Of no other write: IAM may refuse it to a role that may write some attributes only.
                        for write, item in zip(writes, items, strict=True):
                            if _is_recognized(write):
                                item[write.operation]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
                    raise _cancelled(error, writes) from error

        self.retry(once, when=aws_errors.AGAIN)

    def insert_batch(self, items: Sequence[Mapping[str, Any]]) -> list[str | None]:
        """Insert up to 25 items by PartiQL; returns each one's error code or None. An existing key gives
        ``DuplicateItem``."""
        statements = []
        for item in items:
            members = ", ".join(f"'{name}': ?" for name in item)
            statements.append(
                {
                    "Statement": f'INSERT INTO "{self.name}" VALUE {{{members}}}',
                    "Parameters": [marshal(value) for value in item.values()],
                }
            )
        answer = self.call(self.client.batch_execute_statement, Statements=statements)
        return [response.get("Error", {}).get("Code") for response in answer["Responses"]]

    def gather(self, requests: Sequence[Callable[[], R]]) -> list[R]:
        """Send requests in parallel, in one round trip; returns their results in order."""
        if len(requests) == 1:
            return [requests[0]()]
        before = ROUND_TRIPS.get()
        with ThreadPoolExecutor(min(len(requests), MAX_PARALLEL_REQUESTS) or 1) as pool:
            answers = list(pool.map(partial(gathered, before), requests))
        ROUND_TRIPS.set(max((after for _, after in answers), default=before))
        return [answer for answer, _ in answers]

    def _all_of(self, request: Callable[..., Any], unprocessed: str, batch: Any) -> list[Any]:
        """Send a batch until nothing is unprocessed; returns all answers. Raises Busy.

        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
        """
        answers, left = [], batch

        def once() -> None:
            nonlocal left
            answer = self.ask(request, RequestItems={self.name: left})
            answers.append(answer)
            left = answer.get(unprocessed, {}).get(self.name)
            if left:
                raise Busy("A batch was throttled for too long.")

        self.retry(once, when=aws_errors.AGAIN)
        return answers

    def meaning(self, error: ClientError) -> DealsError | None:
        """The domain error of a refusal, or None if a write defines it."""
        return None if error.response["Error"]["Code"] in _OF_WRITES else aws_errors.domain_error(error, self.called)


class _Lost:
    """Tracks lost answers: the lost attempt may have succeeded, so a later failure doesn't mean that nothing was
    written. ``renamed``: the transaction has a new token since, so DynamoDB can't recognize the first attempt
    either."""

    def __init__(self) -> None:
        self.any = False
        self.renamed = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, NoAnswer):
            self.any = True
        if isinstance(error, Busy) and self.any:
            raise NoAnswer(str(error)) from error


def _batches(keys: Sequence[Key], most: int) -> Iterator[list[dict[str, Any]]]:
    """Distinct keys in DynamoDB's form, in batches of ``most``."""
    distinct = [marshal_item(key) for key in {(key["PK"], key["SK"]): key for key in keys}.values()]
    return (distinct[start : start + most] for start in range(0, len(distinct), most))


def _is_recognized(write: Write) -> bool:
    """Whether an item shows if a write has been made."""
    return write.refused is not None and (write.operation == "Delete" or write.leaves is not None)


def _ones_own(error: ClientError, writes: Sequence[Write]) -> bool:
    """Whether a transaction was refused because of an item that one of its own writes left."""
    return any(
        reason.get("Code") in aws_errors.REFUSED and write.left(unmarshal_item(reason.get("Item", {})))
        for write, reason in zip(writes, cast("Any", error.response).get("CancellationReasons", []), strict=False)
    )


def _cancelled(error: ClientError, writes: Sequence[Write]) -> DealsError:
    """The error of a cancelled transaction: a write's refusal, or else the first other reason.

    An answer without reasons isn't taken for a conflict.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
    """
    reasons = error.response.get("CancellationReasons", [])
    for write, reason in zip(writes, reasons, strict=False):
        if reason.get("Code") in aws_errors.REFUSED and write.refused is not None:
            return write.refused
    meanings = [
        aws_errors.domain_error_of_code(reason["Code"], f"The table: {reason['Code']}: {reason.get('Message', '')}")
        for reason in reasons
        if reason.get("Code", "None") != "None"
    ]
    # A lasting reason comes before one that a retry may not meet.
    meanings.sort(key=lambda meaning: isinstance(meaning, Busy))
    return meanings[0] if meanings else aws_errors.domain_error(error, "The table")


def _key_condition(
    index: Index | None, partition: str, after: str | None, until: str | None, prefix: str | None, backward: bool
) -> tuple[str, dict[str, str]]:
    """The key condition of a Query of an index or the table, and its values."""
    partition_key, sort_key = key_names(index)
    condition, values = f"{partition_key} = :partition", {":partition": partition}
    if after is not None:
        return f"{condition} AND {sort_key} {'<' if backward else '>'} :after", values | {":after": after}
    if until is not None and prefix is not None:
        between = {":prefix": prefix, ":until": until}
        return f"{condition} AND {sort_key} BETWEEN :prefix AND :until", values | between
    if until is not None:
        return f"{condition} AND {sort_key} <= :until", values | {":until": until}
    if prefix is not None:
        return f"{condition} AND begins_with({sort_key}, :prefix)", values | {":prefix": prefix}
    return condition, values
