"""What documents have their reader do: recipes, applied to a copy of the tree, and the commands that they print.

A recipe is the steps of a section. A step is a sentence that ends in a colon, and the block below it: one of

    New file `path`:
    At the end of `path`:                    (after an empty line)
    In `path`, after the line `line`:        (or "before", or "instead of")
    In `path`, instead of the words `words`:
    Run:                                     (in a checkout)
    Run once it is deployed:                 (on a cloud that has the change)

A line is named without its indentation, which its block is moved in by. What is named must be in its file once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Final

from local.settings import ROOT
from tests.support.cases import cases_by_name
from tools.documents import all_documents

_FENCED = re.compile(r"^(?P<fence>```+)(\w*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)


def _code(name: str) -> str:
    """A pattern of what is in backticks, two of them where it has some itself."""
    return rf"(?P<{name}_ticks>`+) ?(?P<{name}>.+?) ?(?P={name}_ticks)"


_NEW = re.compile(rf"New file {_code('path')}:$")
_END = re.compile(rf"At the end of {_code('path')}:$")
_EDIT = re.compile(rf"In {_code('path')}, (?P<where>after|before|instead of) the line {_code('line')}:$")
_WORDS = re.compile(rf"In {_code('path')}, instead of the words {_code('words')}:$")
_RUN = re.compile(r"Run(?P<later> once it is deployed)?:$")


class NoRecipe(Exception):
    """A recipe that cannot be followed."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that the recipe adds."""

    path: str
    text: str

    def apply(self, tree: Path) -> None:
        file = tree / self.path
        if file.exists():
            raise NoRecipe(f"{self.path} is there already")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.text, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a file: ``pattern`` finds what is ``named``, a line with its margin or words, and ``change`` writes
    a text beside it or in its place."""

    path: str
    named: str
    pattern: str
    change: Callable[[re.Match[str]], str]

    def apply(self, tree: Path) -> None:
        file = tree / self.path
        if not file.exists():
            raise NoRecipe(f"there is no {self.path}")
        text = file.read_text(encoding="utf-8")
        times = len(re.findall(self.pattern, text, re.MULTILINE))
        if times != 1:
            raise NoRecipe(f"{self.path} has {times} times {self.named!r}")
        file.write_text(re.sub(self.pattern, self.change, text, flags=re.MULTILINE), encoding="utf-8")


def _beside(where: str, text: str) -> Callable[[re.Match[str]], str]:
    """Writes a text after or before a line, or instead of it, with the line's margin."""
    kept = {"after": "{line}{text}", "before": "{text}{line}", "instead of": "{text}"}[where]
    return lambda found: kept.format(line=found[0], text=indent(text, found["margin"]))


@dataclass(frozen=True, slots=True)
class Run:
    """Commands that the recipe has its reader type, in a checkout or (``deployed``) on a cloud that has the change."""

    commands: tuple[str, ...]
    deployed: bool


Step = NewFile | Edit | Run


def steps(document: Path, heading: str) -> list[Step]:
    """The steps of a document's section, which ends with the next heading."""
    text = _FENCED.sub(_hide_comments, document.read_text(encoding="utf-8"))
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise NoRecipe(f"{document.name} has no section {heading!r}")
    section, told, all_steps = found[1].replace(_HIDDEN, "#"), 0, []
    for block in _FENCED.finditer(section):
        all_steps.append(_step(section[told : block.start()], block["text"]))
        told = block.end()
    if not all_steps:
        raise NoRecipe(f"{document.name} has no step under {heading!r}")
    return all_steps


_HIDDEN = "\0"


def _hide_comments(block: re.Match[str]) -> str:
    """A block in which no line looks like a heading."""
    return re.sub(r"^#", _HIDDEN, block[0], flags=re.MULTILINE)


def _step(above: str, text: str) -> Step:
    """The step that the sentence above a block describes."""
    sentence = above.strip().rpartition("\n\n")[2].replace("\n", " ")
    if said := _NEW.search(sentence):
        return NewFile(said["path"], text)
    if said := _END.search(sentence):
        return Edit(said["path"], "its end", r"\Z", lambda _: f"\n{text}")
    if said := _EDIT.search(sentence):
        line = rf"^(?P<margin>[ \t]*){re.escape(said['line'])}[ \t]*\n"
        return Edit(said["path"], said["line"], line, _beside(said["where"], text))
    if said := _WORDS.search(sentence):
        return Edit(said["path"], said["words"], re.escape(said["words"]), lambda _: text.removesuffix("\n"))
    if said := _RUN.search(sentence):
        return Run(tuple(text.splitlines()), deployed=bool(said["later"]))
    raise NoRecipe(f"no step: {sentence[-100:]!r}")


