"""The laws of the layout, held over all modules' syntax trees: who may import what, and where keys are written."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.settings import ROOT
from shared import errors
from shared.errors import DealsError

PACKAGES = ("cli", "functions", "infra", "local", "shared")

MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
    for package in PACKAGES
    for file in sorted((ROOT / package).rglob("*.py"))
}

AWS_LIBRARIES = {"boto3", "botocore"}

FLOORS: dict[str, set[str]] = {
    "shared.settings": set(),
    "shared.errors": set(),
    "shared.models": {"shared.values"},
    "shared.values": {"shared.errors"},
    "shared.dynamodb": {"shared.errors", "shared.values"},
    "shared.sqs": {"shared.errors", "shared.dynamodb"},
    "shared.data": {"shared.dynamodb", "shared.models", "shared.errors", "shared.values", "shared.settings"},
    "shared.data.catalog": {"shared.data"},
    "shared.data.members": {"shared.data", "shared.data.catalog", "shared.sqs"},
    "shared.data.orders": {"shared.data", "shared.data.catalog"},
    "shared.data.removal": {"shared.data.members", "shared.data.orders"},
    "shared.runtime": {"shared.dynamodb", "shared.sqs"},
    "shared.http": {
        "shared.runtime",
        "shared.data.catalog",
        "shared.models",
        "shared.errors",
        "shared.values",
        "shared.settings",
    },
    "shared.api": {
        *("shared.http", "shared.data.catalog", "shared.data.orders"),
        *("shared.models", "shared.errors", "shared.values"),
    },
    "shared.html": {
        *(
            "shared.http",
            "shared.runtime",
            "shared.dynamodb",
            "shared.data",
            "shared.data.catalog",
            "shared.data.members",
        ),
        *("shared.data.orders", "shared.models", "shared.errors", "shared.values", "shared.settings"),
    },
}
"""What each room of ``shared`` may import besides itself: the floors below it. What stands on ``shared.data`` stands on
what that stands on, too."""

MODULES_OF_DATA = {
    "shared.data",
    "shared.data.keys",
    "shared.data.item_types",
    "shared.data.partitions",
    "shared.data.idempotency",
}
"""The ground floor of ``shared.data``; its folders are rooms of their own."""


def _room(module: str) -> str:
    """The room that a module of ``shared`` is in."""
    if module in MODULES_OF_DATA:
        return "shared.data"
    return ".".join(module.split(".")[: 3 if module.startswith("shared.data.") else 2])


def _imports(file: Path) -> Iterator[str]:
    """The full names of the modules that a file imports, those for types only left out."""
    tree = ast.parse(file.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else str(node.module)


def _ours(file: Path) -> set[str]:
    return {name for name in _imports(file) if name.partition(".")[0] in PACKAGES}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_only_the_clients_and_the_terminal_import_boto(module: str) -> None:
    if not module.startswith(("shared.dynamodb", "shared.sqs", "cli")):
        assert AWS_LIBRARIES.isdisjoint(name.partition(".")[0] for name in _imports(MODULES[module]))


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("functions")))
def test_functions_import_only_shared(module: str) -> None:
    assert {name.partition(".")[0] for name in _ours(MODULES[module])} <= {"shared", "functions"}


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("shared")))
def test_shared_imports_nothing_above_it(module: str) -> None:
    assert {name.partition(".")[0] for name in _ours(MODULES[module])} <= {"shared"}


def test_each_room_of_shared_has_a_floor() -> None:
    rooms = {_room(name) for name in MODULES if name.startswith("shared.")}

    assert rooms == set(FLOORS)


@pytest.mark.parametrize("module", sorted(name for name in MODULES if _room(name) in FLOORS))
def test_arrows_point_down(module: str) -> None:
    room = _room(module)
    below = FLOORS[room] | (FLOORS["shared.data"] if room.startswith("shared.data") else set())

    assert {_room(name) for name in _ours(MODULES[module])} - {room, "shared"} <= below


OF_THE_GATEWAY = {"shared.api.paths", "shared.http.statuses", "shared.http.body"}
"""What the gateway answers and limits by itself, as the functions do."""


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("infra")))
def test_infra_takes_only_names_of_the_schema_the_types_the_partitions_and_the_metrics(
    module: str,
) -> None:
    ours = {name for name in _ours(MODULES[module]) if not name.startswith("infra")}

    assert ours <= {
        "shared.dynamodb.schema",
        "shared.data.partitions",
        "shared.data.item_types",
        "shared.runtime.metrics",
        *OF_THE_GATEWAY,
    }


@pytest.mark.parametrize("module", sorted(name for name in MODULES if not name.startswith("functions")))
def test_nothing_imports_functions_but_tests(module: str) -> None:
    assert "functions" not in {name.partition(".")[0] for name in _ours(MODULES[module])}


KEY = re.compile(r"[A-Z]#|#[A-Z]|^#$|[^ (,]#$")
"""A key's ``#`` follows or precedes a word in capitals, or stands alone between two values. DynamoDB's placeholders of
names (``#name``), patterns and colours are none."""


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name != "shared.data.keys"))
def test_keys_are_written_in_one_file(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}

    keys = [
        f"line {node.lineno}: {node.value!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        if KEY.search(node.value)
    ]

    assert keys == []


def test_the_search_for_keys_finds_keys_and_only_those() -> None:
    assert all(map(KEY.search, ("DEAL#", "BRANDS#2026", "#", "#USER", "x#")))
    assert not any(
        map(KEY.search, ("SET #name = :value", "#/components/schemas", "color:#3b4151", "[^\\s@#]+", "# Title"))
    )


BRANCH = re.compile(r"^(?P<stem>[ │]*)[├└]── (?P<names>\w+(?:, \w+)*)", re.MULTILINE)
"""A line of a tree: its names, one or several, as deep as what stands before them is long."""


def _drawn() -> dict[str, str]:
    """Each error in the tree that opens the module of errors, and the one that it hangs from."""
    above = {-1: "DealsError"}
    parents = {}
    for line in BRANCH.finditer(errors.__doc__ or ""):
        depth = len(line["stem"])
        parent = above[max(level for level in above if level < depth)]
        parents.update(dict.fromkeys(line["names"].split(", "), parent))
        above = {level: name for level, name in above.items() if level < depth}
        above[depth] = line["names"].rpartition(", ")[2]
    return parents


def test_the_tree_of_errors_is_that_of_their_classes() -> None:
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DealsError)]

    assert _drawn() == {kind.__name__: kind.__bases__[0].__name__ for kind in classes if kind is not DealsError}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_says_what_it_is(module: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[module].read_text())), f"{module} has no docstring"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_ignore_names_its_rule(module: str) -> None:
    with tokenize.open(MODULES[module]) as source:
        comments = [
            token.string for token in tokenize.generate_tokens(source.readline) if token.type == tokenize.COMMENT
        ]

    for comment in comments:
        if "type: ignore" in comment:
            assert "type: ignore[" in comment, comment
        if "noqa" in comment:
            assert "noqa: " in comment, comment
