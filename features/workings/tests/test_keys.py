"""The golden test of the workings' keys, spelled once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from features.workings import items
from shared.data import keys

GOLDEN: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (items.trace, ("hR5t-c0DxW9_ab1Z",), {"PK": "TRACE#hR5t-c0DxW9_ab1Z", "SK": "TRACE#hR5t-c0DxW9_ab1Z"}),
    (items.trace_steps, ("DEAL#0ujtsYcg",), "TRACE#DEAL#0ujtsYcg"),
    (
        items.trace_step,
        ("DEAL#0ujtsYcg", "publisher", "100000000000000000001"),
        {"PK": "TRACE#DEAL#0ujtsYcg", "SK": "STEP#publisher#100000000000000000001"},
    ),
]


@pytest.mark.parametrize(("key", "arguments", "spelled"), GOLDEN, ids=["trace", "steps", "step"])
def test_a_key_is_spelled_as_the_data_model_says(
    key: Callable[..., Any], arguments: tuple[Any, ...], spelled: Any
) -> None:
    assert key(*arguments) == spelled


def test_no_key_goes_unspelled() -> None:
    written = [key for key in vars(items).values() if isinstance(key, keys.Item | keys.Text)]

    assert written == [key for key, _, _ in GOLDEN]
