"""Pages: requests, answers made from templates and values, headers, and the handler of all routes.

A page is a function of the request and the decoded parts of its path. A module registers its pages in ``Routes``;
``serve`` makes a function's handler from its modules' routes, with error pages.

Headers say what a browser may load and run, what it sends to other sites, and how long it keeps a page.
``Referrer-Policy`` isn't ``no-referrer``: browsers would send ``Origin: null`` with every form, which is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared import features, hooks
from shared.dynamodb import damage
from shared.errors import BadRequest, DealsError, InvalidCursor, NoSuchPath, NotSignedIn, WrongMethod
from shared.html import forms
from shared.html.links import absolute, base, link, origin
from shared.html.views import render
from shared.http import answers
from shared.http.answers import FRESH, TRANSPORT, detail_of, etag, finished, headers_of, problem_of, status_of
from shared.http.requests import DONE, Event, brought, correlation_id, done, header, name
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from shared.models.members import Role, Session  # public pages start without the account models


@dataclass(frozen=True, slots=True)
class Request:
    """A page's request: the path without the site's prefix, the query, and the time."""

    event: Event = field(repr=False)
    path: str
    query: Mapping[str, str]
    now: datetime

    @property
    def correlation_id(self) -> str:
        """The gateway's id of the request."""
        return correlation_id(self.event)

    @property
    def username(self) -> str | None:
        """The signed-in user, or None. Known after ``cookies.session_of``."""
        username: str | None = (self.event["requestContext"].get("authorizer") or {}).get("username")
        return username

    @property
    def account_id(self) -> str | None:
        """The signed-in account's id, or None. Known after ``cookies.session_of``."""
        account_id: str | None = (self.event["requestContext"].get("authorizer") or {}).get("accountId")
        return account_id

    @property
    def role(self) -> Role | None:
        """The signed-in user's role, or None. Known after ``cookies.session_of``."""
        role: Role | None = (self.event["requestContext"].get("authorizer") or {}).get("role")
        return role

    def belongs_to(self, session: Session) -> None:
        """Record the signed-in user, as API Gateway does for functions with an authorizer."""
        who = {"username": session.username, "accountId": session.account_id, "role": session.role}
        self.event["requestContext"]["authorizer"] = who

    @property
    def notice(self) -> str | None:
        """The code of what this browser has just done, from the address; None without recent proof."""
        code = self.query.get("notice", "")
        return code if self.has_done(code) else None

    def has_done(self, code: str) -> bool:
        """Whether this browser has just done what a code names."""
        return (name(DONE), code) in brought(self.event)

    @property
    def wants_json(self) -> bool:
        """Whether a script sent it and asks for JSON, instead of a browser that asks for a page."""
        return (header(self.event, "accept") or "").startswith("application/json")

    @property
    def opens_page(self) -> bool:
        """Whether a reader opens the address as a page: no HEAD, no prefetch, no embedded picture or script.

        Browsers say so in headers: https://www.w3.org/TR/fetch-metadata/. Without them, each GET counts.
        """
        asked = self.event["requestContext"]["httpMethod"]
        purpose = header(self.event, "sec-purpose") or header(self.event, "purpose") or ""
        is_navigation = header(self.event, "sec-fetch-mode") in (None, "navigate")
        is_document = header(self.event, "sec-fetch-dest") in (None, "document")
        return asked == "GET" and is_navigation and is_document and "prefetch" not in purpose


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Only what the site itself serves, also pictures."""

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}

NO_DOCUMENTS = ("text/css", "text/javascript", "font/woff2", "image/webp")
"""Files that a browser doesn't show by themselves."""

OF_FILES = {name: SECURITY_HEADERS[name] for name in ("X-Content-Type-Options", "Cross-Origin-Resource-Policy")}
"""Headers that matter for files; the others would add a kilobyte to every first view."""

SVG = "image/svg+xml"
OF_DRAWINGS = {**OF_FILES, "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"}
"""A drawing is a document like a page, but loads and runs nothing."""

