"""Which functions write to the table: those that the code has, and those that were seen to do it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]

SEARCHED = ("shared", "functions", "cli", "features")

_WRITING = {"write", "transact", "insert_batch"}
_TABLES = {"table", "self.table", "self._table", "table()", "work.table", "at.table"}


def in_code() -> set[str]:
    """The functions that call one of the table's methods that write: ``module.function``, ``module.Class.function``."""
    files = (file for folder in SEARCHED for file in (ROOT / folder).rglob("*.py"))
    own = (file for file in files if "tests" not in file.relative_to(ROOT).parts)
    return {name for file in own for name in _of(ast.parse(file.read_text(encoding="utf-8")), _module(file))}


def _module(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def _of(node: ast.AST, name: str) -> Iterator[str]:
    """The names of functions below a node that write; a function within another counts as that."""
    for child in ast.iter_child_nodes(node):
        inner = name
        if isinstance(child, ast.ClassDef) or (
            isinstance(child, ast.FunctionDef) and not isinstance(node, ast.FunctionDef)
        ):
            inner = f"{name}.{child.name}"
        if isinstance(child, ast.Call) and _writes(child.func):
            yield name
        yield from _of(child, inner)


def _writes(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and called.attr in _WRITING and ast.unparse(called.value) in _TABLES


def on_the_stack() -> set[str]:
    """The functions of ours that are running, named the same way."""
    found = set()
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        module, function = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
        found.add(f"{module}.{function.partition('.<locals>')[0]}")
        frame = frame.f_back
    return found
