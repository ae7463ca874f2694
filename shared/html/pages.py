"""Pages: from a template and values to an answer, and the pages that say what went wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from aws_lambda_powertools.event_handler import Response

from shared.dynamodb import damage
from shared.errors import NotSignedIn
from shared.html import headers
from shared.html.links import absolute, link
from shared.html.templates import render
from shared.http.answers import etag
from shared.http.requests import done

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
    """A page's answer: HTML for its reader alone, unless told otherwise. ``cookies`` are values of ``Set-Cookie``."""

    def __init__(
        self,
        body: str | bytes,
        *,
        status: int = HTTPStatus.OK,
        media_type: str = HTML,
        cache: str = headers.PRIVATE,
        headers: Mapping[str, str] | None = None,
        cookies: Sequence[str] = (),
    ) -> None:
        super().__init__(status, media_type, body, {"Cache-Control": cache, **(headers or {})})
        if cookies:
            self.headers["Set-Cookie"] = list(cookies)


WORK = "<!-- What this page took -->"
"""Where a page's measured end begins, on stages that show their work."""


def workings() -> ModuleType | None:
    """The module that tells what pages took (``form_cost``), on stages that show it; others do not import it."""
    if os.environ.get("SHOWS_WORK") != "true":
        return None
    from shared.html import form_cost  # noqa: PLC0415  # see above

    return form_cost


def page(  # what differs from page to page, each by its name
    template: str,
    *,
    status: int | None = None,
    cache: str = headers.PRIVATE,
    cookies: tuple[str, ...] = (),
    more_headers: Mapping[str, str] | None = None,
    said: str | None = None,
    here: str = "",
    errors: Mapping[str, str] | None = None,
    **values: Any,
) -> Answer:
    """A page of a template that extends ``base.html``.

    ``here`` is the page's own path, ``said`` the code of the last action, whose sentence ``said.html`` has: a page
    that is the same for everybody leaves it to the script whether this browser did it. The base template also knows
    ``robots``, ``description``, ``query`` (the words searched) and ``canonical``, an absolute address.

    ``errors`` are what is wrong with the fields of the page's form, by name: without a ``status``, that is 422.
    """
    if status is None:
        status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK
    work = workings()
    page_cost = work.page_cost.told() if work else None
    form_cost = work.shown(status=status) if work else None
    once = bool(form_cost or (page_cost and (page_cost["fault"] or {}).get("asked")))
    for_all = cache != headers.PRIVATE and not once
    known: dict[str, Any] = {
        "said": said,
        "unsure": None if cache == headers.PRIVATE else said,
        "here": here,
        "canonical": absolute(here) if here and status == HTTPStatus.OK else None,
        "robots": None if for_all and status == HTTPStatus.OK else "noindex",
        "description": None,
        "query": "",
        "feed": None,
        "who": None,
        "errors": dict(errors or {}),
        "left_out": damage.noted(),
        "page_cost": page_cost,
        "form_cost": form_cost,
    }
    body = render(template, **(known | values))
    kept = headers.PRIVATE if once else cache
    answer = Answer(body, status=status, cache=kept, headers=more_headers, cookies=cookies)
    if work and for_all and status == HTTPStatus.OK:
        answer.headers["ETag"] = etag(body.partition(WORK)[0].encode())  # without the list of requests at its end
    return answer


class SignInFirst(NotSignedIn):
    """A visitor pressed a button without being signed in: ``answer`` leads to signing in and back."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__()


def redirect(
    path: str, *, cookies: tuple[str, ...] = (), fragment: str = "", said: str | None = None, **query: Any
) -> Answer:
    """An answer that leads to a path of this site, and there to the element whose id is ``fragment``.

    ``said`` is the code of what a form has done.
    """
    location = link(path, **query, said=said)
    if fragment:
        location = urlsplit(location)._replace(fragment=fragment).geturl()
    return leading(location, cookies=cookies, said=said)


def leading(location: str, *, cookies: tuple[str, ...], said: str | None) -> Answer:
    """An answer that leads to an address, and by a cookie of a minute tells it that this browser did what it says."""
    if said:
        cookies = (*cookies, done(said))
    return Answer("", status=HTTPStatus.SEE_OTHER, headers={"Location": location}, cookies=cookies)


def problem_page(
    status: int, detail: str, more_headers: Mapping[str, str] | None = None, *, public: bool = False, **values: Any
) -> Answer:
    """A page of a status and a sentence, with the search and the categories to go on from.

    ``public``: the address is one of those whose pages are the same for everybody, and so is this page. What is not
    there may then be kept at the edge as pages are; other errors never are.
    """
    title = _TITLES.get(status, "Something went wrong")
    lasting = public and status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
    cache = headers.PUBLIC if lasting else headers.PRIVATE
    known: dict[str, Any] = {"title": title, "detail": detail, "onward": None, "onward_name": None, "names": []}
    return page("error.html", status=status, cache=cache, more_headers=more_headers, **(known | values))
