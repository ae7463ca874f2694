"""All functions and all API routes, one row each; features have theirs in ``infra/rows/``.

The stack, its monitoring and the local tools are made from these rows. To add a function, write a row here, its access
in ``rights.py``, and its module in ``functions/``. Paths are the OpenAPI document's, below the stage ``v1``; a test
compares them with the functions'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce
from itertools import chain

from infra import rights
from infra.bundling import module_of
from infra.rights import Access, Right, Scan
from infra.rows import FULL, Caller, Filter, Function, Reading, typed
from infra.stage import Stage, Watch
from shared import features, hooks
from shared.data import keys

SHOWN = typed(
    "NewImage",
    keys.DEAL,
    *(kind for each in features.roles(hooks.Items) for kind in each.REFRESHES),
    *keys.CURATED,
    keys.CATEGORY_FEATURED,
)
DEALS = typed("NewImage", keys.DEAL)
REMOVED_DEALS: Filter = {"eventName": ["REMOVE"], **typed("OldImage", keys.DEAL)}


_ROWS = (
    Function(name="catalog", access=rights.CATALOG),
    Function(name="authorizer", access=rights.AUTHORIZER),
    Function(
        name="accounts",
        access=rights.ACCOUNTS,
        artifact=FULL,
        memory=1769,
        because="Hashing a password takes a whole processor and argon2's 64 MiB.",
        traced=True,
    ),
    Function(name="members", access=rights.MEMBERS, traced=True),
    Function(name="editors", access=rights.EDITORS, artifact=FULL, traced=True),
    Function(name="site", access=rights.SITE, pages=""),
    Function(name="mine", access=rights.MINE, pages="/my", traced=True),
    Function(name="desk", access=rights.DESK, artifact=FULL, pages="/desk", traced=True),
    Function(
        name="account",
        access=rights.ACCOUNT,
        artifact=FULL,
        memory=1769,
        because="Hashing a password takes a whole processor and argon2's 64 MiB.",
        pages="/account",
        takes_passwords=True,
        traced=True,
    ),
    Function(
        name="publisher",
        access=rights.PUBLISHER,
        caller=Caller.EVENTS,
        timeout=60,
        because="Each of a hundred deals is announced and has 24 words, while table and queue refuse for moments.",
        reads=Reading(name="Published", dead_letters="deals", filters=(DEALS, REMOVED_DEALS), batch_size=100),
        sends=True,
        traced=True,
    ),
    Function(
        name="messenger",
        access=rights.MESSENGER,
        caller=Caller.EVENTS,
        timeout=60,
        because="Five cohorts of 250 readers, while the table refuses for moments.",
        sends=True,
        calls_itself=True,
        traced=True,
    ),
    Function(
        name="refresher",
        access=rights.REFRESHER,
        caller=Caller.EVENTS,
        timeout=60,
        because="It may build every cached page at once, each from several reads.",
        # A window of one second makes one rebuild of a burst of deals.
        reads=Reading(
            name="Refreshed", dead_letters="refreshes", filters=(SHOWN, REMOVED_DEALS), batch_size=500, window=1
        ),
        each_minute=True,
        traced=True,
    ),
    Function(
        name="expiry",
        access=rights.EXPIRY,
        caller=Caller.EVENTS,
        timeout=50,
        because="The clock invokes it each minute, and a sweep must be over before the next one.",
        each_minute=True,
    ),
    Function(
        name="remover",
        access=rights.REMOVER,
        caller=Caller.EVENTS,
        timeout=50,
        because="It removes what thousands of orders and messages leave, and goes on in the next minute.",
        each_minute=True,
    ),
    Function(
        name="seed",
        access=rights.SEED,
        caller=Caller.DEPLOYMENT,
        timeout=30,
        because="A deployment waits for it: the first writes to a new table may be refused for moments.",
    ),
    *chain.from_iterable(each.FUNCTIONS for each in features.roles(hooks.Rights)),
)


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


FUNCTIONS: tuple[Function, ...] = tuple(map(_whole, _ROWS))


def of_stage(stage: Stage) -> tuple[Function, ...]:
    """The functions of a stage."""
    return tuple(
        each
        for each in FUNCTIONS
        if each.shows_work <= stage.shows_work and (each.option is None or stage.option(each.option))
    )


BY_NAME = {each.name: each for each in FUNCTIONS}

OF_FEATURES: dict[str, str] = features.merge(each.QUEUES for each in features.roles(hooks.Rights))
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


ROUTES = (
    *_routes(
        "catalog",
        Audience.ANYONE,
        "GET /front-page",
        "GET /editors-choice",
        "GET /deals",
        "GET /deals/{dealId}",
        "GET /brands",
        "GET /brands/{brand}",
        "GET /brands/{brand}/deals",
        "GET /categories",
        "GET /categories/{category}",
        "GET /categories/{category}/deals",
        "GET /openapi.json",
        "GET /docs",
    ),
    *_routes(
        "accounts",
        Audience.ANYONE,
        "POST /users",
        "POST /sessions",
    ),
    *_routes(
        "accounts",
        Audience.SIGNED_IN,
        "DELETE /sessions",
        "DELETE /sessions/current",
        "GET,PATCH,DELETE /me",
    ),
    *_routes(
        "members",
        Audience.SIGNED_IN,
        "GET /me/watches",
        "GET,POST /me/alerts",
        "PUT /me/alerts/deals/{dealId}",
        "DELETE /me/alerts/{alertId}",
        "PUT,DELETE /brands/{brand}/like",
        "PUT,DELETE /brands/{brand}/watch",
        "PUT,DELETE /categories/{category}/like",
        "PUT,DELETE /categories/{category}/watch",
        "GET /messages",
        "GET /messages/unread-count",
        "PUT /messages/{messageId}/read",
        "POST /messages/read-all",
    ),
    *_routes(
        "editors",
        Audience.SIGNED_IN,
        "POST /deals",
        "PATCH /deals/{dealId}",
        "GET,PUT /deals/{dealId}/hot",
        "GET /deals/{dealId}/log",
        "POST /brands",
        "PUT /front-page/featured",
        "PUT /editors-choice/featured",
        "PUT /categories/{category}/featured",
    ),
    *chain.from_iterable(routes_of(each) for each in features.roles(hooks.Rights)),
)
