"""JSON objects as requests and imports may have them: standard JSON, and each name once."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def parse_object(text: str) -> dict[str, Any] | None:
    """The object of a JSON text; None where it is JSON, but no object.

    Raises ValueError for what is not JSON, NaN included, and for a name that is there twice: the code that checks a
    request might read one value, and the code that acts the other.
    """
    try:
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_once)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return document if isinstance(document, dict) else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name is there twice")
    return document
