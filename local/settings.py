"""Where the local cloud lives and what it is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from local.trouble import Trouble

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_PORT = 4566
REGION = "us-east-1"
ACCOUNT = "000000000000"
KEY = "local"
"""Both halves of the account's own access key; the cloud listens on this machine only."""
STAGE = "local"

_KEPT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SYSTEMROOT")


@dataclass(frozen=True, slots=True)
class Home:
    """The folder with everything the local cloud knows: removing it is a reset."""

    folder: Path = field(default=ROOT / ".local")

    @property
    def process(self) -> Path:
        """Which process is the cloud, and on which port."""
        return self.folder / "process.json"

    @property
    def log(self) -> Path:
        """What MiniStack and the functions printed."""
        return self.folder / "cloud.log"

    @property
    def deploy_log(self) -> Path:
        """What the CDK printed last."""
        return self.folder / "deploy.log"

    @property
    def state(self) -> Path:
        """What MiniStack remembers from run to run."""
        return self.folder / "state"

    @property
    def bootstrap(self) -> Path:
        """What the CDK deploys with: its own template, but for what the cloud cannot keep."""
        return self.folder / "bootstrap.json"

    @property
    def deployed(self) -> Path:
        """What was deployed last, and with which outputs."""
        return self.folder / "deployed.json"

    @property
    def cloud(self) -> Path:
        """What others need to know to talk to the cloud: ``btd`` and the end-to-end tests read it."""
        return self.folder / "cloud.json"

    @property
    def editor(self) -> Path:
        """The demo editor's name and password."""
        return self.folder / "editor.json"

    @property
    def scratch(self) -> Path:
        """Temporary files of the cloud and of its functions."""
        return self.folder / "tmp"


def wanted_port(environment: Mapping[str, str] = os.environ) -> int:
    """The port of ``BTD_PORT``, or 4566. Raises Trouble for what is no port."""
    text = environment.get("BTD_PORT") or str(DEFAULT_PORT)
    if not text.isdecimal() or not 1024 <= int(text) <= 65535:
        raise Trouble(f"BTD_PORT is {text!r}: it must be a port from 1024 to 65535.")
    return int(text)


def endpoint(port: int) -> str:
    """The address that AWS's own tools talk to."""
    return f"http://127.0.0.1:{port}"


def cloud_environment(home: Home, port: int) -> dict[str, str]:
    """MiniStack's environment. Functions inherit it, so nothing of the user's shell is in it but the essentials."""
    return _essentials() | {
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
        # Roles may do what their policies say, as on AWS; whoever has these keys, as ours all do, may do everything.
        "AUTH": "true",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": KEY,
        # Listeners on ports of their own that nobody here asked for.
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        # Never look for a Docker daemon: there may be one, with containers that are not ours.
        "DOCKER_HOST": f"unix://{home.folder / 'no-docker.sock'}",
        "LOG_LEVEL": "INFO",
    }


def client_environment(home: Home, port: int) -> dict[str, str]:
    """The environment of the CDK's commands, and only theirs: the user's own profiles and keys are out of reach."""
    nowhere = str(home.folder / "no-such-file")
    # The rest of the user's environment stays: proxies and certificates, for fetching what is bundled.
    others = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    return others | {
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "AWS_ENDPOINT_URL": endpoint(port),
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": nowhere,
        "AWS_SHARED_CREDENTIALS_FILE": nowhere,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": ACCOUNT,
        "CDK_DEFAULT_REGION": REGION,
        # No call leaves this machine.
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "1",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20,22,24",
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "20,22,24",
        "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "20,22,24",
    }


def short(path: Path) -> str:
    """A path as one would type it here."""
    with suppress(ValueError):
        return str(path.relative_to(Path.cwd()))
    return str(path)


def _essentials() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', os.defpath)}"
    return kept
