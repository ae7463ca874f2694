"""What browsers post: who may post it, how it is read, and which of our addresses it may lead to afterwards.

There are no tokens, so that a form may stand on a page that everybody is sent from a cache. A browser says itself where
a form was sent from: ``Sec-Fetch-Site``, which no script may set, or ``Origin`` where it is too old for that
(https://developer.mozilla.org/docs/Web/HTTP/Headers/Sec-Fetch-Site). The host of a request is never asked: behind
CloudFront it is the gateway's.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from shared.errors import DealsError, Forbidden, Invalid, TooLarge
from shared.http.event import header

MAX_BODY_BYTES = 32 * 1024
"""Four times the largest deal, as for the API's bodies."""

MAX_FIELDS = 100
"""Fields of one form. Ordering a page takes a field for each of its deals, 25 at most."""

MEDIA_TYPE = "application/x-www-form-urlencoded"

Fields = dict[str, str]
"""What was typed, by the names of a form's fields."""


class BadForm(DealsError):
    """What was sent cannot be read as one of our forms. (400)"""


class NotAForm(DealsError):
    """The body is not declared to be a form. (415)"""


class FromElsewhere(Forbidden):
    """A form that another site sent, or that does not say which site sent it."""

    def __init__(self) -> None:
        super().__init__("This form was not sent from this site, so nothing was done.")


class InvalidFields(Invalid):
    """Fields that cannot be used: ``errors`` says for each of them, by its name, what it needs."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name}: {needed}" for name, needed in errors.items()))


def from_our_pages(event: Mapping[str, Any], origin: str) -> None:
    """Guard: a form was sent from a page of this site. Raises FromElsewhere.

    ``origin`` is the site's own as it is configured, such as ``https://deals.example``, or empty where none is known:
    then only browsers that send ``Sec-Fetch-Site`` are believed.
    """
    site = header(event, "sec-fetch-site")
    if site is not None:
        if site != "same-origin":
            raise FromElsewhere
        return
    if not origin or header(event, "origin") != origin:
        raise FromElsewhere


def read(event: Mapping[str, Any]) -> Fields:
    """The fields of a form that was posted, white space around them left as it is.

    A field that is there twice is refused: of two values, what checks may see one and what acts the other.
    Raises NotAForm, TooLarge, BadForm.
    """
    body = event.get("body") or ""
    media_type = (header(event, "content-type") or "").split(";", 1)[0].strip().lower()
    if body and media_type != MEDIA_TYPE:
        raise NotAForm("Send the fields of a form.")
    if len(body) > MAX_BODY_BYTES * 4 / 3 + 4:
        raise TooLarge(f"A form has at most {MAX_BODY_BYTES} bytes.")
    raw = _bytes_of(body, encoded=bool(event.get("isBase64Encoded")))
    if len(raw) > MAX_BODY_BYTES:
        raise TooLarge(f"A form has at most {MAX_BODY_BYTES} bytes.")
    try:
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError as error:  # too many fields, or what is no UTF-8 behind the percent signs
        raise BadForm("The form cannot be read.") from error
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise BadForm("A field of the form is there twice.")
    return fields


def _bytes_of(body: str, *, encoded: bool) -> bytes:
    """A body as it was sent. With ``*/*`` as its binary media type, the gateway sends all bodies as base64."""
    try:
        return base64.b64decode(body, validate=True) if encoded else body.encode()
    except (binascii.Error, ValueError) as error:
        raise BadForm("The form cannot be read.") from error


def own_path(text: str | None, otherwise: str) -> str:
    """A path of this site, with its query, that a form or a query may lead on to; ``otherwise`` for anything else.

    What leads away is told by what browsers make of it: they take a backslash for a slash, drop tabs and line breaks
    (https://url.spec.whatwg.org/#concept-basic-url-parser), and read two slashes as the start of a host.
    """
    if text is None or len(text) > 2000 or not text.startswith("/") or text.startswith("//"):
        return otherwise
    if "\\" in text or not text.isascii() or not text.isprintable() or " " in text:
        return otherwise
    try:
        parts = urlsplit(text)
    except ValueError:
        return otherwise
    if parts.scheme or parts.netloc or any(step in (".", "..") for step in parts.path.split("/")):
        return otherwise
    return text
