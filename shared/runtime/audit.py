"""The audit: what happens to accounts, each event as a log line of its own.

A line has the account's id, and no name or address. Sign-ins and sign-outs are recorded by the functions that answer
them. Changes of an account come from the stream (``shared/data/members/account_changes.py``), so they are recorded
whether a page, the API, a mailed link, ``btd`` or the console made them. ``docs/runbook.md`` has the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from shared.errors import SlowDown, WrongPassword
from shared.runtime.environment import logger

if TYPE_CHECKING:
    from shared.models.members import Session

Event = Literal["sign-in", "sign-in-failed", "sign-out", "session-ended"]
"""What people do with sessions. Features record events of their own."""


def record(event: Event | str, account_id: str | None, **about: str | None) -> None:
    """Log an account's event. It has no id if no account has the name, or if the attempt was refused before its
    account was read."""
    known = {"audit": event, "account_id": account_id or "unknown", **about}
    logger().info("audit", extra={name: value for name, value in known.items() if value})


def signed_in(session: Session, by: str) -> None:
    """Log that a session began ``by`` a password, a sign-up, or another proof."""
    record("sign-in", session.account_id, by=by, session_id=session.session_id)


def sign_in_failed(error: WrongPassword | SlowDown) -> None:
    """Log a wrong name or password, or an attempt that was one too many and was not checked."""
    account_id = error.account_id if isinstance(error, WrongPassword) else None
    record("sign-in-failed", account_id, because="password" if isinstance(error, WrongPassword) else "too many")
