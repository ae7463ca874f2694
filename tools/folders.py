"""What is wrong with features' folders, one sentence for each fault: misspelled hooks, wrong types, clashes.

``shared/features.py`` finds what keeps a folder from being read at all. This is asked before tests, synthesis and
``make run``, so that no half-working site starts. It imports all functions, and parses all templates.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from inspect import get_annotations, getsource
from itertools import chain
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, TypeVar

from minijinja import Environment, TemplateError

from shared import features, hooks
from shared.dynamodb import attributes
from shared.hooks import Role
from shared.values.stored import Attribute

if TYPE_CHECKING:
    from shared.data.entity import Entity

ROOT = features.FOLDER.parent

ENTRY = "handler"
"""What Lambda calls in the module of a function."""

APART = (hooks.Stack, hooks.Generated, hooks.Benchmarks)
"""Roles whose modules import too much to be looked into at each start, and that no running site has."""

R = TypeVar("R", bound=Role)
Step = Callable[[], Iterator[str]]


def check() -> None:
    """End the program with the first fault, if there is one."""
    if fault := next(faults(), None):
        sys.exit(fault)


def run(module: str) -> None:
    """Run a module as a program. If it fails because of a feature, end with what is wrong with that."""
    try:
        runpy.run_module(module, run_name="__main__")
    except (Exception, hooks.Broken) as error:  # noqa: BLE001  # the program ends
        sys.exit(sentence(error) or traceback.format_exc())


def faults() -> Iterator[str]:
    """All faults. Errors of other code come after the sentences that say more about a value."""
    raised: list[BaseException] = []
    values = [partial(_values, role) for role in hooks.roles() if role not in APART]
    steps: list[Step] = [_misspelled, _without_effect, _templates, _functions, *values, _stored, _missing, _clashes]
    for find in steps:
        try:
            yield from find()
        except (Exception, hooks.Broken) as error:  # noqa: BLE001  # whatever a feature's module does
            raised.append(error)
    told = dict.fromkeys(filter(None, map(sentence, raised)))
    yield from told
    if raised and not told:  # no feature's
        raise raised[0]


def sentence(error: BaseException) -> str:
    """An error with the feature's file that raised it, or whose role was asked; else an empty text."""
    if isinstance(error, hooks.Broken):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).relative_to(ROOT)}:{error.lineno} can't be parsed: {error.msg}."
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        file = Path(frame.f_code.co_filename)
        asked = [of.file for of in frame.f_locals.values() if isinstance(of, Role) and hasattr(of, "file")]
        for place in [f"{file.relative_to(ROOT)}:{line}"] if features.FOLDER in file.parents else asked:
            return f"{place} can't be used: {type(error).__name__}: {error}."
        if frame.f_code.co_name == "<module>":  # what imports it has no part in the error
            break
    return ""


def modules() -> dict[str, list[type[Role]]]:
    """The features' modules with roles, such as ``features.polls.pages``, and their roles."""
    found = defaultdict[str, list[type[Role]]](list)
    for role in hooks.roles():
        for of in features.INSTALLED.values():
            if module := of.get(hooks.name_of(role)):
                found[module].append(role)
    return found


def defined(module: str) -> dict[str, ast.stmt]:
    """The public names that a module defines, without those that it imports."""
    file, found = ROOT / f"{module.replace('.', '/')}.py", dict[str, ast.stmt]()
    for node in ast.parse(file.read_text(encoding="utf-8"), file).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node
            case ast.Assign(targets=targets):
                found |= {each.id: node for each in targets if isinstance(each, ast.Name)}
    return {name: node for name, node in found.items() if not name.startswith("_")}