def copy_of_tree(folder: Path) -> Path:
    """A copy of this checkout: what git has or would add, with all that is installed and built here."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (ROOT / "build").mkdir(exist_ok=True)
    (folder / "build").symlink_to(ROOT / "build")
    for name, there in ((".venv", Path(sys.prefix)), ("node_modules", ROOT / "node_modules")):
        (folder / name).mkdir()
        for each in there.iterdir():
            if each.name != ".installed":
                (folder / name / each.name).symlink_to(each)
        # Newer than all that asks for it, or make would install the copy into what is linked here.
        (folder / name / ".installed").touch()
    return folder


def apply(recipe: list[Step], tree: Path) -> None:
    """Do the steps of a recipe that change files."""
    for step in recipe:
        if not isinstance(step, Run):
            step.apply(tree)


def changed(recipe: list[Step]) -> list[str]:
    """The paths of a recipe's files."""
    return list(dict.fromkeys(step.path for step in recipe if not isinstance(step, Run)))


def commands(recipe: list[Step], *, deployed: bool = False) -> Iterator[str]:
    """The commands that a recipe has its reader type."""
    for step in recipe:
        if isinstance(step, Run) and step.deployed is deployed:
            yield from step.commands


def run(tree: Path, command: str, **more: str) -> str:
    """Run a command, which must succeed, in a copy of the tree; returns what it prints."""
    # The tree's own modules are imported, not those of this checkout.
    left_out = ("PYTEST_", "COV_", "BTD_", "MAKE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    surroundings = {**kept, "PYTHONPATH": str(tree), **more}
    done = subprocess.run(
        ["sh", "-c", command], cwd=tree, env=surroundings, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done.stdout


AFTER_MAKE_RUN: Final = ("README.md", "docs/afternoon.md")
"""Their commands are typed in one shell after ``make run`` (``tests/recipes/test_deployed.py``)."""

OPERATIONS: Final = ("docs/local-cloud.md", "docs/deploying.md", "docs/failures.md", "docs/runbook.md")
"""Their commands are typed one by one on the same cloud; those of AWS's command line reach it, not AWS."""

OF_BTD: Final = ("docs/command-line.md",)
"""Its commands of ``btd`` run in ``tests/cli/test_command_line.py``, those with pipes after the operations."""

RECIPES: Final = ("CONTRIBUTING.md", "docs/growing.md")
"""Their commands are steps of recipes (``tests/recipes/test_recipes.py`` and ``test_deployed.py``)."""

NOT_TYPED: Final = {
    "make fork ": "tests/test_fork.py makes copies",
    "make adopt ": "tests/test_adopt.py renames a copy",
    "make install format test": "these tests, in a renamed copy",
    "make synth": "it is typed with STAGE=prod, which takes as long",
    "make run": "the cloud of the test that types the others",
    "make test": "these tests",
    "make format test": "these tests; tests/recipes/test_recipes.py types make format",
    "rm -r features/NAME": "tests/recipes/test_recipes.py removes a new feature",
    "make install": "the copy is installed",
    "make demo SERVE=yes": "it serves until it is stopped; tests/demo builds it and serves it",
    "make pictures": "a browser takes them, for minutes",
    ".venv/bin/python -m tests.support.preview": "it serves until it is stopped",
    ".venv-sam/bin/sam ": "Docker",
    "npm pack ": "another host",
    ".venv/bin/pyftsubset ": "a file of the package that the line before it fetches",
    "node_modules/.bin/cdk ": "an account at AWS",
    "git checkout LAST-GOOD ": "an account at AWS",
    "BTD_TABLE=BigTimeDeals-dev-Table ": "an account at AWS",
    "aws cloudformation delete-stack ": "it would end the cloud of the other commands",
    "aws logs ": "MiniStack looks for the log groups of a query in another place than in its text",
    "aws sqs start-message-move-task ": "MiniStack has no such tasks",
    "aws service-quotas ": "MiniStack has no such service",
    "aws health ": "MiniStack has no such service",
    **cases_by_name("NOT_TYPED"),
}
"""The commands that no test types, or with a space how they begin, and what each is or needs. AWS's command line checks
the words of its own all the same."""

_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def documents() -> list[str]:
    """The paths of all documents and lessons."""
    found = [*all_documents(), *ROOT.glob("features/**/*.toml")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def shell_lines(document: str) -> list[str]:
    """The lines of a document's shell blocks, each whole and without its comment."""
    blocks = _BLOCK.findall((ROOT / document).read_text(encoding="utf-8"))
    lines = (line for block in blocks for line in re.sub(r"\\\n *", "", block).splitlines())
    return [re.sub(r"\s{2,}# .*", "", line) for line in lines]


def matches(entry: str, command: str) -> bool:
    """Whether an entry of ``NOT_TYPED`` means a command."""
    return command == entry or (entry.endswith(" ") and command.startswith(entry))


def reason(command: str) -> str | None:
    """Why no test types a command, or None."""
    return next((why for entry, why in NOT_TYPED.items() if matches(entry, command)), None)


def typed(*of: str) -> list[str]:
    """The commands of documents that a test types, in their order."""
    return [each for name in of for each in shell_lines(name) if reason(each) is None]
