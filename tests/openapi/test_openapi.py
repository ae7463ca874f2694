"""The OpenAPI document: generated from the code, written to a file, and with the routes of the gateway."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

from functions.api import openapi
from infra.routes import ROUTES, Caller, Route
from shared.errors import IdempotencyKeyReused

OF_EDITORS_IN_THE_SHOP = {
    ("PUT", "/orders/{orderId}/status"),
    ("GET", "/open-orders"),
    ("GET", "/customers/{username}"),
    ("GET", "/deals/{dealId}/stock"),
    ("PUT", "/deals/{dealId}/stock"),
}


def who(route: Route) -> str:
    """Who may call one of the gateway's routes."""
    if route.caller is Caller.ANYONE:
        return "anonymous"
    of_editors = route.function == "editors" or (route.method, route.path) in OF_EDITORS_IN_THE_SHOP
    return "editor" if of_editors else "member"


EXPECTED = {(route.method, route.path): who(route) for route in ROUTES}

DOCUMENT: dict[str, Any] = json.loads(openapi.PATH.read_text(encoding="utf-8"))


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


def test_the_document_has_the_routes_of_the_gateway_and_says_who_may_call_them() -> None:
    documented = {(method, path): operation["tags"] for method, path, operation in operations()}

    assert documented == {route: [who] for route, who in EXPECTED.items()}


def test_the_gateway_sends_each_route_to_the_function_that_has_it() -> None:
    apps = {route.function: import_module(f"functions.api.{route.function}").app for route in ROUTES}

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
