"""What a browser's tab has none of, and what stands in its place, each with its reason.

``install`` is called once, before anything of the site is imported. Each stand-in also works in CPython, where the
tests hold it. Those for the bucket and the queue are in ``services.py``.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.util
import itertools
import secrets
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import thread
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ACCOUNT = "123456789012"
"""moto's only account here."""


class InTurn(futures.Executor):
    """A pool for a tab, which has no threads: what is submitted runs at once, and the next after it.

    Meanwhile its thread has a pool's name, by which a page's panel knows what went out together.
    """

    numbers = itertools.count(1)

    def __init__(self, *_: Any, **__: Any) -> None:
        self.name = f"ThreadPoolExecutor-{next(self.numbers)}_0"

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> futures.Future[Any]:
        done: futures.Future[Any] = futures.Future()
        me = threading.current_thread()
        before, me.name = me.name, self.name
        try:
            done.set_result(fn(*args, **named))
        except Exception as error:  # noqa: BLE001  # whatever it raises is raised to those who ask for the result
            done.set_exception(error)
        finally:
            me.name = before
        return done

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], **_: Any) -> Iterator[Any]:
        return iter([self.submit(fn, *each).result() for each in zip(*iterables, strict=False)])


class _Anything(ModuleType):
    """A module that has every name: each is a class that does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {"__init__": lambda *_, **__: None})


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that are imported and never used here: a tab has no sockets, PyPI has no wheel of the compiled ones
    for WebAssembly, and moto imports the services that it calls besides DynamoDB."""

    names: tuple[str, ...] = (
        *("cryptography", "_cffi_backend", "ssl", "_ssl", "PIL", "s3transfer", "yaml"),
        *("boto3.docs", "boto3.resources", "werkzeug.serving"),
        *(f"moto.{service}" for service in ("awslambda", "cloudwatch", "events", "iam", "s3")),
    )

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        absent = f"{fullname}.".startswith(tuple(f"{name}." for name in self.names))
        return importlib.util.spec_from_loader(fullname, self, is_package=True) if absent else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Anything(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__path__ = []


class Mismatch(Exception):  # argon2's own name for it is an error's, too
    """A password is not the one that was hashed."""


class SaltedHasher:
    """In argon2's place, which needs cffi: a salted SHA-256. It guards accounts that exist in this tab alone."""

    @classmethod
    def from_parameters(cls, _parameters: Any) -> SaltedHasher:
        return cls()

    def hash(self, password: str, salt: str = "") -> str:
        salt = salt or secrets.token_hex(8)
        return f"$demo${salt}${hashlib.sha256((salt + password).encode()).hexdigest()}"

    def verify(self, known: str, password: str) -> bool:
        """True. Raises Mismatch."""
        _, kind, salt, *_ = known.split("$")
        if kind != "demo" or not secrets.compare_digest(known, self.hash(password, salt)):
            raise Mismatch
        return True

    def check_needs_rehash(self, _known: str) -> bool:
        return False


def modules() -> dict[str, ModuleType]:
    """Modules with what is called of them: argon2's hasher, and of moto's IAM, that everybody has one account."""
    names = ("argon2", "argon2.exceptions", "argon2.profiles", "moto.iam.models")
    module, errors, profiles, iam = made = [ModuleType(name) for name in names]
    vars(iam).update(get_account_id_from=lambda _key: ACCOUNT, mark_account_as_visited=lambda **_: None)
    vars(module).update(PasswordHasher=SaltedHasher, __path__=[])
    vars(errors).update(InvalidHashError=Mismatch, VerificationError=Mismatch)
    vars(profiles).update(RFC_9106_LOW_MEMORY=None)
    return {each.__name__: each for each in made}


def install() -> None:
    """Put the stand-ins into their places; those for modules where there are none, in WebAssembly."""
    for module in (futures, thread):
        vars(module)["ThreadPoolExecutor"] = InTurn
    if sys.platform == "emscripten":
        sys.meta_path.insert(0, Absent())
        sys.modules.update(modules())
