"""The gateways of API and pages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Template
from jsonschema import Draft4Validator

from infra.functions import BY_NAME, FUNCTIONS, ROUTES, Audience, Route
from infra.gateway import REFUSALS, SiteApi
from infra.settings import STAGES
from infra.stage import Domain
from local.settings import ROOT
from shared.api.app import PASSWORD_PATHS
from tests.infra.conftest import UNCOPIED, Synthesized, synthesize
from tests.support.cases import cases


def path_of(dev: Synthesized, resource: object) -> str:
    """The path of a resource of an API."""
    match resource:
        case {"Fn::GetAtt": [_, "RootResourceId"]}:
            return ""
        case {"Ref": name}:
            properties = dev.template["Resources"][name]["Properties"]
            return f"{path_of(dev, properties['ParentId'])}/{properties['PathPart']}"
    raise AssertionError(resource)


def methods(stage: Synthesized, gateway: str = "Gateway") -> dict[tuple[str, str], dict[str, Any]]:
    """The properties of all methods of a gateway, by method and path."""
    found = stage.all("AWS::ApiGateway::Method", gateway)
    return {(each["HttpMethod"], path_of(stage, each["ResourceId"])): each for each in found}


@pytest.fixture(scope="module")
def browsers() -> Synthesized:
    """A stage that other sites' pages may call."""
    stage = replace(STAGES["dev"], cors_origins=("https://app.example", "https://other.example"))
    return synthesize(stage)


@pytest.fixture(scope="module")
def deployed(dev: Synthesized) -> set[Route]:
    """The routes as the template has them."""
    routes = set()
    for (verb, path), method in methods(dev).items():
        uri = json.dumps(method["Integration"]["Uri"])
        (module,) = (module for module, name in dev.modules().items() if f'"{name}"' in uri)
        caller = Audience.SIGNED_IN if method["AuthorizationType"] == "CUSTOM" else Audience.ANYONE
        routes.add(Route(verb, path, module, caller))
    return routes


def test_every_route_is_deployed_with_its_function_and_its_authorizer(deployed: set[Route]) -> None:
    assert {route for route in deployed if route.method != "HEAD"} == set(ROUTES)


@pytest.mark.parametrize("gateway", ["Gateway", "Pages"])
def test_no_reader_waits_longer_than_ten_seconds_for_a_function_that_starts(dev: Synthesized, gateway: str) -> None:
    waits = {each["Integration"]["TimeoutInMillis"] for each in methods(dev, gateway).values()}

    assert waits == {10_000}


def test_no_route_that_writes_is_open_except_signing_up_and_in_and_those_of_features(
    deployed: set[Route],
) -> None:
    open_writes = {
        (route.method, route.path)
        for route in deployed
        if route.caller is Audience.ANYONE and route.method not in ("GET", "HEAD")
    }

    assert open_writes == {("POST", path) for path in (*PASSWORD_PATHS, *cases("OPEN_WRITES"))}


def test_head_is_asked_of_the_function_and_with_the_session_that_answer_get(deployed: set[Route]) -> None:
    """A REST API refuses methods that a resource does not have, HEAD too.

    docs.aws.amazon.com/apigateway/latest/developerguide/how-to-method-settings.html
    """
    read, asked = (
        {replace(route, method="") for route in deployed if route.method == method} for method in ("GET", "HEAD")
    )

    assert asked == read


def test_browsers_may_ask_of_every_path_where_other_sites_may_call(browsers: Synthesized) -> None:
    asked = {
        path: json.dumps(method["Integration"]["Uri"])
        for (verb, path), method in methods(browsers).items()
        if verb in ("OPTIONS", "ANY") and method["AuthorizationType"] == "NONE"
    }
    told = {module for module in browsers.modules() if "CORS_ORIGINS" in browsers.variables(module)}

    assert set(asked) == {route.path for route in ROUTES}
    assert all('"Catalog' in uri for uri in asked.values())  # it is open to all and cannot write
    assert told >= {route.function for route in ROUTES}
    assert browsers.variables("catalog")["CORS_ORIGINS"] == "https://app.example https://other.example"
    assert not told & {"site", "account", "publisher"}
    # What the gateway answers by itself may be read, too.
    for answer in browsers.all("AWS::ApiGateway::GatewayResponse", "Gateway"):
        assert answer["ResponseParameters"]["gatewayresponse.header.Access-Control-Allow-Origin"] == "'*'"


