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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Any

CALLS = {
    "dynamodb": (
        *("BatchExecuteStatement", "BatchGetItem", "BatchWriteItem", "DeleteItem", "DescribeTable", "GetItem"),
        *("PutItem", "Query", "Scan", "TransactWriteItems", "UpdateItem"),
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
        *("DocumentStructure", "document_model_driven_method", "document_paginate_method", "document_wait_method"),
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
    _cut_certificates(folder / "botocore" / "cacert.pem")
    _rewrite(folder / "botocore" / "handlers.py", _keep_our_handlers)
    for package in RE_EXPORTS:
        submodules = [file.stem for file in (folder / package).glob("*.py")]
        _rewrite(folder / package / "__init__.py", _import_on_demand, submodules)
    for module, names in POSTPONED.items():
        if not module.startswith("pydantic/") or (folder / "pydantic").exists():  # the lean artifact does without
            _rewrite(folder / module, _postpone, names)
    for module, places in ON_DEMAND.items():
        _rewrite(folder / module, _define_on_demand, places)
    for module in PATTERNS:
        _rewrite(folder / module, _compile_late)


def _rewrite(file: Path, rule: Callable[..., bool], *given: Collection[str]) -> None:
    """Write a module as a rule changes its tree. The rule tells whether it has found what it expects."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if not rule(tree, *given):
        sys.exit(f"{file} is not as expected: see {rule.__name__} in infra/lean/trimming.py.")
    file.write_text(f"{ast.unparse(tree)}\n", encoding="utf-8")


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


def _keep_our_handlers(tree: ast.Module) -> bool:
    """Keep the handlers of every service and of ours: botocore checks and copies each handler for each client."""
    kept: list[tuple[str, ast.expr]] = []
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="BUILTIN_HANDLERS")], value=ast.List() as handlers):
                for handler in handlers.elts:
                    match handler:
                        case ast.Tuple(elts=[ast.Constant(value=str(event)), *_]) if _concerns_us(event):
                            kept.append((event, handler))
                handlers.elts = [handler for _, handler in kept]
    return {"request-created", "choose-signer"} <= {event for event, _ in kept}


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


def _import_on_demand(tree: ast.Module, submodules: Collection[str]) -> bool:
    """Have a package import what it only re-exports when that is asked for."""
    used = _names_in(tree)
    places: dict[str, tuple[str, str]] = {}
    for node in [*tree.body]:
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            if names.keys().isdisjoint((*used, *submodules)):
                places |= {name: ("." * node.level + node.module, original) for name, original in names.items()}
                tree.body.remove(node)
    _find_on_demand(tree, places)
    return bool(places)


def _find_on_demand(tree: ast.Module, places: Mapping[str, tuple[str, str]]) -> None:
    """Have a module import names from other modules when they are asked for (PEP 562)."""
    tree.body += ast.parse(FINDING.format(places=dict(sorted(places.items())))).body


FINDING = """
_PLACES = {places!r}

def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    from importlib import import_module
    place, original = _PLACES[name]
    module = import_module(place, __name__)
    value = globals()[name] = getattr(module, original) if original else module
    return value
"""


def _postpone(tree: ast.Module, names: Collection[str]) -> bool:
    """Have the functions of a module import some names themselves, before each statement that uses one."""
    imports = _take_imports(tree, names)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {inner for function in functions for statement in function.body for inner in ast.walk(statement)}
    found: set[str] = set()
    bodies = [getattr(node, field, None) for node in ast.walk(tree) for field in ("body", "orelse", "finalbody")]
    for body in (body for body in bodies if isinstance(body, list)):
        for statement in [*body]:
            if uses := _names_in(statement, own=True) & imports.keys():
                if statement not in inside:
                    return False
                _insert(body, statement, [imports[name] for name in sorted(uses)])
                found |= uses
    return found == set(names)


def _take_imports(tree: ast.Module, names: Collection[str]) -> Mapping[str, ast.stmt]:
    """Take the imports of some names from the top of a module, and return each by itself."""
    taken: dict[str, ast.Import | ast.ImportFrom] = {}
    for node in [*tree.body]:
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in [*aliases]:
                    name = alias.asname or alias.name.partition(".")[0]
                    if name in names:
                        aliases.remove(alias)
                        taken[name] = copy(node)
                        taken[name].names = [alias]
                if not aliases:
                    tree.body.remove(node)
    return taken


def _insert(body: list[ast.stmt], before: ast.stmt, statements: list[ast.stmt]) -> None:
    place = body.index(before)
    body[place:place] = statements


def _names_in(node: ast.AST, *, own: bool = False) -> set[str]:
    """The names that are used in a tree, or only those of a statement's ``own`` and not of the statements in it."""
    children = [child for child in ast.iter_child_nodes(node) if not (own and isinstance(child, ast.stmt))]
    return {node.id} if isinstance(node, ast.Name) else set().union(*(_names_in(child, own=own) for child in children))


def _define_on_demand(tree: ast.Module, places: Mapping[str, tuple[str, str]]) -> bool:
    """Have a module that defines names for other modules import them when one is asked for."""
    left = set(places)
    for node in [*tree.body]:
        match node:
            case (
                ast.ImportFrom(names=[ast.alias(name=name)])
                | ast.Import(names=[ast.alias(asname=str(name))])
                | ast.Assign(targets=[ast.Name(id=name)])
            ) if name in left:
                left.remove(name)
                tree.body.remove(node)
    fits = not left and _names_in(tree).isdisjoint(places)
    _find_on_demand(tree, places)
    return fits


def _compile_late(tree: ast.Module) -> bool:
    """Have a module compile the patterns of which it uses only methods at their first use."""
    methods = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    late = []
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(ast.Attribute(ast.Name("re"), "compile")) as call
            ):
                if all(use in methods or isinstance(use.ctx, ast.Store) for use in names if use.id == name):
                    call.func = ast.Name("_Late")
                    late.append(node)
    if late:
        _insert(tree.body, late[0], ast.parse(LATE).body)
    return bool(late)


LATE = """
class _Late:
    def __init__(self, pattern, flags=0):
        self._given = pattern, flags

    def __getattr__(self, name):
        value = self.__dict__[name] = getattr(re.compile(*self._given), name)
        return value
"""


def _read(file: Path) -> Any:
    return json.loads(gzip.decompress(file.read_bytes()))


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
