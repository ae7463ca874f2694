"""An engine whose indexes lag behind its table: by as many writes as a test wants, as Amazon's may for minutes.

Reads of indexes go to a second table, which has the writes of the first only when a test lets it catch up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from shared.dynamodb.provision import create_table
from shared.dynamodb.table import Table
from tests.support.wire import hooked

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchExecuteStatement"}


@dataclass(slots=True)
class Lag:
    """The writes that the indexes have not seen."""

    table: Table
    behind: str
    waiting: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    catching_up: bool = False

    def catch_up(self) -> None:
        """Let the indexes see everything that was written so far."""
        self.catching_up = True
        try:
            for operation, body in self.waiting:
                self.table.client._make_api_call(operation, body)  # type: ignore[attr-defined]  # by its name
        finally:
            self.catching_up = False
        self.waiting.clear()

    def read(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        """Send what reads an index to the table that is behind, and remember what a write asks for."""
        if self.catching_up:
            return
        body = json.loads(params["body"])
        context["asked"] = body
        if "IndexName" in body:
            params["body"] = json.dumps({**body, "TableName": self.behind}).encode()
            params["headers"].pop("Content-Length", None)

    def written(self, model: Any, http_response: Any, context: dict[str, Any], **_: Any) -> None:
        """Keep a write that was carried out for the indexes."""
        if not self.catching_up and model.name in WRITES and http_response.status_code == 200:
            asked = {name: value for name, value in context["asked"].items() if name != "ClientRequestToken"}
            renamed = json.dumps(asked).replace(self.table.name, self.behind)
            self.waiting.append((model.name, json.loads(renamed)))


@contextmanager
def lagging(table: Table) -> Iterator[Lag]:
    """Let the indexes of a table that has nothing in it yet lag, until they are let catch up."""
    lag = Lag(table, f"{table.name}-behind")
    create_table(table.client, lag.behind)
    try:
        with hooked(table, "before-call.dynamodb", lag.read), hooked(table, "after-call.dynamodb", lag.written):
            yield lag
    finally:
        table.client.delete_table(TableName=lag.behind)