def test_where_methods_share_one_each_route_still_has_its_function_and_its_authorizer(browsers: Synthesized) -> None:
    deployed = methods(browsers)

    for route in ROUTES:
        method = deployed.get((route.method, route.path)) or deployed["ANY", route.path]
        assert f'"{route.function.capitalize()}' in json.dumps(method["Integration"]["Uri"]), route
        assert method["AuthorizationType"] == ("CUSTOM" if route.caller is Audience.SIGNED_IN else "NONE"), route


def test_no_browser_may_ask_unless_the_stage_says_so(dev: Synthesized) -> None:
    assert "OPTIONS" not in {verb for verb, _ in methods(dev)}
    assert "CORS_ORIGINS" not in json.dumps(dev.template)
    assert "Access-Control" not in json.dumps(dev.template)


def test_signing_out_takes_effect_at_once(dev: Synthesized) -> None:
    authorizer = dev.only("AWS::ApiGateway::Authorizer")

    assert authorizer["AuthorizerResultTtlInSeconds"] == 0
    assert authorizer["IdentitySource"] == "method.request.header.Authorization"


def test_a_change_of_the_authorizer_is_deployed() -> None:
    """The CDK makes a new deployment of what changes; of an authorizer it does so only by a flag of cdk.json."""

    def deployment(seconds: int) -> str:
        stack = cdk.Stack(cdk.App(context=UNCOPIED), "Stack")
        code = lambda_.Code.from_inline("def handler(event, context): return {}")
        function = lambda_.Function(
            stack, "Function", runtime=lambda_.Runtime.PYTHON_3_13, handler="index.handler", code=code
        )
        api = apigateway.RestApi(stack, "Api")
        authorizer = apigateway.RequestAuthorizer(
            stack,
            "Authorizer",
            handler=function,
            identity_sources=[apigateway.IdentitySource.header("Authorization")],
            results_cache_ttl=cdk.Duration.seconds(seconds),
        )
        api.root.add_method("GET", apigateway.LambdaIntegration(function), authorizer=authorizer)
        (name,) = Template.from_stack(stack).find_resources("AWS::ApiGateway::Deployment")
        return str(name)

    assert deployment(0) != deployment(60)


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_all_is_throttled_and_what_hashes_passwords_more(request: pytest.FixtureRequest, stage: str) -> None:
    synthesized: Synthesized = request.getfixturevalue(stage)
    settings = {
        (each["HttpMethod"], each["ResourcePath"]): (each["ThrottlingRateLimit"], each["ThrottlingBurstLimit"])
        for each in synthesized.only("AWS::ApiGateway::Stage", "Gateway")["MethodSettings"]
    }

    whole = settings.pop(("*", "/*"))

    assert min(whole) > 0
    # In CloudFormation a path is written with its slashes as ~1.
    assert set(settings) == {("POST", f"/{path.replace('/', '~1')}") for path in PASSWORD_PATHS}
    for rate, burst in settings.values():
        assert 0 < rate < whole[0]
        assert 0 < burst < whole[1]


def protects(headers: Mapping[str, str]) -> None:
    """What the gateway says by itself can't be framed, runs nothing, and keeps browsers on HTTPS."""
    assert headers["gatewayresponse.header.Strict-Transport-Security"] == "'max-age=31536000'"
    assert headers["gatewayresponse.header.Content-Security-Policy"] == "'sandbox'"
    assert headers["gatewayresponse.header.X-Frame-Options"] == "'DENY'"
    assert headers["gatewayresponse.header.X-Content-Type-Options"] == "'nosniff'"


def test_what_the_gateway_says_by_itself_is_problem_json_with_the_statuses_of_the_openapi_document(
    dev: Synthesized,
) -> None:
    answers = {each["ResponseType"]: each for each in dev.all("AWS::ApiGateway::GatewayResponse", "Gateway")}
    expected = {
        "UNAUTHORIZED": "401",
        "ACCESS_DENIED": "401",
        # A path that is not there, too, which the gateway takes for a signature that is missing.
        "DEFAULT_4XX": "404",
        "THROTTLED": "429",
        "BAD_REQUEST_BODY": "400",
    }

    assert set(answers) == set(REFUSALS)
    assert {kind: answers[kind]["StatusCode"] for kind in expected} == expected
    for answer in answers.values():
        headers = answer["ResponseParameters"]
        protects(headers)
        problem = json.loads(answer["ResponseTemplates"]["application/json"])
        assert headers["gatewayresponse.header.Content-Type"] == "'application/problem+json'"
        assert set(problem) == {"type", "title", "status", "detail"}
        assert str(problem["status"]) == answer["StatusCode"]


