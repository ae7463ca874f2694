"""Shared by the routes that write: the errors that a body can have, and requests that take effect once."""

from __future__ import annotations

from typing import Any

from shared.api.callers import caller
from shared.data.idempotency import Idempotency
from shared.http.event import Event
from shared.http.parameters import client_key

BODY_ERRORS = (400, 413, 415, 422)
"""The statuses of a body that cannot be used, for ``describe``."""


def idempotency(event: Event, asked: dict[str, Any]) -> Idempotency | None:
    """The idempotency of a request, which asks for ``asked``; None where there is no key.

    Raises BadRequest for an invalid key, NotSignedIn.
    """
    key = client_key(event)
    return None if key is None else Idempotency(caller(event).account_id, key, asked)
