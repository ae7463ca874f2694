"""Cut installed libraries so that functions start sooner: data that nobody reads, imports that nobody needs yet.

The rules say what they expect to find: a library that no longer fits one fails the build, rather than starting slowly
or not at all. ``tests/infra/lean/`` makes every call of ours with what is left; ``make bench BENCH=starts`` measures.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

CALLS = {
    "dynamodb": (
        "BatchExecuteStatement",
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "DescribeTable",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "TransactWriteItems",
        "UpdateItem",
    ),
    "s3": ("CreateBucket", "DeleteObject", "GetObject", "PutObject", "PutObjectTagging"),
    "sesv2": ("SendEmail",),
    "sqs": ("ChangeMessageVisibility", "DeleteMessage", "ReceiveMessage", "SendMessageBatch"),
}
"""The operations that the functions call, by service. botocore signs forms as if they created a bucket."""

_OF_ACCOUNTS = {"operationContextParams"}
"""How to find endpoints that are named after accounts, for each request: the data layer has turned these off."""

ROOTS = re.compile(r"CN=(Amazon Root CA [1-4]|Starfield Services Root Certificate Authority - G2)\b")
"""The authorities that sign for AWS: https://www.amazontrust.com/repository/. (An ``AWS_CA_BUNDLE`` still counts.)"""

NEVER_IMPORTED = ("bin", "urllib3/contrib/pyopenssl.py")
"""Parts that no function of ours imports."""

RE_EXPORTS = (
    "aws_lambda_powertools",
    "aws_lambda_powertools/event_handler",
    "aws_lambda_powertools/event_handler/openapi",
    "aws_lambda_powertools/utilities/batch",
    "aws_lambda_powertools/utilities/data_classes",
)
"""Packages that import everything they offer at once. After the cut they import a name when it is asked for."""

POSTPONED: Mapping[str, tuple[str, ...]] = {
    "botocore/compat.py": ("shlex", "tzlocal"),
    "botocore/docs/__init__.py": ("ServiceDocumenter",),
    "botocore/docs/docstring.py": (
        "DocumentStructure",
        "document_model_driven_method",
        "document_paginate_method",
        "document_wait_method",
    ),
    "botocore/client.py": ("Paginator", "adaptive", "waiter"),
    "botocore/configloader.py": ("configparser", "shlex"),
    "botocore/credentials.py": ("dateutil", "parse", "tzlocal", "tzutc"),
    "botocore/parsers.py": ("ETree", "XMLParseError"),
    "botocore/regions.py": ("jmespath",),
    "botocore/session.py": ("monitoring", "paginate", "waiter"),
    "botocore/tokens.py": ("dateutil", "tzutc"),
    "botocore/utils.py": ("dateutil", "tzutc"),
    "aws_lambda_powertools/logging/logger.py": ("jmespath_utils",),
    "aws_lambda_powertools/middleware_factory/factory.py": ("Tracer",),
    "aws_lambda_powertools/utilities/batch/base.py": ("asyncio",),
    "pydantic/plugin/_loader.py": ("entry_points",),
    "urllib3/http2/__init__.py": ("version",),
}
"""Names that a module imports at its top though only some rarely called functions of it use them. After the cut, these
functions import them."""

ON_DEMAND = {
    "botocore/compat.py": {
        "ETree": ("xml.etree.ElementTree", ""),
        "XMLParseError": ("xml.etree.ElementTree", "ParseError"),
    },
}
"""Names that a module defines at its top for other modules. After the cut, it imports them when one is asked for."""

PATTERNS = ("botocore/compat.py", "botocore/utils.py", "urllib3/util/url.py")
"""Modules whose regular expressions take long to compile: they are compiled at their first use."""


def cut(folder: Path) -> None:
    """Cut installed libraries. Raises SystemExit where a rule does not fit."""
    for name in NEVER_IMPORTED:
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    _cut_data(folder / "botocore" / "data")
    _cut_handlers(folder / "botocore" / "handlers.py")
    _cut_certificates(folder / "botocore" / "cacert.pem")
    for package in RE_EXPORTS:
        _rewrite(folder / package / "__init__.py", _import_on_demand)
    for module, names in POSTPONED.items():
        if module.startswith("pydantic/") and not (folder / "pydantic").exists():
            continue  # the lean artifact does without
        _rewrite(folder / module, _postpone, names)
    for module, places in ON_DEMAND.items():
        _rewrite(folder / module, _without, places)
        with (folder / module).open("a", encoding="utf-8") as file:
            file.write(_finding(places))
    for module in PATTERNS:
        _rewrite(folder / module, _compile_late)


