"""API Gateway in this process, also behind a proxy: requests become the events of their routes."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from functions.api import authorizer
from infra.bundling import module_of
from infra.functions import ROUTES, Audience, Route
from infra.gateway import REFUSALS
from shared.data.catalog import deals, topics
from shared.dynamodb.table import Table
from shared.values import times
from tests.support.engines import FAST_SERVER
from tests.support.factories import a_deal
from tests.support.site import PROBLEM, Api, Contract, Writes, dump
from tests.support.surroundings import a_context, event_of, surrounded

STAGE = "/v1"
HERE = "127.0.0.1"
"""The address that requests come from."""


@contextmanager
def in_process() -> Iterator[Api]:
    """The API's functions on a table of their own, as a deployment leaves it."""
    with (
        pytest.MonkeyPatch.context() as environment,
        FAST_SERVER.bare_table() as table,
        surrounded(environment, table, QUEUE_URL="http://127.0.0.1/no-queue"),
    ):
        topics.plant_seeds(table, times.now())
        served = httpx.Client(**_reached()).get("/openapi.json")
        yield InProcess(table, Contract(served.json()))


@dataclass(frozen=True, slots=True)
class InProcess(Api):
    """The API without a cloud."""

    def reached(self) -> Mapping[str, Any]:
        return _reached()

    def writes(self) -> Writes:
        """The differences between two looks at all that the table holds."""
        before = dump(self.table)

        def keys() -> list[str]:
            after = dump(self.table)
            changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
            return sorted(key.partition(" ")[0] for key in changed)

        return Writes(keys)


def _reached() -> dict[str, Any]:
    return {"transport": Gateway(), "base_url": f"http://api{STAGE}"}


class Gateway(httpx.BaseTransport):
    """Answers as the gateway of a stage does that has the rows of ``ROUTES``, to requests from one address."""

    def __init__(self, address: str = HERE) -> None:
        self._address = address

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path, _, query = request.url.raw_path.decode().removeprefix(STAGE).partition("?")
        found = _route("GET" if request.method == "HEAD" else request.method, path)
        if found is None:
            return _refuse("DEFAULT_4XX")
        route, parameters = found
        event = _event(request, route, path, query, parameters)
        event["requestContext"]["identity"] = {"sourceIp": self._address}
        if route.caller is Audience.SIGNED_IN:
            policy = authorizer.handler({**event, "methodArn": "arn:aws:execute-api:::api/v1/GET/"}, a_context())
            if policy["policyDocument"]["Statement"][0]["Effect"] == "Deny":
                return _refuse("ACCESS_DENIED", {"WWW-Authenticate": "Bearer"})
            event["requestContext"]["authorizer"] = {"principalId": policy["principalId"], **policy["context"]}
        answer = import_module(module_of(route.function)).handler(event, a_context())
        body = answer["body"] or ""
        return httpx.Response(
            answer["statusCode"],
            headers=[(name, value) for name, values in answer["multiValueHeaders"].items() for value in values],
            stream=httpx.ByteStream(base64.b64decode(body) if answer["isBase64Encoded"] else body.encode()),
        )


def _route(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The row of a request, and the parameters in its path, encoded as they came."""
    for route in sorted(ROUTES, key=lambda route: route.path.count("{")):
        matched = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", route.path), path)
        if route.method == method and matched:
            return route, matched.groupdict()
    return None


def _event(request: httpx.Request, route: Route, path: str, query: str, parameters: dict[str, str]) -> dict[str, Any]:
    asked = parse_qsl(query, keep_blank_values=True)
    headers = {name.decode(): value.decode("latin-1") for name, value in request.headers.raw}
    body = request.read()
    event: dict[str, Any] = event_of(path, request.method, query=dict(asked), headers=headers)
    return event | {
        "resource": route.path,
        "multiValueQueryStringParameters": {name: [v for n, v in asked if n == name] for name, _ in asked} or None,
        "pathParameters": parameters or None,
        "body": base64.b64encode(body).decode() if body else None,
        "isBase64Encoded": bool(body),
        "requestContext": {"stage": "v1", "requestId": "request"},
    }


def _refuse(kind: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """An answer of the gateway's own."""
    status, detail = REFUSALS[kind]
    problem = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail}
    own = {"Content-Type": PROBLEM, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return httpx.Response(status, headers={**own, **(headers or {})}, content=json.dumps(problem))


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
class Origin:
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
def api(table: Table, monkeypatch: pytest.MonkeyPatch) -> Origin:
    """The functions, which a proxy of ours asks, and a table with three deals of one brand."""
    monkeypatch.setenv("BEHIND_PROXY", "true")
    now = times.now()
    for number in range(3):
        deals.create(table, a_deal(now, brand="g-fore", title=f"Golf shoe {number}"), now)
    return Origin()
