"""The parts of a request in an API Gateway event: headers, origin, path, query, body and cookies.

With the prefix ``__Host-``, browsers refuse a cookie from any other host (also a sibling subdomain) and over plain HTTP
(https://developer.mozilla.org/docs/Web/HTTP/Headers/Set-Cookie#cookie_prefixes). The laptop's stage has only plain
HTTP, and not every browser exempts localhost (Safari doesn't), so there cookies have neither prefix nor ``Secure``.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from shared import settings
from shared.errors import BadRequest, BodyTooLarge, InvalidName, NoSuchTopic
from shared.models.catalog import Selection, Sort, Topic, TopicKind
from shared.values import money, naming

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter


Event = dict[str, Any]

MAX_TOKEN = 200
"""Characters of a session token, in a header or a cookie; ours have a quarter of that."""


def header(event: Mapping[str, Any], name: str) -> str | None:
    """A request header of an API Gateway event; ``name`` is in lower case, the event's may be in any."""
    for key, value in (event.get("headers") or {}).items():
        if key.lower() == name:
            return str(value)
    return None


def is_plain(text: str, most: int) -> bool:
    """Whether a client's text, such as a token, has 1 to ``most`` characters, all printable ASCII."""
    return 1 <= len(text) <= most and text.isascii() and text.isprintable()


def correlation_id(event: Mapping[str, Any]) -> str:
    """The gateway's id of a request, which all resulting log lines have.

    A client's own id is only logged next to it, because it needn't be unique. AWS lets clients choose the gateway's id
    too, as a UUID in ``x-amzn-RequestId``, so nothing that matters depends on it.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-access-logging.html
    """
    return str(event["requestContext"].get("requestId", ""))


def address(event: Mapping[str, Any]) -> str:
    """The address that a request came from.

    Behind our proxy (``BEHIND_PROXY``) the gateway's neighbour is that proxy. The proxy appends its neighbour's address
    to X-Forwarded-For, then the gateway appends the proxy's (not seen in AWS's documentation); earlier entries may be
    forged.
    """
    if os.environ.get("BEHIND_PROXY") == "true":
        passed = (header(event, "x-forwarded-for") or "").split(",")
        if len(passed) > 1:
            return passed[-2].strip()
    return str(event["requestContext"]["identity"]["sourceIp"])


_SYSTEMS = {
    "android": "Android",
    "iphone": "iPhone",
    "ipad": "iPad",
    "windows": "Windows",
    "mac os": "Mac",
    "linux": "Linux",
}
_BROWSERS = {
    "edg": "Edge",
    "opr/": "Opera",
    "firefox": "Firefox",
    "fxios": "Firefox",
    "chrom": "Chrome",
    "crios": "Chrome",
}
_PROGRAMS = {"curl": "curl", "python": "Python"}


def browser(event: Mapping[str, Any]) -> str | None:
    """The kind of program that sent a request ("Firefox on Linux"), without its version; None for an unknown one.

    Most browsers name others, too, in https://developer.mozilla.org/docs/Web/HTTP/Headers/User-Agent, so the order
    counts.
    """
    agent = (header(event, "user-agent") or "").lower()
    known = _BROWSERS | {"safari": "Safari"} | _PROGRAMS
    name = next((name for part, name in known.items() if part in agent), None)
    system = next((name for part, name in _SYSTEMS.items() if part in agent), None)
    return f"{name} on {system}" if name and system else name or system


def method(event: Mapping[str, Any]) -> str:
    """The method to route by: HEAD is answered as GET, and its body dropped at the end."""
    asked = str(event["httpMethod"])
    return "GET" if asked == "HEAD" else asked


def path(event: Mapping[str, Any]) -> str:
    """The path below the API's root, as routes are written.

    On AWS, ``event["path"]`` includes a custom domain's base path; on MiniStack it doesn't. The gateway's resource is
    the same in both, so the path is the part that the resource describes. Sources for the path:
    https://github.com/aws/serverless-java-container/issues/112, for the resource:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-mappings.html
    """
    whole, resource = str(event["path"]), str(event.get("resource") or "")
    if not resource.startswith("/"):
        return whole
    described = _segments(resource)
    if described and described[-1].endswith("+}"):
        greedy = (event.get("pathParameters") or {}).get(described[-1][1:-2]) or ""
        described[-1:] = _segments(greedy)
    segments = _segments(whole)
    if len(segments) <= len(described):
        return whole
    below = "/" + "/".join(segments[len(segments) - len(described) :])
    return below + "/" if described and whole.endswith("/") else below


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


MAX_BODY_BYTES = 32 * 1024
"""Four times the largest deal; no request needs more."""


def decode(event: Event) -> None:
    """Guard: decode a request's body in place to text of a limited size. Raises BodyTooLarge, BadRequest.

    With the binary media type ``*/*``, all bodies are binary to the gateway, which sends such as base64 and sets
    ``isBase64Encoded``. These pages have the media types and the field, and don't say the rest; plain bodies pass, too.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings.html
    https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
    """
    body = event.get("body")
    if not body:
        return
    if len(body) > MAX_BODY_BYTES * 4 / 3 + 4:
        raise BodyTooLarge(MAX_BODY_BYTES)
    if event.get("isBase64Encoded"):
        try:
            event["body"], event["isBase64Encoded"] = base64.b64decode(body, validate=True).decode(), False
        except ValueError as error:
            raise BadRequest("The body must be UTF-8.") from error
    if len(event["body"].encode(errors="replace")) > MAX_BODY_BYTES:
        raise BodyTooLarge(MAX_BODY_BYTES)