def _misspelled() -> Iterator[str]:
    for module, roles in modules().items():
        known = [name for role in roles for name in hooks.names(role)]
        text, lack = _text_about(module.split(".")[1]), f"{' and '.join(role.__name__ for role in roles)} doesn't have"
        for name, node in defined(module).items():
            decorated = getattr(node, "decorator_list", ())  # such as a route, which the decorator uses
            if name not in (*known, ENTRY) and not decorated and len(re.findall(rf"\b{name}\b", text)) == 1:
                file = f"{module.replace('.', '/')}.py"
                yield f"{file} defines {name}, which nothing uses and {lack}: it has {', '.join(known)}."


def _without_effect() -> Iterator[str]:
    for file in sorted(features.FOLDER.glob("[!_]*/**/[!_]*.py")):
        path = file.relative_to(ROOT)
        package, name = ".".join(path.parent.parts), file.stem
        if "tests" in path.parts or f"{package}.{name}" in modules():
            continue
        used = rf'\b{package}(\.| import \(?[^.()]*\b){name}\b|name="{name}"'  # the last is a row of a function
        runs = "__main__" in file.read_text(encoding="utf-8")
        if path.parts[2:] == ("api.py",) or not (runs or re.search(used, _text_about(path.parts[1]))):
            yield f"{path} has no effect: no role has that name, JOINS doesn't have it, and nothing imports it."


@cache
def _text_about(feature: str) -> str:
    """The text of the modules of a feature and of those that need it, without tests."""
    near = (each for each in features.INSTALLED if feature in (each, *import_module(f"features.{each}").NEEDS))
    files = chain(*((features.FOLDER / each).glob("**/*.py") for each in near))
    return "\n".join(file.read_text(encoding="utf-8") for file in files if "tests" not in file.relative_to(ROOT).parts)


def _templates() -> Iterator[str]:
    known = Environment()
    for file in sorted(features.FOLDER.glob("*/templates/**/*.*")):
        try:
            known.add_template(file.name, file.read_text(encoding="utf-8"))
        except TemplateError as error:
            yield f"{file.relative_to(ROOT)} can't be parsed: {str(error).splitlines()[0]}."


def _functions() -> Iterator[str]:
    """Import the modules of all functions, and the commands, in whose order modules with roles can be imported."""
    import_module("cli.main")
    from infra.bundling import module_of  # noqa: PLC0415  # the stacks ask this module first
    from infra.functions import FUNCTIONS  # noqa: PLC0415

    for of in _of_features(hooks.Rights):
        own = (of.file.replace("rights.py", f"{row.name}.py") for row in of.FUNCTIONS)
        yield from (
            f"{each} is missing, which {of.file} says is a function." for each in own if not (ROOT / each).exists()
        )
    with warnings.catch_warnings(action="ignore"):  # two pages with one path are told below
        for row in FUNCTIONS:
            import_module(module_of(row.name))


def _of_features(role: type[R]) -> list[R]:
    return [of for of in features.roles(role) if of.file.startswith("features/")]


def _values(role: type[Role]) -> Iterator[str]:
    """What features have of another type than the role, and what two add under the same key: to a mapping, or to the
    values of a page. mypy compares functions (``tools/roles.py``)."""
    kinds = {name: kind for each in role.__mro__ for name, kind in get_annotations(each).items()}
    for name in hooks.names(role):
        kind = kinds.get(name) or get_annotations(getattr(role, name)).get("return", "")
        named = list if name in kinds else _returned
        for of in _of_features(role) if name in kinds else ():
            if not _fits(value := getattr(of, name), ast.parse(kind, mode="eval").body):
                yield f"{of.file} has {name} = {value!r}, which is no {kind}."
        if kind.startswith("Mapping["):
            for clash in features.clashes((of.file, named(getattr(of, name))) for of in _of_features(role)):
                yield f"{clash[:-1]} ({name})."


def _returned(function: Callable[..., Any]) -> list[str]:
    """The keys of the dictionaries that a function returns, as far as its text has them."""
    returned = [node.value for node in ast.walk(ast.parse(dedent(getsource(function)))) if isinstance(node, ast.Return)]
    keys = chain(*(value.keys for value in returned if isinstance(value, ast.Dict)))
    return [str(each.value) for each in keys if isinstance(each, ast.Constant)]