def _rewrite(file: Path, cut: Callable[..., str], *names: Iterable[str]) -> None:
    file.write_text(cut(file.read_text(encoding="utf-8"), *names, file), encoding="utf-8")


def _cut_data(data: Path) -> None:
    for service, operations in CALLS.items():
        *former, version = sorted((data / service).iterdir())
        for old in former:
            shutil.rmtree(old)
        model = _read(version / "service-2.json.gz")
        rules = _read(version / "endpoint-rule-set-1.json.gz")
        shutil.rmtree(version)
        version.mkdir()
        _write(version / "service-2.json", _cut_model(model, operations))
        _write(version / "endpoint-rule-set-1.json", rules)


def _cut_model(model: dict[str, Any], operations: Iterable[str]) -> dict[str, Any]:
    """A service's description with some of its operations, the shapes these need, and no documentation."""
    kept = {
        name: {key: value for key, value in model["operations"][name].items() if key not in _OF_ACCOUNTS}
        for name in operations
    }
    shapes: dict[str, Any] = {}
    wanted = list(_shapes_in(kept))
    while wanted:
        name = wanted.pop()
        if name not in shapes:
            shapes[name] = model["shapes"][name]
            wanted += _shapes_in(shapes[name])
    plain: dict[str, Any] = _undocumented({**model, "operations": kept, "shapes": shapes})
    if "clientContextParams" in model:
        plain["clientContextParams"] = model["clientContextParams"]  # botocore reads their documentation
    return plain


def _shapes_in(part: Any) -> Iterator[str]:
    match part:
        case {"shape": str(name)}:
            yield name
            yield from _shapes_in({key: value for key, value in part.items() if key != "shape"})
        case dict():
            yield from chain.from_iterable(map(_shapes_in, part.values()))
        case list():
            yield from chain.from_iterable(map(_shapes_in, part))


def _undocumented(part: Any) -> Any:
    match part:
        case dict():
            # "documentation" may also be the name of a member: then its value is not text.
            return {
                key: _undocumented(value)
                for key, value in part.items()
                if not (key == "documentation" and isinstance(value, str))
            }
        case list():
            return [_undocumented(each) for each in part]
    return part


def _cut_handlers(file: Path) -> None:
    """Keep the handlers of every service and of ours: botocore checks and copies each handler for each client."""
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines()
    kept = set()
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="BUILTIN_HANDLERS")], value=ast.List(elts=handlers)):
                for handler in handlers:
                    match handler:
                        case ast.Tuple(elts=[ast.Constant(value=str(event)), *_]) if _concerns_us(event):
                            kept.add(event)
                        case _:
                            _blank(lines, handler)
    if not {"request-created", "choose-signer"} <= kept:
        sys.exit(f"{file} lists its handlers in another way than expected: see infra/lean/trimming.py.")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _concerns_us(event: str) -> bool:
    """Whether an event is one of every service (``before-call``) or of one of ours (``after-call.sqs.*``)."""
    _, *of = event.split(".")
    return not of or of[0] in CALLS


def _cut_certificates(file: Path) -> None:
    """Keep Amazon's roots. Each certificate in the file stands below comments that name its subject."""
    blocks = re.findall(
        r"(?:^#.*\n)+-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n", file.read_text(), re.MULTILINE
    )
    kept = [block for block in blocks if ROOTS.search(block)]
    if len(kept) != 5:
        sys.exit(f"{file.name} has {len(kept)} of Amazon's five roots: see infra/lean/trimming.py.")
    file.write_text("\n".join(kept))


def _import_on_demand(source: str, file: Path) -> str:
    """The source of a package that imports what it only re-exports when that is asked for (PEP 562)."""
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    exports: dict[str, tuple[str, str]] = {}
    lines = source.splitlines()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__" and node.module:
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            if used.isdisjoint(names) and not any((file.parent / f"{name}.py").exists() for name in names):
                module = "." * node.level + node.module
                exports |= {name: (module, original) for name, original in names.items()}
                _blank(lines, node)
    if not exports:
        sys.exit(f"{file} no longer only re-exports: see infra/lean/trimming.py.")
    return "\n".join(lines) + _finding(exports)


def _finding(places: Mapping[str, tuple[str, str]]) -> str:
    """The end of a module that imports names from other modules when they are asked for (PEP 562)."""
    return FINDING % "".join(f"    {name!r}: {place!r},\n" for name, place in sorted(places.items()))


