"""Build artifacts for Lambda without Docker: locked wheels for the target, our sources, and valid byte code.

An artifact is built once for each content (lock, sources, target, and this module), and reused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from infra.stage import Target, this_machine
from shared import features

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CODE = ("functions", "shared", "features")
SOURCES = (*CODE, "web")

RECIPE = ("infra/bundling.py",)
"""The module that decides how libraries are installed and which of their files stay."""

SERVICES = {"dynamodb", "s3", "sqs", "sesv2"}
"""The services that functions call. Artifacts hold no descriptions or endpoints of others: 20 MB of data."""

BUILT_FROM_SOURCE = {"python-baseconv"}
"""Pure Python libraries without wheels. Everything else must be a wheel."""

_LEFT_OUT = ("__pycache__", "*.pyc", ".DS_Store")
_IN_LAMBDA = "/var/task"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A folder that Lambda can run, and the digest of its content."""

    path: Path
    digest: str


HANDLER = "functions.entry.handler"
"""The handler of every function: ``functions/entry.py`` starts the one in the variable ``FUNCTION``."""


def module_of(function: str) -> str:
    """A function's module or package, for ``FUNCTION``. Raises LookupError for an unknown function."""
    for place in ROOT.glob(f"functions/*/{function}*"):
        if place.name in (function, f"{function}.py"):
            return f"functions.{place.parent.name}.{function}"
    for rights in features.modules("rights"):
        if function in {row.name for row in getattr(rights, "FUNCTIONS", ())}:
            return f"{rights.__name__.rpartition('.')[0]}.{function}"
    raise LookupError(f"There is no function {function!r}.")


def bundle(name: str, target: Target, build: Path = BUILD) -> Artifact:
    """The artifact of our sources with the libraries of ``requirements/lambda-<name>.txt``.

    Raises SystemExit with uv's message if the locked libraries can't be installed for the target.
    """
    lock = ROOT / "requirements" / f"lambda-{name}.txt"
    installed = _libraries(lock, target, build, called=SERVICES)
    path = build / f"{name}-{_digest([repr(target).encode(), installed.name.encode(), *_contents(SOURCES)])}"
    marker = path.with_name(f"{path.name}.digest")
    if not marker.exists():
        with _fresh(path) as draft:
            shutil.copytree(installed, draft, copy_function=os.link, dirs_exist_ok=True)
            for source in SOURCES:
                shutil.copytree(
                    ROOT / source,
                    draft / source,
                    ignore=shutil.ignore_patterns(*_LEFT_OUT, *(features.NOT_DEPLOYED if source == "features" else ())),
                )
            listing = draft / "features" / "__init__.py"
            listing.write_text(features.frozen(listing.read_text(encoding="utf-8")), encoding="utf-8")
            _compile(draft, CODE, target)
        marker.write_text(tree_digest(path))
    return Artifact(path, marker.read_text())


def libraries(name: str, python: str | None = None) -> Path:
    """A folder with the libraries of ``requirements/<name>.txt`` for this machine, with valid byte code.

    ``lambda-runtime`` is the client of Lambda's Runtime API. ``python`` is another version than this interpreter's.
    """
    machine = this_machine()
    target = replace(machine, python=python or machine.python)
    return _libraries(ROOT / "requirements" / f"{name}.txt", target, BUILD)


def digest_of(*paths: str) -> str:
    """The digest of our files or folders, named from the project's root."""
    return _digest(_contents(paths))


def tree_digest(folder: Path) -> str:
    """The digest of all files below a folder: their names and contents."""
    return _digest(
        part
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        for part in (file.relative_to(folder).as_posix().encode(), file.read_bytes())
    )


