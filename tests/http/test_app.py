"""Answers to requests, as the API and the pages share them.

The parts of an API Gateway event that are read.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from shared.api import app
from shared.http.answers import json_answer
from shared.http.app import Guard
from shared.http.requests import Event, path
from tests.support.events import event


def _served(*guards: Guard) -> Any:
    """A function that answers two routes, one of them by a fault."""
    made = app.create_app()

    @made.get("/broken/<name>")
    def _broken(name: str) -> Any:
        return {"known": None}[name]

    @made.get("/deals/<deal_id>")
    def _deal(deal_id: str) -> Any:
        return json_answer({"dealId": deal_id})

    return app.serve(made, *guards)


def _asked(method: str, path: str = "/deals/1") -> dict[str, Any]:
    return event("catalog-brand-page") | {"httpMethod": method, "path": path, "resource": "/deals/{dealId}"}


def test_head_is_answered_as_get_is_without_the_body(context: LambdaContext) -> None:
    function = _served()
    wanted = function(_asked("GET"), context)

    answer = function(_asked("HEAD"), context)

    assert answer["body"] == ""
    assert wanted["body"] != ""
    assert (answer["statusCode"], answer["multiValueHeaders"]) == (wanted["statusCode"], wanted["multiValueHeaders"])


def _fails(event: Event) -> None:
    raise KeyError(event["path"])


@pytest.mark.parametrize(("path", "guards"), [("/broken/1", []), ("/deals/1", [_fails])], ids=["route", "guard"])
def test_a_fault_of_ours_is_a_problem_that_names_the_request(
    context: LambdaContext, path: str, guards: list[Guard]
) -> None:
    asked = _asked("GET", path)

    answer = _served(*guards)(asked, context)

    problem = json.loads(answer["body"])
    assert (answer["statusCode"], problem["status"]) == (500, 500)
    assert answer["multiValueHeaders"]["Content-Type"] == ["application/problem+json"]
    assert asked["requestContext"]["requestId"] in problem["detail"]


def test_a_path_that_holds_its_base_path_is_understood(context: LambdaContext) -> None:
    answer = _served()(_asked("GET", "/v1/deals/1"), context)

    assert answer["statusCode"] == 200
    assert answer["body"] == '{"dealId": "1"}'


@pytest.mark.parametrize(
    ("asked", "resource", "parameters", "found"),
    [
        ("/deals", "/deals", None, "/deals"),
        ("/v1/deals", "/deals", None, "/deals"),
        ("/shop/api/deals", "/deals", None, "/deals"),
        ("/v1/deals/", "/deals", None, "/deals/"),
        ("/v1/brands/g%2Ffore/deals", "/brands/{brand}/deals", {"brand": "g%2Ffore"}, "/brands/g%2Ffore/deals"),
        ("/v1/v1/deals", "/{proxy+}", {"proxy": "v1/deals"}, "/v1/deals"),
        ("/web/brands/allbirds", "/{proxy+}", {"proxy": "brands/allbirds"}, "/brands/allbirds"),
        ("/web/my/saved", "/my/{proxy+}", {"proxy": "saved"}, "/my/saved"),
        ("/web", "/", None, "/"),
        ("/", "/", None, "/"),
    ],
)
def test_the_base_path_of_a_custom_domain_is_not_part_of_the_path(
    asked: str, resource: str, parameters: dict[str, str] | None, found: str
) -> None:
    event: dict[str, Any] = {"path": asked, "resource": resource, "pathParameters": parameters}

    assert path(event) == found
