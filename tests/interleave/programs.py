"""What actions do, as far as earlier runs have shown.

An action is deterministic: what it asks next follows from the answers so far. So each action is a tree, of points that
its answers lead to. A schedule whose points are all known needs none of the actions' code: their requests are made as
before, of which most have known answers, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.interleave.remembering import Asked, Known


class Undetermined(BaseException):
    """An action has done something else after the same answers: what isn't in the table decides, too."""


@dataclass(slots=True, eq=False)
class Point:
    """A point of an action: what it asks there, or its result if it ends there; neither if it was never there."""

    asked: Asked | None = None
    result: str | None = None
    further: dict[bytes, Point] = field(default_factory=dict)
    """Where each answer leads to, by its digest."""

    def after(self, asked: Asked, known: Known) -> Point:
        """Where an answer leads to. Raises Undetermined."""
        if self.result is not None or (self.asked is not None and self.asked.digest != asked.digest):
            raise Undetermined(f"{asked.called} {asked.arguments} for {self.asked or self.result}")
        self.asked = self.asked or asked
        return self.further.setdefault(known.digest, Point())

    def end(self, result: str) -> None:
        """Note the result with which it ends there. Raises Undetermined."""
        if self.asked is not None or self.result not in (None, result):
            raise Undetermined(f"{result} for {self.asked or self.result}")
        self.result = result
