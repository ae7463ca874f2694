"""The commands that documents print: who types them, and why some are typed by no test.

A name in capitals stands for something of the reader's; ``tests/recipes/test_deployed.py`` has what it is there.
"""

from __future__ import annotations

import re
from typing import Final

from local.settings import ROOT

AFTER_MAKE_RUN: Final = ("README.md", "docs/afternoon.md")
"""Their commands are typed in one shell after ``make run`` (``tests/recipes/test_deployed.py``)."""

OPERATIONS: Final = ("docs/local-cloud.md", "docs/deploying.md", "docs/failures.md", "docs/runbook.md")
"""Their commands are typed one by one on the same cloud; those of AWS's command line reach it, not AWS."""

OF_BTD: Final = ("docs/command-line.md", "docs/importing.md")
"""Their commands of ``btd`` run in ``tests/cli/test_documented.py``, those with pipes after the operations."""

RECIPES: Final = ("CONTRIBUTING.md", "docs/growing.md")
"""Their commands are steps of recipes (``tests/recipes/test_recipes.py`` and ``test_deployed.py``)."""

NOT_TYPED: Final = {
    "make fork ": "tests/test_fork.py makes copies",
    "make synth": "it is typed with STAGE=prod, which takes as long",
    "make run": "the cloud of the test that types the others",
    "make test": "these tests",
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
    "BTD_STACK=BigTimeDeals-dev ": "an account at AWS",
    "btd probe ": "it proves what AWS does",
    "aws cloudformation delete-stack ": "it would end the cloud of the other commands",
    "aws cloudwatch set-alarm-state ": "the stage local has no alarms",
    "aws logs ": "MiniStack looks for the log groups of a query in another place than in its text",
    "aws service-quotas ": "MiniStack has no such service",
    "aws health ": "MiniStack has no such service",
    "aws sesv2 delete-suppressed-destination ": "MiniStack has no such list",
    "aws stepfunctions start-execution ": "the stage local exports nothing",
}
"""The commands that no test types, or with a space how they begin, and what each is or needs. AWS's command line checks
the words of its own all the same."""

_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def documents() -> list[str]:
    """The paths of all documents and lessons."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("shared/learn/**/*.toml")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def commands(document: str) -> list[str]:
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
    return [each for name in of for each in commands(name) if reason(each) is None]
