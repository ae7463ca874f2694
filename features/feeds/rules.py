"""What a field of a feed means that is absent, empty, unreadable or impossible: one rule for each field.

What can't be read is never taken for what isn't there. A record is refused for a field that it can't do without, and
loses any other; each is counted, with its first example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeVar

from shared.values.naming import counted

T = TypeVar("T")


class Meaning(StrEnum):
    ABSENT = "absent"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    IMPOSSIBLE = "impossible"


class Then(StrEnum):
    """What becomes of a record whose field has a fault."""

    REFUSED = "the record is refused"
    LEFT_OUT = "the record is left out"
    WITHOUT = "the deal goes without it"
    DEFAULT = "the command's option counts"


class Rule(NamedTuple):
    absent: Then
    empty: Then
    unreadable: Then
    impossible: Then


_REQUIRED = Rule(Then.REFUSED, Then.REFUSED, Then.REFUSED, Then.REFUSED)
_OPTIONAL = Rule(Then.WITHOUT, Then.WITHOUT, Then.WITHOUT, Then.WITHOUT)

RULES: Mapping[str, Rule] = {
    "id": _REQUIRED,
    "title": _REQUIRED,
    "link": _REQUIRED,
    "price": Rule(Then.REFUSED, Then.REFUSED, Then.REFUSED, Then.LEFT_OUT),
    "currency": Rule(Then.DEFAULT, Then.DEFAULT, Then.REFUSED, Then.REFUSED),
    "brand": Rule(Then.DEFAULT, Then.DEFAULT, Then.REFUSED, Then.REFUSED),
    "category": Rule(Then.DEFAULT, Then.DEFAULT, Then.REFUSED, Then.REFUSED),
    "sale price": _OPTIONAL,
    "sale dates": _OPTIONAL,
    "list price": _OPTIONAL,
    "end": _OPTIONAL,
    "posted": _OPTIONAL,
    "picture": _OPTIONAL,
    "description": _OPTIONAL,
    "variant": _OPTIONAL,
}


EXPECTED = ("picture", "description")
"""Optional fields that most deals have: that they are missing is worth a word."""


class Fault(Exception):  # a field's, and no error of the program
    """A field's value has a meaning that its rule decides."""

    def __init__(self, meaning: Meaning, why: str) -> None:
        super().__init__(why)
        self.meaning = meaning


class LeftOut(Exception):  # the same
    """A record that isn't a deal, with the reason. ``is_gone``: it is there, and can't be bought."""

    def __init__(self, why: str, *, is_gone: bool = False) -> None:
        super().__init__(why)
        self.is_gone = is_gone


def _given(text: str | None) -> str:
    if text is None:
        raise Fault(Meaning.ABSENT, "is missing")
    if not text.strip():
        raise Fault(Meaning.EMPTY, "is empty")
    return text


@dataclass(slots=True)
class Noted:
    """How many records have a fault, and the first: its id and its value."""

    count: int
    source_id: str
    value: str

    def __str__(self) -> str:
        value = f": {self.value!r}" if self.value else ""
        return f"{counted(self.count, 'record')}, first in {self.source_id or 'one without an id'}{value}"


@dataclass(slots=True)
class Faults:
    """The faults of fields that were found so far, by field and meaning."""

    found: dict[tuple[str, Meaning], Noted] = field(default_factory=dict)

    def note(self, name: str, meaning: Meaning, source_id: str, value: str) -> None:
        """Count a fault."""
        known = self.found.get((name, meaning))
        if known is None:
            self.found[name, meaning] = Noted(1, source_id, value[:60])
        else:
            known.count += 1

    def take(self, name: str, text: str | None, read: Callable[[str], T], source_id: str) -> T | None:
        """A field's value, or None where its rule says that the deal goes without, or that the default counts.

        Raises ValueError for a record that is refused, and LeftOut.
        """
        try:
            return read(_given(text))
        except Fault as fault:
            self.note(name, fault.meaning, source_id, text or "")
            match getattr(RULES[name], fault.meaning):
                case Then.REFUSED:
                    raise ValueError(f"{name}: {fault}") from fault
                case Then.LEFT_OUT:
                    raise LeftOut(f"{name}: {fault}") from fault
            return None

    def sentences(self, records: int) -> list[str]:
        """The faults of fields that deals go without, in words. That a field isn't there is none where that is usual,
        or where no record of the file has it."""
        said = []
        for (name, meaning), noted in self.found.items():
            missing = meaning in (Meaning.ABSENT, Meaning.EMPTY)
            usual = missing and (name not in EXPECTED or noted.count >= records)
            if getattr(RULES[name], meaning) is Then.WITHOUT and not usual:
                said.append(f"{name}: {meaning} in {noted}")
        return said
