"""An engine whose reads lag behind its writes: by as many writes as a test wants, as Amazon's indexes may for minutes.

Reads of indexes, and all others that are not consistent, go to a second table, which has the writes of the first only
when a test lets it catch up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from shared.dynamodb.client import create_table
from shared.dynamodb.table import Table
from tests.support.wire import hooked

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "BatchExecuteStatement"}
READS = {"GetItem", "BatchGetItem", "Query", "Scan"}


@dataclass(slots=True)
class Lag:
    """The writes that the indexes, and reads that are not consistent, have not seen."""

    table: Table
    behind: str
    waiting: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    catching_up: bool = False

    def catch_up(self) -> None:
        """Let all reads see everything that was written so far."""
        self.catching_up = True
        try:
            for operation, body in self.waiting:
                self.table.client._make_api_call(operation, body)  # type: ignore[attr-defined]  # by its name
        finally:
            self.catching_up = False
        self.waiting.clear()

    def ask(self, model: Any, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        """Send what is not read consistently to the table that is behind, and remember what a write asks for."""
        if self.catching_up:
            return
        body = json.loads(params["body"])
        context["asked"] = body
        wanted = body.get("RequestItems", {}).get(self.table.name, body)
        if model.name in READS and not wanted.get("ConsistentRead", False):
            params["body"] = json.dumps(self._renamed(body)).encode()
            params["headers"].pop("Content-Length", None)

    def answered(
        self, model: Any, http_response: Any, parsed: dict[str, Any], context: dict[str, Any], **_: Any
    ) -> None:
        """Keep a write that was carried out until the others see it, and name the table in a batch that was read."""
        if self.catching_up or http_response.status_code != 200:
            return
        if model.name in WRITES:
            asked = {name: value for name, value in context["asked"].items() if name != "ClientRequestToken"}
            self.waiting.append((model.name, self._renamed(asked)))
        for part in ("Responses", "UnprocessedKeys"):
            if model.name == "BatchGetItem" and self.behind in parsed.get(part, {}):
                parsed[part][self.table.name] = parsed[part].pop(self.behind)

    def _renamed(self, body: dict[str, Any]) -> dict[str, Any]:
        """The same request to the table that is behind."""
        renamed: dict[str, Any] = json.loads(json.dumps(body).replace(self.table.name, self.behind))
        return renamed


@contextmanager
def lagging(table: Table) -> Iterator[Lag]:
    """Let the reads of a table that has nothing in it yet lag, but for consistent ones, until they are let catch up."""
    lag = Lag(table, f"{table.name}-behind")
    create_table(table.client, lag.behind)
    try:
        with hooked(table, "before-call.dynamodb", lag.ask), hooked(table, "after-call.dynamodb", lag.answered):
            yield lag
    finally:
        table.client.delete_table(TableName=lag.behind)
