"""The OpenAPI document: generated from the code, written to a file, and the same as the contract and the gateway."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

from functions.api import accounts, catalog, editors, members, openapi, orders
from infra.routes import ROUTES, Caller
from shared.errors import IdempotencyKeyReused

CONTRACT = """
anonymous  GET     /front-page
anonymous  GET     /editors-choice
anonymous  GET     /deals
anonymous  GET     /deals/{dealId}
anonymous  GET     /popular
anonymous  GET     /brands
anonymous  GET     /brands/{brand}
anonymous  GET     /brands/{brand}/deals
anonymous  GET     /categories
anonymous  GET     /categories/{category}
anonymous  GET     /categories/{category}/deals
anonymous  POST    /users
anonymous  POST    /sessions
anonymous  POST    /password-resets
anonymous  POST    /passwords
anonymous  POST    /email-verifications
member     POST    /me/email-verifications
member     DELETE  /sessions/current
member     DELETE  /sessions
member     GET     /me
member     PATCH   /me
member     DELETE  /me
member     GET     /me/watches
member     GET     /me/alerts
member     POST    /me/alerts
member     PUT     /me/alerts/deals/{dealId}
member     DELETE  /me/alerts/{alertId}
member     GET     /me/feed
member     POST    /me/feed
member     DELETE  /me/feed
member     PUT     /brands/{brand}/like
member     DELETE  /brands/{brand}/like
member     PUT     /brands/{brand}/watch
member     DELETE  /brands/{brand}/watch
member     PUT     /categories/{category}/like
member     DELETE  /categories/{category}/like
member     PUT     /categories/{category}/watch
member     DELETE  /categories/{category}/watch
member     PUT     /deals/{dealId}/vote/up
member     PUT     /deals/{dealId}/vote/down
member     DELETE  /deals/{dealId}/vote
member     GET     /messages
member     GET     /messages/unread-count
member     PUT     /messages/{messageId}/read
member     POST    /messages/read-all
editor     POST    /deals
editor     PATCH   /deals/{dealId}
editor     PUT     /deals/{dealId}/hot
editor     GET     /deals/{dealId}/hot
editor     GET     /deals/{dealId}/log
editor     GET     /deals/{dealId}/picture
editor     POST    /pictures
editor     POST    /brands
editor     GET     /me/drafts
editor     POST    /me/drafts
editor     GET     /me/drafts/{draftId}
editor     PUT     /me/drafts/{draftId}
editor     POST    /me/drafts/{draftId}
editor     DELETE  /me/drafts/{draftId}
editor     PUT     /front-page/featured
editor     PUT     /editors-choice/featured
editor     PUT     /categories/{category}/featured
member     PUT     /me/addresses/{name}
member     DELETE  /me/addresses/{name}
member     GET     /me/cart
member     PUT     /me/cart/{dealId}
member     DELETE  /me/cart/{dealId}
member     POST    /orders
member     GET     /orders
member     GET     /orders/{orderId}
member     POST    /orders/{orderId}/cancel
editor     PUT     /orders/{orderId}/status
editor     GET     /open-orders
editor     GET     /customers/{username}
editor     GET     /deals/{dealId}/stock
editor     PUT     /deals/{dealId}/stock
anonymous  GET     /openapi.json
anonymous  GET     /docs
"""
"""The table of the REST API's contract, the progress of a hot deal, and the two routes of the documentation."""

EXPECTED = {(method, path): who for who, method, path in map(str.split, CONTRACT.strip().splitlines())}

DOCUMENT: dict[str, Any] = json.loads(openapi.PATH.read_text(encoding="utf-8"))

APPS = {
    "catalog": catalog.app,
    "accounts": accounts.app,
    "members": members.app,
    "orders": orders.app,
    "editors": editors.app,
}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_the_written_document_is_what_the_code_says() -> None:
    written = openapi.PATH.read_text(encoding="utf-8")

    assert written == openapi.text(), "run python -m functions.api.openapi"


def test_the_document_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()

    assert DOCUMENT["openapi"] == "3.1.0"


def test_the_document_has_the_routes_of_the_contract_and_no_other() -> None:
    documented = {(method, path): operation["tags"][0] for method, path, operation in operations()}

    assert documented == EXPECTED


def test_the_gateway_has_the_routes_of_the_contract_and_no_other() -> None:
    deployed = [(route.method, route.path) for route in ROUTES]

    assert sorted(deployed) == sorted(EXPECTED)


def test_the_gateway_asks_for_a_session_where_the_contract_does() -> None:
    signed_in = {(route.method, route.path) for route in ROUTES if route.caller is Caller.SIGNED_IN}

    assert signed_in == {route for route, who in EXPECTED.items() if who != "anonymous"}


def test_the_gateway_sends_each_route_to_the_function_that_has_it() -> None:
    offered = {
        (method.upper(), openapi._camel_path(path)): function
        for function, app in APPS.items()
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

    assert {route for route, schemes in security.items() if not schemes} == {
        route for route, who in EXPECTED.items() if who == "anonymous"
    }
    assert all(schemes in ([], [{"bearer": []}]) for schemes in security.values())


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


def test_every_operation_has_an_id_of_its_own_and_a_summary() -> None:
    ids = [operation["operationId"] for _, _, operation in operations()]

    assert len(ids) == len(set(ids)) == len(EXPECTED)
    assert all(operation["summary"] for _, _, operation in operations())


def test_every_parameter_of_a_path_is_documented() -> None:
    for _, path, operation in operations():
        named = {part.strip("{}") for part in path.split("/") if part.startswith("{")}
        documented = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
        assert documented == named
