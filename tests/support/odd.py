"""The ways in which an editor may post or edit a deal that was hardly meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.support.browsing import Browser
from tests.support.site import Api, Visitor

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ways:
    """An editor in a browser, at the API and at a terminal, of one table."""

    api: Api
    browser: Browser
    visitor: Visitor


@dataclass(frozen=True, slots=True)
class Question:
    """The words in which an editor was asked, and how to say yes."""

    words: str
    yes: Callable[[], object]
