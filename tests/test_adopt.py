"""Another name for a checkout: which are refused, what is renamed, and that the renamed project holds together."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from local.settings import DEFAULT_PORT, ROOT
from tests.support.browser import NAMES
from tests.test_fork import CHECKS, install
from tools import adopt
from tools.adopt import NAME, SPELLINGS, Impossible

NEW = "Corner Bargains 2 Go"
"""As long as a name may be."""

SAID = " / ".join(spell(NAME) for spell in SPELLINGS)
SAID_NEW = "Corner Bargains 2 Go / CornerBargains2Go / corner-bargains-2-go / cornerbargains2go"


def committed(folder: Path) -> None:
    """Make a folder a repository with one commit of all its files."""
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "Begin"]):
        subprocess.run(
            ["git", "-c", "user.name=Owner", "-c", "user.email=owner@fork.example", *words], cwd=folder, check=True
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with some files, one of which git doesn't have."""
    for name in ("page.html", "LICENSE", "CHANGELOG.md"):
        (tmp_path / name).write_text(f"{SAID}\n", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff" + NAME.encode())
    (tmp_path / ".gitignore").write_text("own\n", encoding="utf-8")
    committed(tmp_path)
    (tmp_path / "own").write_text(NAME, encoding="utf-8")
    return tmp_path


def test_a_name_is_replaced_in_each_spelling_in_the_projects_own_texts(checkout: Path) -> None:
    assert adopt.adopt(NEW, checkout) == ["page.html"]

    assert (checkout / "page.html").read_text(encoding="utf-8") == f"{SAID_NEW}\n"
    assert (checkout / "own").read_text(encoding="utf-8") == NAME


def test_a_name_is_not_written_over_changes_that_nobody_has_committed(checkout: Path) -> None:
    (checkout / "page.html").write_text("mine", encoding="utf-8")

    with pytest.raises(Impossible, match="commit them first"):
        adopt.adopt(NEW, checkout)

    assert (checkout / "page.html").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "Say which name"),
        (NAME, f"is {NAME} already"),
        ("corner", "needs a capital first"),
        ("2 Go", "needs a capital first"),
        ("Corner & Sons", "needs a capital first"),
        ("Müller", "needs a capital first"),
        ("Corner-Bargains", "needs a capital first"),
        ("Corner\nBargains", "needs a capital first"),
        (f"{NEW}!", "needs a capital first"),
        (f"{NEW}o", "at most 20"),
    ],
)
def test_a_name_that_something_could_not_have_is_refused(name: str, reason: str) -> None:
    with pytest.raises(Impossible, match=reason):
        adopt.check(name)


def test_a_name_of_one_word_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopt, "NAME", "Deals")

    with pytest.raises(Impossible, match="take back the commit"):
        adopt.check(NEW)


def test_a_refusal_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert adopt.main("50% off") == 2
    assert re.fullmatch(r"'50% off' can't be the name: [^.\n]+\.\n", capsys.readouterr().err)


@pytest.mark.thorough
def test_a_renamed_project_holds_together(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in filter(None, listed.split("\0")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    python = install(tmp_path)
    (ROOT / "build").mkdir(exist_ok=True)
    (tmp_path / "build").symlink_to(ROOT / "build")  # artifacts are named by what they are built from
    committed(tmp_path)
    environment = {**os.environ, "CDK_OUTDIR": "cdk.out"}

    adopting, formatting = ["tools.adopt", NEW], (["ruff", "format", "-q", "."], ["tools.generated"])
    for command in (adopting, *formatting, *CHECKS[:3]):
        done = subprocess.run(
            [python, "-m", *command], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, f"{command}:\n{done.stdout[-8000:]}{done.stderr[-2000:]}"
    subprocess.run([python, "app.py"], cwd=tmp_path, check=True, env=environment, timeout=600)

    assert (tmp_path / "cdk.out" / "CornerBargains2Go-dev.template.json").exists()
    old = "|".join(map(re.escape, SAID.split(" / ")))
    tracked = [path for path in filter(None, listed.split("\0")) if path not in adopt.KEPT]
    texts = {path: (tmp_path / path).read_bytes().decode(errors="replace") for path in tracked}
    assert [path for path, text in texts.items() if re.search(old, text)] == []


def test_a_container_has_what_the_project_needs_and_its_port() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    tested = re.findall(r"node-version: (\d+)", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    python = re.findall(r'python_version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert re.findall(r"python:([\d.]+)", container["image"]) == python
    assert [feature["version"] for feature in container["features"].values()] == tested
    assert container["forwardPorts"] == [DEFAULT_PORT]
    assert {*container["portsAttributes"]} == {str(DEFAULT_PORT)}
    assert f" {NAMES[0]} " in container["onCreateCommand"]
    assert container["onCreateCommand"].endswith("&& make install")
