"""Functions of one artifact share its files on the local cloud."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from ministack.core import lambda_runtime  # type: ignore[import-untyped]  # it has no types

from local import unpacking


def unpacked(folder: Path, name: str, text: str) -> Path:
    """A module's folder as MiniStack makes it, of a zip of its own."""
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        archive.writestr("handler.py", text)
    code = folder / name / "code"
    code.mkdir(parents=True)
    with lambda_runtime.zipfile.ZipFile(folder / f"{name}.zip") as archive:
        archive.extractall(code)
    return code


def test_the_same_code_is_unpacked_once_and_outlives_each_that_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(lambda_runtime, "zipfile", lambda_runtime.zipfile)
    unpacking.install()

    one, two, changed = (unpacked(tmp_path, *each) for each in (("one", "1"), ("two", "1"), ("changed", "2")))
    shutil.rmtree(one.parent)

    assert (two / "handler.py").read_text() == "1"
    assert (changed / "handler.py").read_text() == "2"
    assert len(list(tmp_path.glob("unpacked-*"))) == 2
