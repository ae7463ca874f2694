"""All page titles and error texts in tables, ``texts.toml``, where an editor can read them in one go: one of the core,
and one in the tests of each feature.

A text that is new, gone or worded otherwise fails here. Read it in the table as a visitor of the site would, then let
``python -m tests.test_texts`` write the files.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = "texts.toml"
CORE = ("web/templates", "shared", "functions", "cli", "local", "tools")
PLACES = {"tests": CORE} | {
    f"features/{place.name}/tests": (f"features/{place.name}",) for place in sorted(ROOT.glob("features/*/"))
}
"""The folders that a table is about, by the folder that it is in."""

WORDED = re.compile(r"[A-Z“‘{].* .*[.?!:]", re.DOTALL)
"""What an error says to its reader: a sentence."""


def titles(folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The title of each page, by its template."""
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.html")):
            found = re.search(r"{% block title %}(.+?){% endblock %}", file.read_text(encoding="utf-8"))
            if found:
                yield file.relative_to(ROOT / folder).as_posix().removeprefix("templates/"), found[1]


def errors(folders: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The sentences of the errors that the modules of each folder define or raise."""
    for folder in folders:
        files = [file for file in (ROOT / folder).rglob("*.py") if "tests" not in file.parts]
        trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
        found = {said(text) for tree in trees for node in ast.walk(tree) for text in worded(node)}
        if sentences := sorted(filter(WORDED.fullmatch, found)):
            yield folder, sentences


def worded(node: ast.AST) -> Iterator[ast.expr]:
    """The texts in what is raised, in what an error gives to its base class, and in its ``text``."""
    match node:
        case ast.Raise(exc=ast.Call() as call):
            yield from texts_in(call)
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("super")), attr="__init__")):
            yield from texts_in(node)
        case ast.Assign(targets=[ast.Name("text")], value=value):
            yield from texts_in(value)


def texts_in(node: ast.AST) -> Iterator[ast.expr]:
    """The outermost texts in an expression."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from texts_in(child)


def said(node: ast.expr) -> str:
    """A text, with what it computes in braces."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            f"{{{ast.unparse(part.value)}}}" if isinstance(part, ast.FormattedValue) else said(part)
            for part in node.values
        )
    assert isinstance(node, ast.Constant)
    return str(node.value)


@pytest.mark.parametrize("place", PLACES)
def test_every_title_and_error_text_stands_in_a_table(place: str) -> None:
    table = ROOT / place / TABLE
    read = table.read_text(encoding="utf-8") if table.exists() else ""

    assert tomllib.loads(read) == tomllib.loads(written(place))


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def written(place: str) -> str:
    """A folder's table as TOML; empty if the folders that it is about have no such text."""
    folders = PLACES[place]
    titled = [f"{quoted(name)} = {quoted(title)}" for name, title in titles(folders)]
    said = [
        line
        for name, sentences in errors(folders)
        for line in (f"{quoted(name)} = [", *(f"    {quoted(each)}," for each in sentences), "]")
    ]
    tables = [["", f"[{name}]", *lines] for name, lines in (("titles", titled), ("errors", said)) if lines]
    if not tables:
        return ""
    return "\n".join(["# Written by python -m tests.test_texts; see there.", *chain(*tables)]) + "\n"


def write() -> None:
    """Write each table, and remove those of folders that have no text."""
    for place in PLACES:
        table = ROOT / place / TABLE
        if text := written(place):
            table.parent.mkdir(exist_ok=True)
            table.write_text(text, encoding="utf-8")
        else:
            table.unlink(missing_ok=True)


if __name__ == "__main__":
    write()
