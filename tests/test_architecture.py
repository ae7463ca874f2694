"""The laws of the layout, held over all modules' syntax trees: who may import what, and where keys are written."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from operator import gt
from typing import TypeGuard

from local.settings import ROOT
from shared import features
from shared.errors import DealsError

PACKAGES = ("cli", "functions", "infra", "local", "shared")

MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
    for package in PACKAGES
    for file in sorted((ROOT / package).rglob("*.py"))
}

WITH_FEATURES = MODULES | {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted((ROOT / "features").rglob("*.py"))
    if "tests" not in file.parts
}

FLOORS = {
    f"shared.{room}": {f"shared.{floor}" for floor in floors.split()}
    for room, floors in {
        "settings": "",
        "hooks": "",
        "features": "hooks",
        "errors": "",
        "models": "values",
        "values": "errors",
        "dynamodb": "errors values",
        "services": "errors dynamodb",
        "data": "features hooks dynamodb models errors values settings",
        "data.catalog": "data",
        "data.members": "data data.catalog services",
        "data.removal": "data data.catalog data.members",
        "runtime": "errors dynamodb services values",
        "http": "runtime data.catalog models errors values settings",
        "api": "features hooks http runtime data data.catalog models errors values",
        "html": "features hooks http runtime dynamodb data data.catalog data.members models errors values settings",
    }.items()
}
"""Rooms that each room of ``shared`` may import besides itself: the floors below it. What stands on ``shared.data``
stands on what that stands on, too. Each folder of ``shared.data`` is a room, and so is each module of it that is named
here; the other modules are its ground floor."""


def _room(module: str) -> str:
    """The room that a module of ``shared`` is in."""
    parts = module.split(".")
    own = ".".join(parts[:3])
    in_folder_of_data = own.startswith("shared.data.") and len(parts) > 3
    return own if own in FLOORS or in_folder_of_data else ".".join(parts[:2])


ERRORS = [
    kind
    for module in MODULES
    if module == "shared.errors" or module.startswith("shared.data.")
    for kind in vars(import_module(module)).values()
    if isinstance(kind, type) and issubclass(kind, DealsError)
]
INFRA = [module for module in MODULES if module.partition(".")[0] == "infra"]
IN_FEATURES = [*(ROOT / "features").glob("*/*.py")]


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(WITH_FEATURES[module].read_text(encoding="utf-8"))


def _at(module: str, line: int) -> str:
    """A line of a module, as terminals and editors link to it."""
    return f"{WITH_FEATURES[module].relative_to(ROOT)}:{line}"


def _imports(module: str, *, for_types: bool = False) -> Iterator[tuple[str, int]]:
    """The full names of the modules that a module imports, and the lines; those for types alone only if asked for."""
    tree = _tree(module)
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in only_types and not for_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_at(module, node.lineno)} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in WITH_FEATURES else str(node.module), node.lineno


def _package(module: str) -> str:
    return module.partition(".")[0]


def _wrong_imports(
    modules: Iterable[str], allowed: Callable[[str, str], bool], of: Iterable[str] = PACKAGES
) -> list[str]:
    """The lines on which some modules import what they may not ``of`` some packages; ``allowed`` says what each may."""
    return [
        f"{_at(module, line)} imports {name}"
        for module in modules
        for name, line in _imports(module)
        if _package(name) in of and not allowed(module, name)
    ]


def test_only_the_clients_and_the_terminal_import_boto() -> None:
    ours = ("shared.dynamodb", "shared.services", "cli", "local.cloud")
    others = [module for module in MODULES if not module.startswith(ours)]

    assert _wrong_imports(others, lambda *_: False, of={"boto3", "botocore"}) == []


def test_functions_are_imported_only_where_commands_ask_them_and_shared_imports_nothing_above_it() -> None:
    may = {
        "functions": {"functions", "shared"},
        "shared": {"shared"},
        "cli.commands": {"cli", "functions", "local", "shared"},
    }
    others = {*PACKAGES} - {"functions"}

    def allowed(module: str, name: str) -> bool:
        return _package(name) in (may.get(module) or may.get(_package(module), others))

    assert _wrong_imports(MODULES, allowed) == []


DECLARED = {
    "coupon_code": (3, 3),
    "list_price": (32, 17),
    "hot_pace": (24, 14),
}
"""How many lines of the product, and of how many of its files, name an attribute that front ends share, at most."""


def test_an_attribute_that_front_ends_share_is_in_no_more_places() -> None:
    folders = (*PACKAGES, "tools", "web/templates")
    files = [file for folder in folders for end in ("py", "html") for file in sorted((ROOT / folder).rglob(f"*.{end}"))]
    lines = {file: file.read_text(encoding="utf-8").lower().replace("_", "").splitlines() for file in files}

    def places(attribute: str) -> tuple[int, int]:
        found = [sum(attribute.replace("_", "") in line for line in each) for each in lines.values()]
        return sum(found), sum(map(bool, found))

    named = {attribute: places(attribute) for attribute in DECLARED}

    assert {name: found for name, found in named.items() if any(map(gt, found, DECLARED[name]))} == {}
    assert named["coupon_code"] == (3, 3)


def test_no_class_gets_fields_and_no_name_is_looked_up_behind_the_type_checkers_back() -> None:
    def is_hidden(node: ast.AST) -> TypeGuard[ast.stmt | ast.expr]:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        changed = {getattr(each, "attr", getattr(each, "id", "")) for each in targets}
        return "__annotations__" in changed or (isinstance(node, ast.Name) and node.id == "globals")

    hidden = [_at(module, node.lineno) for module in MODULES for node in ast.walk(_tree(module)) if is_hidden(node)]

    assert hidden == []


PRODUCT = (*PACKAGES, "benchmarks", "demo", "features", "tools")

LONGEST = 60
"""The most lines of a function, with its signature and docstring: as much as a screen shows."""


def test_no_function_is_longer_than_a_screen() -> None:
    files = [file for folder in PRODUCT for file in (ROOT / folder).rglob("*.py") if "tests" not in file.parts]
    functions = [
        (file, node)
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]

    long = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"
        for file, node in functions
        if (node.end_lineno or 0) - node.lineno >= LONGEST
    ]

    assert long == []


def test_infras_modules_import_each_other_in_one_direction() -> None:
    """Imports for types count, too: a module in a circle can only be read together with the others."""
    left = {module: {name for name, _ in _imports(module, for_types=True)} & {*INFRA} - {module} for module in INFRA}

    while ready := {module for module, names in left.items() if names.isdisjoint(left)}:
        left = {module: names for module, names in left.items() if module not in ready}

    assert left == {}


def test_nothing_of_the_product_knows_of_the_demo() -> None:
    assert _wrong_imports(MODULES, lambda *_: False, of={"demo"}) == []


def test_each_room_of_shared_has_a_floor() -> None:
    assert {_room(name) for name in MODULES if name.startswith("shared.")} == set(FLOORS)


def test_arrows_point_down() -> None:
    def below(module: str, name: str) -> bool:
        room = _room(module)
        floors = FLOORS[room] | (FLOORS["shared.data"] if room.startswith("shared.data") else set())
        return _room(name) in {room, "shared"} | floors

    assert _wrong_imports([name for name in MODULES if _room(name) in FLOORS], below) == []


FOR_INFRA = {
    "shared.dynamodb.schema",
    "shared.data.partitions",
    "shared.data.keys",
    "shared.runtime.metrics",
    "shared.values.money",
    *("shared.features", "shared.hooks"),
    *("shared.api.app", "shared.http.answers", "shared.http.requests"),
}
"""The modules whose names stacks may use; the last three say what the gateway answers and limits as functions do."""


def _feature(module: str) -> str:
    """The feature that a module belongs to; nothing of the core."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "features" else ""


