"""What is wrong with features' folders, one sentence for each fault: misspelled hooks, missing files, clashes.

``shared/features.py`` finds what keeps a folder from being read at all. This is asked before tests, synthesis and
``make run``, so that no half-working site starts. Names come from the modules' syntax trees.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from shared import features, hooks
from shared.hooks import Role

if TYPE_CHECKING:
    from infra.functions import Route
    from shared.data.entity import Entity

ROOT = features.FOLDER.parent

ENTRY = "handler"
"""What Lambda calls in the module of a function."""

ADD_UP = {
    *(
        "Items.ENTITIES",
        "Items.DESCRIBED",
        "Navigation.TABS",
        "Answers.OPENAPI",
        "ApiFields.ANSWERS",
        "ApiFields.BODIES",
    ),
    *("Rights.MORE", "Rights.STAGES", "Commands.SUBCOMMANDS"),
}
"""Mappings of roles to which several modules may add under the same key."""

R = TypeVar("R", bound=Role)


def check() -> None:
    """End the program with the first fault, if there is one."""
    if fault := next(faults(), None):
        sys.exit(fault)


def faults() -> Iterator[str]:
    """All faults, those that others may follow from first."""
    yield from _misspelled()
    import_module("cli.main")  # features' commands ask it for more, so it comes before them
    yield from _in_mappings()
    yield from _missing()
    yield from _clashes()


def _misspelled() -> Iterator[str]:
    roles: dict[str, list[type[Role]]] = {}
    for role, file in modules():
        roles.setdefault(file, []).append(role)
    for file, of in roles.items():
        known = [name for role in of for name in hooks.names(role)]
        for name in unknown(known, file):
            said = " and ".join(role.__name__ for role in of)
            yield f"{file} defines {name}, which nothing uses and {said} doesn't have: it has {', '.join(known)}."


def modules() -> Iterator[tuple[type[Role], str]]:
    """The modules with a role, each with its file's path in the project."""
    for role in hooks.roles():
        for of in features.INSTALLED.values():
            if module := of.get(hooks.name_of(role)):
                yield role, f"{module.replace('.', '/')}.py"


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
    return sorted(file.relative_to(ROOT).as_posix() for file in features.FOLDER.glob(pattern))


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def _in_mappings() -> Iterator[str]:
    """What two features add under the same key to what a role collects, of roles that the site has."""
    for role in (each for each in hooks.roles() if each not in (hooks.Benchmarks, hooks.Generated)):
        for name, kind in role.__annotations__.items():
            if kind.startswith("Mapping[") and f"{role.__name__}.{name}" not in ADD_UP:
                for clash in features.clashes((of.file, getattr(of, name)) for of in _of_features(role)):
                    yield f"{clash[:-1]} ({name})."


def _of_features(role: type[R]) -> list[R]:
    return [of for of in features.roles(role) if of.file.startswith("features/")]


def _missing() -> Iterator[str]:
    """The files that a feature lacks, and what their roles lack."""
    from infra import functions  # noqa: PLC0415  # the stacks ask this module first

    there = {*chain(*(of.REMOVERS for of in features.roles(hooks.Removal)))}
    needed = [(f"features/{name}/README.md", "which describes the feature") for name in features.INSTALLED]
    for of in _of_features(hooks.Rights):
        modules = (of.file.replace("rights.py", f"{row.name}.py") for row in of.FUNCTIONS)
        needed += [(module, f"which {of.file} says is a function") for module in modules]
    yield from (f"{file} is missing, {why}." for file, why in needed if not (ROOT / file).exists())
    for of in _of_features(hooks.Rights):
        for route in functions.routes_of(of):
            if route.function not in functions.BY_NAME:
                yield f"{of.file} has the route {_route(route)} of {route.function}, which is no function."
    for items in _of_features(hooks.Items):
        lacking = (row.type for row in _rows(items) if row.remover and row.type not in there)
        yield from (f"{items.file} says that {type_} has a remover, which removal.py lacks." for type_ in lacking)


def _rows(items: hooks.Items) -> Iterator[Entity]:
    return chain(*items.ENTITIES.values())


def _clashes() -> Iterator[str]:
    """What two features have, or one and the core."""
    from cli import main  # noqa: PLC0415  # the same
    from infra import functions  # noqa: PLC0415
    from shared.data.entities import ROWS  # noqa: PLC0415
    from shared.data.keys import SEQUENCE  # noqa: PLC0415

    def named(what: str, role: type[R], names: Callable[[R], Iterable[str]], core: Iterable[str] = ()) -> Iterator[str]:
        owned = [(features.THE_CORE, core), *((of.file, names(of)) for of in features.roles(role))]
        return features.clashes((file, [f"the {what} {name}" for name in names]) for file, names in owned)

    own = {id(row) for of in features.roles(hooks.Items) for row in _rows(of)}
    of_core = [row for row in ROWS if id(row) not in own]
    # Several owners have sequences, each with keys of its own.
    types = (row.type for row in of_core)
    yield from named("item type", hooks.Items, lambda of: [r.type for r in _rows(of) if r.type != SEQUENCE], types)
    yield from named("key", hooks.Items, lambda of: map(_key, _rows(of)), map(_key, of_core))
    yield from named("partition", hooks.Items, lambda of: [_key(row).split()[0] for row in _rows(of)])
    yield from named("function", hooks.Rights, lambda of: [row.name for row in of.FUNCTIONS])
    yield from named("path", hooks.Rights, lambda of: [row.pages for row in of.FUNCTIONS if row.pages])
    yield from named("route", hooks.Rights, lambda of: map(_route, functions.routes_of(of)))
    yield from named("command", hooks.Commands, commands, main.NAMES)
    pages = [(file, pages_in(file)) for file in _written("*/*.py")]
    core = (file.relative_to(ROOT).as_posix() for file in (ROOT / "functions" / "pages").rglob("*.py"))
    yield from features.clashes([(features.THE_CORE, chain(*map(pages_in, core))), *pages])
    assets = [(f"features/{name}", _assets(ROOT / f"features/{name}/assets")) for name in features.INSTALLED]
    yield from features.clashes([(features.THE_CORE, _assets(ROOT / "web" / "assets")), *assets])


def _assets(folder: Path) -> list[str]:
    """The files of a folder, which the site has at addresses of their names alone."""
    return [f"the asset {file.name}" for file in folder.glob("*.*")]


def _key(row: Entity) -> str:
    """The form of a type's keys in the table, such as ``USER#* SAVED#*``."""
    return re.sub("<[^>]+>", "*", " ".join(row.own.forms.values()))


def _route(route: Route) -> str:
    """A route without its parameters' names, which make no difference: ``GET /deals/{}``."""
    return re.sub("{[^}]+}", "{}", f"{route.method} {route.path}")


def commands(of: hooks.Commands) -> list[str]:
    """A feature's commands, such as ``redrive``, and those that it adds to groups of others, such as ``deals vote``."""
    from cli.main import name_of  # noqa: PLC0415  # the same

    groups = [str(each.info.name) for each in of.GROUPS]
    added = [f"{group} {each.__name__}" for group, some in of.SUBCOMMANDS.items() for each in some]
    return [*groups, *map(name_of, of.COMMANDS), *added]


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
                found += [f"the page {method.upper()} {rule}" for rule in rules]
    return found
