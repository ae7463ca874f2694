"""A mail to one reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one reader: the same in plain text and in HTML, with ``headers`` besides the usual."""

    to: str
    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
