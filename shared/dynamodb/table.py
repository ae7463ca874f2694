"""The one way to the table: requests, their retries, and what their refusals mean.

Refusals are matched to the writes that they refuse here and nowhere else. Conflicts between transactions are retried
with full jitter.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from shared.dynamodb.attributes import Item, marshal, marshal_item, unmarshal_item, unmarshal_items
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, Index, Key
from shared.dynamodb.writes import Write
from shared.errors import Busy, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

R = TypeVar("R")

MAX_ATTEMPTS = 12
"""Tries of a write that meets conflicts: with full jitter up to a second, about five seconds in all."""

MAX_BATCH_KEYS = 100
MAX_PARALLEL_REQUESTS = 128
"""Enough for a page of 100 deals that all lie in different partitions: one round trip, not several waves."""

_CONFLICTS = {"TransactionConflict", "TransactionConflictException", "TransactionInProgressException"}
_THROTTLES = {
    "ThrottlingError",
    "ThrottlingException",
    "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
}
_REFUSALS = {"ConditionalCheckFailed", "ConditionalCheckFailedException"}


@dataclass(frozen=True, slots=True)
class Projection:
    """The attributes a read asks for, as DynamoDB's expression and its placeholders."""

    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, *names: str) -> Projection:
        placeholders = {f"#p{number}": name for number, name in enumerate(names)}
        return cls({"ProjectionExpression": ", ".join(placeholders), "ExpressionAttributeNames": placeholders})


