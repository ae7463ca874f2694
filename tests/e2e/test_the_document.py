"""schemathesis fires at the API what its own document makes think of; no answer departs from that document.

Here each role tries the routes that are for it, with few examples and always the same. ``make fire`` lets every role
try every route for as long as ``FIRE_SECONDS`` says, with other examples each time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.settings import ROOT
from shared.models.catalog import CATEGORIES
from tests.support.site import Site, Visitor, a_deal

SEED = "20261121"
EXAMPLES = "4"
"""Examples that the fuzzing makes for each route, besides those that are derived from the schema one by one."""

SECONDS = os.environ.get("FIRE_SECONDS")


@pytest.mark.thorough
@pytest.mark.parametrize("role", ["anonymous", "member", "editor"])
def test_no_answer_departs_from_the_document(site: Site, editor: Visitor, role: str, tmp_path: Path) -> None:
    stock(editor)
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(site.contract.document), encoding="utf-8")
    asked = [operation for methods in site.contract.document["paths"].values() for operation in methods.values()]
    if SECONDS is None:
        asked = [operation for operation in asked if operation["tags"] == [role]]

    done = fire(site, role, document, tmp_path / "report.json")

    print(done.stdout)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert told["operations"]["tested"] == len(asked)
    assert {told["phases"][phase]["status"] for phase in ("coverage", "fuzzing", "stateful")} == {"success"}
    assert told["test_cases"]["generated"] > 10 * len(asked)


def stock(editor: Visitor) -> None:
    """The brand that the document's examples name, with a deal in each category."""
    assert editor.post("/brands", json={"name": "allbirds"}).status_code in (201, 409)
    for category in CATEGORIES:
        assert editor.post("/deals", json=a_deal("allbirds", category=category)).status_code == 201


def fire(site: Site, role: str, document: Path, report: Path) -> subprocess.CompletedProcess[str]:
    """Run schemathesis as a role, in a process of its own."""
    bounded = ["--seed", SEED, "--max-examples", EXAMPLES, "--include-tag", role]
    return subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", "tests/e2e/schemathesis.toml"),
            *("run", str(document), "--url", f"{site.endpoint}/v1", "--no-color"),
            *("--header", f"Host: {site.visitor().headers['Host']}"),
            *("--report-json-path", str(report)),
            *(bounded if SECONDS is None else ["--max-time", SECONDS]),
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT),
            "NO_PROXY": "127.0.0.1",
            "FIRE_ROLE": role,
            "FIRE_HOME": str(site.home.folder),
            "FIRE_PORT": str(site.port),
            "FIRE_TABLE": site.table.name,
        },
    )
