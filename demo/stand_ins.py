"""Stand-ins for what a browser tab lacks, each with its reason.

``install`` must be called before anything of the site is imported. Each stand-in also works in CPython, where it is
tested.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.util
import secrets
import sys
from collections.abc import Callable, Sequence
from concurrent import futures
from concurrent.futures import thread
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

ACCOUNT = "123456789012"
"""moto's only account here."""
EVENTS = "aws_lambda_powertools.utilities.data_classes"
RESOLVERS = "aws_lambda_powertools.event_handler"


class InTurn(futures.Executor):
    """An executor for a tab, which has no threads: it runs each submitted function at once."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> futures.Future[Any]:
        done: futures.Future[Any] = futures.Future()
        try:
            done.set_result(fn(*args, **named))
        except Exception as error:  # noqa: BLE001  # it is raised where the result is asked for
            done.set_exception(error)
        return done


class Nothing(Exception):  # some of the classes it replaces are exceptions
    """A class that does nothing, whose instances have every attribute."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing


class _Made(ModuleType):
    """A module that has every name, each a class that does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, type(name, (Nothing,), {}))
        return vars(self)[name]


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Provides modules that libraries import but the site never uses: sockets don't exist in a tab, PyPI has no
    WebAssembly wheels of the compiled ones, and fewer files make the start faster."""

    names: tuple[str, ...] = (
        *("_cffi_backend", "_ssl", "boto3.docs", "boto3.resources", "botocore.crt", "botocore.docs", "certifi", "idna"),
        *("botocore.eventstream", "botocore.httpsession", "charset_normalizer", "configparser", "cryptography", "PIL"),
        *("html.parser", "http.cookiejar", "requests", "responses", "s3transfer", "ssl", "unittest", "urllib3", "xml"),
        *("werkzeug", "xmltodict", "yaml", "moto.awslambda", "moto.cloudwatch", "moto.events", "moto.iam", "moto.s3"),
        *("dateutil.parser", "moto.backend_index", "urllib.request"),
        *(f"moto.core.{part}" for part in ("custom_responses_mock", "routing", "versions")),
        *(f"{EVENTS}.{part}_event" for part in ("alb", "aws_config_rule", "cloud_watch_alarm", "cloud_watch_logs")),
        *(f"{EVENTS}.{part}_event" for part in ("connect_contact_flow", "kafka", "kinesis_firehose", "kinesis_stream")),
        *(f"{EVENTS}.{part}_event" for part in ("code_pipeline_job", "s3_batch_operation", "ses", "transfer_family")),
        *(f"{RESOLVERS}.{part}" for part in ("appsync", "bedrock_agent", "bedrock_agent_function", "events_appsync")),
        *(f"{RESOLVERS}.{part}" for part in ("graphql_appsync", "lambda_function_url", "vpc_lattice")),
    )

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        absent = f"{fullname}.".startswith(tuple(f"{name}." for name in self.names))
        return importlib.util.spec_from_loader(fullname, self, is_package=True) if absent else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Made(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__path__ = []


def real(*names: str) -> None:
    """Provide these modules from now on. What has imported their stand-ins keeps those."""
    Absent.names = tuple(name for name in Absent.names if name not in names)
    for name in [name for name, each in sys.modules.items() if isinstance(each, _Made)]:
        if f"{name}.".startswith(tuple(f"{each}." for each in names)):
            del sys.modules[name]


class Mismatch(Exception):  # argon2's own name for it ends in "Error", too
    """A password doesn't match its hash."""


class SaltedHasher:
    """Replaces argon2, which needs cffi, by a salted SHA-256. It protects accounts that exist only in this tab."""

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
    """The stand-ins of argon2, of zxcvbn's lists of passwords, which are empty, and of moto's IAM, with one account."""
    names = ("argon2", "argon2.exceptions", "argon2.profiles", "zxcvbn", "zxcvbn.frequency_lists", "moto.iam.models")
    module, errors, profiles, zxcvbn, lists, iam = made = [ModuleType(name) for name in names]
    vars(zxcvbn).update(__path__=[])
    vars(lists).update(FREQUENCY_LISTS={"passwords": []})
    vars(iam).update(get_account_id_from=lambda _key: ACCOUNT, mark_account_as_visited=lambda **_: None)
    vars(module).update(PasswordHasher=SaltedHasher, __path__=[])
    vars(errors).update(InvalidHashError=Mismatch, VerificationError=Mismatch)
    vars(profiles).update(RFC_9106_LOW_MEMORY=None)
    return {each.__name__: each for each in made}


def install() -> None:
    """Install the stand-ins; those for modules only in WebAssembly."""
    for module in (futures, thread):
        vars(module)["ThreadPoolExecutor"] = InTurn
    if sys.platform == "emscripten":
        sys.meta_path.insert(0, Absent())
        sys.modules.update(modules())


@dataclass
class Files:
    """Replaces S3: files in memory. Browsers can't upload: ``address``, the target of forms, refuses them."""

    address: str = ""
    held: dict[str, tuple[str, str]] = field(default_factory=dict)
    name = "pictures"

    def write(self, key: str, content: bytes, media_type: str, **_noted: str) -> None:
        self.held[key] = (content.decode(), media_type)

    def read(self, key: str, _most: int) -> SimpleNamespace | None:
        found = self.held.get(key)
        return SimpleNamespace(content=found[0].encode(), at="", noted={}) if found else None

    def replaced(self, _key: str) -> None:
        """Do nothing: a file stays as long as the tab."""

    def form(self, _key: str, _most: int, _seconds: int, fields: dict[str, str]) -> SimpleNamespace:
        return SimpleNamespace(url=self.address, fields=fields)


class Waiting:
    """Replaces SQS: the fan-out's queue as a list, with the hooks of botocore's client for sent messages."""

    client = meta = events = property(lambda self: self)

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.hooks: list[Callable[..., None]] = []

    def register(self, _event: str, hook: Callable[..., None]) -> None:
        self.hooks.append(hook)

    def unregister(self, _event: str, hook: Callable[..., None]) -> None:
        self.hooks.remove(hook)

    def send(self, bodies: Sequence[str]) -> None:
        self.bodies += bodies
        for hook in self.hooks:
            hook({"Entries": bodies})
