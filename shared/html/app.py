"""Pages on Powertools' resolver: routes, middlewares, and errors as pages in the site's look.

A page is a function of the request and the decoded parts of its path. A module registers its pages in ``Routes``;
``serve`` makes the handler of one function of all its modules' routes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.errors import BadRequest, DealsError, InvalidCursor, NoSuchPath, NotSignedIn, WrongMethod
from shared.html import forms, pages
from shared.html.links import base, link, origin
from shared.html.pages import Answer, Request
from shared.http import answers
from shared.http.answers import detail_of, finished, headers_of, problem_of, status_of
from shared.http.requests import Event
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
    from aws_lambda_powertools.utilities.typing import LambdaContext

Page = Callable[..., Answer]


class Routes:
    """The pages of one module, by method and rule. Rules are the resolver's, such as ``/deals/<number>``."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, str, Page]] = []

    def get(self, *rules: str) -> Callable[[Page], Page]:
        """Register a page. It answers HEAD, too, which feed readers send."""
        return self._register("GET", rules)

    def post(self, *rules: str, form_page: str | None = None) -> Callable[[Page], Page]:
        """Register the function for forms that are sent to such a path.

        ``form_page`` is the path of the page with the form, for a form whose path is no page: ``/deals/<number>``, with
        parts of the form's own. A browser that opens the form's path, as it may after a page that named a fault
        with the form, is sent there.
        """
        if form_page is not None:
            self.get(*rules)(partial(_where_it_stands, form_page))
        return self._register("POST", rules)

    def button(self, path: str) -> partial[Answer] | None:
        """The function for the forms that are sent to a path, or None."""
        for method, rule, page in self.pages:
            found = re.fullmatch(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", rule), path)
            if method == "POST" and found:
                return partial(page, **{name: unquote(part) for name, part in found.groupdict().items()})
        return None

    def _register(self, method: str, rules: tuple[str, ...]) -> Callable[[Page], Page]:
        def register(page: Page) -> Page:
            self.pages.extend((method, rule, page) for rule in rules)
            return page

        return register


def _where_it_stands(place: str, _request: Request, **parts: str) -> Answer:
    for name, part in parts.items():
        place = place.replace(f"<{name}>", part)
    return pages.redirect(place)


def serve(*routes: Routes, guards: Sequence[answers.Guard] = (), public: bool = False) -> answers.Handler:
    """The Lambda handler of some pages.

    ``public``: they are the same for everyone, also those that say that nothing is there.
    """

    def refused(error: DealsError, event: Event) -> Response[Any]:
        request = _request(event)
        answer = problem_of(error) if request.wants_json else _page_of(error, request, public=public)
        return finished(_protected(answer), event)

    app = answers.create_app(refused)
    app.use([lambda app, next_middleware: _protected(next_middleware(app)), _without_slash])
    known = [page for each in routes for page in each.pages]
    for method, rule, page in known:
        app.route(rule.replace(".", r"\."), method)(_called(app, page))

    @app.not_found
    def _no_such_page(_error: Exception) -> Response[Any]:
        path = app.current_event.path
        allowed = [method for method, rule, _ in known if re.fullmatch(re.sub(r"<\w+>", "[^/]+", rule), path)]
        # The resolver takes fewer characters in a part of a path: with a quotation mark, nothing is there.
        raise WrongMethod(allowed) if allowed and app.current_event.http_method not in allowed else NoSuchPath()

    answered = answers.serve(app, *guards, refused=refused)

    def handler(event: Event, context: LambdaContext) -> Event:
        if work := pages.workings():
            work.begin_page(event)
        answer = answered(event, context)
        if work:
            work.conclude(answer)
        return answer

    return handler


def _called(app: APIGatewayRestResolver, page: Page) -> Callable[..., Answer]:
    """A page as the resolver calls its routes."""

    def called(**parts: str) -> Answer:
        decoded = {name: unquote(part) for name, part in parts.items()}
        return page(_request(app.current_event.raw_event), **decoded)

    return called


def _request(event: Event) -> Request:
    single = event.get("queryStringParameters") or {}
    return Request(event, event["path"], {name: value or "" for name, value in single.items()}, times.now())


def _protected(answer: Response[Any]) -> Response[Any]:
    """An answer with the headers that every page has."""
    security = pages.security_headers(origin(), answer.content_type or "")
    work = pages.workings()
    timing = {"Server-Timing": work.page_cost.server_timing()} if work else {}
    answer.headers = {**security, **timing, **answer.headers}
    return answer


def _without_slash(app: APIGatewayRestResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware: a path with a slash at its end leads to the one without."""
    request = _request(app.current_event.raw_event)
    if request.path == "/" or not request.path.endswith("/"):
        return next_middleware(app)
    if app.current_event.http_method != "GET":
        raise NoSuchPath
    location = link("/" + request.path.strip("/"), **request.query)
    return Answer("", status=HTTPStatus.MOVED_PERMANENTLY, headers={"Location": location})


def _page_of(error: DealsError, request: Request, *, public: bool) -> Answer:
    """The page for an error, with the way on where there is one."""
    if isinstance(error, pages.SignInFirst):
        return error.answer
    if isinstance(error, NotSignedIn):
        return _to_sign_in(request)
    detail = error.plain or detail_of(error)
    if isinstance(error, InvalidCursor | BadRequest) and error.field in request.query:
        # The way back is the same address without what cannot be read in it.
        query = {name: value for name, value in request.query.items() if name not in ("cursor", error.field)}
        name = "Start with the newest" if isinstance(error, InvalidCursor) else f"Go on without “{error.field}”"
        onward = link(request.path, **query)
        return pages.problem_page(HTTPStatus.BAD_REQUEST, detail, onward=onward, onward_name=name)
    return pages.problem_page(status_of(error), detail, headers_of(error), public=public)


def _to_sign_in(request: Request) -> Answer:
    """The sign-in page, and back from there. A form that was sent is kept on a page that can send it again, so that a
    session's end loses nothing that was typed; but a password is never written into a page."""
    if request.event["httpMethod"] == "GET":
        asked = link(request.path, **request.query).removeprefix(base())
        return pages.redirect("/account/sign-in", next=asked)
    try:
        fields = forms.read(request.event)
    except DealsError:  # the page for those who are signed in shows it
        fields = {}
    if not fields or any("password" in name for name in fields):
        return pages.redirect("/account/sign-in")
    return pages.page("again.html", status=HTTPStatus.FORBIDDEN, path=request.path, fields=fields)