PUBLIC = f"public, {FRESH}, stale-if-error=600"
"""A page that is the same for everyone: a few seconds old at most, or the last good one while the table fails."""

PRIVATE = "no-store"
"""A page for one reader."""

IMMUTABLE = "public, max-age=31536000, immutable"
"""A file whose name has its content's hash."""

FOR_A_DAY = "public, max-age=86400"
"""Slowly changing documents for machines."""


def content_policy(*, pictures_of: str = "", sends_to: str = "") -> str:
    """The policy of a page that also shows pictures from some hosts, or sends files to one."""
    return (
        CONTENT_SECURITY_POLICY.replace("img-src 'self'", f"img-src 'self' {pictures_of}".rstrip())
        .replace("connect-src 'self'", f"connect-src 'self' {sends_to}".rstrip())
        .replace("form-action 'self'", f"form-action 'self' {sends_to}".rstrip())
    )


def security_headers(origin: str, media_type: str) -> dict[str, str]:
    """An answer's headers, for a site with an origin (``https://deals.example``) or an unknown one ("")."""
    kind = media_type.partition(";")[0]
    of_pages = SECURITY_HEADERS
    if os.environ.get("PICTURES_OF_OTHERS") == "true":
        of_pages = SECURITY_HEADERS | {"Content-Security-Policy": content_policy(pictures_of="https:")}
    of_kind = OF_FILES if kind in NO_DOCUMENTS else OF_DRAWINGS if kind == SVG else of_pages
    return of_kind | (TRANSPORT if origin.startswith("https:") else {})


HTML = "text/html; charset=utf-8"

_TITLES = {
    400: "We can't read this request",
    401: "Sign in first",
    403: "You can't open this page",
    404: "Page not found",
    405: "This page can't do that",
    409: "That isn't possible right now",
    410: "This deal was withdrawn",
    413: "That is too large",
    415: "We can't read this request",
    422: "Check what you entered",
    429: "Too many attempts",
    503: "We're busy right now",
}


class Answer(Response[Any]):
    """A page's answer: HTML, private by default. ``cookies`` are ``Set-Cookie`` values."""

    def __init__(
        self,
        body: str | bytes,
        *,
        status: int = HTTPStatus.OK,
        media_type: str = HTML,
        cache: str = PRIVATE,
        headers: Mapping[str, str] | None = None,
        cookies: Sequence[str] = (),
    ) -> None:
        super().__init__(status, media_type, body, {"Cache-Control": cache, **(headers or {})})
        if cookies:
            self.headers["Set-Cookie"] = list(cookies)


WORK = "<!-- Cost of this page -->"
"""Where a page's cost begins, on stages that show their work."""


def panel() -> hooks.Panel | None:
    """The panel that reports a page's cost, on stages that show it; others don't import it."""
    return next(iter(features.roles(hooks.Panel)), None) if os.environ.get("SHOWS_WORK") == "true" else None


def page(  # keywords, because pages differ in few
    template: str,
    *,
    status: int | None = None,
    cache: str = PRIVATE,
    cookies: tuple[str, ...] = (),
    more_headers: Mapping[str, str] | None = None,
    notice: str | None = None,
    here: str = "",
    errors: Mapping[str, str] | None = None,
    **values: Any,
) -> Answer:
    """Render a page from a template that extends ``base.html``.

    ``here`` is the page's own path, ``notice`` the code of the last action, with its sentence in ``notice.html``; on
    public pages the script decides whether this browser did it. The base template also uses ``robots``,
    ``description``, ``query`` (the words searched) and ``canonical``, an absolute address.

    ``errors`` has the form's field errors by name; the default status is then 422.
    """
    if status is None:
        status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK
    work = panel()
    took = work.values(status=status) if work else {}
    once = work.is_once(took) if work else False
    for_all = cache != PRIVATE and not once
    known: dict[str, Any] = {
        "notice": notice,
        "unsure": None if cache == PRIVATE else notice,
        "here": here,
        "canonical": absolute(here) if here and status == HTTPStatus.OK else None,
        "robots": None if for_all and status == HTTPStatus.OK else "noindex",
        "description": None,
        "query": "",
        "feed": None,
        "who": None,
        "errors": dict(errors or {}),
        "left_out": damage.noted(),
        **took,
    }
    body = render(template, **(known | values))
    body = forms.with_names(body) if errors else body
    kept = PRIVATE if once else cache
    answer = Answer(body, status=status, cache=kept, headers=more_headers, cookies=cookies)
    if work and for_all and status == HTTPStatus.OK:
        answer.headers["ETag"] = etag(body.partition(WORK)[0].encode())  # without the request list at its end
    return answer


