"""Rows of Lambda functions. ``infra/functions.py`` has the core's, and a feature's ``rights.py`` its own.

Rows import no aws_cdk, because commands read stages, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Any

from infra.rights import Access
from infra.stage import Option, Stage
from shared import features, hooks

if TYPE_CHECKING:
    from shared.runtime.metrics import Metric

LEAN, FULL = "lean", "full"
"""The artifacts: ``full`` has pydantic and argon2; ``lean`` has neither and starts faster."""

USUAL_TIMEOUT = 10
USUAL_MEMORY = 512
"""A row's defaults: seconds, and MiB."""


class Caller(Enum):
    """Who calls a function, which decides how it is watched."""

    GATEWAY = "the gateway, for a waiting client"
    EVENTS = "the stream, the queue or the clock"
    DEPLOYMENT = "CloudFormation, once in a deployment"


Filter = dict[str, Any]
"""A pattern of stream records, which Lambda matches before it invokes a function."""


def typed(image: str, *types: str) -> Filter:
    return {"dynamodb": {image: {"Type": {"S": list(types)}}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a function reads the table's stream.

    ``name`` is its name in the stack, ``dead_letters`` that of its dead-letter queue. ``batch_size`` is an invocation's
    maximum of records, ``window`` the seconds to wait for more.
    """

    name: str
    dead_letters: str
    filters: tuple[Filter, ...]
    batch_size: int
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A module of ``functions/``, and how it runs.

    ``timeout`` is in seconds.
    ``memory`` is in MiB; 1,769 are a whole processor (docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html).
    ``because`` is the reason for an unusual timeout or memory.
    ``reads`` says how it reads the table's stream.
    ``sends``: it queues cohorts.
    ``option``: only stages with these settings of a feature have it.
    ``calls_itself``: it receives what it sends. Lambda stops such a loop after about 16 rounds, unless it is allowed
    (docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
    ``each_minute``: the clock invokes it.
    ``pages`` is the prefix of the site's paths that it answers; empty means all paths without another function.
    ``makes_links``: it knows the site's address, like the functions that answer pages.
    ``never_changes``: its answers' addresses contain the content's hash, so caches may keep them for a year.
    ``takes_passwords``: POSTs to its pages are throttled like sign-ins.
    ``shows_work``: only stages that show their work have it.
    ``traced``: on such stages it stores the cost of its forms or, behind the stream, its work on them.
    ``reports``: metrics of the core that a feature's function reports, too.
    ``variables`` returns more environment variables, by the stage.
    """

    name: str
    access: Access
    caller: Caller = Caller.GATEWAY
    artifact: str = LEAN
    timeout: int = USUAL_TIMEOUT
    memory: int = USUAL_MEMORY
    because: str = ""
    reads: Reading | None = None
    sends: bool = False
    option: type[Option] | None = None
    calls_itself: bool = False
    each_minute: bool = False
    pages: str | None = None
    makes_links: bool = False
    never_changes: bool = False
    takes_passwords: bool = False
    shows_work: bool = False
    traced: bool = False
    reports: tuple[Metric, ...] = ()
    variables: Callable[[Stage], Mapping[str, str]] | None = None

    def __post_init__(self) -> None:
        if (self.timeout, self.memory) != (USUAL_TIMEOUT, USUAL_MEMORY) and not self.because:
            raise ValueError(f"{self.name} differs from the usual and does not say why")

    def access_at(self, stage: Stage) -> Access:
        """Its rights to a stage's table, with those for showing its work if the stage does."""
        more = features.roles(hooks.Rights) if stage.shows_work else []
        return (*self.access, *chain.from_iterable(each.any_function(self) for each in more))
