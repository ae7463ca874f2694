"""Bodies that the gateway checks itself, as on a stage with ``checks_bodies``: one route of the site is made so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from infra.gateway import REFUSALS
from tests.e2e.plumbing import client
from tests.support.contract import assert_problem
from tests.support.site import Site, Visitor, fresh

pytestmark = pytest.mark.thorough  # about MiniStack, not about our code

JSON = {"Content-Type": "application/json"}

AT_THE_GATEWAY = REFUSALS["BAD_REQUEST_BODY"][1]
"""The gateway's own words: a function that was asked has others."""


@pytest.fixture(autouse=True, scope="module")
def checked(site: Site) -> Iterator[None]:
    """``POST /brands`` with the validator and the model of ``infra/api.py``."""
    gateway = client(site, "apigateway")
    resources = gateway.get_resources(restApiId=site.api_id, limit=500)["items"]
    (brands,) = (each["id"] for each in resources if each["path"] == "/brands")
    named: dict[str, Any] = {"restApiId": site.api_id, "resourceId": brands, "httpMethod": "POST"}
    method = gateway.get_method(**named)
    integration = method["methodIntegration"]

    def put(models: dict[str, str]) -> None:
        # Put as a whole, for MiniStack does not read the path of a patch that names a media type.
        gateway.put_method(
            **named,
            authorizationType=method["authorizationType"],
            authorizerId=method["authorizerId"],
            requestValidatorId=validator["id"],
            requestModels=models,
        )
        gateway.put_integration(**named, type=integration["type"], integrationHttpMethod="POST", uri=integration["uri"])

    validator = gateway.create_request_validator(
        restApiId=site.api_id, name="Validator", validateRequestBody=True, validateRequestParameters=True
    )
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
    gateway.create_model(
        restApiId=site.api_id, name="JsonObject", contentType="application/json", schema=json.dumps(schema)
    )
    put({"application/json": "JsonObject"})
    yield
    put({})
    gateway.delete_model(restApiId=site.api_id, modelName="JsonObject")
    gateway.delete_request_validator(restApiId=site.api_id, requestValidatorId=validator["id"])


@pytest.mark.parametrize("body", ['{"name": ', "name=x", "[" * 20_000, "[]", "null", '"text"'])
def test_what_is_no_json_object_reaches_no_function(editor: Visitor, body: str) -> None:
    answer = editor.post("/brands", content=body, headers=JSON)

    assert_problem(answer, 400)
    assert answer.json()["detail"] == AT_THE_GATEWAY


def test_fields_at_fault_are_still_named_by_the_function(editor: Visitor) -> None:
    assert_problem(editor.post("/brands", json={"name": 1, "PK": "BRAND#x"}), 422, "name", "PK")


def test_what_is_right_passes(editor: Visitor) -> None:
    assert editor.post("/brands", json={"name": fresh("checked")}).status_code == 201


def test_who_is_not_signed_in_is_told_that_first(visitor: Visitor) -> None:
    assert_problem(visitor.post("/brands", content="{", headers=JSON), 401)


def test_ministack_checks_bodies_that_are_not_declared_to_be_json(editor: Visitor) -> None:
    """API Gateway checks what it has a model for, by Content-Type, so that the function says 415."""
    answer = editor.post("/brands", content="name=x", headers={"Content-Type": "text/plain"})

    assert_problem(answer, 400)
    assert answer.json()["detail"] == AT_THE_GATEWAY


def test_ministacks_cloudformation_makes_no_validators(site: Site) -> None:
    """Nothing would be checked on the stage ``local``, whatever its settings: the one there is, is this module's."""
    validators = client(site, "apigateway").get_request_validators(restApiId=site.api_id)["items"]

    assert [each["name"] for each in validators] == ["Validator"]
