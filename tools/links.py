"""What documents take from the code and from each other: ``python -m tools.links`` brings it up to date.

That is the line numbers of links to code, the counts of access patterns and claims, README's table of features, and
SECURITY.md's table of roles.
With ``--check`` it changes nothing, and fails where one of them is out of date.

A link ``[`follows.like`](shared/data/members/follows.py#L27)`` names a function of a module and the line on which it is
defined. The name decides, and the number follows it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from tools import documents, worst_cases
from tools.documents import ROOT

LINK = re.compile(r"\[`(?P<module>\w+)\.(?P<name>\w+)`\]\((?P<path>(?:\.\./)*[\w/]+\.py)(?:#L(?P<line>\d+))?\)")
"""A link to something that a module defines."""

COUNT = re.compile(r"^(\| (bet|seen|documented) \| .* \| )\d+( \|)$", re.MULTILINE)
"""A row of the ledger's first table, with the number of claims of a state."""

PATTERNS = re.compile(r"(?<=\[)\d+(?= access patterns )|(?<=\[All )\d+(?=\])|^\d+(?= patterns\. )", re.MULTILINE)
"""How many access patterns there are, as the documents say it."""

FEATURES = re.compile(
    r"(?<=<!-- features: make format writes this table -->\n).*?(?=<!-- end of features -->)", re.DOTALL
)
"""README's table of features."""

ROLES = re.compile(r"(?<=<!-- roles: make format writes this table -->\n).*?(?=<!-- end of roles -->)", re.DOTALL)
"""SECURITY.md's table of what a function's role could be used for at worst."""

_SUMMARY = re.compile(r"\A# .+\n\n((?:.+\n)+)")


def line_of(path: Path, name: str) -> int:
    """The line on which a module defines a function, a class or a constant. Raises LookupError where it does not."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.ClassDef() if node.name == name:
                return node.lineno
            case ast.Assign() if name in {target.id for target in node.targets if isinstance(target, ast.Name)}:
                return node.lineno
            case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                return node.lineno
    raise LookupError(f"{path} defines no {name}")


def updated(folder: Path, found: re.Match[str]) -> str:
    """A link of a document in that folder to the line of today."""
    line = line_of(folder / found["path"], found["name"])
    return f"[`{found['module']}.{found['name']}`]({found['path']}#L{line})"


def table_of_features() -> str:
    """README's table of features: each folder, and the first paragraph of its document. Raises LookupError."""
    rows = ["| Folder | What it adds |\n|---|---|\n"]
    for name, file in documents.of_features().items():
        summary = _SUMMARY.match(file.read_text(encoding="utf-8"))
        if summary is None:
            raise LookupError(f"features/{name}/README.md has no title with a paragraph below it.")
        says = " ".join(summary[1].split())
        rows.append(f"| [`{name}`](features/{name}) | {says} |\n")
    return "".join(rows)


def main(arguments: list[str]) -> None:
    """Bring the documents up to date, or say which are not. Raises SystemExit, LookupError."""
    rows, table, roles = str(len(documents.pattern_rows())), table_of_features(), worst_cases.table()
    claims = Counter(claim["state"] for claim in documents.claims())
    for document in documents.all_documents():
        text = document.read_text(encoding="utf-8")
        today = documents.outside_blocks(partial(LINK.sub, partial(updated, document.parent)), text)
        today = COUNT.sub(lambda found: f"{found[1]}{claims[found[2]]}{found[3]}", today)
        today = ROLES.sub(lambda _: roles, FEATURES.sub(lambda _: table, PATTERNS.sub(rows, today)))
        if text != today and arguments == ["--check"]:
            sys.exit(f"{document.relative_to(ROOT)} is out of date: make format brings it up to date.")
        if text != today:
            document.write_text(today, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
