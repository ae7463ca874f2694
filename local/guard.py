"""Who may use the local cloud: the site's visitors, and holders of a key that the cloud issued.

A browser lets any page send requests to 127.0.0.1. MiniStack checks no signature of the account's own keys, which
include ``test`` and every account number, allows every origin, and has administration (``/_ministack/reset``) that
requires no key. So each checkout has a random key (``local.settings.access_key``), and the guard passes only

- requests to an API or site that is deployed: they are public, as on AWS, and lead nowhere else;
- requests with the checkout's key, or with temporary credentials that the cloud issued to a role;
- upload forms for a bucket that exists, from the site or from no page: S3 checks their signed policy;
- health checks, and a custom resource's answer, whose address is secret.

Every other request gets 403 before MiniStack sees it. Pages of other origins reach the API and the site alone, whatever
key they send.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qs, quote

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Answer = tuple[int, dict[str, str], str]

THIS_MACHINE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?")
BELOW_LOCALHOST = re.compile(r"(?:[a-z0-9-]+\.)+localhost(?::[0-9]+)?")
"""This machine's names that no web page's owner can define: its own, and those of sites, APIs and buckets."""

INTERNAL = re.compile(r"/_(?!aws/execute-api/)")
"""MiniStack's own paths on every host: its administration, and its services' states."""

OPEN = {
    ("GET", "/_ministack/ready"),
    ("GET", "/_ministack/health"),
}
ANSWERS = "/_ministack/cfn-response/"
ISSUED = re.compile(r"ASIA[0-9A-Z]{16}")
"""Ids of temporary credentials."""

OF_NO_OTHER_PAGE = ("", "none", "same-origin")
"""Values of ``Sec-Fetch-Site`` of requests that no other origin's page causes; other clients than browsers send none.
https://www.w3.org/TR/fetch-metadata/"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, as the guard judges it. ``key`` is its access key's id, if any."""

    method: str
    path: str
    headers: Mapping[str, str]
    key: str = ""
    query: str = ""
    websocket: bool = False

    @property
    def host(self) -> str:
        """The name and the port that the request was sent to."""
        return self.headers.get("host", "")


class Cloud(Protocol):
    """What the guard must know of the cloud."""

    @property
    def key(self) -> str:
        """The id of the checkout's access key."""
        ...

    def issued(self, key: str) -> bool:
        """Whether the cloud knows a key as a role's temporary credentials."""
        ...

    def has_page(self, origin: str, host: str) -> bool:
        """Whether pages of an origin are those of a site that is deployed here, at a host's port."""
        ...

    def public_path(self, host: str, path: str) -> str | None:
        """The path at which MiniStack serves a deployed API's or site's address as nothing else; None for others."""
        ...

    def bucket(self, asked: Asked) -> tuple[str, str] | None:
        """The existing bucket and the key that a request to S3 names, by host or by path; None for other requests."""
        ...

    def page(self, host: str, path: str) -> Answer | None:
        """A page of the laptop's own, as a feature shows it at the site's name; its absence is None."""
        ...

    def own_answer(self, path: str) -> Answer | None:
        """The guard's own answer to the checkout's key; None if MiniStack answers."""
        ...


def is_foreign(asked: Asked, cloud: Cloud) -> bool:
    """Whether a page of another origin than the site's sent a request. A form's origin may be ``null``."""
    origin = asked.headers.get("origin")
    if origin is None:
        return asked.headers.get("sec-fetch-site", "") not in OF_NO_OTHER_PAGE
    return not cloud.has_page(origin, asked.host)


def admits(asked: Asked, cloud: Cloud) -> bool:
    """Whether a request may pass."""
    if asked.key == cloud.key:
        return not is_foreign(asked, cloud)
    if asked.key and not (ISSUED.fullmatch(asked.key) and cloud.issued(asked.key)):
        return False
    if not (THIS_MACHINE.fullmatch(asked.host) or BELOW_LOCALHOST.fullmatch(asked.host)):
        return False
    if not INTERNAL.match(asked.path) and is_public(asked, cloud):
        return True
    if is_foreign(asked, cloud):
        return False
    named = cloud.bucket(asked)
    if THIS_MACHINE.fullmatch(asked.host) is None and named is None:
        return False
    if INTERNAL.match(asked.path):
        return (asked.method, asked.path) in OPEN or (asked.method == "PUT" and asked.path.startswith(ANSWERS))
    return bool(asked.key) or (_is_form(asked) and named is not None and named[1] == "")


def is_public(asked: Asked, cloud: Cloud) -> bool:
    """Whether a request goes to an API or a site, which have no WebSocket."""
    return not asked.websocket and cloud.public_path(asked.host, asked.path) is not None


def _is_form(asked: Asked) -> bool:
    type_ = asked.headers.get("content-type", "")
    return asked.method == "POST" and asked.query == "" and type_.startswith("multipart/form-data")


def guarded(app: App, cloud: Cloud, key_of: Callable[[dict[str, str], dict[str, list[str]]], str]) -> App:
    """Wrap an ASGI application so that ``admits`` decides. ``key_of`` finds the access key in headers or query."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await app(scope, receive, send)
            return
        asked = _asked(scope, key_of)
        own = None
        if asked.method == "GET" and not asked.key and not asked.websocket and not is_foreign(asked, cloud):
            own = cloud.page(asked.host, asked.path)
        if own is None and not admits(asked, cloud):
            await _refuse(scope, receive, send)
            return
        if own is None and asked.key == cloud.key:
            own = cloud.own_answer(asked.path)
        if own is not None:
            await _answer(send, *own)
            return
        if not asked.key and (path := cloud.public_path(asked.host, asked.path)):
            # A path of another service at the site's name, such as SES's /v2/email, is the site's.
            scope = {**scope, "path": path, "raw_path": quote(path).encode()}
        await app(scope, receive, send)

    return guard


def _asked(scope: Scope, key_of: Callable[[dict[str, str], dict[str, list[str]]], str]) -> Asked:
    """A request, with its headers and its query read as MiniStack reads them: a repeated header counts as one."""
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    query = scope.get("query_string", b"").decode("latin-1")
    key = key_of(headers, parse_qs(query, keep_blank_values=True))
    return Asked(scope.get("method", "GET"), scope["path"], headers, key, query, scope["type"] == "websocket")


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    text = "The local cloud takes requests with the access key of its checkout (.local/key.json) only.\n"
    # The body stays unread, so nothing may follow on this connection.
    await _answer(send, 403, {"Content-Type": "text/plain", "Connection": "close"}, text)


async def _answer(send: Send, status: int, headers: dict[str, str], text: str) -> None:
    sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": text.encode()})


def as_json(value: Any) -> Answer:
    """An answer with a JSON document."""
    return 200, {"Content-Type": "application/json"}, json.dumps(value)
