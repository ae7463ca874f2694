"""Every route of the API: which function answers it, and whether it takes a session.

The paths are those of the OpenAPI document, below the stage ``v1``. A test compares them with the functions' routes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import chain

from shared import features


class Caller(Enum):
    """Who may call a route as far as the gateway is concerned; the functions distinguish editors from members."""

    ANYONE = "anyone"
    SIGNED_IN = "signed in"


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path."""

    method: str
    path: str
    function: str
    caller: Caller

    @property
    def is_public_read(self) -> bool:
        """Whether anyone may read it, and therefore caches and other sites' pages, too."""
        return self.method == "GET" and self.caller is Caller.ANYONE


def _routes(function: str, caller: Caller, *lines: str) -> tuple[Route, ...]:
    split = (line.split() for line in lines)
    return tuple(Route(method, path, function, caller) for methods, path in split for method in methods.split(","))


ROUTES = (
    *_routes(
        "catalog",
        Caller.ANYONE,
        "GET /front-page",
        "GET /editors-choice",
        "GET /deals",
        "GET /popular",
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
        Caller.ANYONE,
        "POST /users",
        "POST /sessions",
    ),
    *_routes(
        "accounts",
        Caller.SIGNED_IN,
        "DELETE /sessions",
        "DELETE /sessions/current",
        "GET,PATCH,DELETE /me",
    ),
    *_routes(
        "members",
        Caller.SIGNED_IN,
        "GET /me/watches",
        "GET,POST /me/alerts",
        "PUT /me/alerts/deals/{dealId}",
        "DELETE /me/alerts/{alertId}",
        "GET,POST,DELETE /me/feed",
        "PUT,DELETE /brands/{brand}/like",
        "PUT,DELETE /brands/{brand}/watch",
        "PUT,DELETE /categories/{category}/like",
        "PUT,DELETE /categories/{category}/watch",
        "PUT /deals/{dealId}/vote/up",
        "PUT /deals/{dealId}/vote/down",
        "DELETE /deals/{dealId}/vote",
        "GET /messages",
        "GET /messages/unread-count",
        "PUT /messages/{messageId}/read",
        "POST /messages/read-all",
    ),
    *_routes(
        "editors",
        Caller.SIGNED_IN,
        "POST /deals",
        "PATCH /deals/{dealId}",
        "GET,PUT /deals/{dealId}/hot",
        "GET /deals/{dealId}/log",
        "GET,POST /me/drafts",
        "GET,PUT,POST,DELETE /me/drafts/{draftId}",
        "POST /brands",
        "PUT /front-page/featured",
        "PUT /editors-choice/featured",
        "PUT /categories/{category}/featured",
    ),
    *chain.from_iterable(
        _routes(function, Caller(caller), *lines)
        for each in features.of("api_routes")
        for function, caller, *lines in each
    ),
)
