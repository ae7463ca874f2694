"""MiniStack behind a guard, which keeps web pages that the developer visits from using the local cloud.

A browser lets any page send requests to 127.0.0.1. MiniStack accepts everyone who knows the access key, checks no
signature, allows every origin, and has administration (``/_ministack/reset``) that requires no key. So each checkout
has a random key (``local.settings.access_key``), and this guard passes only

- requests to the site and its API, which are public as on AWS;
- requests with an access key. MiniStack refuses unknown keys; its administration needs the checkout's key;
- uploads to S3 from the site or from no page: their policy is signed;
- health checks, and a custom resource's answer, whose address is secret.

Every other request gets 403 before MiniStack sees it, also preflights (OPTIONS), and requests by a foreign host name,
which any page's owner may point here.

It also answers the features' laptop-only pages, reports the functions' outstanding work and dead letters (``WAITING``),
for which ``make stop`` waits because streams start over with each start, and reads streams as Lambda does
(``ministack_patches``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from shared import features

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SITE_HOST = re.compile(r"(?:[a-z0-9-]+\.execute-api|bigtimedeals)\.localhost(?::[0-9]+)?")
OUR_HOST = re.compile(r"(?:(?:[a-z0-9-]+\.)*localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?")
"""This machine's names that no web page's owner can define."""

SITE_ORIGIN = "http://"
SITE_PATH = "/_aws/execute-api/"
"""Addresses of the site and its API, by host and by path."""

INTERNAL = re.compile(r"/_(?!aws/execute-api/)")
"""MiniStack's own paths on every host: its administration, and its services' states."""

OPEN = {
    ("GET", "/_ministack/ready"),
    ("GET", "/_ministack/health"),
}
WAITING = "/_local/waiting"
"""Counts the functions' outstanding records and messages, and dead letters. It needs the checkout's key."""

DEAD_LETTERS = "DeadLetters"
"""The common part of dead-letter queues' names."""

COPIES = 20
"""Attempts to copy a service's state: it changes once a minute, and a copy takes seconds."""

ANSWERS = "/_ministack/cfn-response/"


def admits(method: str, path: str, host: str, key: str, own: str, *, sends_file: bool = False) -> bool:
    """Whether a request may pass. ``key`` is its access key's id, if any; ``own`` is the checkout's. ``sends_file``: it
    is an upload form, not sent by another site's page."""
    if OUR_HOST.fullmatch(host) is None and key != own:
        return False
    if INTERNAL.match(path):
        return key == own or (method, path) in OPEN or (method == "PUT" and path.startswith(ANSWERS))
    is_the_site = path.startswith(SITE_PATH) or SITE_HOST.fullmatch(host) is not None
    return is_the_site or bool(key) or (method == "POST" and sends_file)


def _sends_file(headers: dict[str, str]) -> bool:
    """Whether a request is an upload form from the site or from no browser: browsers always name the origin."""
    origin = headers.get("origin", f"{SITE_ORIGIN}bigtimedeals.localhost")
    ours = origin.startswith(SITE_ORIGIN) and SITE_HOST.fullmatch(origin.removeprefix(SITE_ORIGIN))
    return bool(ours) and headers.get("content-type", "").startswith("multipart/form-data")


def guarded(app: App, own: str, key_of: Callable[[dict[str, str], dict[str, list[str]]], str]) -> App:
    """Wrap an ASGI application so that ``admits`` decides. ``key_of`` finds the access key in headers or query."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in scope["headers"]}
            key = key_of(headers, parse_qs(scope.get("query_string", b"").decode("latin-1")))
            method, path, host = scope.get("method", "GET"), scope["path"], headers.get("host", "")
            if not admits(method, path, host, key, own, sends_file=_sends_file(headers)):
                await _refuse(scope, receive, send)
                return
            # Features' pages about the cloud are at the site's own name, which only the laptop has.
            shows = method == "GET" and SITE_HOST.fullmatch(host) and _shown_at(path)
            if shows:
                await _answer(send, *features.imported(shows)(path))
                return
            if path == WAITING:
                await _answer(send, 200, {"Content-Type": "application/json"}, json.dumps(waiting()))
                return
        await app(scope, receive, send)

    return guard


def _shown_at(path: str) -> str:
    """The function for a laptop-only path, as a feature's record names it; empty if there is none."""
    known = [each for pages in features.of("local_pages") for each in pages.items()]
    return next((show for start, show in known if f"{path}/".startswith(f"{start}/")), "")


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    text = "The local cloud takes requests with the access key of its checkout (.local/key.json) only.\n"
    await _answer(send, 403, {"Content-Type": "text/plain"}, text)


