"""The ledger as far as a laptop proves it, and a cloud that starts again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from local import cloud
from local.cloud import free_port
from local.settings import Home
from shared.data.members import users
from tests.support.commands import begin, until
from tests.support.probe import home, probed, stream_to_a_function, told, write
from tests.support.site import Site


@pytest.mark.needs("mail")
def test_the_ledger_is_proved_as_far_as_a_laptop_can_and_nothing_stays(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # It leaves the addresses that btd reads.
    assert begin(site.home, "up", tmp_path / "up.log").wait(timeout=300) == 0
    monkeypatch.setenv("BTD_HOME", str(site.home.folder))
    monkeypatch.delenv("BTD_TABLE", raising=False)
    before = {user.username for user in users.everyone(site.table)}

    answer = CliRunner().invoke(app, ["probe", "--json"])

    assert answer.exit_code == 0, answer.output
    results = {row["claim"]: row for row in json.loads(answer.stdout)["result"]}
    assert {
        claim: results[claim]["result"]
        for claim in ("upload-reaches-the-resizer", "mail-is-sent", "leading-keys-of-an-index", "nightly-export")
    } == {
        "upload-reaches-the-resizer": "works",
        "mail-is-sent": "works",
        "leading-keys-of-an-index": "unknown",
        "nightly-export": "unknown",
    }
    assert "any key is allowed" in results["leading-keys-of-an-index"]["found"]
    assert "files made of it: 1" in results["upload-reaches-the-resizer"]["found"]
    assert {user.username for user in users.everyone(site.table)} == before
    assert not [item for item in site.table.everything() if str(item["PK"]).startswith("LEARN#probe")]


__all__ = ["home", "probed"]


def test_functions_read_what_comes_after_a_restart(probed: Home, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    stream_to_a_function(probed, seen)
    write(probed, "one", "two", "three")
    assert until(lambda: "three" in told(seen))

    assert cloud.stop(probed)
    cloud.start(probed, free_port())
    write(probed, "four")

    assert until(lambda: "four" in told(seen))
