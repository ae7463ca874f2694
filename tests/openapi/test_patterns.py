"""The document's patterns of texts, checked against the validators; schemathesis does the same over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator  # reads patterns as ECMAScript does: $ is the end, not the last line's
from pydantic import BaseModel, ValidationError

from functions.api import openapi
from shared.api.bodies import MAX_KEY_BYTES, NewDeal
from shared.api.member_bodies import NewUser
from shared.values.passwords import is_common

SCHEMAS: dict[str, Any] = json.loads(openapi.PATH.read_text(encoding="utf-8"))["components"]["schemas"]

VALIDATORS: dict[type[BaseModel], Draft202012Validator] = {
    model: Draft202012Validator(SCHEMAS[model.__name__] | {"components": {"schemas": SCHEMAS}})
    for model in (NewDeal, NewUser)
}

DEAL = {"title": "x", "link": "https://shop.example", "price": "1", "brand": "apple", "category": "shoes"}
USER = {"username": "ana", "email": "ana@mail.example", "password": "mauve otter", "name": "Ana"}

# Letters of all kinds, with those in front that tests of texts are about.
TEXTS = st.text(
    st.one_of(
        st.sampled_from("aZ0 .-_@#/:\t\n\r\x00\x0b\x1f\x7f\x85\xa0\u061c\u200b\u202e"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)


def is_taken(model: type[BaseModel], body: dict[str, Any]) -> bool:
    try:
        model.model_validate(body)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("model", "body", "field"),
    [
        (NewDeal, DEAL, "title"),
        (NewDeal, DEAL, "description"),
        (NewDeal, DEAL, "couponCode"),
        (NewDeal, DEAL, "sourceId"),
        (NewDeal, DEAL, "price"),
        (NewDeal, DEAL, "currency"),
        (NewUser, USER, "name"),
        (NewUser, USER, "password"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@given(text=TEXTS)
@example(text="  two words \n")
@example(text="\u00a0")
@example(text="\u00a0x\u00a0")
@example(text="\ufeff")
def test_a_text_is_taken_if_and_only_if_the_document_says_so(
    model: type[BaseModel], body: dict[str, Any], field: str, text: str
) -> None:
    assume(not (field == "password" and is_common(text)))  # a list that no pattern holds
    assume(len(text.encode(errors="replace")) <= MAX_KEY_BYTES)  # no schema counts bytes
    changed = body | {field: text}

    assert is_taken(model, changed) is VALIDATORS[model].is_valid(changed)


@pytest.mark.parametrize(
    ("model", "body", "field", "start", "end"),
    [
        (NewUser, USER, "username", "", ""),
        (NewUser, USER, "email", "", "@mail.example"),
        (NewDeal, DEAL, "link", "HTTPS://shop.example/", ""),
        (NewDeal, DEAL, "image", "http://shop.example", ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@given(text=TEXTS)
def test_a_name_or_an_address_that_the_document_allows_is_taken(
    model: type[BaseModel], body: dict[str, Any], field: str, start: str, end: str, text: str
) -> None:
    """Others may be taken, too: a name in full-width letters is the same in ordinary ones."""
    changed = body | {field: f"{start}{text}{end}"}

    assert is_taken(model, changed) or not VALIDATORS[model].is_valid(changed)
