"""Times: aware UTC datetimes inside, ISO 8601 with ``Z`` outside, whole seconds everywhere."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

from shared.values.naming import counted

_SECONDS = len("2026-06-04T20:28:53")


def now() -> datetime:
    """The current second. Handlers and commands call this once and pass it on."""
    return datetime.now(UTC).replace(microsecond=0)


def to_iso(when: datetime) -> str:
    """Format a time as ``2026-06-04T20:28:53Z``."""
    if when.tzinfo is not UTC:
        when = when.astimezone(UTC)
    return f"{when.isoformat()[:_SECONDS]}Z"


def ago(when: datetime, now: datetime) -> str:
    """The time since ``when`` in its largest whole unit: ``3 hours ago``."""
    seconds = int((now - when).total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def from_iso(text: str) -> datetime:
    """Parse an ISO 8601 text with an offset to UTC. Raises ValueError for a text without an offset."""
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError(f"a time without an offset: {text!r}")
    return when if when.tzinfo is UTC else when.astimezone(UTC)


def to_http(when: datetime) -> str:
    """A time in a header's form: ``Thu, 04 Jun 2026 20:28:53 GMT``
    (https://www.rfc-editor.org/rfc/rfc9110#http.date)."""
    return format_datetime(when.astimezone(UTC), usegmt=True)
