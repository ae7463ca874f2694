"""The settings of the stages: documented, and refused where they contradict themselves.

The lock files: everything is pinned and hashed, each library has one version, and they hold no address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from infra.settings import STAGES, Cdn, Domain, Mail, Stage
from local.settings import ROOT
from tests.infra.conftest import CLOSED

DEV = STAGES["dev"]
OWN = Domain("deals.example", "arn:aws:acm:x")
MAIL = Mail(sender="deals@deals.example", postal_address="1 Main Street, Springfield")
BOTH = ("*", "https://app.example")


def test_every_setting_of_a_stage_and_of_cloudfront_is_documented() -> None:
    told = (ROOT / "docs" / "deploying.md").read_text()

    assert not [each.name for each in (*fields(Stage), *fields(Cdn)) if f"`{each.name}`" not in told]


def test_no_stage_silences_the_lines_that_carry_metrics() -> None:
    assert {stage.log_level for stage in STAGES.values()} <= {"DEBUG", "INFO"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        *(
            (lambda origin=origin: replace(DEV, cors_origins=(origin,)), "origin")
            for origin in ("https://app.example/", "app.example", "https://App.example", "https://a b", "null")
        ),
        (lambda: replace(DEV, cors_origins=BOTH), "origin"),
        (lambda: replace(DEV, shipping={"usd": "4.90"}), "shipping must"),
        (lambda: replace(DEV, shipping={"USD": "5"}), "shipping must"),
        (lambda: replace(DEV, tax="8%"), "tax must"),
        (lambda: replace(DEV, tax="-1"), "tax must"),
        (lambda: replace(DEV, open_order_shards=0), "open_order_shards must"),
        (lambda: replace(DEV, alarm_email="oncall@shop.example"), "not watched"),
        (lambda: replace(DEV, budget=10), "not watched"),
        (lambda: replace(DEV, cdn=CLOSED, domain=OWN), "closes_apis"),
        (lambda: replace(DEV, cdn=Cdn(), mail=MAIL), "mail needs an address"),
        (lambda: Cdn(domain_name=OWN.name), "go together"),
        (lambda: replace(MAIL, sender="Deals <deals@deals.example>"), "without names"),
        (lambda: replace(MAIL, reply_to="Ana"), "without names"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()


def test_all_origins_may_be_let_in_at_once() -> None:
    assert replace(DEV, cors_origins=("*",)).cors_origins == ("*",)


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
