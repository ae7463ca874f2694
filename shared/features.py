"""Which features are installed: the folders in ``features/``, and what is found in them by file names.

``shared/hooks.py`` says what a feature is. The core asks ``roles`` for the modules with a role, and loops over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import features as package
from shared import hooks

FOLDER = Path(package.__path__[0])

CORE = {"navigation": "shared.html.navigation", "removal": "shared.data.removal", "rights": "infra.rows.core"}
"""The core's own modules with roles. They come before those of features."""

THE_CORE = "the core"
"""The core's name in sentences about clashes, where features have the names of their files."""

FILES = ("patterns.toml", "templates/in-pages.html")
"""Files of features that are found by their names and aren't modules."""

NOT_DEPLOYED = (
    *("tests", "rights.py", "stack.py", "commands.py", "local.py", "sample.py", "workbench.py"),
    *("demo.py", "generated.py", "benchmarks.py", "README.md", "events"),
)
"""What no function imports: it isn't in artifacts."""

CONSTANTS = {"DOES": str, "NEEDS": tuple, "ORDER": int, "JOINS": Mapping}
"""What ``features/NAME/__init__.py`` may define, with the types."""

R = TypeVar("R", bound=hooks.Role)
K = TypeVar("K")
V = TypeVar("V")


def found() -> dict[str, dict[str, str]]:
    """Search the disk: for each feature, its modules by role, and its files by name, in the features' order.

    Raises Broken for a folder that can't be read. A folder without files is what Git leaves of one that is gone.
    """
    folders = {file.parent.name: file.parent for file in FOLDER.glob("[!_]*/*.*") if file.is_file()}
    packages = {name: _package(name) for name in sorted(folders)}
    for name, own in packages.items():
        if missing := [each for each in ("DOES", "NEEDS") if each not in own]:
            raise hooks.Broken(f"features/{name}/__init__.py lacks {missing[0]}.")
        for each, value in own.items():
            if each[0] != "_" and not isinstance(value, ModuleType | CONSTANTS.get(each, ModuleType)):
                raise hooks.Broken(f"features/{name}/__init__.py has no use for {each} = {value!r}.")
        if lacking := [each for each in own["NEEDS"] if each not in packages]:
            raise hooks.Broken(f"features/{name}/__init__.py needs features/{lacking[0]}, which isn't there.")
    in_order = sorted(packages, key=lambda name: packages[name].get("ORDER", 0))
    return {name: _found(folders[name], packages[name].get("JOINS", {})) for name in in_order}


def _package(name: str) -> Mapping[str, Any]:
    """What a feature's ``__init__.py`` defines."""
    if not (FOLDER / name / "__init__.py").exists():
        raise hooks.Broken(f"features/{name}/__init__.py is missing, which says what the feature does and needs.")
    try:
        return vars(import_module(f"features.{name}"))
    except Exception as error:
        raise hooks.Broken(f"features/{name}/__init__.py can't be imported: {error}.") from error


def _found(folder: Path, joins: Mapping[str, str]) -> dict[str, str]:
    """A feature's modules by role, and its files by name."""
    joined = [hooks.name_of(each) for each in hooks.joined()]
    for role, module in joins.items():
        if role not in joined:
            raise hooks.Broken(f"features/{folder.name}/__init__.py joins {role}, but can join {', '.join(joined)}.")
        if not (folder / f"{module}.py").exists():
            raise hooks.Broken(f"features/{folder.name}/{module}.py is missing, by which it joins {role}.")
    roles = [role for role in map(hooks.name_of, hooks.roles()) if role not in joined]
    modules = {role: role for role in roles if (folder / f"{role}.py").exists()} | dict(joins)
    return {
        **{role: f"features.{folder.name}.{module}" for role, module in modules.items()},
        **{name: f"{folder.name}/{name}" for name in FILES if (folder / name).exists()},
    }


INSTALLED: Mapping[str, Mapping[str, str]] = vars(package).get("INSTALLED") or found()
"""The installed features. An artifact has the list in ``features/__init__.py``, and searches nothing."""


def frozen(source: str) -> str:
    """The text of ``features/__init__.py`` in an artifact, with the list of installed features."""
    return f"{source}\nINSTALLED = {INSTALLED!r}\n"


def roles(role: type[R]) -> list[R]:
    """The modules with a role, of the core and of all installed features. They are imported only now."""
    return [role(each) for each in modules(hooks.name_of(role))]


def modules(role: str) -> list[ModuleType]:
    """The modules with a role of that name, such as ``metrics`` or ``editors``."""
    names = [CORE[role]] if role in CORE else []
    return [import_module(name) for name in (*names, *(of[role] for of in INSTALLED.values() if role in of))]


def files(name: str) -> list[str]:
    """The paths, in ``features/``, of the installed features' files of that name, such as ``patterns.toml``."""
    return [of[name] for of in INSTALLED.values() if name in of]


def clashes(named: Iterable[tuple[str, Iterable[object]]]) -> Iterator[str]:
    """The sentences about what two owners have, each given as its file and the names of what it has."""
    owners: dict[object, str] = {}
    for file, names in named:
        for each in dict.fromkeys(names):
            if each in owners:
                yield f"{file} has {each}, which {owners[each]} has, too."
            owners[each] = file


def joined(parts: Iterable[tuple[str, Mapping[K, V]]]) -> dict[K, V]:
    """What several owners have, each given as its file and a mapping, as one. Raises Broken where two have a key."""
    owners = [*parts]
    for clash in clashes(owners):
        raise hooks.Broken(clash)
    return {key: value for _, own in owners for key, value in own.items()}


def merged(role: type[R], part: Callable[[R], Mapping[K, V]], core: Mapping[K, V] | None = None) -> dict[K, V]:
    """What the core has, and a part of all modules with a role, as one mapping. Raises Broken where two have a key."""
    return joined([(THE_CORE, core or {}), *((each.file, part(each)) for each in roles(role))])
