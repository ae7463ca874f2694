"""What visitors run: the items of a scratch partition, and requests to it as DynamoDB takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KINDS: Mapping[str, tuple[str, str]] = {
    "slug": (r"[a-z0-9]+(?:-[a-z0-9]+)*", "Use small letters, digits and hyphens."),
    "word": (r"[a-z0-9]{2,30}", "Use one word of 2 to 30 small letters or digits."),
    "number": (r"[1-9][0-9]{0,8}", "Use a whole number from 1 to 999,999,999."),
    "few": (r"[1-9]|[12][0-9]|30", "Use a whole number from 1 to 30."),
    "text": (r"[A-Za-z0-9 .-]{1,40}", "Use 1 to 40 letters, digits, spaces, dots or hyphens."),
}
"""Kinds of values that a visitor may choose: the pattern of each, and what to say of one that does not fit."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the visitor's own, which requests name as ``{value}``."""

    label: str
    default: str
    kind: str

    def wrong(self, text: str) -> str | None:
        """The sentence that says why a text cannot be used; None for one that can."""
        pattern, sentence = KINDS[self.kind]
        return None if len(text) <= 60 and re.fullmatch(pattern, text) else sentence


@dataclass(frozen=True, slots=True)
class Step:
    """One request: DynamoDB's operation and arguments, their values plain.

    ``finds`` is how many items come back, ``first`` the sort key of the first, ``examined`` how many were read before
    a filter, ``refused`` the code of the refusal, ``takes`` its units. Each is None where it depends on what is in the
    table.
    """

    operation: str
    arguments: Mapping[str, Any]
    finds: int | None = None
    first: str | None = None
    examined: int | None = None
    refused: str | None = None
    takes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What a run writes and sends: its first items, then the requests of a common version, if there is one, and ours.

    ``live``: it reads the table of the stage; others write and read a scratch partition. ``value`` is what the visitor
    may choose.
    """

    live: bool = False
    value: Value | None = None
    items: Sequence[Mapping[str, Any]] = ()
    common: Sequence[Step] = ()
    ours: Sequence[Step] = ()
