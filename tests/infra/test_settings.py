"""Settings of stages, locks, and what artifacts hold."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import botocore
import pytest

from infra.bundling import SERVICES, bundle, compiler, module_of, tree_digest
from infra.functions import FUNCTIONS
from infra.options import Option
from infra.options.mail import Mail
from infra.options.shop import Shop
from infra.settings import ON_LAMBDA, STAGES, Stage, this_machine
from local.invoke import unpack
from local.settings import ROOT
from tests.invoke.conftest import INTERPRETER, RUNTIME

DEV = STAGES["dev"]
MAIL = Mail(sender="deals@deals.example", postal_address="1 Main Street, Springfield")
BOTH = ("*", "https://app.example")


def test_every_setting_of_a_stage_is_documented() -> None:
    told = (ROOT / "docs" / "deploying.md").read_text()

    assert not [each.name for each in fields(Stage) if f"`{each.name}`" not in told]


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
        (lambda: Shop(shipping={"usd": "4.90"}), "shipping must"),
        (lambda: Shop(shipping={"USD": "5"}), "shipping must"),
        (lambda: Shop(tax="8%"), "tax must"),
        (lambda: Shop(tax="-1"), "tax must"),
        (lambda: Shop(open_order_shards=0), "open_order_shards must"),
        (lambda: replace(DEV, alarm_email="oncall@shop.example"), "not watched"),
        (lambda: replace(DEV, budget=10), "not watched"),
        (lambda: replace(DEV, options=(Option(), Option())), "one of a kind"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()


def test_mail_from_a_name_is_refused() -> None:
    for wrong in ({"sender": "Deals <deals@deals.example>"}, {"reply_to": "Ana"}):
        with pytest.raises(ValueError, match="without names"):
            replace(MAIL, **wrong)


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


IMPORTS = """
import importlib, os, sys
sys.path.insert(0, sys.argv[1])
import botocore.session, aws_lambda_powertools.event_handler
failed = 0
for module in sys.argv[2:]:
    if not os.fork():
        importlib.import_module(module)
        os._exit(0)
    failed |= os.wait()[1]
sys.exit(bool(failed))
"""
"""Each handler is imported by a fork of its own; what all of them import is there before, which saves time."""

LAMBDAS = f"cpython-{ON_LAMBDA.python.replace('.', '')}"
"""The part of a file's name that says for which Python it was compiled."""

PUBLISHED = ("botocore", "aws_lambda_powertools", "pydantic")


@pytest.mark.thorough
def test_two_builds_from_nothing_are_the_same(tmp_path: Path) -> None:
    first = bundle("full", this_machine(), tmp_path / "first")
    second = bundle("full", this_machine(), tmp_path / "second")

    assert first.digest == second.digest == tree_digest(second.path)


def test_a_second_build_only_finds_the_first() -> None:
    first = bundle("lean", this_machine())
    marker = first.path.with_name(f"{first.path.name}.digest")
    before = marker.stat().st_mtime_ns

    again = bundle("lean", this_machine())

    assert again == first
    assert marker.stat().st_mtime_ns == before


def test_an_artifact_for_another_machine_holds_only_what_runs_there() -> None:
    artifact = bundle("full", ON_LAMBDA)

    native = [file.name for file in artifact.path.rglob("*.so")]

    assert native
    assert all("aarch64" in name or ".abi3." in name for name in native)
    assert not any("cpython-" in name and LAMBDAS not in name for name in native)
    for file in artifact.path.rglob("*.so"):
        machine = int.from_bytes(file.read_bytes()[18:20], "little")
        assert machine == 0xB7, file.name  # EM_AARCH64 of the ELF header


def test_byte_code_for_another_python_is_that_pythons_or_left_out() -> None:
    codes = list(bundle("lean", ON_LAMBDA).path.rglob("*.pyc"))

    assert bool(codes) == (compiler(ON_LAMBDA.python) is not None)
    assert all(f".{LAMBDAS}." in code.name for code in codes)


def test_an_interpreter_is_believed_only_for_what_it_says_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python3.97").symlink_to(sys.executable)
    (tmp_path / "python3.98").write_text("#!/bin/sh\necho '3.98.0 (a shim)'; exit 127\n")
    (tmp_path / "python3.98").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert compiler(this_machine().python) == sys.executable
    assert compiler(platform.python_version()) is not None  # uv has to find it
    assert [compiler(version) for version in ("3.97", "3.98")] == [None, None]


def test_byte_code_is_valid_after_zip_and_unzip(tmp_path: Path) -> None:
    unpacked = unpack(bundle("lean", this_machine()).path, tmp_path / "unpacked")

    codes = list(unpacked.rglob("*.pyc"))

    assert {code.parent.parent for code in codes} >= {
        unpacked / "functions",
        unpacked / "shared",
        unpacked / "botocore",
    }
    for code in codes:
        # PEP 552: bit 0 means a hash instead of a time, bit 1 that the hash is to be checked.
        assert int.from_bytes(code.read_bytes()[4:8], "little") == 0b01, code


@pytest.mark.parametrize("artifact", sorted({row.artifact for row in FUNCTIONS}))
def test_each_handler_imports_from_its_artifact_alone_on_lambdas_python(artifact: str) -> None:
    """The local cloud runs functions where the whole working copy's libraries are at hand; Lambda does not."""
    modules = [module_of(row.name) for row in FUNCTIONS if row.artifact == artifact]

    done = subprocess.run(
        [str(INTERPRETER), "-I", "-S", "-B", "-c", IMPORTS, str(bundle(artifact, RUNTIME).path), *modules],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "POWERTOOLS_SERVICE_NAME": artifact},
    )

    assert done.returncode == 0, done.stderr


def test_only_our_own_runtime_sources_go_in() -> None:
    code = bundle("lean", this_machine()).path

    assert (code / "functions" / "api" / "openapi.json").exists()
    assert not {"infra", "local", "cli", "tests", "aws_cdk", "ministack", "pydantic"} & {
        entry.name for entry in code.iterdir()
    }


def test_libraries_are_as_published_but_for_descriptions_of_services_that_nobody_calls() -> None:
    code = bundle("full", this_machine()).path
    installed = Path(botocore.__file__).parents[1]

    published = {file.relative_to(code): file for folder in PUBLISHED for file in (code / folder).rglob("*.py")}

    assert {folder.name for folder in (code / "botocore" / "data").iterdir() if folder.is_dir()} == SERVICES
    assert len(published) > 200
    assert [name for name, file in published.items() if file.read_bytes() != (installed / name).read_bytes()] == []
