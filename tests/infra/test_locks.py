"""The lock files: everything is pinned and hashed, each library has one version, and they hold no address."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from local.settings import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
BOTOCORE = "1.43.106"
"""MiniStack pins botocore, and what is tested here must be what runs in Lambda."""


def _pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)(?:\[[a-z,]+\])?==(\S+)", lock.read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_registry_and_hashes_everything(lock: Path) -> None:
    text = lock.read_text()

    assert "://" not in text
    assert not re.search(r"^\s*-{1,2}(index|extra|find|i\b|f\b)", text, re.MULTILINE)
    for name in _pins(lock):
        assert re.search(rf"^{re.escape(name)}(\[.*\])?==.*\n\s+--hash=sha256:", text, re.MULTILINE), name


def test_lambda_runs_the_versions_that_are_tested() -> None:
    everything = _pins(ROOT / "requirements" / "dev.txt")

    for lock in LOCKS:
        if lock.name in ("lambda-lean.txt", "lambda-full.txt", "installer.txt"):  # the others are environments apart
            assert _pins(lock).items() <= everything.items(), lock.name
    assert everything["boto3"] == everything["botocore"] == BOTOCORE


def test_the_node_lock_names_no_registry() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())

    for name, package in lock["packages"].items():
        assert "resolved" not in package, name
        assert not name or package["integrity"].startswith("sha512-"), name
