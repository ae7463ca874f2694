"""Request bodies: their base model, rules that several fields share, and validation; and idempotency keys.

Only functions that take bodies import this, and pydantic with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType

from shared import features, hooks
from shared.api.app import calling
from shared.data.idempotency import Idempotency
from shared.errors import BadRequest, Invalid, NotJson
from shared.http.answers import reason
from shared.http.requests import MAX_CLIENT_KEY, header, is_client_key, media_type
from shared.values import identifiers, money

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter


_REORDERING = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2028\u2029\u2060-\u2065"
    r"\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
)
HIDDEN = rf"\u0000-\u001f\u007f-\u009f{_REORDERING}{_INVISIBLE}"
HIDDEN_IN_PARAGRAPHS = rf"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f{_REORDERING}{_INVISIBLE}"
"""Invisible characters that change a text: control characters, line separators, marks that reorder text, and letters
and spaces without width or ink; but not the joiners that emoji and scripts need. Written for a regular expression.

The OpenAPI document's patterns use them, too, in the dialect common to JSON Schema, ECMAScript and Python.
"""

_NOT_PLAIN = re.compile(rf"[{HIDDEN}\ud800-\udfff]")
_NOT_PARAGRAPHS = re.compile(rf"[{HIDDEN_IN_PARAGRAPHS}\ud800-\udfff]")
_SEEN = re.compile(r"[^\s\u200c\u200d\u2800\ufe00-\ufe0f]")
NOT_IN_ADDRESSES = r"\s<>\"\\^`{|}" + HIDDEN

B = TypeVar("B", bound=BaseModel)
E = TypeVar("E", bound=StrEnum)


class Body(BaseModel):
    """A JSON object in camelCase; fields it does not know are refused, and strings stay strings."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, defer_build=True)


class Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", defer_build=True)


@cache
def extended(body: type[B]) -> type[B]:
    """A body's model with the fields that features add: it derives from each feature's model."""
    added = [each.BODIES for each in features.roles(hooks.ApiFields)]
    more: list[Any] = [each[body.__name__] for each in added if body.__name__ in each]
    return create_model(body.__name__, __base__=(*more, body), __doc__=body.__doc__) if more else body


def without_defaults(schema: dict[str, Any]) -> None:
    """Leave the defaults of an object's fields out of the OpenAPI document: there, a field is sent or it isn't."""
    for field in schema["properties"].values():
        field.pop("default", None)


def documented(pattern: str, **more: Any) -> dict[str, Any]:
    """The OpenAPI pattern of a text that a validator checks in the same way."""
    return {"pattern": f"^[ \\t\\n\\r]*{pattern}[ \\t\\n\\r]*$", **more}


def trimmed(text: str) -> str:
    """A text without surrounding white space."""
    return text.strip(" \t\n\r")


def plain(text: str, refused: re.Pattern[str] = _NOT_PLAIN) -> str:
    """Refuse invisible characters (``HIDDEN``) and lone surrogates; compose the rest."""
    found = refused.search(text)
    if found:
        raise ValueError(f"must not have the character U+{ord(found[0]):04X}")
    return unicodedata.normalize("NFC", text)


def line(text: str) -> str:
    """Check a one-line text with something visible in it."""
    if not _SEEN.search(text):
        raise ValueError("must have a visible character")
    return plain(trimmed(text))


def paragraphs(text: str) -> str:
    """Check a text that may have several lines."""
    return plain(trimmed(text), _NOT_PARAGRAPHS)


def one_of(codes: Callable[[], Iterable[str]], example: str) -> Any:
    """A field whose schema lists some codes, which are read when the schema is built."""
    return Field(json_schema_extra=lambda schema: schema.update({"enum": [*sorted(codes())], "examples": [example]}))


def known(codes: Callable[[], Container[str]], what: str, text: str) -> str:
    """Refuse a text that isn't one of some codes."""
    if text not in codes():
        raise ValueError(f"must be {what}")
    return text


