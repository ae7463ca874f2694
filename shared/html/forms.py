"""Forms: where they were sent from, how they are read and checked, and where they may redirect.

Forms have no tokens, so they can be on cached pages. The browser says where a form was sent from: in
``Sec-Fetch-Site``, which no script can set, or in ``Origin`` for older browsers
(https://developer.mozilla.org/docs/Web/HTTP/Headers/Sec-Fetch-Site). The request's host isn't used: behind a proxy it
is the gateway's.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from shared import features, hooks
from shared.data.idempotency import Idempotency
from shared.errors import BadRequest, Forbidden, InvalidInput, NotAForm
from shared.html.links import origin
from shared.http.answers import reason
from shared.http.requests import Event, header, is_client_key, media_type

if TYPE_CHECKING:
    from pydantic import BaseModel

B = TypeVar("B", bound="BaseModel")

MAX_FIELDS = 100
"""Fields of one form. Ordering a page's picks takes a field for each deal, at most 25."""

MEDIA_TYPE = "application/x-www-form-urlencoded"

Fields = dict[str, str]
"""A form's typed texts by field name."""

_SIGNED = tuple(path for each in features.roles(hooks.Navigation) for path in each.SIGNED_PATHS)
"""Pages whose links are signed, so that a form may come from anywhere."""

_WORDS = {
    "missing": "This must be filled in.",
    "int_parsing": "This must be a whole number.",
    "string_pattern_mismatch": "This must be written as the form asks.",
    "string_too_long": "This must have at most {max_length} characters.",
    "string_too_short": "This must have at least {min_length} characters.",
}
"""Texts of field errors, by pydantic's error types."""


class FromElsewhere(Forbidden):
    """A form from another site, or from an unknown one."""

    def __init__(self) -> None:
        super().__init__("This form was not sent from this site, so nothing was done.")


class InvalidFields(InvalidInput):
    """Invalid fields of a form."""


def ours_only(event: Event) -> None:
    """Guard: a form must come from this site's own pages, unless its link is signed.

    If the site's own origin is unknown, only browsers that send ``Sec-Fetch-Site`` are accepted. Raises FromElsewhere.
    """
    if event["httpMethod"] == "GET" or event["path"] in _SIGNED:
        return
    site, own = header(event, "sec-fetch-site"), origin()
    is_ours = site == "same-origin" if site is not None else bool(own) and header(event, "origin") == own
    if not is_ours:
        raise FromElsewhere


def read(event: Mapping[str, Any], *, most: int = MAX_FIELDS) -> Fields:
    """The fields of a posted form with decoded body, at most ``most``; surrounding white space stays.

    A duplicate field is refused: check and action might read different values. Raises NotAForm, BadRequest.
    """
    body = event.get("body") or ""
    if body and media_type(event) != MEDIA_TYPE:
        raise NotAForm
    if not body.isascii():
        raise BadRequest("The form cannot be read.")
    try:
        pairs = parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=most)
    except ValueError as error:  # too many fields, or invalid UTF-8
        raise BadRequest("The form cannot be read.") from error
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise BadRequest("The form has a field twice.")
    return fields


def check(body: type[B], typed: Mapping[str, Any], words: Mapping[str, str] | None = None) -> B:
    """Validate a form's fields as a body. Raises InvalidFields, which names the form's fields.

    ``typed`` has the body's field names in camelCase; the caller omits empty fields that mean "none". ``words``
    replaces the rules' texts for some fields. Only functions whose artifact has pydantic call this.
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


_LABEL = r'(?s)<label[^>]* for="f-([^"]+)"[^>]*>(.*?)</label>'
_REMARK = r"(?s) ?<span>.*?</span>|<[^>]+>"
_WRONG = r'(?s)<li><a href="#f-([^"]+)">(.*?)</a></li>'


def with_names(page: str) -> str:
    """A page whose summary of errors names each field by its label, in the page's order.

    Templates write the summary above the form, so they don't know the labels yet.
    """
    above, found, rest = page.partition('<div class="summary"')
    errors, ends, below = rest.partition("</ul>")
    labels = {name: re.sub(_REMARK, "", label).strip() for name, label in re.findall(_LABEL, below)}
    wrong = dict(re.findall(_WRONG, errors))
    if not found or not wrong:
        return page
    order = [name for name in labels if name in wrong] + [name for name in wrong if name not in labels]
    listed = (f'<li><a href="#f-{name}">{_naming(labels.get(name, ""), wrong[name])}</a></li>' for name in order)
    return f"{above}{found}{errors.partition('<li>')[0]}{''.join(listed)}{ends}{below}"


def _naming(label: str, sentence: str) -> str:
    """A field's error that names the field: "This must be filled in" of "Title" is "Title must be filled in"."""
    if sentence.startswith("This "):
        return f"{label or 'This'} {sentence.removeprefix('This ')}"
    return sentence if label.lower() in sentence.lower() else f"{label}: {sentence}"


def new_key() -> str:
    """An idempotency key for the form's hidden field ``key``."""
    return secrets.token_urlsafe(18)


def idempotency(typed: Mapping[str, str], account_id: str, request: Mapping[str, Any]) -> Idempotency | None:
    """The form's idempotency key with its content; None without a valid key."""
    key = typed.get("key", "")
    if not is_client_key(key):
        return None
    return Idempotency(account_id, key, request)


def own_path(text: str | None, otherwise: str) -> str:
    """A path of this site with its query, or ``otherwise`` if a form's or query's text is anything else.

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