def _fits(value: Any, kind: ast.expr) -> bool:
    """Whether a value has the type of an annotation. Classes are compared by name: many are imported for mypy alone."""
    match kind:
        case ast.BinOp(left=left, right=right):
            return _fits(value, left) or _fits(value, right)
        case ast.Subscript(ast.Name("tuple"), ast.Tuple([each, ast.Constant()])):
            return isinstance(value, tuple) and all(_fits(one, each) for one in value)
        case ast.Subscript(ast.Name("tuple"), ast.Tuple(kinds)):
            return isinstance(value, tuple) and len(value) == len(kinds) and all(map(_fits, value, kinds))
        case ast.Subscript(ast.Name("Mapping" | "Added"), ast.Tuple([key, of])):
            return isinstance(value, Mapping) and all(_fits(k, key) and _fits(v, of) for k, v in value.items())
        case ast.Subscript(ast.Name("type"), ast.Name(name)):
            return isinstance(value, type) and name in [each.__name__ for each in value.__mro__]
        case ast.Subscript(ast.Name("Callable")):
            return callable(value)
        case ast.Name(name) | ast.Attribute(attr=name):
            return name in ("Any", *(each.__name__ for each in type(value).__mro__))
    return value is None


def _stored() -> Iterator[str]:
    """Nothing: a type that an item can't hold raises."""
    for of in _of_features(hooks.Fields):
        [attributes.Single(each) if isinstance(each, Attribute) else attributes.Entity(each) for each in of.STORED]
    yield from ()


def _rows(items: hooks.Items) -> Iterator[Entity]:
    return chain(*items.ENTITIES.values())


def _form(text: str) -> str:
    """A key, path or route without its parameters' names, which make no difference: ``GET /deals/*``."""
    return re.sub("<[^>]+>|{[^}]+}", "*", text)


def _missing() -> Iterator[str]:
    """What features name, and nobody has."""
    from cli import main  # noqa: PLC0415  # the same
    from infra.functions import BY_NAME, routes_of  # noqa: PLC0415

    def unknown(what: str, role: type[R], names: Callable[[R], Iterable[str]], known: Iterable[str]) -> Iterator[str]:
        there = {*known}
        for of in _of_features(role):
            missing = (each for each in names(of) if each not in there)
            yield from (f"{of.file} names the {what} {each}, which isn't there." for each in missing)

    for name in features.INSTALLED:
        if not (features.FOLDER / name / "README.md").exists():
            yield f"features/{name}/README.md is missing, which describes the feature."
    groups = (str(each.info.name) for each in main.GROUPS)
    removers = chain(*(of.REMOVERS for of in features.roles(hooks.Removal)))
    yield from unknown(
        "function", hooks.Rights, lambda of: [*of.MORE, *(each.function for each in routes_of(of))], BY_NAME
    )
    yield from unknown("group of commands", hooks.Commands, lambda of: of.SUBCOMMANDS, groups)
    yield from unknown("command", hooks.Commands, lambda of: of.REPLACES, map(main.name_of, main.COMMANDS))
    yield from unknown("remover of", hooks.Items, lambda of: [row.type for row in _rows(of) if row.remover], removers)


