"""``make invoke`` where no local cloud runs, and where nothing but this machine can be reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra.bundling import libraries
from local.invoke import event_for
from local.settings import ROOT, Home, Trouble
from tests.support.commands import make


def test_the_seed_is_invoked_without_a_cloud_and_without_a_network(tmp_path: Path, code: Any) -> None:
    code("seed")  # what is fetched from a registry is here from an earlier command
    libraries("lambda-runtime")

    done = make(Home(tmp_path / "home"), "invoke", "FUNCTION=seed")

    assert done.returncode == 0, done.stderr
    assert "The local cloud is not running" in done.stderr
    assert 'CloudFormation is told: {"Status": "SUCCESS"' in done.stderr
    assert '"message":"seeded"' in done.stderr
    assert not (tmp_path / "home").exists()


def test_an_event_is_found_for_a_function_that_is_named_alone() -> None:
    found = {name: event_for(name).relative_to(ROOT).as_posix() for name in ("seed", "catalog", "publisher")}

    assert found == {
        "seed": "events/seed-create.json",
        "catalog": "events/catalog-all-brands.json",
        "publisher": "events/stream-insert.json",
    }
    with pytest.raises(Trouble, match="name a file"):
        event_for("site")
    with pytest.raises(Trouble, match="no function 'nobody'"):
        event_for("nobody")
