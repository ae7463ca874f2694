"""The base of all bodies, and the rules for fields that several of them share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType

from shared.values import identifiers, money

_REORDERING = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2028\u2029\u2060-\u2065"
    r"\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
)
HIDDEN = rf"\u0000-\u001f\u007f-\u009f{_REORDERING}{_INVISIBLE}"
HIDDEN_IN_PARAGRAPHS = rf"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f{_REORDERING}{_INVISIBLE}"
"""Characters that cannot be seen but change a text: control characters, separators of lines, marks that reorder text,
and letters and spaces without width or ink; not the joiners that emoji and scripts need. As in a regular expression.

The OpenAPI document's patterns have them too, in the dialect that JSON Schema, ECMAScript and Python share.
"""

_NOT_PLAIN = re.compile(rf"[{HIDDEN}\ud800-\udfff]")
_NOT_PARAGRAPHS = re.compile(rf"[{HIDDEN_IN_PARAGRAPHS}\ud800-\udfff]")
_SEEN = re.compile(r"[^\s\u200c\u200d\u2800\ufe00-\ufe0f]")
NOT_IN_ADDRESSES = r"\s<>\"\\^`{|}" + HIDDEN


class Body(BaseModel):
    """A JSON object in camelCase; fields it does not know are refused, and strings stay strings."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)


class Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")


def without_defaults(schema: dict[str, Any]) -> None:
    """Leave the defaults of an object's fields out of the OpenAPI document: there, a field is sent or it is not."""
    for field in schema["properties"].values():
        field.pop("default", None)


def documented(pattern: str, **more: Any) -> dict[str, Any]:
    """The OpenAPI pattern of a text whose validator checks the same."""
    return {"pattern": f"^[ \\t\\n\\r]*{pattern}[ \\t\\n\\r]*$", **more}


def trimmed(text: str) -> str:
    """A text without the white space around it."""
    return text.strip(" \t\n\r")


def plain(text: str, refused: re.Pattern[str] = _NOT_PLAIN) -> str:
    """Refuse invisible characters (``HIDDEN``) and half characters; compose the rest."""
    found = refused.search(text)
    if found:
        raise ValueError(f"must not have the character U+{ord(found[0]):04X}")
    return unicodedata.normalize("NFC", text)


def line(text: str) -> str:
    """A text of one line, with something to see in it."""
    if not _SEEN.search(text):
        raise ValueError("must have a visible character")
    return plain(trimmed(text))


def paragraphs(text: str) -> str:
    """A text that may have several lines."""
    return plain(trimmed(text), _NOT_PARAGRAPHS)


def one_of(codes: Callable[[], Iterable[str]], example: str) -> Any:
    """A field whose document lists some codes; they are read where one is made."""
    return Field(json_schema_extra=lambda schema: schema.update({"enum": [*sorted(codes())], "examples": [example]}))


def known(codes: Callable[[], Container[str]], what: str, text: str) -> str:
    """Refuse a text that is not among some codes."""
    if text not in codes():
        raise ValueError(f"must be {what}")
    return text


LINE = documented(rf"[^{HIDDEN}]*[^\s{HIDDEN}][^{HIDDEN}]*")

_A_CURRENCY = "a currency of ISO 4217, such as USD"
Price = Annotated[str, Field(pattern=f"^{money.PATTERN}$", examples=["31.90"]), AfterValidator(money.normal)]
Currency = TypeAliasType(
    "Currency",
    Annotated[str, one_of(money.currencies, "USD"), AfterValidator(partial(known, money.currencies, _A_CURRENCY))],
)
DealId = Annotated[str, Field(pattern=f"^{identifiers.KSUID}$")]

# Of answers.
Money = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]{2,4}$", examples=["31.90"])]
Cursor = Annotated[str | None, Field(description="To be sent as ?cursor= for the next page; null on the last page.")]
Count = Annotated[int, Field(ge=0)]


class Picture(Answer):
    """A deal's own picture. ``path`` is below the site's address, and its content never changes."""

    path: str
    width: Count
    height: Count
    colour: Annotated[str, Field(pattern="^[0-9a-f]{6}$", description="The colour of most of it, as RGB.")]
