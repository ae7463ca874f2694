"""What is wrong with features' folders, one sentence for each fault: misspelled hooks, and clashes of two owners.

``shared/features.py`` finds what keeps a folder from being read at all. This is asked before tests, synthesis and
``make run``, so that no half-working site starts. Names come from the modules' syntax trees.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import features as package
from shared import features, hooks
from shared.data import keys
from shared.hooks import Role

if TYPE_CHECKING:
    from infra.functions import Route
    from shared.data.entity import Entity

ROOT = Path(__file__).resolve().parent.parent

CORE = "the core"
ENTRY = "handler"
"""What Lambda calls in the module of a function."""

SHARED = (keys.SEQUENCE,)
"""Item types that several owners have, each with keys of its own."""

R = TypeVar("R", bound=Role)
T = TypeVar("T")


def check() -> None:
    """End the program with the first fault, if there is one."""
    if fault := next(faults(), None):
        sys.exit(fault)


def faults() -> Iterator[str]:
    """All faults, the misspelled hooks first."""
    roles: dict[str, list[type[Role]]] = {}
    for role, file in modules():
        roles.setdefault(file, []).append(role)
    for file, of in roles.items():
        known = [name for role in of for name in hooks.names(role)]
        for name in unknown(known, file):
            said = " and ".join(role.__name__ for role in of)
            yield f"{file} defines {name}, which nothing uses and {said} doesn't have: it has {', '.join(known)}."
    for feature in features.INSTALLED:
        if not _at(f"features/{feature}/README.md").exists():
            yield f"features/{feature}/README.md is missing, which describes the feature."
    yield from _all_clashes()


def modules() -> Iterator[tuple[type[Role], str]]:
    """The modules with a role, each with its file's path in the project."""
    for role in hooks.roles():
        for file, _ in _files(hooks.name_of(role)):
            yield role, file


def _files(role: str) -> list[tuple[str, str]]:
    """The features' modules with a role of a name, each with its file."""
    found = [of[role] for of in features.INSTALLED.values() if role in of]
    return [(f"{module.replace('.', '/')}.py", module) for module in found]


def defined(file: str) -> dict[str, ast.stmt]:
    """The public names that a module defines, without those that it imports."""
    found: dict[str, ast.stmt] = {}
    for node in _tree(file).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node
            case ast.Assign(targets=targets):
                found |= {
                    each.id: node for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
                }
    return {name: node for name, node in found.items() if not name.startswith("_")}


def unknown(known: Container[str], file: str) -> list[str]:
    """The names of a module that its roles don't know and that no feature uses."""
    return [
        name
        for name, node in defined(file).items()
        if name not in known and name not in used() and name != ENTRY and not getattr(node, "decorator_list", ())
    ]


@cache
def used() -> frozenset[str]:
    """The names that features use or import, in their tests as well."""
    found: set[str] = set()
    for file in _written("**/*.py"):
        for node in ast.walk(_tree(file)):
            match node:
                case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                    found.add(name)
                case ast.ImportFrom(names=names):
                    found |= {each.name for each in names}
    return frozenset(found)


def _written(pattern: str) -> list[str]:
    """Files of features."""
    folders = map(Path, package.__path__)
    return sorted(file.relative_to(folder.parent).as_posix() for folder in folders for file in folder.glob(pattern))


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse(_at(file).read_text(encoding="utf-8"))


def _at(file: str) -> Path:
    """Where a file is: a test adds folders of features from elsewhere."""
    within = [Path(folder).parent / file for folder in package.__path__]
    return next((each for each in within if each.exists()), ROOT / file)


def clashes(
    what: str, name: Callable[[T], str | None], all_of_them: Iterable[T], of_features: Mapping[str, Sequence[T]]
) -> Iterator[str]:
    """What two features have, or one and the core, by its ``name``. ``all_of_them`` includes what features add."""
    named = {file: [*filter(None, map(name, things))] for file, things in of_features.items()}
    owners = dict.fromkeys(Counter(filter(None, map(name, all_of_them))) - Counter(chain(*named.values())), CORE)
    for file, names in named.items():
        for each in dict.fromkeys(names):
            if each in owners:
                yield f"{file} adds the {what} {each}, which {owners[each]} has, too."
            owners[each] = file