def _clashes() -> Iterator[str]:
    """What two features have, or one and the core."""
    from cli import main  # noqa: PLC0415  # the same
    from infra.functions import routes_of  # noqa: PLC0415
    from shared.data.entities import ROWS  # noqa: PLC0415
    from shared.data.keys import SEQUENCE  # noqa: PLC0415
    from shared.runtime import metrics  # noqa: PLC0415

    def owned(what: str, *owners: tuple[str, Iterable[str]]) -> Iterator[str]:
        return features.clashes((file, [f"the {what} {name}" for name in names]) for file, names in owners)

    def named(what: str, role: type[R], names: Callable[[R], Iterable[str]], core: Iterable[str] = ()) -> Iterator[str]:
        return owned(what, (features.THE_CORE, core), *((of.file, names(of)) for of in features.roles(role)))

    def keys(rows: Iterable[Entity]) -> list[str]:
        return [_form(" ".join(row.own.forms.values())) for row in rows]

    own = {id(row) for of in features.roles(hooks.Items) for row in _rows(of)}
    of_core = [row for row in ROWS if id(row) not in own]
    # Several owners have sequences, each with keys of its own.
    types = (row.type for row in of_core)
    yield from named("item type", hooks.Items, lambda of: [r.type for r in _rows(of) if r.type != SEQUENCE], types)
    yield from named("key", hooks.Items, lambda of: keys(_rows(of)), keys(of_core))
    yield from named("partition", hooks.Items, lambda of: [key.split()[0] for key in keys(_rows(of))])
    yield from named("function", hooks.Rights, lambda of: [row.name for row in of.FUNCTIONS])
    yield from named("path", hooks.Rights, lambda of: [row.pages for row in of.FUNCTIONS if row.pages])
    yield from named("route", hooks.Rights, lambda of: [_form(f"{each.method} {each.path}") for each in routes_of(of)])
    yield from named("command", hooks.Commands, commands, main.NAMES)
    yield from named("tool", hooks.Commands, lambda of: [each.__name__ for each in of.TOOLS])
    yield from named("notification", hooks.Fields, lambda of: [each.thing for each in of.NEWS])
    yield from named("button", hooks.Editing, lambda of: [of.THEN] if of.THEN else [])
    yield from named("field", hooks.ApiFields, lambda of: [*_added(of.ANSWERS), *_added(of.BODIES)])
    ours = [each.name for each in vars(metrics).values() if isinstance(each, metrics.Metric)]
    yield from named("metric", hooks.Metrics, lambda of: [each.name for each in of.METRICS], ours)
    yield from owned("page", *sorted(pages().items(), key=lambda page: page[0].startswith("features/")))
    places = {features.THE_CORE: "web", **{f"features/{name}": f"features/{name}" for name in features.INSTALLED}}
    # The site has them at addresses of their names alone.
    assets = ((owner, [file.name for file in (ROOT / place / "assets").glob("*.*")]) for owner, place in places.items())
    yield from owned("asset", *assets)


def _added(models: Mapping[str, type]) -> Iterator[str]:
    """The fields that models add, such as ``poll of Deal``."""
    return (f"{field} of {name}" for name, model in models.items() for field in get_annotations(model))


def pages() -> dict[str, list[str]]:
    """The pages that each module adds to those of functions, such as ``GET /my/inbox``."""
    [*_functions()]
    from shared.html.pages import Routes  # noqa: PLC0415  # the same

    ours = [vars(of) for name, of in sys.modules.items() if name.startswith(("features.", "functions.pages."))]
    routes = {id(each): each for names in ours for each in names.values() if isinstance(each, Routes)}
    found = defaultdict[str, list[str]](list)
    for method, rule, page in chain(*(each.pages for each in routes.values())):
        if not isinstance(page, partial):  # it leads to the form's page
            found[f"{page.__module__.replace('.', '/')}.py"].append(_form(f"{method} {rule}"))
    return found


def commands(of: hooks.Commands) -> list[str]:
    """A feature's commands, such as ``redrive``, and those that it adds to groups of others, such as ``deals vote``."""
    from cli.main import name_of  # noqa: PLC0415  # the same

    groups = [str(each.info.name) for each in of.GROUPS]
    added = [f"{group} {each.__name__}" for group, some in of.SUBCOMMANDS.items() for each in some]
    return [*groups, *map(name_of, of.COMMANDS), *added]


if __name__ == "__main__":
    run(sys.argv.pop(1)) if sys.argv[1:] else check()
