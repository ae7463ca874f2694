"""A stage's settings with their types, and what the settings of features have in common."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, TypeVar

SITE_STAGE = "web"
"""The pages' gateway stage: the prefix of their paths at the gateway's own address."""

EVERY_ORIGIN = "*"
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
"""An origin as browsers write it: lower case, no path, no slash at the end."""


_KEY = re.compile(r"arn:aws[a-z-]*:kms:(?P<region>[a-z0-9-]+):(?P<account>[0-9]{12}):key/[A-Za-z0-9-]+")
"""A key's ARN: CloudWatch Logs takes no alias.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html"""

_LEAST = {"throttle_rate": 1, "throttle_burst": 1, "sign_in_rate": 1, "sign_in_burst": 1, "workers": 2}
"""The least of a setting, where it is set. A queue has two workers at least:
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""

LOG_DAYS = (1, 7, 30, 90)
"""How many days a stage may keep its logs. CloudWatch takes only some numbers."""

_SHAPES = {
    "name": ("[A-Za-z0-9-]+", "letters, digits and hyphens"),
    "log_level": ("DEBUG|INFO", "DEBUG or INFO, of whose lines the metrics are"),
    "site_origin": (_ORIGIN.pattern, "a scheme and a host (https://deals.example)"),
}
"""What texts must look like where they are set, and this in words."""

MANYLINUX = "manylinux_2_28"
"""Wheels for Amazon Linux 2023 (glibc 2.34), which Lambda's Python runtimes are built on from 3.12.

https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html
https://docs.aws.amazon.com/linux/al2023/ug/glibc-gcc-and-binutils.html"""


class Watch(Enum):
    """How much of a stage is watched: the metrics that functions report, and what watches them.

    ``FULL``: all, for about $38 a month with alarms and a dashboard. ``ESSENTIAL``: what means a loss of data or money,
    for under $2.
    """

    NOTHING = "nothing"
    ESSENTIAL = "essential"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Target:
    """The interpreter and processor that an artifact is built for.

    ``uv_platform`` is uv's name of the platform; None builds for the current interpreter and machine.
    """

    python: str
    architecture: str
    uv_platform: str | None


@dataclass(frozen=True, slots=True)
class Domain:
    """Your own domain name that leads to the APIs directly; its certificate is in the stack's region.

    The name's DNS record is an alias of the output ``SiteTarget``. With ``zone_id``, a hosted zone of Route 53 in this
    account, the stack makes it.
    """

    name: str
    certificate_arn: str
    zone_id: str | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", self.name):
            raise ValueError(f"The name of domain must be a host's (deals.example), and not {self.name!r}.")


@dataclass(frozen=True, slots=True)
class RestoredTable:
    """A restored table that replaces the stack's own: its name, and the ARN of its stream."""

    name: str
    stream_arn: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A threshold that must be reached in ``points`` of the last ``of`` periods of some ``minutes`` each.

    Metrics come out of log lines some seconds late: if a point may be missing, ``points`` is less than ``of``.
    """

    threshold: float
    minutes: int = 1
    points: int = 1
    of: int = 1


class Option:
    """The settings of one feature. The core reads only these attributes."""

    __slots__ = ()

    guards_apis: ClassVar[bool] = False
    """Whether it is a firewall of both APIs."""

    services: ClassVar[tuple[str, ...]] = ()
    """The services that its region must have, by their names in boto3."""

    in_front: ClassVar[bool] = False
    """Whether it is in front of both APIs, under another name and without their stages in paths."""

    @property
    def host(self) -> str | None:
        """The name of what is in front, or None if it is known only after deployment."""
        return None

    @property
    def closes_apis(self) -> bool:
        """Whether the APIs answer only to what is in front of them."""
        return False

    def check(self, stage: Stage) -> None:
        """Raise ValueError for a stage that can't have it."""


