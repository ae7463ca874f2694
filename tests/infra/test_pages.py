"""The pages' API in the template: which function a path leads to, its address, and what the gateway says by itself."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from infra.cdn import PAGE_QUERY
from infra.functions import BY_NAME, FUNCTIONS
from infra.gateway import REFUSALS
from infra.settings import STAGES, Domain
from shared.data import keys
from shared.html.form_cost import FOLLOWERS
from tests.infra.conftest import Synthesized, synthesize
from tests.infra.test_api import methods
from tests.support.rights import Ask

OWN = Domain("deals.example", "arn:aws:acm:eu-central-1:111122223333:certificate/1")
SHOWN = {row.name for row in FUNCTIONS if row.shows_work}
PAGES = {row.name: row.pages for row in FUNCTIONS if row.pages is not None}


@pytest.fixture(scope="module")
def named() -> Synthesized:
    """A stage with a domain of its own."""
    return synthesize(replace(STAGES["dev"], domain=OWN))


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

    assert {answer["ResponseType"] for answer in answers} == set(REFUSALS)
    for answer in answers:
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
    assert domain["SecurityPolicy"] == "TLS_1_2"
    assert named.variables("site")["SITE_ORIGIN"] == "https://deals.example"
    assert named.variables("site")["SITE_BASE"] == ""
    assert named.template["Outputs"]["SiteUrl"]["Value"] == "https://deals.example/"


def test_behind_cloudfront_pages_have_no_prefix_and_know_its_name_where_it_has_one(everything: Synthesized) -> None:
    assert everything.variables("site")["SITE_BASE"] == ""
    assert everything.variables("site")["SITE_ORIGIN"] == "https://deals.example"
    assert everything.template["Outputs"]["SiteUrl"]["Value"] == "https://deals.example/"


def test_what_a_page_took_is_shown_on_dev_and_the_laptop_and_never_on_prod(dev: Synthesized, prod: Synthesized) -> None:
    def told(stage: Synthesized) -> set[str]:
        return {module for module in stage.modules() if "SHOWS_WORK" in stage.variables(module)}

    assert SHOWN
    assert set(dev.modules()) >= SHOWN
    assert told(dev) == {row.name for row in FUNCTIONS if row.access} & set(dev.modules())  # others have no table
    assert SHOWN.isdisjoint(prod.modules())
    assert told(prod) == set()
    assert {name for name, stage in STAGES.items() if stage.shows_work} == {"dev", "local"}


def test_traces_are_kept_and_read_where_work_is_shown_and_nowhere_else(dev: Synthesized, prod: Synthesized) -> None:
    place = keys.trace_steps(keys.deal("1")["PK"])

    def may(stage: Synthesized, *operations: str) -> set[str]:
        asks = [Ask(operation, (place,)) for operation in operations]
        return {module for module in stage.modules() if any(map(stage.policy(module).allows, asks))}

    assert may(dev, "PutItem") == {row.name for row in FUNCTIONS if row.traced}
    assert may(dev, "Query") == {row.name for row in FUNCTIONS if row.pages is not None and row.access}
    assert may(dev, "GetItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert") == set()
    assert may(prod, "PutItem", "Query", "GetItem", "UpdateItem", "DeleteItem", "PartiQLInsert") == set()


def test_behind_cloudfront_a_trace_is_asked_for_by_its_id_where_work_is_shown(everything: Synthesized) -> None:
    policy = everything.only("AWS::CloudFront::CachePolicy", "CdnPublicPages")["CachePolicyConfig"]

    key = policy["ParametersInCacheKeyAndForwardedToOrigin"]
    assert key["QueryStringsConfig"] == {"QueryStringBehavior": "all"}
    assert len({"trace", *PAGE_QUERY}) > 10  # as many as a policy may name


def test_a_form_is_said_to_be_followed_by_the_functions_whose_filters_want_its_items() -> None:
    for row in FUNCTIONS:
        filters = [each["dynamodb"] for each in (row.reads.filters if row.reads else ())]
        types = {each for image in filters for each in image.get("NewImage", {}).get("Type", {}).get("S", ())}
        assert types == set(FOLLOWERS.get(row.name, ()))


def test_its_stage_waits_for_the_role_that_writes_the_logs_of_both_apis(dev: Synthesized) -> None:
    (account,) = dev.resources("AWS::ApiGateway::Account")

    for stage in dev.resources("AWS::ApiGateway::Stage").values():
        assert account in stage["DependsOn"]