Choice = Annotated[E, Field(strict=False)]
"""One of an enumeration's values, sent as its text."""

LINE = documented(rf"[^{HIDDEN}]*[^\s{HIDDEN}][^{HIDDEN}]*")

_A_CURRENCY = "a currency of ISO 4217, such as USD"
Price = Annotated[str, Field(pattern=f"^{money.PATTERN}$", examples=["31.90"]), AfterValidator(money.normal)]
Currency = TypeAliasType(
    "Currency",
    Annotated[str, one_of(money.currencies, "USD"), AfterValidator(partial(known, money.currencies, _A_CURRENCY))],
)
DealId = Annotated[str, Field(pattern=f"^{identifiers.KSUID}$")]

# For answers.
Money = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]{2,4}$", examples=["31.90"])]
Cursor = Annotated[str | None, Field(description="Send it as ?cursor= to get the next page; null on the last page.")]
Count = Annotated[int, Field(ge=0)]


MAX_UNKNOWN = 20
"""The most unknown fields that an answer names."""

MAX_NAME = 100
"""The most characters of a field's name that an answer repeats."""

MAX_DETAIL = 1000
"""The most characters of a sentence that names several fields."""


class InvalidBody(Invalid):
    """A body with invalid fields. ``faults`` names each by its path, such as ``dealIds.2``, with the reason."""

    faults: Sequence[tuple[str, str]] = ()

    def __init__(self, found: Sequence[Mapping[str, Any]]) -> None:
        self.faults = [
            (".".join(str(step)[:MAX_NAME] for step in entry["loc"]) or "body", reason(entry))
            for entry in _bounded(found)
        ]
        super().__init__("; ".join(f"{field}: {why}" for field, why in self.faults)[:MAX_DETAIL])


def checked(model: type[B], sent: Any, *, typed: bool = False) -> B:
    """Validate a body, with features' fields. Raises InvalidBody. With ``typed``, a number is a text of digits."""
    try:
        made: B = extended(model).model_validate(sent, strict=False if typed else None)
    except ValidationError as error:
        raise InvalidBody(error.errors(include_url=False, include_context=False, include_input=False)) from error
    return made


def with_body(app: APIGatewayRestResolver, answer: Callable[..., Response[Any]]) -> Response[Any]:
    """Middleware: pass the validated body as the handler's model argument. Raises NotJson, InvalidBody."""
    for name, model in models(app.context["_route"].func).items():
        if media_type(app.current_event.raw_event) not in ("", "application/json"):
            raise NotJson
        sent = app.current_event.json_body
        if sent is None:
            raise InvalidBody([{"type": "missing", "loc": (), "msg": ""}])
        app.context["_route_args"][name] = checked(model, sent)
    return answer(app)


@cache
def models(handler: Callable[..., Any]) -> dict[str, type[BaseModel]]:
    """The handler's arguments that are models of its body: one, or none."""
    hints = {name: hint for name, hint in get_type_hints(handler).items() if isinstance(hint, type)}
    return {name: hint for name, hint in hints.items() if issubclass(hint, BaseModel)}


def _bounded(found: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """A body's errors, with at most ``MAX_UNKNOWN`` unknown fields: there may be thousands."""
    unknown = 0
    for entry in found:
        unknown += entry["type"] == "extra_forbidden"
        if entry["type"] != "extra_forbidden" or unknown <= MAX_UNKNOWN:
            yield entry


def idempotency(app: BaseRouter, asked: dict[str, Any]) -> Idempotency | None:
    """The idempotency of a request with the content ``asked``; None without a key.

    Raises BadRequest for an invalid key, NotSignedIn.
    """
    key = header(app.current_event.raw_event, "idempotency-key")
    if key is None:
        return None
    if not is_client_key(key):
        detail = f"Idempotency-Key must have 1 to {MAX_CLIENT_KEY} printable ASCII characters."
        raise BadRequest(detail, "Idempotency-Key")
    return Idempotency(calling(app).account_id, key, asked)
