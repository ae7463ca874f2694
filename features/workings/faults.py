"""Faults for the laptop: make the next request fail on purpose, to show how the application handles it.

A fault happens once. botocore's events give the client what DynamoDB, the network or a lagging index would give it, so
the data layer can't tell the difference.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ReadTimeoutError

if TYPE_CHECKING:
    from shared.dynamodb.table import Table

THROTTLE, CONFLICT, LOST, STALE = "throttle", "conflict", "lost", "stale"
FAULTS = (THROTTLE, CONFLICT, LOST, STALE)

WRITING = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}
"""The operations that a conflict can refuse."""

_INDEX = "btd.index"


@dataclass(slots=True)
class Faults:
    """The fault of a table's next request, and its outcome.

    ``met`` is the operation that had the fault, ``left_out`` the item (in DynamoDB's form) that a stale index omitted,
    ``lost`` botocore's context of the request whose answer was lost.
    """

    asked: str = ""
    writes_only: bool = False
    met: str = ""
    left_out: dict[str, Any] = field(default_factory=dict)
    lost: dict[str, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def attach(self, table: Table) -> Faults:
        """Apply faults to a table client's requests from now on, after any trace's events."""
        events: Any = table.client.meta.events  # its stubs know of no handler that returns something
        events.register("before-parameter-build.dynamodb", self._noting)
        events.register("before-call.dynamodb", self._refusing)
        events.register_last("after-call.dynamodb", self._losing)
        return self

    def detach(self, table: Table) -> None:
        """Stop applying faults."""
        events: Any = table.client.meta.events  # the same
        events.unregister("before-parameter-build.dynamodb", self._noting)
        events.unregister("before-call.dynamodb", self._refusing)
        events.unregister("after-call.dynamodb", self._losing)

    def ask(self, fault: str, *, writes_only: bool) -> None:
        """Set one of ``FAULTS``, for the next request or, with ``writes_only``, the next write; empty sets none."""
        with self._lock:
            self.asked, self.writes_only, self.met, self.left_out, self.lost = fault, writes_only, "", {}, {}

    def _meets(self, fault: str, operation: str, *, writes_only: bool = False) -> bool:
        """Whether a request gets the fault, which is then used up."""
        with self._lock:
            fits = operation in WRITING or not (writes_only or self.writes_only)
            if self.asked != fault or self.met or not fits:
                return False
            self.met = operation
            return True

    # botocore passes these by name.
    def _noting(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        if "IndexName" in params:
            context[_INDEX] = params.get("ScanIndexForward", True)

    def _refusing(self, model: Any, params: dict[str, Any], **_: Any) -> tuple[AWSResponse, dict[str, Any]] | None:
        if self._meets(THROTTLE, model.name):
            return _refusal(params, "ThrottlingException")
        if self._meets(CONFLICT, model.name, writes_only=True):
            if model.name != "TransactWriteItems":
                return _refusal(params, "TransactionConflictException")
            writes = json.loads(params["body"])["TransactItems"]
            reasons = [{"Code": "TransactionConflict"}] + [{"Code": "None"}] * (len(writes) - 1)
            return _refusal(params, "TransactionCanceledException", CancellationReasons=reasons)
        return None

    def _losing(self, model: Any, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        if parsed.get("Items") and _INDEX in context and self._meets(STALE, model.name):
            self.left_out = parsed["Items"].pop(-1 if context[_INDEX] else 0)
            parsed["Count"] -= 1
        if "Error" not in parsed and self._meets(LOST, model.name):
            self.lost = context
            raise ReadTimeoutError(endpoint_url="DynamoDB's, by the fault that was asked for")


def _refusal(params: dict[str, Any], code: str, **more: Any) -> tuple[AWSResponse, dict[str, Any]]:
    """DynamoDB's refusal of a request, in botocore's form."""
    error = {"Code": code, "Message": "the fault that was asked for"}
    parsed = {"Error": error, "ResponseMetadata": {"HTTPStatusCode": 400}, **more}
    return AWSResponse(params["url"], 400, HTTPHeaders(), None), parsed
