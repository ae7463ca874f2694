"""``btd probe`` on the deployed local cloud: what works there, what it cannot tell, and that nothing stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from shared.data.members import users
from tests.support.commands import begin
from tests.support.site import Site


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
