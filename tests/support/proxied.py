"""API Gateway and the functions behind a proxy that caches: what it asks them, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx
import pytest

from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.values import times
from tests.support.factories import a_deal
from tests.support.gateway import Gateway

Headers = dict[str, str]
"""Header names are lower case here."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as a viewer sends it or the origin gets it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Headers = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; ``result`` is what CloudFront logs of it: Hit, Miss, RefreshHit, Error; or Pass where none is kept."""

    status: int
    headers: Headers
    body: str = ""
    result: str = ""

    @property
    def directives(self) -> dict[str, str]:
        """Cache-Control's."""
        parts = (part.strip().partition("=") for part in self.headers.get("cache-control", "").split(","))
        return {name.lower(): value for name, _, value in parts if name}


NEIGHBOUR = "198.51.100.20"
"""The proxy, as the gateway sees it."""


@dataclass(slots=True)
class Api:
    """API Gateway and the functions behind it; it remembers what it was asked."""

    asked: list[Request] = field(default_factory=list)
    fails: bool = False

    def __call__(self, request: Request) -> Answer:
        self.asked.append(request)
        assert "host" not in request.headers
        if self.fails:
            return Answer(503, {"cache-control": "no-store"}, "busy")
        forwarded = {"x-forwarded-for": f"{request.headers['x-forwarded-for']}, {NEIGHBOUR}"}
        asked = httpx.Request(
            request.method,
            f"http://api{request.path}",
            params=request.query,
            headers=request.headers | forwarded,
            content=request.body,
        )
        answer = Gateway(NEIGHBOUR).handle_request(asked)
        answer.read()
        return Answer(answer.status_code, dict(answer.headers), answer.text)


@pytest.fixture
def api(table: Table, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The functions, which a proxy of ours asks, and a table with three deals of one brand."""
    monkeypatch.setenv("BEHIND_PROXY", "true")
    now = times.now()
    for number in range(3):
        deals.create(table, a_deal(now, brand="g-fore", title=f"Golf shoe {number}"), now)
    return Api()
