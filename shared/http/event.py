"""The parts of a request in an API Gateway event: its headers, where it came from, what it asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

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

    Behind CloudFront the gateway's neighbour is an edge location. The gateway adds that one to X-Forwarded-For, after
    CloudFront has added its own; what comes before may be forged. The gateway then answers only CloudFront.
    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/RequestAndResponseBehaviorCustomOrigin.html
    (CloudFront's part; the gateway's is not seen in AWS's documentation).
    """
    if os.environ.get("BEHIND_CDN") == "true":
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
