"""All page titles and error texts in one table, ``texts.toml``, where an editor can read them in one go.

A text that is new, gone or worded otherwise fails here. Read it in the table as a visitor of the site would, then let
``python -m tests.test_texts`` write the file.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_name("texts.toml")
TEMPLATES = ROOT / "web" / "templates"
PRODUCT = ("shared", "functions", "cli", "local")
WORDED = re.compile(r"[A-Z“‘{].* .*[.?!:]", re.DOTALL)
"""What an error says to its reader: a sentence."""


def titles() -> Iterator[tuple[str, str]]:
    """The title of each page, by its template."""
    for file in sorted(TEMPLATES.rglob("*.html")):
        found = re.search(r"{% block title %}(.+?){% endblock %}", file.read_text(encoding="utf-8"))
        if found:
            yield file.relative_to(TEMPLATES).as_posix(), found[1]


def errors() -> Iterator[tuple[str, list[str]]]:
    """The sentences of the errors that the modules of each folder define or raise."""
    for folder in PRODUCT:
        trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / folder).rglob("*.py")]
        found = {said(text) for tree in trees for node in ast.walk(tree) for text in worded(node)}
        yield folder, sorted(filter(WORDED.fullmatch, found))


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


def test_every_title_and_error_text_stands_in_the_table() -> None:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))

    assert dict(titles()) == table["titles"]
    assert dict(errors()) == table["errors"]


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def written() -> str:
    """The table as TOML."""
    lines = ["# Written by python -m tests.test_texts; see there.", "", "[titles]"]
    lines += [f"{quoted(name)} = {quoted(title)}" for name, title in titles()]
    lines += ["", "[errors]"]
    for name, sentences in errors():
        lines += [f"{quoted(name)} = [", *(f"    {quoted(each)}," for each in sentences), "]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.write_text(written(), encoding="utf-8")
