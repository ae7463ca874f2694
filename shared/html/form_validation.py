"""A form's fields checked against a body of the API, and what is wrong with each in words for the person who typed it.

Only functions whose artifact has pydantic import this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from shared.html.forms import InvalidFields
from shared.http.answers import reason

B = TypeVar("B", bound=BaseModel)

_WORDS = {
    "missing": "This must be filled in.",
    "int_parsing": "This must be a whole number.",
    "string_pattern_mismatch": "This must be written as the form asks.",
    "string_too_long": "This must have at most {max_length} characters.",
    "string_too_short": "This must have at least {min_length} characters.",
}


def check(body: type[B], typed: Mapping[str, Any], words: Mapping[str, str] | None = None) -> B:
    """The body that the fields of a form make. Raises InvalidFields, which names each field as the form does.

    ``typed`` has the fields by the body's own names in camelCase; the caller leaves out empty fields, where
    that means "none". ``words`` says for some fields what they need, in place of the rule's own words.
    """
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