async def _answer(send: Send, status: int, headers: dict[str, str], text: str) -> None:
    sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": text.encode()})


def waiting() -> dict[str, int]:
    """Outstanding records and messages, and dead letters, as MiniStack counts them.

    A record counts until its function has ended, a message until it is deleted, so nothing that a function still writes
    or sends is missed.
    """
    from ministack.services import (  # type: ignore[import-untyped]  # noqa: PLC0415  # no types, and they take a second
        dynamodb,
        lambda_svc,
        sqs,
    )

    # There is no other access; a test fails if another version of MiniStack keeps them elsewhere.
    mappings, positions = (getattr(lambda_svc, name) for name in ("_esms", "_dynamodb_stream_positions"))
    queues = vars(sqs)["_queues"]
    records = messages = 0
    held = [queues.get(name) or {} for name in list(queues)]
    sources = {name: mappings.get(name) or {} for name in list(mappings)}
    read = {each.get("EventSourceArn") for each in sources.values()}
    for name, mapping in sources.items():
        source = mapping.get("EventSourceArn", "")
        if not mapping.get("Enabled", True):
            continue
        if "/stream/" in source:
            end = dynamodb.stream_end_position(source.split("/stream/")[0].split("/")[-1])
            records += max(0, end - positions.get(name, 0))
        elif ":sqs:" in source:
            messages += sum(len(each["messages"]) for each in held if _arn(each) == source)
    dead = sum(len(each["messages"]) for each in held if DEAD_LETTERS in _arn(each) and _arn(each) not in read)
    return {"records": records, "messages": messages, "dead": dead}


def _arn(queue: dict[str, Any]) -> str:
    return str(queue.get("attributes", {}).get("QueueArn"))


def save_all(services: Mapping[str, Callable[[], Any]]) -> None:
    """Save the state of services, instead of MiniStack.

    MiniStack skips a service whose state changes during the copy, which only its log says, and so loses everything
    since the last stop. Its table changes by itself, because a thread removes expired items each minute.
    """
    from ministack.core import persistence  # type: ignore[import-untyped]  # noqa: PLC0415  # it has no types

    persistence.save_all({name: partial(_unchanging, state) for name, state in services.items()})


def _unchanging(state: Callable[[], Any]) -> Any:
    """A service's state, copied again if it changed meanwhile. Raises RuntimeError after ``COPIES`` attempts."""
    for _ in range(COPIES - 1):
        with suppress(RuntimeError):
            return state()
    return state()


def main() -> None:
    """Serve MiniStack as ``python -m ministack`` does, behind the guard and with our patches."""
    import ministack.app  # type: ignore[import-untyped]  # noqa: PLC0415  # it has no types, and takes a second
    from ministack.core.router import (  # type: ignore[import-untyped]  # noqa: PLC0415  # the same
        extract_access_key_id,
    )

    from local import ministack_patches  # noqa: PLC0415  # it imports MiniStack

    ministack_patches.read_streams()
    ministack_patches.share_unpacked()
    ministack.app.save_all = save_all
    ministack.app.app = guarded(ministack.app.app, os.environ["AWS_ACCESS_KEY_ID"], extract_access_key_id)
    ministack.app.main()


if __name__ == "__main__":
    main()
