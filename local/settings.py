"""The local cloud's files, environment, and error messages."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Trouble(Exception):  # the user sees its text, not an exception
    """Something that the user must do or know; its text is the displayed line."""


ROOT = Path(__file__).resolve().parent.parent
DEFAULT_PORT = 4566
REGION = "us-east-1"
ACCOUNT = "000000000000"
STAGE = "local"

_KEPT = ("HOME", "USER", "LANG", "LC_ALL", "TERM", "SYSTEMROOT")


@dataclass(frozen=True, slots=True)
class AccessKey:
    """An AWS access key: its id, which requests contain, and its secret, which signs them."""

    key_id: str
    secret: str = field(repr=False)


class _In:
    """A home's file or folder, by name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, home: Home, _: type[Home]) -> Path:
        return home.folder / self._name


@dataclass(frozen=True, slots=True)
class Home:
    """The folder with the local cloud's whole state: removing it is a reset.

    It is ``.local``, or the folder in ``BTD_HOME``.
    """

    folder: Path = field(default_factory=lambda: Path(os.environ.get("BTD_HOME") or ROOT / ".local").resolve())

    process = _In("process.json")  # the cloud's process id and port
    port = _In("port")  # the last port, also of a cloud that wasn't deployed to
    log = _In("cloud.log")  # the output of MiniStack and the functions
    deploy_log = _In("deploy.log")  # the CDK's last output
    state = _In("state")  # MiniStack's saved state
    bootstrap = _In("bootstrap.json")  # the CDK's bootstrap template, without what this cloud refuses
    deployed = _In("deployed.json")  # the last deployment, with its outputs
    cloud = _In("cloud.json")  # the cloud's addresses for others, such as btd
    editor = _In("editor.json")  # the demo editor's name and password
    member = _In("member.json")  # the demo member's
    sample = _In("sample.json")  # marks that the sample has been written
    key = _In("key.json")  # the account's access key, known only to this checkout
    lock = _In("lock")  # held by a command that starts, deploys to or stops the cloud
    scratch = _In("tmp")  # temporary files of the cloud and of its functions

    @property
    def signs(self) -> tuple[Path, ...]:
        """Files that mark a local cloud's folder, which has at least one of them."""
        return self.key, self.lock, self.process, self.cloud


NO_ADVICE_ABOUT_NODE = {
    f"JSII_SILENCE_WARNING_{kind}_NODE_VERSION": "20,22,24" for kind in ("END_OF_LIFE", "UNTESTED", "DEPRECATED")
}
"""Silences the CDK's twenty-line warning about every Node but the newest."""


def wanted_port(environment: Mapping[str, str] = os.environ, *, last: int | None = None) -> int:
    """The port in ``BTD_PORT``, or the ``last`` one, or 4566. Raises Trouble if ``BTD_PORT`` isn't a port."""
    text = environment.get("BTD_PORT") or str(last or DEFAULT_PORT)
    if not text.isdecimal() or not 1024 <= int(text) <= 65535:
        raise Trouble(f"BTD_PORT is {text!r}: it must be a port from 1024 to 65535.")
    return int(text)


def endpoint(port: int) -> str:
    """The address for AWS's own tools."""
    return f"http://127.0.0.1:{port}"


def make_folder(home: Home) -> None:
    """Create the local cloud's folder. Only its owner can read it, because it holds the cloud's keys.

    Raises Trouble for a folder with other content: ``make reset`` would remove it.
    """
    if home.folder.exists() and any(home.folder.iterdir()) and not any(file.exists() for file in home.signs):
        raise Trouble(f"{home.folder} holds something else: BTD_HOME must name a new folder, or that of a local cloud.")
    home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.folder.chmod(0o700)


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can ever read, even during writing."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)


def access_key(home: Home) -> AccessKey:
    """The account's access key, random for each checkout, which may do everything."""
    try:
        return AccessKey(**json.loads(home.key.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        key = AccessKey(f"LOCAL{secrets.token_hex(16).upper()}", secrets.token_urlsafe(32))
    make_folder(home)
    write_private(home.key, json.dumps({"key_id": key.key_id, "secret": key.secret}))
    return key


def client_arguments(home: Home, port: int) -> dict[str, Any]:
    """The arguments with which a boto3 client uses the local cloud."""
    key = access_key(home)
    return {
        "endpoint_url": endpoint(port),
        "region_name": REGION,
        "aws_access_key_id": key.key_id,
        "aws_secret_access_key": key.secret,
    }


def reaching(address: str, key: AccessKey | None = None) -> dict[str, str]:
    """The variables that lead clients to a cloud on this machine, with the key that it requires."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        **({"AWS_ACCESS_KEY_ID": key.key_id, "AWS_SECRET_ACCESS_KEY": key.secret} if key else {}),
        "NO_PROXY": "127.0.0.1,localhost",
    }


def cloud_environment(home: Home, port: int) -> dict[str, str]:
    """MiniStack's environment. Functions inherit it, so it has only the essentials of the user's shell."""
    key = access_key(home)
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "PERSIST_STATE": "1",
        "STATE_DIR": str(home.state),
        "S3_PERSIST": "1",
        "S3_DATA_DIR": str(home.folder / "s3"),
        "TMPDIR": str(home.scratch),
        "MINISTACK_REGION": REGION,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "LAMBDA_EXECUTOR": "local",
        # Roles are limited to their policies, as on AWS; this key may do everything.
        "AUTH": "true",
        "AWS_ACCESS_KEY_ID": key.key_id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        # Unused services with ports of their own.
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        # Never look for a Docker daemon: its containers wouldn't be ours.
        "DOCKER_HOST": f"unix://{home.folder / 'no-docker.sock'}",
        "LOG_LEVEL": "INFO",
    }


def client_environment(home: Home, port: int) -> dict[str, str]:
    """The environment of CDK commands, without the user's profiles and keys."""
    nowhere = str(home.folder / "no-such-file")
    # The rest stays: fetching libraries may need the user's proxies and certificates.
    others = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    return others | {
        **reaching(endpoint(port), access_key(home)),
        "no_proxy": "127.0.0.1,localhost",
        "AWS_CONFIG_FILE": nowhere,
        "AWS_SHARED_CREDENTIALS_FILE": nowhere,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": ACCOUNT,
        "CDK_DEFAULT_REGION": REGION,
        # The CDK's template validation takes eight seconds; the tests and deployments to AWS have it.
        "CDK_VALIDATION": "false",
        # No request leaves this machine.
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "1",
        **NO_ADVICE_ABOUT_NODE,
    }


def short(path: Path) -> str:
    """A path for display: relative to the current folder, if it is below it."""
    with suppress(ValueError):
        return str(path.relative_to(Path.cwd()))
    return str(path)