Settings = TypeVar("Settings", bound=Option)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Settings that differ between deployments; everything else is the same.

    ``docs/deploying.md`` explains each with its unit and price. ``account``, ``region``, ``tags`` and
    ``key_arn`` come from ``cdk.json`` (``places.py``). ``options`` are the settings of the stage's features
    (``infra/rows``), one of each: ``options=(Firewall(),)``. Only for the local cloud: ``emulated`` says that the cloud
    is MiniStack, which has no TLS and another name for a right (``docs/local-cloud.md``), and ``slowness`` multiplies
    the functions' timeouts, since a laptop starts many at once on few processors. ``table_name``, ``api_id`` and
    ``site_id`` are None if the cloud chooses them.
    """

    name: str
    target: Target
    keeps_data: bool
    throttle_rate: int
    throttle_burst: int
    sign_in_rate: int
    sign_in_burst: int
    log_retention_days: int
    log_level: str = "INFO"
    tracing: bool = False
    checks_bodies: bool = False
    snap_start: bool = False
    shows_work: bool = False
    pictures_of_others: bool = False
    rights_by_index: bool = False
    table_name: str | None = None
    api_id: str | None = None
    emulated: bool = False
    slowness: int = 1
    site_id: str | None = None
    options: tuple[Option, ...] = ()
    domain: Domain | None = None
    site_origin: str | None = None
    restored: RestoredTable | None = None
    cors_origins: tuple[str, ...] = ()
    watch: Watch = Watch.ESSENTIAL
    workers: int = 2
    first: bool = False
    account: str | None = None
    region: str | None = None
    standby: bool = False
    tags: tuple[tuple[str, str], ...] = ()
    key_arn: str | None = None

    def __post_init__(self) -> None:
        self._check_values()
        if self.account is not None and not re.fullmatch("[0-9]{12}", self.account):
            raise ValueError(f"account must have twelve digits, as a text, and not {self.account!r}.")
        if self.key_arn is not None:
            self._check_key(self.key_arn)
        if self.standby and self.restored is None:
            raise ValueError("standby needs restored: the name and the stream of the replica that it waits with.")
        if self.cors_origins != (EVERY_ORIGIN,) and not all(map(_ORIGIN.fullmatch, self.cors_origins)):
            raise ValueError("Each of cors_origins must be a scheme and a host (https://app.example), or '*' alone.")
        if len({type(each) for each in self.options}) < len(self.options):
            raise ValueError("options must have one of a kind.")
        for each in self.options:
            each.check(self)

    def _check_values(self) -> None:
        """Raise ValueError for a setting that can't be meant, whatever the others are."""
        for name, least in _LEAST.items():
            number = getattr(self, name)
            if number is not None and number < least:
                raise ValueError(f"{name} must be at least {least}, and not {number}.")
        for name, (shape, said) in _SHAPES.items():
            text = getattr(self, name)
            if text is not None and not re.fullmatch(shape, text):
                raise ValueError(f"{name} must be {said}, and not {text!r}.")
        if self.log_retention_days not in LOG_DAYS:
            days = ", ".join(map(str, LOG_DAYS))
            raise ValueError(f"log_retention_days must be one of {days}, and not {self.log_retention_days}.")
        if self.domain and self.region and f":{self.region}:" not in self.domain.certificate_arn:
            raise ValueError(f"The certificate of domain must be in the stage's region, {self.region}.")

    def _check_key(self, arn: str) -> None:
        """Raise ValueError for a key that the stage's services can't use."""
        found = _KEY.fullmatch(arn)
        if found is None:
            raise ValueError(f"key_arn must be the ARN of a key in KMS (arn:aws:kms:...:key/...), and not {arn!r}.")
        for name, here in (("region", self.region), ("account", self.account)):
            if here not in (None, found[name]):
                raise ValueError(f"key_arn must be a key of the stage's {name}, {here}, and not of {found[name]}.")

    def option(self, kind: type[Settings]) -> Settings | None:
        """A feature's settings, or None if the stage is without it."""
        return next((each for each in self.options if isinstance(each, kind)), None)

    @property
    def is_protected(self) -> bool:
        """Whether its table and stack can't be deleted. Not before a first deployment has succeeded: a failed one is
        deleted and repeated."""
        return self.keeps_data and not self.first

    @property
    def front(self) -> Option | None:
        """What is in front of both APIs, if anything."""
        return next((each for each in self.options if each.in_front), None)

    @property
    def closes_apis(self) -> bool:
        """Whether the APIs answer only to what is in front of them."""
        return self.front is not None and self.front.closes_apis

    @property
    def origin(self) -> str | None:
        """The site's origin for browsers (scheme and host), or None if it is known only after deployment."""
        name = self.domain.name if self.domain else self.front.host if self.front else None
        return self.site_origin or (f"https://{name}" if name else None)

    @property
    def site_base(self) -> str:
        """The prefix of pages' paths: the gateway's stage, unless a name leads to it."""
        return "" if self.front or self.domain else f"/{SITE_STAGE}"

    @property
    def stack_name(self) -> str:
        """The stack's name in CloudFormation."""
        return f"BigTimeDeals-{self.name}"


def lambda_target(python: str, architecture: str) -> Target:
    """A target on Lambda: ``python`` is 3.12 or later, ``architecture`` is arm64 or x86_64."""
    processor = {"arm64": "aarch64", "x86_64": "x86_64"}[architecture]
    return Target(python, architecture, f"{processor}-{MANYLINUX}")


def this_machine() -> Target:
    """The current interpreter, on which the local cloud also runs functions."""
    architecture = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"
    return Target(f"{sys.version_info.major}.{sys.version_info.minor}", architecture, None)


ON_LAMBDA = lambda_target("3.14", "arm64")
"""The newest Python with wheels of every library, on the processor that costs a fifth less."""
