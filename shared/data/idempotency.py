"""Idempotency keys: a request takes effect once, and a repeated one gets the first one's result.

A receipt is written in the transaction that does the work, so both exist or neither. It holds the id of the result,
such as a deal's or an order's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from shared.data import keys
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, Write, put_over
from shared.errors import DealsError, IdempotencyKeyReused
from shared.values.times import to_iso

LIFETIME = timedelta(hours=24)
"""How long a receipt counts. An older one counts as absent even before TTL deletes it."""


class Idempotency(NamedTuple):
    """A client's claim that two requests with one key are the same; ``request`` is the content.

    It belongs to an account: the name's next owner may use the same key for something else.
    """

    account_id: str
    client_key: str
    request: Mapping[str, Any]

    @property
    def request_hash(self) -> str:
        return hashlib.sha256(json.dumps(self.request, sort_keys=True).encode()).hexdigest()


class Repeated(DealsError):
    """The Idempotency-Key was used before; ``earlier_result`` gives the result."""


def once(
    table: Table, idempotency: Idempotency | None, result_id: str, now: datetime, writes: Iterable[Write]
) -> str | None:
    """Make writes in one transaction, unless a request with the same key (if any) has made them.

    Returns None, or the id of the first request's result. Raises IdempotencyKeyReused, and the writes' refusals.
    """
    try:
        table.transact(*([receipt(idempotency, result_id, now)] if idempotency else []), *writes)
    except Repeated:
        return earlier_result(table, idempotency, now)
    return None


def receipt(idempotency: Idempotency, result_id: str, now: datetime) -> Write:
    """The write of a key's receipt, for the caller's transaction. Refused with ``Repeated``."""
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
    """The id of the result of an earlier request with the same key (if any), or None.

    Raises IdempotencyKeyReused if the earlier request was a different one.
    """
    if idempotency is None:
        return None
    found = table.get(keys.idempotency(idempotency.account_id, idempotency.client_key), consistent=True)
    if found is None or found[TTL_ATTRIBUTE] <= now.timestamp():
        return None
    if found["RequestHash"] != idempotency.request_hash:
        raise IdempotencyKeyReused
    return str(found["ResultId"])
