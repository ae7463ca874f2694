"""Forms that browsers post: from which sites, how they are read and checked, and which of our addresses they may lead
to afterwards.

There are no tokens in forms, so that a form can be on a page that is cached for everyone. The browser itself says
where a form was sent from: ``Sec-Fetch-Site``, which no script can set, or ``Origin`` in older browsers
(https://developer.mozilla.org/docs/Web/HTTP/Headers/Sec-Fetch-Site). The host of a request is never asked: behind
a proxy it is the gateway's.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from shared import features
from shared.data.idempotency import Idempotency
from shared.errors import BadRequest, Forbidden, InvalidInput, NotAForm
from shared.html.links import origin
from shared.http.answers import reason
from shared.http.requests import Event, header, is_client_key, media_type

if TYPE_CHECKING:
    from pydantic import BaseModel

B = TypeVar("B", bound="BaseModel")

MAX_FIELDS = 100
"""Fields of one form. Ordering a page takes a field for each of its deals, 25 at most."""

MEDIA_TYPE = "application/x-www-form-urlencoded"

Fields = dict[str, str]
"""The texts that were typed, by the names of a form's fields."""

_SIGNED = features.paths("signed")
"""Pages whose links are signed, so that a form may come from anywhere."""

_WORDS = {
    "missing": "This must be filled in.",
    "int_parsing": "This must be a whole number.",
    "string_pattern_mismatch": "This must be written as the form asks.",
    "string_too_long": "This must have at most {max_length} characters.",
    "string_too_short": "This must have at least {min_length} characters.",
}
"""Sentences about a field's errors, by pydantic's types of errors."""


class FromElsewhere(Forbidden):
    """A form that another site sent, or that does not say which site sent it."""

    def __init__(self) -> None:
        super().__init__("This form was not sent from this site, so nothing was done.")


class InvalidFields(InvalidInput):
    """Fields of a form that cannot be used."""


def ours_only(event: Event) -> None:
    """Guard of a page function: whatever is sent to it was sent from its own pages, except where the link is signed.

    Where the site's own origin is not known, only browsers that send ``Sec-Fetch-Site`` are believed. Raises
    FromElsewhere.
    """
    if event["httpMethod"] == "GET" or event["path"] in _SIGNED:
        return
    site, own = header(event, "sec-fetch-site"), origin()
    is_ours = site == "same-origin" if site is not None else bool(own) and header(event, "origin") == own
    if not is_ours:
        raise FromElsewhere


def read(event: Mapping[str, Any]) -> Fields:
    """The fields of a form that was posted, its body decoded already, white space around them left as it is.

    A field that is there twice is refused: the check might read one value, and the action the other.
    Raises NotAForm, BadRequest.
    """
    body = event.get("body") or ""
    if body and media_type(event) != MEDIA_TYPE:
        raise NotAForm
    if not body.isascii():
        raise BadRequest("The form cannot be read.")
    try:
        pairs = parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError as error:  # too many fields, or what is no UTF-8 behind the percent signs
        raise BadRequest("The form cannot be read.") from error
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise BadRequest("The form has a field twice.")
    return fields


def check(body: type[B], typed: Mapping[str, Any], words: Mapping[str, str] | None = None) -> B:
    """The body that the fields of a form make. Raises InvalidFields, which names each field as the form does.

    ``typed`` has the fields by the body's own names in camelCase; the caller leaves out empty fields, where
    that means "none". ``words`` says for some fields what they need, in place of the rule's own words. Only
    functions whose artifact has pydantic call this.
    """
    from pydantic import ValidationError  # noqa: PLC0415  # most functions that read forms have no pydantic

    try:
        return body.model_validate(typed, strict=False)  # a number is a text of digits
    except ValidationError as error:
        errors: dict[str, str] = {}
        for entry in error.errors():
            name = str(entry["loc"][0]) if entry["loc"] else "form"
            errors.setdefault(name, _sentence(entry, typed.get(name), (words or {}).get(name)))
        raise InvalidFields(errors) from error


def _sentence(entry: Any, typed: Any, instead: str | None) -> str:
    if typed in (None, "") or entry["type"] == "missing":
        return _WORDS["missing"]
    if instead is not None:
        return instead
    template = _WORDS.get(entry["type"])
    if template:
        return template.format(**entry.get("ctx", {}))
    said = reason(entry)
    sentence = f"This {said}" if said.startswith("must ") else f"{said[:1].upper()}{said[1:]}"
    return sentence if sentence.endswith(".") else f"{sentence}."


def new_key() -> str:
    """The form's idempotency key, for its hidden field ``key``."""
    return secrets.token_urlsafe(18)


def idempotency(typed: Mapping[str, str], account_id: str, request: Mapping[str, Any]) -> Idempotency | None:
    """The form's idempotency key, and what the form asks for; None where it has no valid key."""
    key = typed.get("key", "")
    if not is_client_key(key):
        return None
    return Idempotency(account_id, key, request)


def own_path(text: str | None, otherwise: str) -> str:
    """A path of this site, with its query, that a form or a query may lead on to; ``otherwise`` for anything else.

    A path is judged as browsers read it: they take a backslash for a slash, drop tabs and line breaks
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
