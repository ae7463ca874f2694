"""What the local cloud holds is written down at its end, or its end says that it was not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ministack import app  # type: ignore[import-untyped]  # it has no types
from ministack.core import persistence  # type: ignore[import-untyped]  # the same

from local import cloud, guarded_ministack, ministack_patches
from local.settings import Home, Trouble
from tests.support.probe import home

__all__ = ["home"]


class Expiring:
    """An item that is removed while its table is copied, so many times."""

    def __init__(self, table: dict[str, Any], times: int) -> None:
        self.table, self.times = table, times

    def __deepcopy__(self, _: object) -> str:
        if self.times:
            self.times -= 1
            self.table[f"expired {self.times}"] = "now"
        return "item"


def changing(times: int) -> Callable[[], Any]:
    table: dict[str, Any] = {}
    table |= {"first": Expiring(table, times), "second": "item"}
    return lambda: copy.deepcopy(table)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, Any]]:
    """The services that were written down, with their states."""
    monkeypatch.setattr(persistence, "PERSIST_STATE", True)
    monkeypatch.setattr(persistence, "STATE_DIR", str(tmp_path))
    return lambda: {file.stem: json.loads(file.read_text())["payload"] for file in tmp_path.glob("*.json")}


def test_a_table_that_changes_while_it_is_copied_is_written_down_whole(saved: Callable[[], dict[str, Any]]) -> None:
    persistence.save_all({"dynamodb": changing(times=2)})
    by_ministack = saved()

    guarded_ministack.save_all({"dynamodb": changing(times=2), "sqs": lambda: {"queues": []}, "none": lambda: None})

    assert by_ministack == {}  # or MiniStack does without ours
    assert saved() == {
        "dynamodb": {"first": "item", "second": "item", "expired 1": "now", "expired 0": "now"},
        "sqs": {"queues": []},
    }


def test_the_local_cloud_writes_down_so(monkeypatch: pytest.MonkeyPatch) -> None:
    patches = ((ministack_patches, name) for name in ("read_streams", "share_unpacked"))
    for module, name in ((app, "app"), (app, "save_all"), *patches):
        monkeypatch.setattr(module, name, lambda: None)
    kept: list[object] = []
    monkeypatch.setattr(app, "main", lambda: kept.append(app.save_all))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")

    guarded_ministack.main()

    assert kept == [guarded_ministack.save_all]


def test_what_never_stops_changing_keeps_no_other_service_from_being_written(
    saved: Callable[[], dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    guarded_ministack.save_all({"dynamodb": changing(times=1000), "sqs": lambda: {"queues": []}})

    assert saved() == {"sqs": {"queues": []}}
    assert cloud.NOT_SAVED.search(caplog.text)


def test_a_stop_that_could_not_write_all_is_told_and_so_is_the_next_start(home: Home) -> None:
    (home.state / "dynamodb.json.tmp").mkdir(parents=True)

    with pytest.raises(Trouble, match="did not write down all"):
        cloud.stop(home)

    (home.state / "dynamodb.json.tmp").rmdir()
    port = cloud.last_port(home)
    assert port is not None
    assert cloud.start(home, port)[1] is False
    assert cloud.stop(home) is True
    assert cloud.start(home, port)[1] is True
