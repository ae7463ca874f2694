"""The actions of pictures, for ``tests/interleave``: those on the table. What is in the bucket isn't tried."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

from features.pictures import upkeep
from features.pictures.data import fetches, uploads
from features.pictures.models import Picture
from shared.values.times import to_iso
from tests.interleave.beginning import FIRST, LATER
from tests.support.factories import NOW, account_of

if TYPE_CHECKING:
    from tests.interleave.processes import Process


def bucket_there() -> AbstractContextManager[object]:
    """A bucket that does as it is told."""
    files = SimpleNamespace(replaced=lambda _name: None, kept=lambda _name: None)
    return mock.patch.object(upkeep, "bucket", return_value=files)


def record(at: Process, refused: str = "") -> bool:
    """An upload of an editor's is recorded; of two, the one that was sent later stays."""
    picture = None if refused else Picture(f"{at.seed}" * 20, 40, 30, "c81e1e")
    sent_at, upload = to_iso(LATER), f"uploads/{at.seed}"
    return uploads.record_picture(
        at.table, FIRST.deal_id, upload, sent_at, picture, refused, LATER, by="bo", account_id=account_of("bo")
    )


def order(at: Process, host: str = "a.example") -> None:
    fetches.order(at.table, host, FIRST.deal_id, NOW)


def sweep(at: Process) -> None:
    """The clock sends what is due."""
    queue: Any = SimpleNamespace(send=lambda _bodies: None)
    fetches.sweep(at.table, queue, LATER, [])


def finish(at: Process) -> None:
    fetches.done(at.table, fetches.Fetch("b.example", NOW, FIRST.deal_id, NOW))


WRITES = {
    "record picture": record,
    "record refused picture": lambda at: record(at, "It is no picture."),
    "order picture": order,
    "send fetches": sweep,
    "finish fetch": finish,
}
BEFORE_WRITES = (lambda at: order(at, "b.example"),)
WRITES_ONCE_FAILED = (
    ("record refused picture", "record refused picture"),
    ("record picture", "record refused picture"),
)
AROUND_WRITES = (bucket_there,)
