"""Requests that take effect once: what a client's Idempotency-Key was used for, and the result that it had.

A receipt is written in the transaction that does the work, so both exist or neither. It holds the id of the result (a
deal's, an order's), and a repeated request is answered with that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from shared.data import keys
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, Write, put_over
from shared.errors import DealsError, IdempotencyKeyReused
from shared.values.times import to_iso

LIFETIME = timedelta(hours=24)
"""How long a receipt counts. After that it counts as gone, even before TTL removes it."""


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A client's promise that two requests with one key are one request; ``request`` is what it asked for.

    The promise is an account's: the next owner of its name may use the same key for something else.
    """

    account_id: str
    client_key: str
    request: Mapping[str, Any]

    @property
    def request_hash(self) -> str:
        return hashlib.sha256(json.dumps(self.request, sort_keys=True).encode()).hexdigest()


class Repeated(DealsError):
    """The Idempotency-Key was used before: ``earlier_result`` says for what."""


def once(
    table: Table, idempotency: Idempotency | None, result_id: str, now: datetime, writes: Iterable[Write]
) -> str | None:
    """Make some writes in one transaction, unless a request with the same key, if it has one, made them before.

    Returns None, or the id of the result that the first request had.
    Raises IdempotencyKeyReused, and what the writes' refusals mean.
    """
    try:
        table.transact(*([receipt(idempotency, result_id, now)] if idempotency else []), *writes)
    except Repeated:
        return earlier_result(table, idempotency, now)
    return None


def receipt(idempotency: Idempotency, result_id: str, now: datetime) -> Write:
    """The record of what a key was used for, for a transaction of the caller's own. Its refusal is ``Repeated``."""
    item = {
        **keys.idempotency(idempotency.account_id, idempotency.client_key),
        "Type": keys.IDEMPOTENCY,
        "ResultId": result_id,
        "RequestHash": idempotency.request_hash,
        "CreatedAt": to_iso(now),
        TTL_ATTRIBUTE: int((now + LIFETIME).timestamp()),
    }
    return put_over(item, f"{ABSENT} OR {TTL_ATTRIBUTE} <= :now", {":now": int(now.timestamp())}, refused=Repeated())


def earlier_result(table: Table, idempotency: Idempotency | None, now: datetime) -> str | None:
    """The id of the result that a request with the same key, if it has one, had; None where there was none.

    Raises IdempotencyKeyReused if that was another request.
    """
    if idempotency is None:
        return None
    found = table.get(keys.idempotency(idempotency.account_id, idempotency.client_key), consistent=True)
    if found is None or found[TTL_ATTRIBUTE] <= now.timestamp():
        return None
    if found["RequestHash"] != idempotency.request_hash:
        raise IdempotencyKeyReused
    return str(found["ResultId"])
