"""From an API Gateway event to a page: routes by path, HEAD, 404 and 405 in the site's own look, headers, compression.

A page function is an app with its routes. A path with a slash at its end is led to the one without. Whatever domain
error a route raises becomes a page that says so; JSON, where ``Accept`` asks for that.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

from shared.errors import DealsError, Impossible, Unavailable
from shared.html import headers, pages
from shared.html.pages import Answer
from shared.http.body import decode
from shared.http.coding import COMPRESSION, SMALLEST_COMPRESSED, accepts_gzip, has_already
from shared.http.event import Event, correlation_id, header, path
from shared.http.statuses import detail_of, phrase, status_of
from shared.runtime.environment import logger
from shared.runtime.reporting import measured
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

READING = "GET"
"""Also for HEAD, which feed readers send."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a route is told of a request: its path without the site's prefix, its query, and the time it came."""

    event: Event = field(repr=False)
    path: str
    query: Mapping[str, str]
    now: datetime

    @property
    def correlation_id(self) -> str:
        """The id that the gateway gave the request."""
        return correlation_id(self.event)

    @property
    def wants_json(self) -> bool:
        """Whether it was sent by a script, which asks for JSON, rather than by a browser, which asks for pages."""
        return (header(self.event, "accept") or "").startswith("application/json")


Route = Callable[..., Answer]
Guard = Callable[[Request], None]


class PageApp:
    """The routes of a page function. ``guards`` refuse a request before its route sees it, by raising."""

    def __init__(self, *guards: Guard) -> None:
        self._guards = guards
        self._routes: dict[tuple[str, ...], dict[str, Route]] = {}

    def get(self, *patterns: str) -> Callable[[Route], Route]:
        """Register a route for paths like ``/deals/{number}``; parts in braces are its arguments, decoded."""
        return self._register(READING, patterns)

    def post(self, *patterns: str) -> Callable[[Route], Route]:
        """Register what is done when a form is sent to such a path."""
        return self._register("POST", patterns)

    def handler(self, event: Event, context: LambdaContext) -> Event:
        """The Lambda handler."""
        request = _request(event)
        logger().set_correlation_id(request.correlation_id)
        pages.begin_work()
        try:
            decode(event)
            for guard in self._guards:
                guard(request)
            answer = self._route(request)
        except DealsError as error:
            if isinstance(error, Unavailable | Impossible):
                logger().error("table unavailable", exc_info=error)
            answer = _json_problem(error) if request.wants_json else pages.error_page(error, _asked(request))
        sent = _sent(request, answer)
        logger().info(
            "request",
            method=event["httpMethod"],
            path=request.path,
            status=sent["statusCode"],
            function_request_id=context.aws_request_id,
            **measured(),
        )
        return sent

    def _register(self, method: str, patterns: tuple[str, ...]) -> Callable[[Route], Route]:
        def register(route: Route) -> Route:
            for pattern in patterns:
                self._routes.setdefault(tuple(pattern.strip("/").split("/")), {})[method] = route
            return route

        return register

    def _route(self, request: Request) -> Answer:
        method = READING if request.event["httpMethod"] == "HEAD" else request.event["httpMethod"]
        if len(request.path) > 1 and request.path.endswith("/"):
            return _without_slash(request) if method == READING else _nothing_here()
        parts = tuple(request.path.strip("/").split("/"))
        for pattern, methods in self._routes.items():
            arguments = _match(pattern, parts)
            if arguments is None:
                continue
            if method not in methods:
                allowed = ", ".join(["GET, HEAD" if each == READING else each for each in methods])
                return pages.problem_page(
                    HTTPStatus.METHOD_NOT_ALLOWED, "This address does not take that.", {"Allow": allowed}
                )
            return methods[method](request, **arguments)
        return _nothing_here()


def _nothing_here() -> Answer:
    return pages.problem_page(HTTPStatus.NOT_FOUND, "There is nothing at this address.")


def _match(pattern: tuple[str, ...], parts: tuple[str, ...]) -> dict[str, str] | None:
    """The arguments that a path's parts give a pattern, or None where they do not fit."""
    if len(pattern) != len(parts):
        return None
    arguments = {}
    for expected, part in zip(pattern, parts, strict=True):
        prefix, brace, rest = expected.partition("{")
        if not brace:
            if part != expected:
                return None
            continue
        name, _, suffix = rest.partition("}")
        if not (part.startswith(prefix) and part.endswith(suffix) and len(part) > len(prefix) + len(suffix)):
            return None
        arguments[name] = unquote(part[len(prefix) : len(part) - len(suffix)])
    return arguments


def _request(event: Event) -> Request:
    single = event.get("queryStringParameters") or {}
    return Request(event, path(event), {name: value or "" for name, value in single.items()}, times.now())


def _asked(request: Request) -> str:
    """The path and query that a page was asked by, to come back to; nothing for a form that was sent."""
    if request.event["httpMethod"] != READING:
        return ""
    return pages.link(request.path, **request.query).removeprefix(pages.base())


def _without_slash(request: Request) -> Answer:
    path = "/" + request.path.strip("/")
    return Answer("", status=HTTPStatus.MOVED_PERMANENTLY, headers={"Location": pages.link(path, **request.query)})


def _json_problem(error: DealsError) -> Answer:
    status = status_of(error)
    document = {"type": "about:blank", "title": phrase(status), "status": int(status), "detail": detail_of(error)}
    return Answer(json.dumps(document, ensure_ascii=False), status=status, media_type="application/problem+json")


def _sent(request: Request, answer: Answer) -> Event:
    """An answer as API Gateway wants it."""
    event = request.event
    body = answer.body.encode() if isinstance(answer.body, str) else answer.body
    fields = {
        "Content-Type": answer.media_type,
        "Cache-Control": answer.cache,
        "X-Correlation-Id": request.correlation_id,
        **headers.security(pages.origin(), answer.media_type),
        **pages.work_headers(),
        **answer.headers,
    }
    status = int(answer.status)
    public = answer.cache != headers.PRIVATE
    if public and status == HTTPStatus.OK:
        # Weak, because the same page goes out plain and compressed.
        # What the page took is no part of what it says.
        said, _, _ = body.partition(pages.WORK)
        fields["ETag"] = f'W/"{hashlib.sha256(said).hexdigest()[:32]}"'
        fields["Vary"] = "Accept-Encoding"
        if has_already(header(event, "if-none-match"), fields["ETag"]):
            status, body = HTTPStatus.NOT_MODIFIED, b""
    encoded = isinstance(answer.body, bytes)
    # API Gateway decodes a binary answer only for a request with an Accept header.
    may_compress = public and header(event, "accept") and accepts_gzip(header(event, "accept-encoding"))
    if may_compress and len(body) >= SMALLEST_COMPRESSED and not answer.media_type.startswith("font/"):
        body, encoded = gzip.compress(body, compresslevel=COMPRESSION, mtime=0), True
        fields["Content-Encoding"] = "gzip"
    if event["httpMethod"] == "HEAD":
        body = b""
    several = {name: [value] for name, value in fields.items()}
    if answer.cookies:
        several["Set-Cookie"] = list(answer.cookies)
    return {
        "statusCode": int(status),
        "multiValueHeaders": several,
        "isBase64Encoded": encoded and bool(body),
        "body": base64.b64encode(body).decode() if encoded else body.decode(),
    }