class SignInFirst(NotSignedIn):
    """A visitor who isn't signed in pressed a button: ``answer`` leads to signing in and back."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__()


def json_answer(document: Mapping[str, Any]) -> Answer:
    """An answer for a page's script."""
    return Answer(json.dumps(document), media_type="application/json")


def moved(path: str) -> Answer:
    """A permanent redirect."""
    status = HTTPStatus.MOVED_PERMANENTLY
    return Answer("", status=status, cache=FOR_A_DAY, headers={"Location": link(path)})


def redirect(
    path: str, *, cookies: tuple[str, ...] = (), fragment: str = "", notice: str | None = None, **query: Any
) -> Answer:
    """Redirect to a path of this site, and to the element with the id ``fragment``.

    ``notice`` is the code of what a form has done.
    """
    location = link(path, **query, notice=notice)
    if fragment:
        location = urlsplit(location)._replace(fragment=fragment).geturl()
    return leading(location, cookies=cookies, notice=notice)


def lead_to(place: str, *, cookies: tuple[str, ...] = (), notice: str | None = None, **query: str) -> Answer:
    """Redirect (303) to a path of ours with its query, from ``forms.own_path``; ``query`` overrides.

    ``notice`` is the code of what the form has done, and replaces an older one.
    """
    path, _, asked = place.partition("?")
    location = f"{base()}{path}"
    kept = {name: value for name, value in parse_qsl(asked) if name != "notice"} | query
    asked = urlencode(kept | ({"notice": notice} if notice else {}))
    return leading(f"{location}?{asked}" if asked else location, cookies=cookies, notice=notice)


def leading(location: str, *, cookies: tuple[str, ...], notice: str | None) -> Answer:
    """A redirect with a cookie of one minute, which proves to its target that this browser did what the address
    says."""
    if notice:
        cookies = (*cookies, done(notice))
    return Answer("", status=HTTPStatus.SEE_OTHER, headers={"Location": location}, cookies=cookies)


def problem_page(
    status: int, detail: str, more_headers: Mapping[str, str] | None = None, *, public: bool = False, **values: Any
) -> Answer:
    """An error page with a status and a sentence, the search and the categories.

    ``public``: it is the same for everyone. A "not found" may then be cached like a page; other errors never are.
    """
    title = printed(_TITLES.get(status, "Something went wrong"))
    lasting = public and status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
    cache = PUBLIC if lasting else PRIVATE
    known: dict[str, Any] = {
        "title": title,
        "detail": printed(detail),
        "onward": None,
        "onward_name": None,
        "names": [],
    }
    return page("error.html", status=status, cache=cache, more_headers=more_headers, **(known | values))


def printed(text: str) -> str:
    """A sentence of the API's as pages print it, with typographic apostrophes."""
    return text.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")


Page = Callable[..., Answer]


class Routes:
    """A module's pages by method and rule. Rules are the resolver's, such as ``/deals/<number>``."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, str, Page]] = []

    def get(self, *rules: str) -> Callable[[Page], Page]:
        """Register a page. It also answers HEAD, which feed readers send."""
        return self._register("GET", rules)

    def post(self, *rules: str, form_page: str | None = None) -> Callable[[Page], Page]:
        """Register the function for forms posted to a path.

        ``form_page`` is the path of the form's page if the posted path is none: ``/deals/<number>``, with parts of the
        form's own. A browser that opens the posted path, as it may after an error, is redirected there.
        """
        if form_page is not None:
            self.get(*rules)(partial(_to_form_page, form_page))
        return self._register("POST", rules)

    def button(self, path: str) -> partial[Answer] | None:
        """The function for forms posted to a path, or None."""
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


def _to_form_page(place: str, _request: Request, **parts: str) -> Answer:
    for each, part in parts.items():
        place = place.replace(f"<{each}>", part)
    return redirect(place)


def routes_of(joined: Iterable[hooks.PagesPart]) -> list[Routes]:
    """The pages that features add to a function's."""
    return [each.routes for each in joined if each.routes]


