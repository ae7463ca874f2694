"""CloudFront in the template: what is kept there, what never is, and that nobody gets round it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from infra.cdn import ERRORS, QUERY, CdnStack, cached_patterns, uncached_patterns
from infra.checks import require
from infra.routes import ROUTES
from infra.settings import STAGES, Cdn
from infra.stacks import DealsStack
from tests.infra.conftest import lint
from tests.support.edge import ALL_VIEWER_EXCEPT_HOST, CACHING_DISABLED, Answer, Edge

Json = Mapping[str, Any]

DOCUMENT = json.loads((Path(__file__).parents[2] / "functions" / "api" / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS = [
    (method.upper(), path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]

WITH_A_NAME = Cdn(
    domain_name="deals.example.com",
    certificate_arn="arn:aws:acm:us-east-1:123456789012:certificate/5f0f1c1e-7d0f-4a54-9a5b-0d9d5c2f3a11",
    price_class="PRICE_CLASS_ALL",
    countries=("DE", "US"),
    web_acl_arn="arn:aws:wafv2:us-east-1:123456789012:global/webacl/deals/0a1b2c3d-1111-2222-3333-444455556666",
)


def stacks(cdn: Cdn) -> tuple[cdk.App, DealsStack, CdnStack]:
    """The app of prod with ``cdn``."""
    app, stage = cdk.App(), dataclasses.replace(STAGES["prod"], cdn=cdn)
    deals = DealsStack(app, stage=stage)
    assert deals.origin_secret is not None
    return app, deals, CdnStack(app, stage=stage, cdn=cdn, api=deals.rest_api, secret=deals.origin_secret)


def synthesize(cdn: Cdn) -> tuple[Json, Json]:
    """The templates of the API's stack and of CloudFront's, as prod with ``cdn`` has them."""
    _, deals, edge = stacks(cdn)
    return Template.from_stack(deals).to_json(), Template.from_stack(edge).to_json()


@pytest.fixture(scope="session")
def templates() -> tuple[Json, Json]:
    return synthesize(Cdn())


@pytest.fixture(scope="session")
def api(templates: tuple[Json, Json]) -> Json:
    return templates[0]


@pytest.fixture(scope="session")
def template(templates: tuple[Json, Json]) -> Json:
    return templates[1]


@pytest.fixture(scope="session")
def edge(template: Json) -> Edge:
    return Edge(template, lambda _: Answer(200, {}))


def only(template: Json, kind: str) -> Json:
    """The properties of the only resource of a type."""
    (found,) = (each["Properties"] for each in template["Resources"].values() if each["Type"] == kind)
    return dict(found)


def config(template: Json) -> Json:
    return dict(only(template, "AWS::CloudFront::Distribution")["DistributionConfig"])


def a_path(path: str) -> str:
    """A path of the document with a name in place of each parameter."""
    return "/v1" + path.replace("{dealId}", "3F2VM8K").replace("{brand}", "apple").replace("{category}", "shoes")


@pytest.mark.parametrize(("method", "path"), [(method, path) for method, path, _ in OPERATIONS])
def test_a_route_is_cached_if_it_is_a_public_page_and_only_then(edge: Edge, method: str, path: str) -> None:
    behaviour = edge.behaviour(a_path(path))

    # A behaviour is of a path: what a POST to the path of a page does is not cached for its method.
    page = DOCUMENT["paths"][path].get("get")
    is_public_page = page is not None and not page["security"]
    assert (behaviour["CachePolicyId"] != CACHING_DISABLED) == is_public_page
    assert method in behaviour["AllowedMethods"]
    assert method == "GET" or method not in behaviour.get("CachedMethods", ["GET", "HEAD"])


def test_the_pages_have_the_parameters_that_the_document_gives_them(template: Json) -> None:
    documented = {
        parameter["name"]
        for method, _, operation in OPERATIONS
        if method == "GET" and not operation["security"]
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "query"
    }
    key = only(template, "AWS::CloudFront::CachePolicy")["CachePolicyConfig"]

    assert documented == set(QUERY)
    assert key["ParametersInCacheKeyAndForwardedToOrigin"]["QueryStringsConfig"]["QueryStrings"] == sorted(QUERY)


def test_a_route_that_is_not_known_yet_is_not_cached(edge: Edge) -> None:
    for path in ("/v1/new-page", "/v1/me/new-page", "/v1", "/", "/v1/front-page/featured"):
        assert edge.behaviour(path)["CachePolicyId"] == CACHING_DISABLED


def test_a_members_path_within_a_public_one_comes_first() -> None:
    assert "/v1/deals/*/hot" in uncached_patterns()
    assert "/v1/brands/*/like" in uncached_patterns()
    assert not set(uncached_patterns()) & set(cached_patterns())
    assert len(uncached_patterns()) + len(cached_patterns()) < 25  # CloudFront's quota, with the default behaviour


def test_paths_are_the_same_with_and_without_cloudfront(template: Json) -> None:
    (origin,) = config(template)["Origins"]

    assert "OriginPath" not in origin
    assert all(each["PathPattern"].startswith("/v1/") for each in config(template)["CacheBehaviors"])
    assert template["Outputs"]["CdnUrl"]["Value"]["Fn::Join"][1][-1] == "/v1/"


def test_a_request_with_a_session_reaches_the_origin_with_it(edge: Edge, template: Json) -> None:
    key = only(template, "AWS::CloudFront::CachePolicy")["CachePolicyConfig"]

    headers = key["ParametersInCacheKeyAndForwardedToOrigin"]["HeadersConfig"]

    # CloudFront sends Authorization on where it is part of the key, or where nothing is cached and all headers go.
    assert headers == {"HeaderBehavior": "whitelist", "Headers": ["Authorization"]}
    assert edge.behaviour("/v1/me")["OriginRequestPolicyId"] == ALL_VIEWER_EXCEPT_HOST


def test_the_origin_says_what_is_kept_and_for_how_long(template: Json) -> None:
    key = only(template, "AWS::CloudFront::CachePolicy")["CachePolicyConfig"]

    # With a least time above zero, CloudFront would store what is private.
    assert key["MinTTL"] == key["DefaultTTL"] == 0
    assert key["MaxTTL"] > 0


def test_errors_are_not_kept(template: Json) -> None:
    stated = {each["ErrorCode"]: each for each in config(template)["CustomErrorResponses"]}

    assert set(stated) == set(ERRORS)
    # The errors' own bodies and statuses go out.
    assert all(set(each) == {"ErrorCode", "ErrorCachingMinTTL"} for each in stated.values())
    assert all(each["ErrorCachingMinTTL"] == 0 for each in stated.values())


def test_everything_is_https_compressed_and_has_the_headers_for_browsers(template: Json) -> None:
    (origin,) = config(template)["Origins"]
    behaviours = [config(template)["DefaultCacheBehavior"], *config(template)["CacheBehaviors"]]
    headers = only(template, "AWS::CloudFront::ResponseHeadersPolicy")["ResponseHeadersPolicyConfig"]

    assert {each["ViewerProtocolPolicy"] for each in behaviours} == {"https-only"}
    assert all(each["Compress"] and each["ResponseHeadersPolicyId"] for each in behaviours)
    assert origin["CustomOriginConfig"] == {"OriginProtocolPolicy": "https-only", "OriginSSLProtocols": ["TLSv1.2"]}
    assert config(template)["HttpVersion"] == "http2and3"
    assert headers["SecurityHeadersConfig"]["StrictTransportSecurity"]["AccessControlMaxAgeSec"] >= 31_536_000
    assert headers["SecurityHeadersConfig"]["ContentTypeOptions"]["Override"] is True


def test_the_api_answers_nobody_but_cloudfront(api: Json, template: Json) -> None:
    allow, deny = only(api, "AWS::ApiGateway::RestApi")["Policy"]["Statement"]
    (origin,) = config(template)["Origins"]
    (sent,) = origin["OriginCustomHeaders"]

    assert (allow["Effect"], deny["Effect"]) == ("Allow", "Deny")
    assert deny["Action"] == "execute-api:Invoke"
    asked = deny["Condition"]["StringNotEquals"]["aws:Referer"]
    assert sent["HeaderName"] == "Referer"
    # A reference that CloudFormation resolves, in both; the word itself is in neither template.
    assert asked["Fn::Join"][1][0] == sent["HeaderValue"]["Fn::Join"][1][0] == "{{resolve:secretsmanager:"
    assert asked["Fn::Join"][1][1] == {"Ref": next(name for name in api["Resources"] if "OriginSecret" in name)}


def test_functions_know_that_they_are_behind_cloudfront_and_only_then(api: Json) -> None:
    def told(template: Json) -> set[bool]:
        functions = [
            each["Properties"]
            for each in template["Resources"].values()
            if each["Type"] == "AWS::Lambda::Function"
            if each["Properties"].get("Handler", "").startswith("functions.")
        ]
        return {"BEHIND_CDN" in each["Environment"]["Variables"] for each in functions}

    without = Template.from_stack(DealsStack(cdk.App(), stage=STAGES["prod"])).to_json()

    assert told(api) == {True}
    assert told(without) == {False}
    assert "Policy" not in only(without, "AWS::ApiGateway::RestApi")


def test_the_log_is_private_encrypted_short_lived_and_holds_no_credentials(template: Json) -> None:
    bucket = only(template, "AWS::S3::Bucket")
    fields = only(template, "AWS::Logs::Delivery")["RecordFields"]

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]
    assert bucket["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"] == STAGES["prod"].log_retention_days
    assert not [field for field in fields if "cookie" in field.lower() or "query" in field.lower()]
    assert only(template, "AWS::Logs::DeliverySource")["LogType"] == "ACCESS_LOGS"


def test_a_name_countries_and_a_firewall_are_settings() -> None:
    _, template = synthesize(WITH_A_NAME)

    found = config(template)

    assert found["Aliases"] == ["deals.example.com"]
    assert found["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert found["PriceClass"] == "PriceClass_All"
    assert found["Restrictions"]["GeoRestriction"] == {"RestrictionType": "whitelist", "Locations": ["DE", "US"]}
    assert found["WebACLId"] == WITH_A_NAME.web_acl_arn


def test_a_name_without_a_certificate_is_refused() -> None:
    with pytest.raises(ValueError, match="go together"):
        Cdn(domain_name="deals.example.com")


def test_the_laptop_has_no_cloudfront() -> None:
    assert STAGES["local"].cdn is None


def test_cfn_lint_finds_nothing_in_cloudfronts_stack(template: Json, tmp_path: Path) -> None:
    file = tmp_path / "template.json"
    file.write_text(json.dumps(template))

    assert lint(file) == []


@pytest.mark.parametrize("cdn", [Cdn(), WITH_A_NAME], ids=["plain", "with a name"])
def test_cdk_nag_finds_nothing_that_is_not_accepted_with_a_reason(cdn: Cdn) -> None:
    app, _, _ = stacks(cdn)
    require(app)

    app.synth()


def test_the_patterns_come_from_the_routes() -> None:
    (page,) = cached_patterns([next(route for route in ROUTES if route.path == "/deals/{dealId}")])

    assert page == "/v1/deals/*"