def media_type(event: Mapping[str, Any]) -> str:
    """The body's declared media type, in lower case without parameters; empty if none is declared."""
    return (header(event, "content-type") or "").split(";", 1)[0].strip().lower()


def parse_object(text: str) -> dict[str, Any] | None:
    """Parse a JSON object; None for JSON that isn't an object.

    Raises ValueError for anything else, including NaN and duplicate names (code that checks and code that acts might
    read different values).
    """
    try:
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_each_once)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return document if isinstance(document, dict) else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a name is there twice")
    return document


LAPTOP = "local"
"""The stage without HTTPS."""

DONE = "btd-notice"
"""The name, without its prefix, of the cookie with the code of what this browser's last form did. It isn't secret, and
scripts may read it."""
_JUST = 60
"""Seconds after an action in which its notice is shown."""


def name(plain: str) -> str:
    """A cookie's name, with the prefix that keeps other hosts from setting it."""
    return plain if on_laptop() else f"__Host-{plain}"


def attributes() -> str:
    """The attributes of all cookies."""
    return "Path=/; SameSite=Lax" if on_laptop() else "Path=/; Secure; SameSite=Lax"


def on_laptop() -> bool:
    """Whether this is the laptop's stage."""
    return os.environ.get("STAGE") == LAPTOP


def done(code: str) -> str:
    """The ``Set-Cookie`` value that proves to the next page that this browser did what the address says."""
    return f"{name(DONE)}={code}; {attributes()}; Max-Age={_JUST}"


def brought(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each cookie of a request. HTTP/2 lets a browser split them into several headers (RFC 9113, 8.2.3)."""
    single = event.get("headers") or {}
    several = event.get("multiValueHeaders") or {}
    lines = [value for name, values in several.items() if name.lower() == "cookie" for value in values or ()]
    for line in lines or [value for name, value in single.items() if name.lower() == "cookie"]:
        for crumb in line.split(";"):
            name, divider, value = crumb.strip().partition("=")
            if divider:
                yield name, value


MAX_PAGE = 100
DEFAULT_PAGE = settings.CACHED_PAGE
"""The maximum and default number of items on a list's page."""

SELECTING = ("sort", "from", "to", "currency", "off", "lowest", "brand")
"""The query parameters that filter and sort a brand's or category's deals."""

MAX_CLIENT_KEY = 255
"""Characters of an idempotency key, in a header or a form."""


def topic_named(kind: TopicKind, name: str) -> Topic:
    """The brand or category named in a path, in any case and spelling. Raises NoSuchTopic."""
    try:
        return Topic(kind, naming.slug(name))
    except InvalidName as error:
        raise NoSuchTopic(kind.label, name) from error


def is_client_key(text: str) -> bool:
    """Whether a text is a valid idempotency key: printable ASCII, not empty and not too long."""
    return is_plain(text, MAX_CLIENT_KEY)


def selection(query: Mapping[str, str | None]) -> Selection:
    """A list's filters from a query; None means no filter. Raises BadRequest."""
    sort, least, most, currency, off, lowest, brand = (query.get(name) for name in SELECTING)
    if sort is not None and sort not in set(Sort):
        raise BadRequest(f"sort must be one of {', '.join(Sort)}.", "sort")
    cheapest, dearest = _price("from", least), _price("to", most)
    if cheapest is not None and dearest is not None and float(cheapest) > float(dearest):
        raise BadRequest("from must not be above to.", "from")
    if currency is not None and not re.fullmatch(money.CODE, currency):
        raise BadRequest("currency must be three capital letters.", "currency")
    if off is not None and not re.fullmatch("[1-9][0-9]?", off):
        raise BadRequest("off must be a number from 1 to 99.", "off")
    if lowest not in (None, "true", "false"):
        raise BadRequest("lowest must be true or false.", "lowest")
    try:
        slug = None if brand is None else naming.slug(brand)
    except InvalidName as error:
        raise BadRequest("brand must be a brand's name or slug.", "brand") from error
    discount = None if off is None else int(off)
    return Selection(
        Sort(sort or Sort.NEWEST), cheapest, dearest, currency, slug, discount=discount, lowest=lowest == "true"
    )


def _price(name: str, amount: str | None) -> str | None:
    if amount is None:
        return None
    if not re.fullmatch(money.PATTERN, amount):
        raise BadRequest(f"{name} must be a price such as 80 or 79.90.", name)
    return money.normal(amount)


def paging(app: BaseRouter) -> dict[str, Any]:
    """The ``limit`` and ``cursor`` of a list's request. Raises BadRequest for an invalid limit."""
    asked = app.current_event.get_query_string_value("limit", str(DEFAULT_PAGE))
    limit = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    if not 1 <= limit <= MAX_PAGE:
        raise BadRequest(f"limit must be a number from 1 to {MAX_PAGE}.", "limit")
    return {"limit": limit, "cursor": app.current_event.get_query_string_value("cursor", None)}