def serve(*routes: Routes, guards: Sequence[answers.Guard] = (), public: bool = False) -> answers.Handler:
    """The Lambda handler of some pages.

    ``public``: they are the same for everyone, including "not found" pages.
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
        # The resolver accepts fewer characters in a path: an address with a quotation mark is never found.
        raise WrongMethod(allowed) if allowed and app.current_event.http_method not in allowed else NoSuchPath()

    answered = answers.serve(app, *guards, refused=refused)

    def handler(event: Event, context: LambdaContext) -> Event:
        if work := panel():
            work.begin_page(event)
        answer = answered(event, context)
        if work:
            work.conclude(answer)
        return answer

    return handler


def _called(app: APIGatewayRestResolver, page: Page) -> Callable[..., Answer]:
    """Adapt a page to the resolver."""

    def called(**parts: str) -> Answer:
        decoded = {name: unquote(part) for name, part in parts.items()}
        return page(_request(app.current_event.raw_event), **decoded)

    return called


def _request(event: Event) -> Request:
    single = event.get("queryStringParameters") or {}
    return Request(event, event["path"], {name: value or "" for name, value in single.items()}, times.now())


def _protected(answer: Response[Any]) -> Response[Any]:
    """Add the headers that every page has."""
    security = security_headers(origin(), answer.content_type or "")
    work = panel()
    timing = {"Server-Timing": work.server_timing()} if work else {}
    answer.headers = {**security, **timing, **answer.headers}
    return answer


def _without_slash(app: APIGatewayRestResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware: redirect a path with a final slash to the one without."""
    request = _request(app.current_event.raw_event)
    if request.path == "/" or not request.path.endswith("/"):
        return next_middleware(app)
    if app.current_event.http_method != "GET":
        raise NoSuchPath
    location = link("/" + request.path.strip("/"), **request.query)
    return Answer("", status=HTTPStatus.MOVED_PERMANENTLY, headers={"Location": location})


def _page_of(error: DealsError, request: Request, *, public: bool) -> Answer:
    """The page for an error, with a link onward if there is one."""
    if isinstance(error, SignInFirst):
        return error.answer
    if isinstance(error, NotSignedIn):
        return _to_sign_in(request)
    detail = error.plain or detail_of(error)
    if isinstance(error, InvalidCursor | BadRequest) and error.field in request.query:
        # Link to the same address without the unreadable parameter.
        query = {name: value for name, value in request.query.items() if name not in ("cursor", error.field)}
        name = "Start with the newest" if isinstance(error, InvalidCursor) else f"Continue without “{error.field}”"
        onward = link(request.path, **query)
        return problem_page(HTTPStatus.BAD_REQUEST, detail, onward=onward, onward_name=name)
    return problem_page(status_of(error), detail, headers_of(error), public=public)


def _to_sign_in(request: Request) -> Answer:
    """The sign-in page, which leads back. A posted form is kept on a page that can send it again, so that the end of a
    session loses no typed text; but a password is never written into a page."""
    if request.event["httpMethod"] == "GET":
        asked = link(request.path, **request.query).removeprefix(base())
        return redirect("/account/sign-in", next=asked)
    try:
        fields = forms.read(request.event)
    except DealsError:  # the page for signed-in users shows it
        fields = {}
    if not fields or any("password" in name for name in fields):
        return redirect("/account/sign-in")
    return page("again.html", status=HTTPStatus.FORBIDDEN, path=request.path, fields=fields)