def _all_clashes() -> Iterator[str]:
    """The clashes of features with each other and with the core."""
    # The stacks and commands ask this module first.
    from cli import main  # noqa: PLC0415
    from infra import functions  # noqa: PLC0415
    from shared.data.entities import ROWS  # noqa: PLC0415

    types = _by_file(hooks.Items, lambda of: [*chain(*of.ENTITIES.values())])
    yield from clashes("item type", lambda row: "" if row.type in SHARED else row.type, ROWS, types)
    yield from clashes("key", _key, ROWS, types)
    yield from clashes("partition", lambda row: _key(row).split()[0], chain(*types.values()), types)
    added = _by_file(hooks.Rights, lambda of: of.FUNCTIONS)
    for file, rows in added.items():
        for module in (file.replace("rights.py", f"{row.name}.py") for row in rows):
            if not _at(module).exists():
                yield f"{module} is missing, which {file} says is a function."
    yield from clashes("function", lambda row: row.name, functions.FUNCTIONS, added)
    yield from clashes("path", lambda row: row.pages, functions.FUNCTIONS, added)
    routes = _by_file(hooks.Rights, functions.routes_of)
    yield from clashes("route", _route, functions.ROUTES, routes)
    there = {row.name for row in functions.FUNCTIONS}
    for file, some in routes.items():
        for route in some:
            if route.function not in there:
                yield f"{file} adds the route {_route(route)} of {route.function}, which is no function."
    commands = _by_file(hooks.Commands, lambda of: main.names_of(of.GROUPS, of.COMMANDS))
    yield from clashes("command", str, main.names_of(main.GROUPS, main.COMMANDS), commands)
    more = _by_file(hooks.Commands, subcommands)
    yield from clashes("command", str, chain(main.IN_GROUPS, *more.values()), more)
    pages = {file: pages_in(file) for file in _written("*/*.py")}
    own = [file.relative_to(ROOT).as_posix() for file in (ROOT / "functions" / "pages").rglob("*.py")]
    yield from clashes("page", str, chain(*map(pages_in, own), *pages.values()), pages)
    assets = {f"features/{name}": _assets(_at(f"features/{name}/assets")) for name in features.INSTALLED}
    yield from clashes("asset", str, chain(_assets(ROOT / "web" / "assets"), *assets.values()), assets)


def _assets(folder: Path) -> list[str]:
    """The files of a folder, which the site has at addresses of their names alone."""
    return [file.name for file in folder.glob("*.*")]


def _key(row: Entity) -> str:
    """The form of a type's keys in the table, such as ``USER#* SAVED#*``."""
    return re.sub("<[^>]+>", "*", " ".join(row.own.forms.values()))


def _route(route: Route) -> str:
    """A route without its parameters' names, which make no difference: ``GET /deals/{}``."""
    return re.sub("{[^}]+}", "{}", f"{route.method} {route.path}")


def subcommands(of: hooks.Commands) -> list[str]:
    """The commands that a feature adds to groups of others, such as ``deals vote``."""
    return [f"{group} {each.__name__}" for group, some in of.SUBCOMMANDS.items() for each in some]


def _by_file(role: type[R], things: Callable[[R], Sequence[T]]) -> dict[str, Sequence[T]]:
    """What the modules with a role add, by their files."""
    return {file: things(role(import_module(module))) for file, module in _files(hooks.name_of(role))}


def pages_in(file: str) -> list[str]:
    """The pages that a module registers, such as ``GET /desk/deals``."""
    texts = {
        name: node.value.value
        for name, node in defined(file).items()
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    found = []
    for node in ast.walk(_tree(file)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("routes"), attr="get" | "post" as method), args=paths):
                values = [getattr(each, "value", texts.get(getattr(each, "id", ""))) for each in paths]
                rules = [re.sub("<[^>]+>", "<>", path) for path in values if isinstance(path, str)]
                found += [f"{method.upper()} {rule}" for rule in rules]
    return found