@dataclass(frozen=True, slots=True)
class Table:
    """The table: its name, a DynamoDB client, and how to wait between retries."""

    name: str
    client: DynamoDBClient
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    jitter: Callable[[], float] = field(default=random.random, repr=False)

    def get(self, key: Key, *, consistent: bool = False, projection: Projection | None = None) -> Item | None:
        """One item, or None. GetItem: 0.5 RRU for each 4 KB, 1 if consistent."""
        arguments = dict(projection.arguments) if projection else {}
        answer = self._call(
            self.client.get_item, TableName=self.name, Key=marshal_item(key), ConsistentRead=consistent, **arguments
        )
        return unmarshal_item(answer["Item"]) if answer.get("Item") else None

    def get_many(
        self, keys: Sequence[Key], *, consistent: bool = False, projection: Projection | None = None
    ) -> list[Item]:
        """The items of those keys that exist, in the order of the keys. BatchGetItem, 100 keys a request."""
        found: dict[tuple[str, str], Item] = {}
        distinct = list({(key["PK"], key["SK"]): key for key in keys}.values())
        for start in range(0, len(distinct), MAX_BATCH_KEYS):
            wanted: dict[str, Any] = {
                "Keys": [marshal_item(key) for key in distinct[start : start + MAX_BATCH_KEYS]],
                "ConsistentRead": consistent,
                **(projection.arguments if projection else {}),
            }
            for attempt in range(MAX_ATTEMPTS):
                answer = self._call(self.client.batch_get_item, RequestItems={self.name: wanted})
                for item in unmarshal_items(answer["Responses"].get(self.name, [])):
                    found[(item["PK"], item["SK"])] = item
                unprocessed = answer.get("UnprocessedKeys", {}).get(self.name)
                if not unprocessed:
                    break
                wanted = unprocessed
                self.wait(attempt)
            else:
                raise Busy("Reading many items was throttled for too long; try again.")
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
        """The items of one partition, however many requests DynamoDB takes for them, ``limit`` at most.

        ``page_size`` is how many one request reads, for a caller that may stop before the end.
        ``after`` is an exclusive bound in the direction of reading, ``until`` an inclusive upper one.
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
            answer = self._call(self.client.query, **arguments)
            yield from unmarshal_items(answer["Items"])
            if not answer.get("LastEvaluatedKey"):
                return
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
            if left is not None:
                left -= len(answer["Items"])

    def count(self, partition: str, *, index: Index) -> int:
        """How many items an index partition holds, over all pages."""
        arguments: dict[str, Any] = {
            "TableName": self.name,
            "IndexName": index.name,
            "KeyConditionExpression": f"{index.partition_key} = :partition",
            "ExpressionAttributeValues": {":partition": marshal(partition)},
            "Select": "COUNT",
        }
        total: int = 0
        while True:
            answer = self._call(self.client.query, **arguments)
            total += answer["Count"]
            if not answer.get("LastEvaluatedKey"):
                return total
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

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
        """One page of a parallel scan's segment, and where the next page starts, or None at the segment's end."""
        arguments: dict[str, Any] = {
            "TableName": self.name,
            "Segment": segment,
            "TotalSegments": segments,
            **(projection.arguments if projection else {}),
        }
        if index:
            arguments["IndexName"] = index.name
        if start:
            arguments["ExclusiveStartKey"] = dict(start)
        if limit:
            arguments["Limit"] = limit
        answer = self._call(self.client.scan, **arguments)
        return unmarshal_items(answer["Items"]), answer.get("LastEvaluatedKey")

    def roughly(self) -> int:
        """About how many items the table holds: DynamoDB counts them every six hours."""
        answer = self._call(self.client.describe_table, TableName=self.name)
        return int(answer["Table"].get("ItemCount", 0))

    def write(self, write: Write, *, returning: str = "NONE") -> Item:
        """Make one write, and return the attributes it was asked to (``ALL_NEW``, ``UPDATED_NEW``, ``ALL_OLD``)."""
        requests: dict[str, Callable[..., Any]] = {
            "Put": self.client.put_item,
            "Delete": self.client.delete_item,
            "Update": self.client.update_item,
        }
        request = requests[write.operation]
        for attempt in range(MAX_ATTEMPTS):
            try:
                answer = request(TableName=self.name, ReturnValues=returning, **write.arguments)
            except ClientError as error:
                code = error.response["Error"]["Code"]
                if code in _REFUSALS and write.refused is not None:
                    raise write.refused from error
                if code not in _CONFLICTS | _THROTTLES:
                    raise _unavailable(error) from error
                self.wait(attempt)
            except BotoCoreError as error:
                raise _unavailable(error) from error
            else:
                return unmarshal_item(answer.get("Attributes", {}))
        raise Busy("Many are writing this at once; try again.")

    def transact(self, *writes: Write) -> None:
        """Make all writes or none. Raises the error of the first write that was refused."""
        items = [{write.operation: {"TableName": self.name, **write.arguments}} for write in writes]
        for attempt in range(MAX_ATTEMPTS):
            try:
                # botocore gives each call a token of its own, so its own retries of a lost answer write once.
                self.client.transact_write_items(TransactItems=items)  # type: ignore[arg-type]  # built by Write
            except ClientError as error:
                if not self._may_retry(error, writes):
                    raise _unavailable(error) from error
                self.wait(attempt)
            except BotoCoreError as error:
                raise _unavailable(error) from error
            else:
                return
        raise Busy("Many are writing this at once; try again.")

    def insert_batch(self, items: Sequence[Mapping[str, Any]]) -> list[str | None]:
        """Insert up to 25 items by PartiQL, which refuses those whose key is taken; returns each one's refusal or None.

        All items have the same attributes, with text and whole numbers for values. Values are written into the
        statements, for each parameter costs botocore more than the rest of an item.
        ``DuplicateItem`` is the refusal of one that exists.
        """
        first, *others = items
        own = [name for name in first if any(item[name] != first[name] for item in others)]
        common = [_member(name, value) for name, value in first.items() if name not in own]
        values = [", ".join([*(_member(name, item[name]) for name in own), *common]) for item in items]
        statements = [{"Statement": f'INSERT INTO "{self.name}" VALUE {{{value}}}'} for value in values]
        try:
            answer = self.client.batch_execute_statement(Statements=statements)  # type: ignore[arg-type]  # built above
        except ClientError as error:
            if error.response["Error"]["Code"] in _THROTTLES:
                return ["ThrottlingError"] * len(items)
            raise _unavailable(error) from error
        except BotoCoreError as error:
            raise _unavailable(error) from error
        return [response.get("Error", {}).get("Code") for response in answer["Responses"]]

    def gather(self, requests: Sequence[Callable[[], R]]) -> list[R]:
        """The results of requests that go out at once: one round trip for all of them."""
        if len(requests) == 1:
            return [requests[0]()]
        with ThreadPoolExecutor(min(len(requests), MAX_PARALLEL_REQUESTS) or 1) as pool:
            return list(pool.map(lambda request: request(), requests))

    def _may_retry(self, error: ClientError, writes: Sequence[Write]) -> bool:
        """Whether a failed transaction may be tried again. Raises the refusal if a write was refused."""
        code = error.response["Error"]["Code"]
        if code != "TransactionCanceledException":
            return code in _CONFLICTS | _THROTTLES
        reasons = [reason.get("Code", "None") for reason in error.response.get("CancellationReasons", [])]
        for write, reason in zip(writes, reasons, strict=False):
            if reason in _REFUSALS and write.refused is not None:
                raise write.refused from error
        # One reason for each write, says DynamoDB; an answer that has none is not taken for a conflict.
        return bool(reasons) and all(reason in _CONFLICTS | _THROTTLES | {"None"} for reason in reasons)

    def _call(self, request: Callable[..., Any], **arguments: Any) -> Any:
        """Make a read; botocore has retried throttling already when this raises Busy."""
        try:
            return request(**arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] in _THROTTLES:
                raise Busy("The table is throttled; try again.") from error
            raise _unavailable(error) from error
        except BotoCoreError as error:
            raise _unavailable(error) from error

    def wait(self, attempt: int) -> None:
        """Wait before the next attempt: a random part of 25 ms doubled each time, a second at most (full jitter)."""
        self.sleep(self.jitter() * min(1.0, 0.025 * 2**attempt))


def _key_condition(
    index: Index | None, partition: str, after: str | None, until: str | None, prefix: str | None, backward: bool
) -> tuple[str, dict[str, str]]:
    """The condition of a Query on the keys of an index or, without one, of the table; and its values."""
    partition_key, sort_key = (index.partition_key, index.sort_key) if index else (PARTITION_KEY, SORT_KEY)
    condition, values = f"{partition_key} = :partition", {":partition": partition}
    if after is not None:
        return f"{condition} AND {sort_key} {'<' if backward else '>'} :after", values | {":after": after}
    if until is not None:
        return f"{condition} AND {sort_key} <= :until", values | {":until": until}
    if prefix is not None:
        return f"{condition} AND begins_with({sort_key}, :prefix)", values | {":prefix": prefix}
    return condition, values


def _member(name: str, value: str | int) -> str:
    """An attribute of an item in a PartiQL statement."""
    return f"'{name}': {_literal(value)}"


def _literal(value: str | int) -> str:
    """A value in a PartiQL statement. In a text, the quote that would end it is written twice, and nothing else."""
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _unavailable(error: Exception) -> Unavailable:
    return Unavailable(f"The table cannot answer: {error}")
