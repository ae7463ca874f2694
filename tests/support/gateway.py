"""API Gateway in this process: requests become the events of their routes, for the authorizer and the functions."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from functions.api import authorizer
from infra.gateway import REFUSALS
from infra.routes import ROUTES, Caller, Route
from shared.data.catalog import topics
from shared.values import times
from tests.support.contract import PROBLEM, Contract
from tests.support.engines import FAST_SERVER
from tests.support.pages import a_context, event_of
from tests.support.site import Api, Writes, dump
from tests.support.surroundings import surrounded

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
        if route.caller is Caller.SIGNED_IN:
            policy = authorizer.handler({**event, "methodArn": "arn:aws:execute-api:::api/v1/GET/"}, a_context())
            if policy["policyDocument"]["Statement"][0]["Effect"] == "Deny":
                return _refuse("ACCESS_DENIED", {"WWW-Authenticate": "Bearer"})
            event["requestContext"]["authorizer"] = {"principalId": policy["principalId"], **policy["context"]}
        answer = import_module(f"functions.api.{route.function}").handler(event, a_context())
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
