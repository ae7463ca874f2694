"""Links from the documents to lines of code, and counts of claims: ``python -m tools.links`` brings them up to date.

With ``--check`` it changes nothing, and fails where one of them is out of date.

A link ``[`follows.like`](shared/data/members/follows.py#L27)`` names a function of a module and the line on which it is
defined. The name decides, and the number follows it. ``tests/test_docs.py`` fails where one of them is wrong.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]

LINK = re.compile(r"\[`(?P<module>\w+)\.(?P<name>\w+)`\]\((?P<up>(?:\.\./)?)(?P<path>[\w/]+\.py)(?:#L(?P<line>\d+))?\)")
"""A link to something that a module defines."""

COUNT = re.compile(r"^(\| (bet|seen|documented) \| .* \| )\d+( \|)$", re.MULTILINE)
"""A row of the ledger's first table, with the number of its claims of a state."""


def line_of(path: str, name: str) -> int:
    """The line on which a module defines a function, a class or a constant. Raises LookupError where it does not."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.ClassDef() if node.name == name:
                return node.lineno
            case ast.Assign() if name in {target.id for target in node.targets if isinstance(target, ast.Name)}:
                return node.lineno
            case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                return node.lineno
    raise LookupError(f"{path} defines no {name}")


def updated(found: re.Match[str]) -> str:
    """A link to the line of today."""
    line = line_of(found["path"], found["name"])
    return f"[`{found['module']}.{found['name']}`]({found['up']}{found['path']}#L{line})"


PATTERNS = re.compile(r"(?<=\[)\d+(?= access patterns )|(?<=\[All )\d+(?=\])|^\d+(?= patterns\. )", re.MULTILINE)
"""How many access patterns there are, as the documents say it."""


def counted(text: str, found: re.Match[str]) -> str:
    """A row of the ledger's table with the number of today's claims."""
    claims = text.count("\n- " + found[2] + ": ")
    return f"{found[1]}{claims}{found[3]}"


def main(arguments: list[str]) -> None:
    """Write the documents with today's lines and counts, or say which have others. Raises SystemExit, LookupError."""
    patterns = (ROOT / "docs" / "patterns.md").read_text(encoding="utf-8")
    rows = str(len(re.findall(r"^\| \d+ \|", patterns, re.MULTILINE)))
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        today = PATTERNS.sub(rows, COUNT.sub(partial(counted, text), LINK.sub(updated, text)))
        if text != today and arguments == ["--check"]:
            sys.exit(f"{document.name} links to lines that have moved: make format brings them up to date.")
        if text != today:
            document.write_text(today, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
