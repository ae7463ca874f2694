"""The OpenAPI document against routes and rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator  # reads patterns as ECMAScript does: $ is the end, not the last line's
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel, ValidationError

from infra.bundling import module_of
from infra.functions import ROUTES, Audience, Route
from shared import features
from shared.api import fields
from shared.api.bodies import MAX_KEY_BYTES, DealChange, NewDeal
from shared.api.fields import InvalidBody
from shared.api.member_bodies import NewUser
from shared.errors import IdempotencyKeyReused
from shared.values.passwords import is_common
from tests.support.cases import cases
from tests.support.factories import NOW
from tools import openapi


def who(route: Route) -> str:
    """Who may call one of the gateway's routes."""
    if route.caller is Audience.ANYONE:
        return "anonymous"
    of_editors = route.function == "editors" or f"{route.method} {route.path}" in cases("FOR_EDITORS")
    return "editor" if of_editors else "member"


EXPECTED = {(route.method, route.path): who(route) for route in ROUTES}

DOCUMENT: dict[str, Any] = json.loads(openapi.PATH.read_text(encoding="utf-8"))


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_the_written_document_is_what_the_code_says() -> None:
    written = openapi.PATH.read_text(encoding="utf-8")

    assert written == openapi.text(), "run python -m tools.openapi"


def test_the_document_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()

    assert DOCUMENT["openapi"] == "3.1.0"


def test_the_document_has_the_routes_of_the_gateway_and_says_who_may_call_them() -> None:
    documented = {(method, path): operation["tags"] for method, path, operation in operations()}

    assert documented == {route: [who] for route, who in EXPECTED.items()}


def test_the_gateway_sends_each_route_to_the_function_that_has_it() -> None:
    apps = {route.function: import_module(module_of(route.function)).app for route in ROUTES}

    offered = {
        (method.upper(), openapi._camel_path(path)): function
        for function, app in apps.items()
        for path, methods in app.get_openapi_schema(title="", version="").model_dump(exclude_none=True)["paths"].items()
        for method in methods
    }

    assert {(route.method, route.path): route.function for route in ROUTES} == offered


def test_the_error_of_a_key_used_twice_names_the_time_for_which_keys_are_kept() -> None:
    described = openapi.PARAMETERS["Idempotency-Key"]["description"]
    (hours,) = re.findall(r"\d+ hours", described)

    assert hours in str(IdempotencyKeyReused())


def test_routes_that_need_no_session_say_so_and_the_others_name_the_token() -> None:
    security = {(method, path): operation["security"] for method, path, operation in operations()}

    assert security == {route: [] if who == "anonymous" else [{"bearer": []}] for route, who in EXPECTED.items()}


def test_every_error_is_a_problem_document() -> None:
    errors = {
        json.dumps(response["content"], sort_keys=True)
        for _, _, operation in operations()
        for status, response in operation["responses"].items()
        if status >= "400"
    }

    assert errors == {
        json.dumps({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}, sort_keys=True)
    }


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


class Rated(DealChange):
    stars: int = 0

    def changes(self, now: datetime) -> dict[str, Any]:
        return {**super().changes(now), "rated": True}


class Sized(DealChange):
    size: str = ""


@pytest.fixture
def two_features(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two features that each add a field to the body that changes a deal."""
    added = [SimpleNamespace(BODIES={"DealChange": kind}) for kind in (Rated, Sized)]
    monkeypatch.setattr(features, "roles", lambda _role: added)
    fields.extended.cache_clear()
    yield
    fields.extended.cache_clear()


@pytest.mark.usefixtures("two_features")
def test_fields_that_features_add_to_a_body_are_checked_with_its_own() -> None:
    change = fields.checked(DealChange, {"title": "Boot", "stars": 3, "size": "L"})

    assert change.changes(NOW) == {"title": "Boot", "stars": 3, "size": "L", "rated": True}
    with pytest.raises(InvalidBody, match="stars"):
        fields.checked(DealChange, {"stars": "three"})
    with pytest.raises(InvalidBody, match="stars"):
        fields.checked(NewDeal, {**DEAL, "stars": 3})