def test_infra_takes_only_names_of_the_schema_the_types_the_partitions_and_the_metrics() -> None:
    def allowed(module: str, name: str) -> bool:
        return _package(name) == "infra" or name in FOR_INFRA or _feature(module) == _feature(name) != ""

    assert _wrong_imports(INFRA, allowed) == []


def test_only_features_that_need_a_feature_import_it() -> None:
    needs = {name: {"", name, *import_module(f"features.{name}").NEEDS} for name in features.INSTALLED} | {"": {""}}

    def allowed(module: str, name: str) -> bool:
        return _feature(name) in needs[_feature(module)]

    assert _wrong_imports(WITH_FEATURES, allowed, (*PACKAGES, "features")) == []


KEY = re.compile(r"[A-Z]#|#[A-Z]|^#$|[^ (,]#$")
"""A key's ``#`` follows or precedes a word in capitals, or stands alone between two values. DynamoDB's placeholders of
names (``#name``), patterns and colours are none."""


def _keys(module: str) -> Iterator[str]:
    """The lines of a module that spell a key."""
    tree = _tree(module)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str) and KEY.search(node.value):
            yield f"{_at(module, node.lineno)}: {node.value!r}"


def test_keys_are_written_in_one_file() -> None:
    own = [module for module in MODULES if module.startswith("shared.data.") and module.endswith(".keys")]

    assert [line for module in MODULES if module not in own for line in _keys(module)] == []
    assert [*_keys("shared.data.keys")] != []


def test_the_search_for_keys_finds_keys_and_only_those() -> None:
    assert all(map(KEY.search, ("DEAL#", "BRANDS#2026", "#", "#USER", "x#")))
    assert not any(
        map(KEY.search, ("SET #name = :value", "#/components/schemas", "color:#3b4151", "[^\\s@#]+", "# Title"))
    )


def test_an_error_gets_each_thing_that_its_text_names() -> None:
    """No type says how many that are: a text without one of them would fail where the error is raised."""
    places = {kind.__name__: kind.text.count("{") for kind in ERRORS if kind.__init__ is DealsError.__init__}

    wrong = [
        _at(module, call.lineno)
        for module in MODULES
        for call in ast.walk(_tree(module))
        if isinstance(call, ast.Call)
        and (named := places.get(ast.unparse(call.func).rpartition(".")[2]))
        and len(call.args) != named
    ]

    assert wrong == []


def test_every_module_says_what_it_is() -> None:
    assert [_at(module, 1) for module in MODULES if not ast.get_docstring(_tree(module))] == []


def test_mypy_reads_the_types_of_each_service_that_the_stacks_name() -> None:
    """It skips the CDK's others, whose calls are then of any type: a service that is new here joins the list."""
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    (read,) = (set(each["module"]) for each in configured if each.get("follow_imports") == "normal")

    named = {
        f"aws_cdk.{alias.name}"
        for tree in (*map(_tree, INFRA), *(ast.parse(file.read_text(encoding="utf-8")) for file in IN_FEATURES))
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "aws_cdk"
        for alias in node.names
        if alias.name.startswith("aws_")
    }

    assert named - read == set()


def test_every_ignore_names_its_rule() -> None:
    blanket = re.compile(r"#.*(type: ignore(?!\[)|noqa(?!: ))")
    assert [
        f"{_at(module, number)}: {line}"
        for module, file in MODULES.items()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if blanket.search(line)
    ] == []