def _libraries(lock: Path, target: Target, build: Path, *, called: Collection[str] = ()) -> Path:
    """The locked libraries for a target, installed and compiled; other artifacts link to these files.

    ``called`` are the services whose descriptions are kept; all, if it is empty.
    """
    recipe = [
        repr((target, sorted(called))).encode(),
        lock.read_bytes(),
        *_contents(RECIPE),
        _version_of(compiler(target.python)).encode(),
    ]
    path = build / f"libraries-{_digest(recipe)}"
    if not path.exists():
        with _fresh(path) as draft:
            _install(lock, target, draft)
            if called:
                _leave_out_services(draft / "botocore" / "data", called)
            _compile(draft, (".",), target)
    return path


def _install(lock: Path, target: Target, folder: Path) -> None:
    names = re.findall(r"^([a-z0-9-]+)==", lock.read_text(), re.MULTILINE)
    wheels_only = [arg for name in names if name not in BUILT_FROM_SOURCE for arg in ("--only-binary", name)]
    platform = ["--python-platform", target.uv_platform] if target.uv_platform else []
    command = [
        *(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--color", "never"),
        *("--python", sys.executable, "--python-version", target.python, *platform),
        *("--target", str(folder), "--link-mode", "copy"),
        # The locked environment's setuptools builds what has no wheel, instead of one fetched for the purpose.
        *("--no-deps", "--require-hashes", "--no-build-isolation", *wheels_only, "--requirement", str(lock)),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"Cannot bundle {lock.name} for Python {target.python} on {target.architecture}:\n{done.stderr}")
    # These differ from build to build.
    for file in (*folder.glob("*.dist-info/RECORD"), *folder.glob(".lock")):
        file.unlink()


def _leave_out_services(data: Path, called: Collection[str]) -> None:
    """Remove the descriptions of services that aren't called, and their entries in the list of endpoints."""
    for service in data.glob("*/"):
        if service.name not in called:
            shutil.rmtree(service)
    file = data / "endpoints.json"
    endpoints = json.loads(file.read_text(encoding="utf-8"))
    for partition in endpoints["partitions"]:
        partition["services"] = {name: places for name, places in partition["services"].items() if name in called}
    file.write_text(json.dumps(endpoints), encoding="utf-8")


def _compile(folder: Path, parts: tuple[str, ...], target: Target) -> None:
    """Compile byte code that survives zipping: it is never checked, since no source changes in Lambda.

    Python ignores byte code of another version, so nothing is compiled without an interpreter of the target's version.
    """
    interpreter = compiler(target.python)
    if interpreter is None:
        sys.stderr.write(
            f"There is no Python {target.python} here to compile byte code with, so functions will start in more than "
            f"twice the time. '.venv/bin/uv python install {target.python}' provides one.\n"
        )
        return
    for part in parts:
        command = [
            *(interpreter, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
            *("-s", str(folder), "-p", _IN_LAMBDA, str(folder / part)),
        ]
        # A fixed hash seed, because byte code contains the order of sets.
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})


@cache
def compiler(version: str) -> str | None:
    """An interpreter of a version (3.14): this one, or one that uv finds, or None."""
    if version == this_machine().python:
        return sys.executable
    find = [sys.executable, "-m", "uv", "python", "find", "--no-project", "--no-python-downloads", version]
    return subprocess.run(find, check=False, capture_output=True, text=True).stdout.strip() or None


@cache
def _version_of(interpreter: str | None) -> str:
    """An interpreter's version; empty if there is none."""
    if interpreter is None:
        return ""
    ask = [interpreter, "-c", "import sys; print(sys.version)"]
    return subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def _fresh(path: Path) -> Iterator[Path]:
    """Create a folder that gets its name only when complete, so that an interrupted build leaves none."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.mkdir(parents=True)
    try:
        yield draft
        if not path.exists():
            draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _contents(paths: tuple[str, ...]) -> Iterator[bytes]:
    for path in paths:
        start = ROOT / path
        for file in sorted(start.rglob("*")) if start.is_dir() else [start]:
            if file.is_file() and file.suffix != ".pyc" and file.name != ".DS_Store":
                yield file.relative_to(ROOT).as_posix().encode()
                yield file.read_bytes()


def _digest(parts: Iterator[bytes] | list[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()[:32]
