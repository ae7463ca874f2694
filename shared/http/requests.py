"""The parts of a request in an API Gateway event: headers, origin, path, query, body and cookies.

A body is text of a bounded size, and may be a JSON object. ``__Host-`` makes browsers refuse a cookie from another
host, a sibling's subdomain included, and over plain HTTP
(https://developer.mozilla.org/docs/Web/HTTP/Headers/Set-Cookie#cookie_prefixes). The laptop's stage has plain HTTP
alone. Some browsers make an exception for localhost, Safari makes none: there the cookies do without the prefix and
``Secure``.
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
"""Characters of a session's token, in a header or a cookie; ours have a quarter of that."""


def header(event: Mapping[str, Any], name: str) -> str | None:
    """A request header of an API Gateway event, whatever the case of its name (given in lower case)."""
    for key, value in (event.get("headers") or {}).items():
        if key.lower() == name:
            return str(value)
    return None


def is_plain(text: str, most: int) -> bool:
    """Whether a text that a client made up, such as a token, has 1 to ``most`` characters, all printable ASCII."""
    return 1 <= len(text) <= most and text.isascii() and text.isprintable()


def correlation_id(event: Mapping[str, Any]) -> str:
    """The id that the gateway gave a request: all log lines that follow from it have this id.

    A client's own id is logged beside it and not in its place, because two requests may have the same. AWS lets a
    client choose the gateway's, too, as a UUID in ``x-amzn-RequestId``, so nothing that matters depends on it.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-access-logging.html
    """
    return str(event["requestContext"].get("requestId", ""))


def address(event: Mapping[str, Any]) -> str:
    """The address a request came from.

    Where the gateway answers a proxy of ours alone (``BEHIND_PROXY``), its neighbour is that proxy. The gateway adds
    the proxy's address to X-Forwarded-For (not seen in AWS's documentation), after the proxy has added that of its own
    neighbour; what comes before may be forged.
    """
    if os.environ.get("BEHIND_PROXY") == "true":
        passed = (header(event, "x-forwarded-for") or "").split(",")
        if len(passed) > 1:
            return passed[-2].strip()
    return str(event["requestContext"]["identity"]["sourceIp"])


def method(event: Mapping[str, Any]) -> str:
    """The method that answers a request: HEAD is answered as GET is, and loses its body on the way out."""
    asked = str(event["httpMethod"])
    return "GET" if asked == "HEAD" else asked


def path(event: Mapping[str, Any]) -> str:
    """The path below the API's root, which is what routes are written as.

    A custom domain's base path stays in ``event["path"]`` on AWS, and MiniStack leaves it out. The resource that the
    gateway chose is the same either way, so the path is the part of it that the resource describes. Sources,
    for the path: https://github.com/aws/serverless-java-container/issues/112, for the resource:
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
"""Four times the largest deal: no request needs more."""


def decode(event: Event) -> None:
    """Guard: a body is text and not too large; it is decoded in place. Raises BodyTooLarge, BadRequest.

    With ``*/*`` as its binary media type, the gateway sends all bodies as base64, forms too, and says so in
    ``isBase64Encoded``. Which types are binary:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings.html; the event:
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
    """The declared media type of a body, in lower case and without parameters; empty where nothing is said."""
    return (header(event, "content-type") or "").split(";", 1)[0].strip().lower()


def parse_object(text: str) -> dict[str, Any] | None:
    """The object of a JSON text; None where it is JSON, but no object.

    Raises ValueError for what is not JSON, NaN included, and for a name that is there twice: the code that checks a
    request might read one value, and the code that acts the other.
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
"""The code of what a form of this browser has just done. Not a secret, and readable by the script."""
_JUST = 60
"""Seconds for which something was done just now."""


def name(plain: str) -> str:
    """The name of a cookie that no other host may set."""
    return plain if on_laptop() else f"__Host-{plain}"


def attributes() -> str:
    """The attributes that all cookies have."""
    return "Path=/; SameSite=Lax" if on_laptop() else "Path=/; Secure; SameSite=Lax"


def on_laptop() -> bool:
    """Whether this is the stage on the laptop."""
    return os.environ.get("STAGE") == LAPTOP


def done(code: str) -> str:
    """The value of ``Set-Cookie`` that proves to the next page that this browser did what the address says."""
    return f"{DONE}={code}; {attributes()}; Max-Age={_JUST}"


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
"""Items of a page of a list: the most, and the default."""

SELECTING = ("sort", "from", "to", "currency", "off", "lowest", "brand")
"""The parameters that say which deals of a brand's or a category's list are asked for."""

MAX_CLIENT_KEY = 255
"""Characters of an idempotency key, of a header and of a form."""


def topic_named(kind: TopicKind, name: str) -> Topic:
    """The brand or category that a path names, in whatever case and spelling. Raises NoSuchTopic."""
    try:
        return Topic(kind, naming.slug(name))
    except InvalidName as error:
        raise NoSuchTopic(kind.label, name) from error


def is_client_key(text: str) -> bool:
    """Whether a text can be an idempotency key: printable ASCII, not empty, and not too long."""
    return is_plain(text, MAX_CLIENT_KEY)


def selection(query: Mapping[str, str | None]) -> Selection:
    """The filters of a list in a query; None means no filter.

    Raises BadRequest.
    """
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
    """The ``limit`` and ``cursor`` that a list's request names. Raises BadRequest for an invalid limit."""
    asked = app.current_event.get_query_string_value("limit", str(DEFAULT_PAGE))
    limit = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    if not 1 <= limit <= MAX_PAGE:
        raise BadRequest(f"limit must be a number from 1 to {MAX_PAGE}.", "limit")
    return {"limit": limit, "cursor": app.current_event.get_query_string_value("cursor", None)}
