"""All functions and all API routes, from the rows of the core (``infra/rows/core.py``) and of features (``rights.py``).

The stack, its monitoring and the local tools are made from these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce
from itertools import chain

from infra.bundling import module_of
from infra.rights import Access, Right, Scan
from infra.rows import Caller, Function
from infra.stage import Stage, Watch
from shared import features, hooks
from shared.runtime.metrics import Metric


def _whole(row: Function) -> Function:
    """A row with the rights that features add."""
    more = chain.from_iterable(each.MORE.get(row.name, ()) for each in features.roles(hooks.Rights))
    return replace(row, access=reduce(_widened, more, row.access))


def _widened(access: Access, new: Right | Scan) -> Access:
    """Add a right; its partitions join those of a right that is otherwise the same."""
    for at, right in enumerate(access):
        if isinstance(right, Right) and isinstance(new, Right) and replace(right, partitions=new.partitions) == new:
            joined = replace(new, partitions=(*right.partitions, *new.partitions))
            return (*access[:at], joined, *access[at + 1 :])
    return (*access, new)


FUNCTIONS: tuple[Function, ...] = tuple(_whole(row) for each in features.roles(hooks.Rights) for row in each.FUNCTIONS)


def of_stage(stage: Stage) -> tuple[Function, ...]:
    """The functions of a stage."""
    return tuple(
        each
        for each in FUNCTIONS
        if each.shows_work <= stage.shows_work and (each.option is None or stage.option(each.option))
    )


BY_NAME = {each.name: each for each in FUNCTIONS}


def reporters(metric: Metric) -> tuple[str, ...]:
    """The functions that report a metric; for one that every function reports, none."""
    return (*metric.services, *(row.name for row in FUNCTIONS if metric in row.reports))


OF_FEATURES: dict[str, str] = features.merged(hooks.Rights, lambda each: each.QUEUES)
"""Features' queues of work, which exist only on stages with the feature's setting."""

WORK = {"work": "QueueUrl", **OF_FEATURES}
"""The queues of work, each with the stack's output that has its address."""

DEAD_LETTERS = {
    name: f"{name.capitalize()}DeadLettersUrl"
    for name in (*WORK, *(each.reads.dead_letters for each in FUNCTIONS if each.reads))
}
"""The dead-letter queues of the queues of work and of the stream's readers, with their outputs."""

QUEUES = (*WORK.values(), *DEAD_LETTERS.values())
"""The stack's outputs with the addresses of all queues."""


def variables(row: Function, stage: Stage, table: str) -> dict[str, str]:
    """A function's environment, except for what queues and the site add once they have addresses."""
    answers_api = row.caller is Caller.GATEWAY and row.pages is None
    essential = " ".join(each.name for each in chain(*(of.ESSENTIAL for of in features.roles(hooks.Metrics))))
    reported = essential if stage.watch is Watch.ESSENTIAL else ""
    return {
        "FUNCTION": module_of(row.name),
        **({"TABLE_NAME": table} if row.access else {}),
        "STAGE": stage.name,
        "LOG_LEVEL": stage.log_level,
        "POWERTOOLS_SERVICE_NAME": row.name,
        "POWERTOOLS_METRICS_NAMESPACE": stage.stack_name,
        **({"SHOWS_WORK": "true"} if stage.shows_work and row.access else {}),
        # Without METRICS a function reports all of ours; with it, only those that the stage pays for.
        **({} if stage.watch is Watch.FULL or stage.emulated else {"METRICS": reported}),
        **({"PICTURES_OF_OTHERS": "true"} if stage.pictures_of_others else {}),
        **({"BEHIND_PROXY": "true"} if stage.closes_apis else {}),
        **({"CORS_ORIGINS": " ".join(stage.cors_origins)} if stage.cors_origins and answers_api else {}),
        **(row.variables(stage) if row.variables else {}),
    }


class Audience(Enum):
    """Who may call a route, as far as the gateway knows; the functions distinguish editors from members."""

    ANYONE = "anyone"
    SIGNED_IN = "signed in"


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path."""

    method: str
    path: str
    function: str
    caller: Audience

    @property
    def is_public_read(self) -> bool:
        """Whether anyone may read it, including caches and other sites' pages."""
        return self.method == "GET" and self.caller is Audience.ANYONE


def _routes(function: str, caller: Audience, *lines: str) -> tuple[Route, ...]:
    split = (line.split() for line in lines)
    return tuple(Route(method, path, function, caller) for methods, path in split for method in methods.split(","))


def routes_of(rights: hooks.Rights) -> list[Route]:
    """A feature's routes."""
    rows = (_routes(function, Audience(caller), *lines) for function, caller, *lines in rights.ROUTES)
    return [*chain.from_iterable(rows)]


ROUTES = tuple(route for each in features.roles(hooks.Rights) for route in routes_of(each))
