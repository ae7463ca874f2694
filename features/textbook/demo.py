"""The textbook in the demo, which needs the files whose text its pages show, and its own table."""

from __future__ import annotations

from typing import Any

PACKED = ("/learn", "/learn/item-collection")


def shown() -> set[str]:
    """The paths of the files whose code lessons show."""
    from features.textbook import lessons  # noqa: PLC0415  # not for the demo's first page

    return lessons.shown()


def _add_table(client: Any) -> None:
    from features.textbook import lessons  # noqa: PLC0415  # the same

    lessons.add_table(client)


PREPARES = {"learn": _add_table}