def test_every_request_is_one_line_of_json_in_a_log_of_its_own(dev: Synthesized) -> None:
    settings = dev.only("AWS::ApiGateway::Stage", "Gateway")["AccessLogSetting"]

    line = json.loads(settings["Format"])

    assert line["requestId"] == "$context.requestId"
    assert all(re.fullmatch(r"\$context\.[A-Za-z.]+", variable) for variable in line.values())
    assert settings["DestinationArn"]["Fn::Join"][1][-1]["Ref"] in dev.resources("AWS::Logs::LogGroup")


def test_neither_log_of_the_gateway_holds_what_was_sent(prod: Synthesized) -> None:
    stage = prod.only("AWS::ApiGateway::Stage", "Gateway")

    # Nor the path itself: it may hold a name that a member gave an address.
    assert not re.search(r"header|body|query|\$input|context\.path\b", stage["AccessLogSetting"]["Format"])
    assert json.loads(stage["AccessLogSetting"]["Format"])["route"] == "$context.resourcePath"
    for settings in stage["MethodSettings"]:
        assert (settings["LoggingLevel"], settings["DataTraceEnabled"]) == ("ERROR", False)


def test_the_log_that_the_gateway_would_make_for_itself_is_there_before(prod: Synthesized) -> None:
    (api,) = prod.resources("AWS::ApiGateway::RestApi", "Gateway")
    name = {"Fn::Join": ["", ["API-Gateway-Execution-Logs_", {"Ref": api}, "/v1"]]}

    logs = prod.resources("AWS::Logs::LogGroup")
    (error_log,) = (log_id for log_id, each in logs.items() if each["Properties"].get("LogGroupName") == name)

    (stage,) = prod.resources("AWS::ApiGateway::Stage", "Gateway").values()
    assert error_log in stage["DependsOn"]


def test_the_version_is_the_stage_and_old_tls_is_refused(dev: Synthesized) -> None:
    api = dev.only("AWS::ApiGateway::RestApi", "Gateway")

    # So the path is the same on every host.
    assert dev.only("AWS::ApiGateway::Stage", "Gateway")["StageName"] == "v1"
    # 1.2 with ciphers of perfect forward secrecy, and 1.3; the gateway's own choice begins with 1.0.
    assert api["SecurityPolicy"] == "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09"


def test_every_method_checks_that_its_path_is_whole(dev: Synthesized) -> None:
    (validator,) = dev.resources("AWS::ApiGateway::RequestValidator", "Gateway")

    for (_, path), method in methods(dev).items():
        named = {f"method.request.path.{name}": True for name in re.findall(r"{(\w+)}", path)}
        assert method["RequestValidatorId"] == {"Ref": validator}
        assert method.get("RequestParameters", {}) == named


def test_bodies_are_checked_where_the_stage_says_so_on_every_route_that_takes_one(
    dev: Synthesized, everything: Synthesized
) -> None:
    document = json.loads((ROOT / "functions" / "api" / "openapi.json").read_text())
    takes_one = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }

    modelled = {
        route: method["RequestModels"] for route, method in methods(everything).items() if "RequestModels" in method
    }

    assert set(modelled) == takes_one
    assert {tuple(models) for models in modelled.values()} == {("application/json",)}
    assert not [method for method in methods(dev).values() if "RequestModels" in method]


def test_the_gateway_refuses_what_is_malformed_and_leaves_fields_to_the_functions(everything: Synthesized) -> None:
    schema = everything.only("AWS::ApiGateway::Model")["Schema"]
    model = Draft4Validator(schema)

    Draft4Validator.check_schema(schema)
    objects: list[Any] = [{}, {"title": 1}, {"nonsense": []}]
    others: list[Any] = [[], [{}], "text", 1, True, None]
    assert all(model.is_valid(body) for body in objects)
    assert not any(model.is_valid(body) for body in others)


OWN = Domain("deals.example", "arn:aws:acm:eu-central-1:111122223333:certificate/1", zone_id="Z0123456789ABCDEFGHIJ")
SHOWN = {row.name for row in FUNCTIONS if row.shows_work}
PAGES = {row.name: row.pages for row in FUNCTIONS if row.pages is not None}


