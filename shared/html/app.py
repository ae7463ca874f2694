"""From an API Gateway event to a page: routes by path, HEAD, 404 and 405 in the site's own look, headers, compression.

A page function is an app with its routes. A path with a slash at its end is redirected to the one without. A domain
error that a route raises becomes a page, or JSON if ``Accept`` asks for that.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

from shared.errors import (
    DealIsOver,
    DealsError,
    InvalidCursor,
    NoSuchDeal,
    NoSuchMessage,
    NoSuchOrder,
    NotSignedIn,
    NotSoldHere,
)
from shared.html import forms, headers, pages
from shared.html.pages import Answer
from shared.http.body import decode
from shared.http.coding import FASTEST, SMALLEST, VARIES, compressed, has_already, validators
from shared.http.event import Event, correlation_id, header, path
from shared.http.handling import WITHOUT_BODY, log_failure, log_request
from shared.http.statuses import MEDIA_TYPE, detail_of, document, headers_of, status_of
from shared.runtime.environment import logger
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

READING = "GET"
"""Also for HEAD, which feed readers send."""


@dataclass(slots=True)
class Request:
    """What a route is told of a request: its path without the site's prefix, its query, and the time it came.

    ``username`` is who is signed in, for the log. It is None until the page asks (``cookies.session_of``).
    """

    event: Event = field(repr=False)
    path: str
    query: Mapping[str, str]
    now: datetime
    username: str | None = None

    @property
    def correlation_id(self) -> str:
        """The id that the gateway gave the request."""
        return correlation_id(self.event)

    @property
    def wants_json(self) -> bool:
        """Whether it was sent by a script, which asks for JSON, rather than by a browser, which asks for pages."""
        return (header(self.event, "accept") or "").startswith("application/json")

    @property
    def opens_page(self) -> bool:
        """Whether a reader opens the address as a page: no HEAD, no prefetch, and no picture or script of some page.

        Browsers say so themselves: https://www.w3.org/TR/fetch-metadata/. Of older ones, which say nothing, each GET is
        a reader's.
        """
        purpose = header(self.event, "sec-purpose") or header(self.event, "purpose") or ""
        is_navigation = header(self.event, "sec-fetch-mode") in (None, "navigate")
        is_document = header(self.event, "sec-fetch-dest") in (None, "document")
        return self.event["httpMethod"] == "GET" and is_navigation and is_document and "prefetch" not in purpose


_PLAIN: Mapping[type, str] = {
    DealIsOver: "This deal has ended or was withdrawn.",
    NoSuchDeal: "There is no such deal.",
    NoSuchMessage: "There is no such message in your inbox.",
    NoSuchOrder: "There is no such order.",
    NotSoldHere: "This deal is not sold here: go to its shop.",
}
"""What pages say of errors whose own sentence has an id in it. Whoever reads a page never typed one."""

Route = Callable[..., Answer]
Guard = Callable[[Request], None]


class PageApp:
    """The routes of a page function. ``guards`` refuse a request before its route sees it, by raising.

    ``public``: its pages are the same for everybody, also those that say that nothing is there.
    """

    def __init__(self, *guards: Guard, public: bool = False) -> None:
        self._guards = guards
        self._public = public
        self._routes: dict[tuple[str, ...], dict[str, Route]] = {}

    def get(self, *patterns: str) -> Callable[[Route], Route]:
        """Register a route for paths like ``/deals/{number}``; parts in braces are its arguments, decoded."""
        return self._register(READING, patterns)

    def post(self, *patterns: str, stands_on: str | None = None) -> Callable[[Route], Route]:
        """Register the function for forms that are sent to such a path.

        ``stands_on`` is the path of the page with the form, for a form whose path is no page. A browser that opens it,
        as it may after a page that said what was wrong with the form, is sent there.
        """
        if stands_on is not None:
            self.get(*patterns)(lambda _request: pages.redirect(stands_on))
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
            log_failure(error)
            answer = _json_problem(error) if request.wants_json else self._page_of(error, request)
        sent = _sent(request, answer)
        asked = event["httpMethod"]
        if asked == "HEAD":
            sent |= WITHOUT_BODY
        log_request(event, context, sent, method=asked, path=request.path, username=request.username)
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
            return _without_slash(request) if method == READING else self._nothing_here()
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
        return self._nothing_here()

    def _nothing_here(self) -> Answer:
        detail = "There is nothing at this address."
        return pages.problem_page(HTTPStatus.NOT_FOUND, detail, public=self._public)

    def _page_of(self, error: DealsError, request: Request) -> Answer:
        """What a visitor sees of an error: the way on, if there is one, else a page that says what went wrong."""
        if isinstance(error, NotSignedIn):
            return _to_sign_in(request)
        if isinstance(error, InvalidCursor):
            query = {name: value for name, value in request.query.items() if name != "cursor"}
            return pages.problem_page(
                HTTPStatus.BAD_REQUEST,
                "This page of the list is not one that we know.",
                onward=pages.link(request.path, **query),
                onward_name="Start with the newest",
            )
        detail = _PLAIN.get(type(error)) or detail_of(error)
        return pages.problem_page(status_of(error), detail, headers_of(error), public=self._public)


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


def _to_sign_in(request: Request) -> Answer:
    """The sign-in page, and back from there. A form that was sent is kept on a page that can send it again, so that a
    session's end loses nothing that was typed; but a password is never written into a page."""
    if request.event["httpMethod"] == READING:
        asked = pages.link(request.path, **request.query).removeprefix(pages.base())
        return pages.redirect("/account/sign-in", next=asked)
    try:
        fields = forms.read(request.event)
    except DealsError:  # who is signed in is told of that
        fields = {}
    if not fields or any("password" in name for name in fields):
        return pages.redirect("/account/sign-in")
    return pages.page("again.html", status=HTTPStatus.FORBIDDEN, path=request.path, fields=fields)


def _without_slash(request: Request) -> Answer:
    path = "/" + request.path.strip("/")
    return Answer("", status=HTTPStatus.MOVED_PERMANENTLY, headers={"Location": pages.link(path, **request.query)})


def _json_problem(error: DealsError) -> Answer:
    status = status_of(error)
    problem = document(status, detail_of(error))
    return Answer(json.dumps(problem, ensure_ascii=False), status=status, media_type=MEDIA_TYPE)


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
    if public:
        fields |= VARIES
    if public and status == HTTPStatus.OK:
        # The list of requests at the page's end is not part of its ETag.
        said, _, _ = body.partition(pages.WORK)
        fields |= validators(said)
        if has_already(header(event, "if-none-match"), fields["ETag"]):
            status, body = HTTPStatus.NOT_MODIFIED, b""
    encoded = isinstance(answer.body, bytes)
    level = SMALLEST if answer.cache == headers.IMMUTABLE else FASTEST
    zipped = compressed(event, body, level) if public and not encoded else None
    if zipped is not None:
        body, encoded = zipped, True
        fields["Content-Encoding"] = "gzip"
    several = {name: [value] for name, value in fields.items()}
    if answer.cookies:
        several["Set-Cookie"] = list(answer.cookies)
    return {
        "statusCode": int(status),
        "multiValueHeaders": several,
        "isBase64Encoded": encoded and bool(body),
        "body": base64.b64encode(body).decode() if encoded else body.decode(),
    }