FINDING = """

_PLACES = {
%s}


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    place, original = _PLACES[name]
    module = import_module(place, __name__)
    value = globals()[name] = getattr(module, original) if original else module
    return value
"""


def _postpone(source: str, names: Iterable[str], file: Path) -> str:
    """The source of a module whose functions import some names themselves."""
    tree = ast.parse(source)
    statements: dict[str, str] = {}
    lines = source.splitlines()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            late = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in names]
            if late:
                rest = [alias for alias in node.names if alias not in late]
                for alias in late:
                    statements[alias.asname or alias.name.partition(".")[0]] = ast.unparse(_importing(node, [alias]))
                _blank(lines, node)
                if rest:
                    lines[node.lineno - 1] = ast.unparse(_importing(node, rest))
    uses = _uses(tree, set(names))
    if set(statements) != set(names) or set().union(*uses.values()) != set(names) or NOWHERE in uses:
        sys.exit(f"{file} imports {', '.join(names)} in another way than expected: see infra/lean/trimming.py.")
    for line, column in sorted(uses, reverse=True):
        lines[line - 1 : line - 1] = [f"{' ' * column}{statements[name]}" for name in sorted(uses[line, column])]
    return "\n".join(lines) + "\n"


NOWHERE = (0, 0)


def _uses(tree: ast.Module, names: set[str]) -> dict[tuple[int, int], set[str]]:
    """The statements that use some names, by line and column, so that an import before them has the same effect.

    Uses outside of functions are at ``NOWHERE``.
    """
    found: dict[tuple[int, int], set[str]] = {}

    def visit(node: ast.AST, place: tuple[int, int], *, in_function: bool) -> None:
        """Find the uses within a node; ``place`` is the statement that it belongs to."""
        for child in ast.iter_child_nodes(node):
            inner, inside = place, in_function
            if isinstance(child, ast.stmt):
                is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.col_offset == child.col_offset
                if not is_elif:  # nothing can stand before an elif
                    decorators = getattr(child, "decorator_list", [])
                    inner = (min(each.lineno for each in (child, *decorators)), child.col_offset)
                inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if isinstance(child, ast.Name) and child.id in names:
                found.setdefault(inner if inside else NOWHERE, set()).add(child.id)
            visit(child, inner, in_function=inside)

    visit(tree, NOWHERE, in_function=False)
    return found


def _without(source: str, names: Iterable[str], file: Path) -> str:
    """The source of a module that does not define some names."""
    tree = ast.parse(source)
    lines = source.splitlines()
    left = set(names)
    for node in tree.body:
        match node:
            case (
                ast.ImportFrom(names=[ast.alias(name=name)])
                | ast.Import(names=[ast.alias(asname=str(name))])
                | ast.Assign(targets=[ast.Name(id=name)])
            ) if name in left:
                left.remove(name)
                _blank(lines, node)
    text = "\n".join(lines) + "\n"
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    if left or not used.isdisjoint(names):
        sys.exit(f"{file} defines {', '.join(names)} in another way than expected: see infra/lean/trimming.py.")
    return text


def _compile_late(source: str, file: Path) -> str:
    """The source of a module whose patterns, of which only methods are used, are compiled at their first use."""
    tree = ast.parse(source)
    lines = source.splitlines()
    methods = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    places = []
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(ast.Name("re"), "compile") as it)
            ):
                uses = [use for use in ast.walk(tree) if isinstance(use, ast.Name) and use.id == name]
                if all(id(use) in methods or isinstance(use.ctx, ast.Store) for use in uses):
                    line = lines[it.lineno - 1]
                    lines[it.lineno - 1] = line[: it.col_offset] + "_Late" + line[it.end_col_offset :]
                    places.append(node.lineno - 1)
    if not places:
        sys.exit(f"{file} compiles its patterns in another way than expected: see infra/lean/trimming.py.")
    lines[places[0] : places[0]] = LATE.splitlines()
    return "\n".join(lines) + "\n"


LATE = """
class _Late:
    def __init__(self, pattern, flags=0):
        self._given = pattern, flags

    def __getattr__(self, name):
        value = self.__dict__[name] = getattr(re.compile(*self._given), name)
        return value

"""


def _importing(node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> ast.stmt:
    return ast.Import(names) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, names, node.level)


def _blank(lines: list[str], node: ast.stmt | ast.expr) -> None:
    """Leave empty lines where a statement was, so that those after it keep their numbers."""
    for number in range(node.lineno - 1, node.end_lineno or node.lineno):
        lines[number] = ""


def _read(file: Path) -> Any:
    return json.loads(gzip.decompress(file.read_bytes()))


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