@pytest.fixture(scope="module")
def named() -> Synthesized:
    """A stage with a domain of its own."""
    return synthesize(replace(STAGES["dev"], domain=OWN))


def test_the_name_leads_to_the_apis_in_its_own_zone(named: Synthesized) -> None:
    record = named.only("AWS::Route53::RecordSet")
    (own,) = named.resources("AWS::ApiGateway::DomainName")

    assert (record["Name"], record["Type"], record["HostedZoneId"]) == ("deals.example", "A", OWN.zone_id)
    assert record["AliasTarget"]["DNSName"] == {"Fn::GetAtt": [own, "RegionalDomainName"]}


def test_the_first_part_of_a_path_decides_the_function(dev: Synthesized) -> None:
    leads = {route: json.dumps(method["Integration"]["Uri"]) for route, method in methods(dev, "Pages").items()}

    for function, prefix in PAGES.items():
        logical_id = dev.modules()[function]
        for path in (prefix, f"{prefix}/{{proxy+}}"):
            assert f'"{logical_id}"' in leads.pop(("ANY", path)), path
        if BY_NAME[function].takes_passwords:
            assert f'"{logical_id}"' in leads.pop(("POST", f"{prefix}/{{proxy+}}"))
    assert leads == {}


def test_posts_that_hash_passwords_are_throttled_more(dev: Synthesized) -> None:
    settings = {
        (each["HttpMethod"], each["ResourcePath"]): each["ThrottlingRateLimit"]
        for each in dev.only("AWS::ApiGateway::Stage", "Pages")["MethodSettings"]
    }

    assert settings[("POST", "/~1account~1{proxy+}")] < settings[("*", "/*")]


def test_what_the_gateway_says_by_itself_is_a_page_that_leads_on(dev: Synthesized) -> None:
    answers = dev.all("AWS::ApiGateway::GatewayResponse", "Pages")

    assert {answer["ResponseType"] for answer in answers} == set(REFUSALS) - {*SiteApi.never}
    for answer in answers:
        protects(answer["ResponseParameters"])
        page = answer["ResponseTemplates"]["application/json"]
        assert answer["ResponseParameters"]["gatewayresponse.header.Content-Type"] == "'text/html; charset=utf-8'"
        assert page.startswith("<!doctype html>")
        assert '<a href="/web/">' in page
        # Either would be a variable of the gateway's templates.
        assert not set(page) & set("$#")


def test_without_a_domain_the_site_is_at_the_gateways_own_address_below_its_stage(dev: Synthesized) -> None:
    (api,) = dev.resources("AWS::ApiGateway::RestApi", "Pages")

    for function in PAGES:
        variables = dev.variables(function)
        assert variables["SITE_BASE"] == "/web"
        assert {"Ref": api} in variables["SITE_ORIGIN"]["Fn::Join"][1]
    assert dev.template["Outputs"]["SiteUrl"]["Value"]["Fn::Join"][1][-1] == "/"


def test_a_domain_leads_to_the_pages_at_its_root_and_to_the_api_below_its_version(named: Synthesized) -> None:
    def api(gateway: str) -> dict[str, str]:
        (name,) = named.resources("AWS::ApiGateway::RestApi", gateway)
        return {"Ref": name}

    mappings = named.all("AWS::ApiGateway::BasePathMapping")
    domain = named.only("AWS::ApiGateway::DomainName")

    assert {each.get("BasePath"): each["RestApiId"] for each in mappings} == {None: api("Pages"), "v1": api("Gateway")}
    assert (domain["DomainName"], domain["RegionalCertificateArn"]) == (OWN.name, OWN.certificate_arn)
    assert domain["SecurityPolicy"] == named.only("AWS::ApiGateway::RestApi", "Pages")["SecurityPolicy"]
    assert named.variables("site")["SITE_ORIGIN"] == "https://deals.example"
    assert named.variables("site")["SITE_BASE"] == ""
    assert named.template["Outputs"]["SiteUrl"]["Value"] == "https://deals.example/"


def test_its_stage_waits_for_the_role_that_writes_the_logs_of_both_apis(dev: Synthesized) -> None:
    (account,) = dev.resources("AWS::ApiGateway::Account")

    for stage in dev.resources("AWS::ApiGateway::Stage").values():
        assert account in stage["DependsOn"]
