"""The artifacts: what is in them, for which machine, and that they are the same each time."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import botocore
import pytest

from infra.artifacts.bundling import BUILT_FROM_SOURCE, SERVICES, bundle, compiler, module_of, tree_digest
from infra.functions import FUNCTIONS, Function
from infra.settings import lambda_target, this_machine
from tests.support.artifacts import INTERPRETER, RUNTIME

ARM = lambda_target("3.13", "arm64")

IMPORTS = "import importlib, sys; sys.path.insert(0, sys.argv[1]); importlib.import_module(sys.argv[2])"

PUBLISHED = ("boto3", "botocore", "aws_lambda_powertools", "pydantic")


@pytest.mark.thorough
def test_two_builds_from_nothing_are_the_same(tmp_path: Path) -> None:
    first = bundle("full", this_machine(), tmp_path / "first")
    second = bundle("full", this_machine(), tmp_path / "second")

    assert first.digest == second.digest == tree_digest(second.path)


def test_a_second_build_only_finds_the_first(tmp_path: Path) -> None:
    first = bundle("lean", this_machine(), tmp_path)
    before = first.path.stat().st_mtime_ns

    again = bundle("lean", this_machine(), tmp_path)

    assert again == first
    assert again.path.stat().st_mtime_ns == before


def test_an_artifact_for_another_machine_holds_only_what_runs_there() -> None:
    artifact = bundle("full", ARM)

    native = [file.name for file in artifact.path.rglob("*.so")]

    assert native
    assert all("aarch64" in name or ".abi3." in name for name in native)
    assert not any("cpython-" in name and "cpython-313" not in name for name in native)
    for file in artifact.path.rglob("*.so"):
        machine = int.from_bytes(file.read_bytes()[18:20], "little")
        assert machine == 0xB7, file.name  # EM_AARCH64 of the ELF header


def test_only_wheels_for_the_target_went_in() -> None:
    artifact = bundle("full", ARM)

    for wheel in artifact.path.glob("*.dist-info/WHEEL"):
        tags = [line.removeprefix("Tag: ") for line in wheel.read_text().splitlines() if line.startswith("Tag: ")]
        assert any(tag.endswith(("-any", "aarch64")) for tag in tags), wheel
    for name in BUILT_FROM_SOURCE:
        (wheel,) = artifact.path.glob(f"{name.replace('-', '_')}-*.dist-info/WHEEL")
        assert "Root-Is-Purelib: true" in wheel.read_text()


def test_byte_code_for_another_python_is_that_pythons_or_left_out() -> None:
    codes = list(bundle("lean", ARM).path.rglob("*.pyc"))

    assert bool(codes) == (compiler(ARM.python) is not None)
    assert all(f".cpython-{ARM.python.replace('.', '')}." in code.name for code in codes)


def test_an_interpreter_is_believed_only_for_what_it_says_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python3.97").symlink_to(sys.executable)
    (tmp_path / "python3.98").write_text("#!/bin/sh\necho '3.98.0 (a shim)'; exit 127\n")
    (tmp_path / "python3.99").write_text("#!/bin/sh\necho '3.99.1 (made up)'\n")
    for name in ("python3.98", "python3.99"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert compiler(this_machine().python) == sys.executable
    assert [compiler(version) for version in ("3.97", "3.98")] == [None, None]
    assert compiler("3.99") == str(tmp_path / "python3.99")


def test_byte_code_is_valid_after_zip_and_unzip(tmp_path: Path) -> None:
    artifact = bundle("lean", this_machine())
    archive, unpacked = tmp_path / "artifact.zip", tmp_path / "unpacked"
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in artifact.path.rglob("*"):
            zipped.write(file, file.relative_to(artifact.path))
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(unpacked)

    codes = list(unpacked.rglob("*.pyc"))

    assert {code.parent.parent for code in codes} >= {unpacked / "functions", unpacked / "shared", unpacked / "boto3"}
    for code in codes:
        # PEP 552: bit 0 means a hash instead of a time, bit 1 that the hash is to be checked.
        assert int.from_bytes(code.read_bytes()[4:8], "little") == 0b01, code


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.name)
def test_each_handler_imports_from_its_artifact_alone_on_lambdas_python(row: Function) -> None:
    # The local cloud runs functions where the whole working copy's libraries are at hand; Lambda does not.
    code = bundle(row.artifact, RUNTIME).path

    done = imported(code, row.name, str(INTERPRETER))

    assert done.returncode == 0, done.stderr


def imported(code: Path, function: str, interpreter: str) -> subprocess.CompletedProcess[str]:
    """The import of a function by a Python that has only an artifact and the standard library."""
    return subprocess.run(
        [interpreter, "-I", "-S", "-B", "-c", IMPORTS, str(code), module_of(function)],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "POWERTOOLS_SERVICE_NAME": function},
    )


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
