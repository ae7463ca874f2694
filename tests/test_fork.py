"""A copy without some features: what it leaves out, and that what is left holds together."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest

from shared.features import INSTALLED
from tools import fork
from tools.fork import ROOT

TOOLS = ("node_modules", ".venv-checkov", ".venv-sam", ".venv-audit", ".dynamodb-local", ".venv-demo")


@pytest.fixture
def sports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two features, of which one needs the other."""
    needs = {"features.diving": ("swimming",), "features.swimming": ()}
    monkeypatch.setattr(fork, "INSTALLED", {"diving": {}, "swimming": {}})
    monkeypatch.setattr(fork, "import_module", lambda name: SimpleNamespace(NEEDS=needs[name]))


@pytest.mark.usefixtures("sports")
def test_what_needs_a_feature_goes_with_it() -> None:
    assert fork.removed(["swimming"]) == ["diving", "swimming"]
    assert fork.removed(["diving"]) == ["diving"]


@pytest.mark.usefixtures("sports")
def test_a_copy_that_cannot_be_made_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").touch()

    for names, folder, reason in (
        (["flying"], tmp_path / "new", "WITHOUT='flying' must name features. There are: diving, swimming."),
        ([], tmp_path / "new", "WITHOUT='' must name features. There are: diving, swimming."),
        (["swimming"], tmp_path / "mine", "can't be the copy's folder"),
        (["swimming"], ROOT / "build" / "mine", "name a new one, outside of"),
        (["swimming"], ROOT, "name a new one, outside of"),
    ):
        with pytest.raises(SystemExit, match=reason):
            fork.fork(names, folder)

    assert [str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*")] == ["mine", "mine/kept"]
    assert not (ROOT / "build" / "mine").exists()


def test_a_refusal_is_one_sentence() -> None:
    with pytest.raises(SystemExit, match=r'^Say where the copy goes: make fork WITHOUT="NAME" TO=../mine$'):
        fork.main("", "mail")


CHECKS = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["tools.links", "--check"],
    ["tools.roles"],
)
"""Style, links and types. To make the copy, all generated files were written."""

COLLECT = ["pytest", "-q", "-n", "0", "--collect-only", "-m", "thorough or not thorough"]
DATA = ["pytest", "-q", "-n", "2", "-m", "not thorough and not slow_engine", "tests/test_architecture.py", "tests/data"]
"""Imports all tests; runs those of ``make quick``."""

ALL = tuple(INSTALLED)
OFTEN = ALL[:1]
"""The first in order: others are most entangled with it. ``FORKS=each`` has all others taken out one by one, too, a
minute each."""
ALONE = [name for name in ALL if name in OFTEN or os.environ.get("FORKS") == "each"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "names", [ALL, *((name,) for name in ALONE)], ids=lambda names: names[0] if names != ALL else "all"
)
def test_a_copy_holds_together(names: tuple[str, ...], tmp_path: Path) -> None:
    to = tmp_path / "mine"
    fork.fork([*names], to)
    python = install(to)
    if (known := ROOT / ".mypy_cache").exists():  # what has not changed needs no second look
        shutil.copytree(known, to / known.name)
    # As its owner does: tests that compare commits need one.
    for words in (
        ["add", "--all"],
        ["-c", "user.name=Owner", "-c", "user.email=owner@fork.example", "commit", "-qm", "Begin"],
    ):
        subprocess.run(["git", *words], cwd=to, check=True)

    for command in (*CHECKS, DATA if names == ALL else COLLECT):
        done = subprocess.run([python, "-m", *command], cwd=to, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}:\n{done.stdout[-8000:]}{done.stderr[-2000:]}"


def install(to: Path) -> Path:
    """Give a copy what is installed here, and return its Python. It has an environment of its own: in this one, the
    import system looks for a missing folder of ``features`` here."""
    for tool in TOOLS:
        if (ROOT / tool).exists():
            (to / tool).symlink_to(ROOT / tool)
    venv.create(to / ".venv", symlinks=True)
    (libraries,) = (to / ".venv").glob("lib/python*/site-packages")
    (libraries / "copy.pth").write_text(f"{to}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    (to / ".venv" / "bin" / "ruff").symlink_to(Path(sysconfig.get_path("scripts")) / "ruff")
    return to / ".venv" / "bin" / "python"
