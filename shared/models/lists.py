"""One page of a list, of whatever is listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, newest first, and the cursor of the next page, or None at the end."""

    items: tuple[T, ...]
    next: str | None
