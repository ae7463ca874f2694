"""A browser without a screen: sends page functions what the gateway would, keeps cookies, reads forms, follows 303."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import html5lib

from shared.data.catalog import feeds, picks
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, FRONT_PAGE, CuratedPage, Deal
from shared.values import times
from tests.support.surroundings import a_context, event_of

Ask = Callable[..., Any]
"""Asks a page function for a path."""

ORIGIN = "https://deals.example"


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer as a browser has it."""

    status: int
    headers: Mapping[str, list[str]]
    text: str

    @property
    def location(self) -> str:
        return self.headers["Location"][0]

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def document(self) -> Any:
        """The page's tree as browsers make it, which mend what is wrong."""
        return parsed({"body": self.text}, strict=False)

    @property
    def words(self) -> str:
        """The page's text, with single spaces."""
        body = self.document.find("body")
        return re.sub(r"\s+", " ", " ".join(body.itertext())).strip()

    def values(self) -> dict[str, str]:
        """The values of the page's fields, by name; if several forms have one, the last."""
        found = {each.get("name"): each.get("value", "") for each in self.document.iter("input") if each.get("name")}
        found |= {each.get("name"): (each.text or "").removeprefix("\n") for each in self.document.iter("textarea")}
        for each in self.document.iter("select"):
            chosen = [option.get("value") for option in each.iter("option") if option.get("selected") is not None]
            found[each.get("name")] = chosen[0] if chosen else next(each.iter("option")).get("value")
        return found


@dataclass(slots=True)
class Browser:
    """One person's browser at a page function, or at several of them, each by the prefix of its paths."""

    functions: Mapping[str, Callable[[Any, Any], Any]]
    cookies: dict[str, str] = field(default_factory=dict)
    fetch_site: str | None = "same-origin"
    address: str = "192.0.2.7"
    requests: int = 0

    def get(self, path: str, **headers: str) -> Seen:
        return self._send("GET", path, headers, None)

    def post(self, path: str, fields: Mapping[str, str] | str | None = None, **headers: str) -> Seen:
        body = fields if isinstance(fields, str) else urlencode(fields or {})
        return self._send("POST", path, {"Content-Type": "application/x-www-form-urlencoded", **headers}, body)

    def _send(self, method: str, path: str, headers: Mapping[str, str], body: str | None) -> Seen:
        parts = urlsplit(path)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.fetch_site is not None:
            sent.setdefault("Sec-Fetch-Site", self.fetch_site)
        if self.cookies:
            sent.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        self.requests += 1
        event = event_of(parts.path, method, query=dict(parse_qsl(parts.query)), headers=sent) | {
            "requestContext": {
                "requestId": f"5f3c9a52-0000-4000-8000-{self.requests:012}",
                "httpMethod": method,
                "identity": {"sourceIp": self.address},
                "stage": "web",
            },
            "body": base64.b64encode(body.encode()).decode() if body else None,
            "isBase64Encoded": bool(body),
        }
        prefix = max((each for each in self.functions if parts.path.startswith(each)), key=len)
        answer = self.functions[prefix](event, a_context())
        raw = base64.b64decode(answer["body"]) if answer["isBase64Encoded"] else answer["body"].encode()
        several = dict(answer["multiValueHeaders"])
        for name, morsel in (item for line in several.get("Set-Cookie", []) for item in SimpleCookie(line).items()):
            if morsel["max-age"] == "0":
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value
        return Seen(answer["statusCode"], several, raw.decode())


LINK = "https://shop.example/trail-runner?variant=1"

DEAL = {
    "link": LINK, "title": "Trail runner", "price": "31.90", "listPrice": "158", "currency": "USD", "brand": "Apple",
    "category": "shoes", **dict.fromkeys(("couponCode", "variant", "expiresAt", "image", "description"), ""),
}  # fmt: skip


def parsed(answer: Any, *, strict: bool = True) -> Any:
    """The document of a page; with ``strict``, what browsers would have to mend is an error."""
    document, errors = _parsed(answer["body"])
    assert not strict or [error for error in errors if error[1] != "expected-doctype-but-got-chars"] == []
    return document


@lru_cache(maxsize=8)
def _parsed(body: str) -> tuple[Any, list[Any]]:
    """A page's document, which tests only read, and its errors: the last pages are not parsed at each look."""
    parser = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    return parser.parse(body), parser.errors


def posted(table: Table) -> list[Deal]:
    return list(feeds.read(table, ALL_DEALS, limit=100, now=times.now()).items)


def picked(table: Table, page: CuratedPage = FRONT_PAGE) -> list[str]:
    """The numbers of the deals of a page, in their order."""
    return [str(deal.page_id) for deal in picks.read(table, page, times.now(), consistent=True)]


def filled(seen: Seen, **changed: str) -> dict[str, str]:
    """The page's form as a browser would send it, with some fields typed again."""
    values = seen.values()
    names = {"key", *DEAL, *(f"was-{name}" for name in DEAL)}
    return {name: value for name, value in values.items() if name in names} | changed
