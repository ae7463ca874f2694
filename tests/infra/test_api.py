"""The API in the template: every route, who may call it, and what the gateway says by itself."""

from __future__ import annotations

import json

import pytest

from infra.api import REFUSALS
from infra.routes import ROUTES, Caller, Route
from tests.infra.conftest import Synthesized


def _path(dev: Synthesized, resource: object) -> str:
    match resource:
        case {"Fn::GetAtt": [_, "RootResourceId"]}:
            return ""
        case {"Ref": name}:
            properties = dev.template["Resources"][name]["Properties"]
            return f"{_path(dev, properties['ParentId'])}/{properties['PathPart']}"
    raise AssertionError(resource)


@pytest.fixture(scope="session")
def deployed(dev: Synthesized) -> set[Route]:
    """The routes as the template has them."""
    routes = set()
    for method in dev.resources("AWS::ApiGateway::Method").values():
        properties = method["Properties"]
        uri = json.dumps(properties["Integration"]["Uri"])
        (module,) = (
            dev.template["Resources"][name]["Properties"]["Handler"].split(".")[-1]
            for name in dev.resources("AWS::Lambda::Function")
            if f'"{name}"' in uri
        )
        caller = Caller.SIGNED_IN if properties["AuthorizationType"] == "CUSTOM" else Caller.ANYONE
        routes.add(Route(properties["HttpMethod"], _path(dev, properties["ResourceId"]), module, caller))
    return routes


def test_every_route_is_deployed_with_its_function_and_its_authorizer(deployed: set[Route]) -> None:
    assert deployed == set(ROUTES)


def test_no_route_that_writes_is_open_but_signing_up_and_signing_in(deployed: set[Route]) -> None:
    open_writes = {
        (route.method, route.path) for route in deployed if route.caller is Caller.ANYONE and route.method != "GET"
    }

    assert open_writes == {("POST", "/users"), ("POST", "/sessions")}


def test_signing_out_takes_effect_at_once(dev: Synthesized) -> None:
    authorizer = dev.only("AWS::ApiGateway::Authorizer")["Properties"]

    assert authorizer["AuthorizerResultTtlInSeconds"] == 0
    assert authorizer["IdentitySource"] == "method.request.header.Authorization"


def test_the_version_is_the_stage_so_the_path_is_the_same_on_every_host(dev: Synthesized) -> None:
    assert dev.only("AWS::ApiGateway::Stage")["Properties"]["StageName"] == "v1"


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_all_is_throttled_and_what_hashes_passwords_more(request: pytest.FixtureRequest, stage: str) -> None:
    synthesized: Synthesized = request.getfixturevalue(stage)
    settings = {
        (each["HttpMethod"], each["ResourcePath"]): (each["ThrottlingRateLimit"], each["ThrottlingBurstLimit"])
        for each in synthesized.only("AWS::ApiGateway::Stage")["Properties"]["MethodSettings"]
    }

    whole = settings.pop(("*", "/*"))

    assert min(whole) > 0
    # In CloudFormation a path is written with its slashes as ~1.
    assert set(settings) == {("POST", "/~1users"), ("POST", "/~1sessions")}
    for rate, burst in settings.values():
        assert 0 < rate < whole[0]
        assert 0 < burst < whole[1]


def test_what_the_gateway_says_by_itself_is_problem_json_with_the_status_it_has(dev: Synthesized) -> None:
    answers = [each["Properties"] for each in dev.resources("AWS::ApiGateway::GatewayResponse").values()]

    assert {answer["ResponseType"] for answer in answers} == set(REFUSALS)
    for answer in answers:
        headers = answer["ResponseParameters"]
        problem = json.loads(answer["ResponseTemplates"]["application/json"])
        assert headers["gatewayresponse.header.Content-Type"] == "'application/problem+json'"
        assert set(problem) == {"type", "title", "status", "detail"}
        assert str(problem["status"]) == answer["StatusCode"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("UNAUTHORIZED", 401),
        ("ACCESS_DENIED", 401),
        ("MISSING_AUTHENTICATION_TOKEN", 404),
        ("THROTTLED", 429),
        ("REQUEST_TOO_LARGE", 413),
        ("UNSUPPORTED_MEDIA_TYPE", 415),
        ("BAD_REQUEST_BODY", 400),
    ],
)
def test_the_gateway_uses_the_contracts_statuses(dev: Synthesized, kind: str, status: int) -> None:
    (answer,) = (
        each["Properties"]
        for each in dev.resources("AWS::ApiGateway::GatewayResponse").values()
        if each["Properties"]["ResponseType"] == kind
    )

    assert answer["StatusCode"] == str(status)
