"""CloudFront in front of both APIs."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match, Template

from benchmarks.cost import BEHAVIOURS
from features.cdn.rights import Cdn
from features.cdn.stack import CONTENT_POLICY, ERRORS, PAGE_CONTENT_POLICY, PAGE_QUERY, QUERY, OriginSecret
from features.cdn.tests.conftest import CLOSED
from features.cdn.tests.edge import ALL_VIEWER_EXCEPT_HOST, CACHING_DISABLED, CACHING_OPTIMIZED, Edge
from infra.functions import FUNCTIONS
from infra.settings import STAGES
from infra.stacks import DealsStack
from infra.stage import Domain
from tests.infra.conftest import UNCOPIED, VARIANTS, Assembly, Synthesized, synthesize
from tests.infra.test_limits import LIMITS
from tests.support.gateway import Answer

Json = Mapping[str, Any]

DOCUMENT = json.loads((Path(__file__).parents[3] / "functions" / "api" / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS = [
    (method.upper(), path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]

OWN = Domain("deals.example.com", "arn:aws:acm:us-east-1:123456789012:certificate/1")
FIRST = Cdn(
    domain_name=OWN.name,
    zone_id="Z0123456789ABCDEFGHIJ",
    certificate_arn="arn:aws:acm:us-east-1:123456789012:certificate/5f0f1c1e-7d0f-4a54-9a5b-0d9d5c2f3a11",
    price_class="PRICE_CLASS_ALL",
    countries=("DE", "US"),
    web_acl_arn="arn:aws:wafv2:us-east-1:123456789012:global/webacl/deals/0a1b2c3d-1111-2222-3333-444455556666",
    subdomains_too=True,
)
"""The first step: the name still leads to the APIs. All that can be set is set."""


@pytest.fixture(scope="session")
def first() -> Synthesized:
    origins = ("https://app.example",)
    return synthesize(dataclasses.replace(STAGES["prod"], options=(FIRST,), domain=OWN, cors_origins=origins))


@pytest.fixture(scope="session")
def rotated() -> Synthesized:
    """The second step, with another word."""
    return synthesize(dataclasses.replace(STAGES["prod"], options=(dataclasses.replace(CLOSED, word=2),)))


@pytest.fixture(scope="session")
def edge(closed: Synthesized) -> Edge:
    return Edge(closed.template, lambda _: Answer(200, {}))


def test_settings_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(ValueError, match="closes_apis"):
        dataclasses.replace(STAGES["prod"], options=(CLOSED,), domain=OWN)
    with pytest.raises(ValueError, match="go together"):
        Cdn(domain_name=OWN.name)
    with pytest.raises(ValueError, match="go together"):
        Cdn(distribution_id="E1A2B3C4D5E6F7")
    with pytest.raises(ValueError, match="certificate_arn must be one of us-east-1"):
        Cdn(domain_name=OWN.name, certificate_arn="arn:aws:acm:eu-central-1:123456789012:certificate/1")


def cache_policy(stage: Synthesized, name: str) -> Json:
    """A cache policy, by what it is called in the stack."""
    return dict(stage.only("AWS::CloudFront::CachePolicy", f"Cdn{name}")["CachePolicyConfig"])


def key_of(stage: Synthesized, name: str) -> Json:
    """The cache key of a cache policy."""
    return dict(cache_policy(stage, name)["ParametersInCacheKeyAndForwardedToOrigin"])


def headers_of(stage: Synthesized, name: str) -> Json:
    """The headers for browsers that a policy adds, by what it is called in the stack."""
    policy = stage.only("AWS::CloudFront::ResponseHeadersPolicy", f"Cdn{name}")["ResponseHeadersPolicyConfig"]
    return dict(policy["SecurityHeadersConfig"])


def config(stage: Synthesized) -> Json:
    return dict(stage.only("AWS::CloudFront::Distribution")["DistributionConfig"])


def a_path(path: str) -> str:
    """A path of the document with a name in place of each parameter."""
    return "/v1" + path.replace("{dealId}", "3F2VM8K").replace("{brand}", "apple").replace("{category}", "shoes")


def test_a_route_is_cached_if_it_is_a_public_page_and_only_then(edge: Edge) -> None:
    for method, path, _ in OPERATIONS:
        behaviour = edge.behaviour(a_path(path))

        # A behaviour is of a path: what a POST to the path of a page does is not cached for its method.
        page = DOCUMENT["paths"][path].get("get")
        is_public_page = page is not None and not page["security"]
        assert (behaviour["CachePolicyId"] != CACHING_DISABLED) == is_public_page, path
        assert method in behaviour["AllowedMethods"], path
        assert method == "GET" or method not in behaviour.get("CachedMethods", ["GET", "HEAD"]), path


def test_the_pages_have_the_parameters_that_the_document_gives_them(closed: Synthesized) -> None:
    documented = {
        parameter["name"]
        for method, _, operation in OPERATIONS
        if method == "GET" and not operation["security"]
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "query"
    }

    assert documented == set(QUERY)
    assert key_of(closed, "Pages")["QueryStringsConfig"]["QueryStrings"] == list(QUERY)


def test_a_route_that_is_not_known_yet_is_not_cached(edge: Edge) -> None:
    for path in ("/v1/new-page", "/v1/me/new-page", "/v1/", "/v1/front-page/featured"):
        assert edge.behaviour(path)["CachePolicyId"] == CACHING_DISABLED


def test_a_distribution_has_no_more_behaviours_than_the_quota_allows(closed: Synthesized) -> None:
    # docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html
    assert len(config(closed)["CacheBehaviors"]) + 1 <= 75
    # docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/flat-rate-pricing-plan.html
    assert len(config(closed)["CacheBehaviors"]) + 1 <= BEHAVIOURS


def test_paths_are_the_same_with_and_without_cloudfront(closed: Synthesized) -> None:
    paths = {origin["Id"]: origin.get("OriginPath") for origin in config(closed)["Origins"]}
    behaviours = config(closed)["CacheBehaviors"]

    # The API's version is part of its paths; CloudFront puts the stage of the pages before theirs.
    of_api = {each["TargetOriginId"] for each in behaviours if each["PathPattern"].startswith("/v1/")}
    of_site = {each["TargetOriginId"] for each in behaviours if not each["PathPattern"].startswith("/v1/")}
    assert {paths[origin] for origin in of_api} == {None}
    assert {paths[origin] for origin in of_site} == {"/web"}
    assert config(closed)["DefaultCacheBehavior"]["TargetOriginId"] in of_site
    assert closed.template["Outputs"]["CdnUrl"]["Value"]["Fn::Join"][1][-1] == "/v1/"


def test_a_public_page_is_cached_and_never_sees_a_cookie_or_credentials(edge: Edge, closed: Synthesized) -> None:
    key = key_of(closed, "PublicPages")

    assert key["CookiesConfig"] == {"CookieBehavior": "none"}
    assert key["HeadersConfig"] == {"HeaderBehavior": "none"}
    # Ten parameters are as many as a cache policy may have by default.
    # https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html
    assert key["QueryStringsConfig"] == {
        "QueryStringBehavior": "whitelist",
        "QueryStrings": ["cursor", "q", "notice", "sort", "from", "to", "currency", "off", "lowest", "brand"],
    }
    for path in ("/", "/deals", "/deals/12", "/search", "/brands/apple", "/brands/apple/mystery.txt", "/mystery"):
        behaviour = edge.behaviour(path)
        assert behaviour["CachePolicyId"]["Ref"].startswith("CdnPublicPages"), path
        assert "OriginRequestPolicyId" not in behaviour, path


def test_no_stage_names_more_parameters_than_cloudfront_allows(everything: Synthesized) -> None:
    # https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html
    named = [
        each["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"]["QueryStringsConfig"]
        for each in everything.all("AWS::CloudFront::CachePolicy")
    ]
    assert len(named) == 2
    assert all(len(each.get("QueryStrings", [])) <= 10 for each in named)


def test_a_request_of_a_private_page_reaches_its_function_whole(edge: Edge) -> None:
    private = [row.pages for row in FUNCTIONS if row.pages and not row.never_changes and not row.shows_work]

    for path in (path for prefix in private for path in (prefix, f"{prefix}/", f"{prefix}/a/b")):
        behaviour = edge.behaviour(path)
        assert behaviour["CachePolicyId"] == CACHING_DISABLED, path
        assert behaviour["OriginRequestPolicyId"] == ALL_VIEWER_EXCEPT_HOST, path


def test_the_sites_files_are_kept_and_asked_for_as_bytes_whatever_a_reader_accepts(
    edge: Edge, closed: Synthesized
) -> None:
    """CloudFront overwrites a reader's header with the origin's own of that name.

    docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html
    """
    behaviour = edge.behaviour("/assets/site.0123456789.css")
    accepted = {
        origin["Id"]: header["HeaderValue"]
        for origin in config(closed)["Origins"]
        for header in origin["OriginCustomHeaders"]
        if header["HeaderName"] == "Accept"
    }

    for row in (each for each in FUNCTIONS if each.never_changes):
        assert edge.behaviour(f"{row.pages}/28de8a40/480.webp") == {**behaviour, "PathPattern": f"{row.pages}/*"}
    # One copy for all: no header but Accept-Encoding is in the key of this policy.
    assert behaviour["CachePolicyId"] == CACHING_OPTIMIZED
    assert "OriginRequestPolicyId" not in behaviour
    assert accepted == {behaviour["TargetOriginId"]: "*/*"}
    # Pages are asked for as their readers ask: a script may want JSON.
    pages = ("/", "/my", "/deals/12", "/v1/deals")
    assert behaviour["TargetOriginId"] not in {edge.behaviour(path)["TargetOriginId"] for path in pages}


def test_answers_without_policies_may_load_nothing_and_send_no_referrer(
    closed: Synthesized,
) -> None:
    # The functions state those of the API's documentation and of the pages.
    for name, content in (("Security", CONTENT_POLICY), ("PageSecurity", PAGE_CONTENT_POLICY)):
        headers = headers_of(closed, name)
        assert headers["ContentSecurityPolicy"] == {"ContentSecurityPolicy": content, "Override": False}
        assert content.startswith("default-src 'none';")
    # With no-referrer, forms would come with the Origin null and be refused.
    assert headers["ReferrerPolicy"] == {"ReferrerPolicy": "strict-origin-when-cross-origin", "Override": False}


def test_the_gateways_own_pages_keep_their_look_under_that_policy(closed: Synthesized) -> None:
    answers = closed.all("AWS::ApiGateway::GatewayResponse")
    pages = [text for each in answers for text in each["ResponseTemplates"].values() if text.startswith("<!doctype")]

    for page in pages:
        (style,) = re.findall(r"<style>(.*?)</style>", page)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in PAGE_CONTENT_POLICY
    assert len(pages) > 5


def test_names_below_the_domain_are_https_only_where_a_setting_says_so(closed: Synthesized, first: Synthesized) -> None:
    def told(stage: Synthesized) -> set[bool]:
        names = ("Security", "PageSecurity")
        return {headers_of(stage, name)["StrictTransportSecurity"]["IncludeSubdomains"] for name in names}

    assert told(closed) == {False}
    assert told(first) == {True}


def test_a_request_with_a_session_reaches_the_origin_with_it(edge: Edge, closed: Synthesized) -> None:
    headers = key_of(closed, "Pages")["HeadersConfig"]

    # CloudFront sends Authorization on where it is part of the key, or where nothing is cached and all headers go.
    assert headers == {"HeaderBehavior": "whitelist", "Headers": ["Authorization"]}
    assert edge.behaviour("/v1/me")["OriginRequestPolicyId"] == ALL_VIEWER_EXCEPT_HOST


def test_the_origin_says_what_is_kept_and_for_how_long(closed: Synthesized) -> None:
    kept = cache_policy(closed, "Pages")

    # With a least time above zero, CloudFront would store what is private.
    assert kept["MinTTL"] == kept["DefaultTTL"] == 0
    assert kept["MaxTTL"] > 0


def test_errors_are_not_kept(closed: Synthesized) -> None:
    stated = {each["ErrorCode"]: each for each in config(closed)["CustomErrorResponses"]}

    assert set(stated) == set(ERRORS)
    # The errors' own bodies and statuses go out.
    assert all(set(each) == {"ErrorCode", "ErrorCachingMinTTL"} for each in stated.values())
    assert all(each["ErrorCachingMinTTL"] == 0 for each in stated.values())


def test_everything_is_https_compressed_and_has_the_headers_for_browsers(closed: Synthesized) -> None:
    origins = config(closed)["Origins"]
    behaviours = [config(closed)["DefaultCacheBehavior"], *config(closed)["CacheBehaviors"]]
    headers = headers_of(closed, "Security")

    # A program that sends its session in the clear must learn of it; a reader who typed an address is led on.
    for each in behaviours:
        of_api = each.get("PathPattern", "").startswith("/v1/")
        assert each["ViewerProtocolPolicy"] == ("https-only" if of_api else "redirect-to-https")
    assert all(each["Compress"] and each["ResponseHeadersPolicyId"] for each in behaviours)
    for origin in origins:
        assert origin["CustomOriginConfig"] == {"OriginProtocolPolicy": "https-only", "OriginSSLProtocols": ["TLSv1.2"]}
    assert config(closed)["HttpVersion"] == "http2and3"
    assert headers["StrictTransportSecurity"]["AccessControlMaxAgeSec"] >= 31_536_000
    assert headers["ContentTypeOptions"]["Override"] is True


OPEN = {
    "Effect": "Allow",
    "Principal": {"AWS": "*"},
    "Action": "execute-api:Invoke",
    "Resource": "execute-api:/*",
}
"""The statement that lets everyone in."""


def policies(stage: Synthesized) -> list[list[dict[str, Any]]]:
    """The statements of the resource policies of both REST APIs."""
    return [[dict(each) for each in api["Policy"]["Statement"]] for api in stage.all("AWS::ApiGateway::RestApi")]


def refuses(policy: list[dict[str, Any]], referer: str, secrets: Mapping[str, str]) -> bool:
    """Whether a resource policy refuses a request, which always comes over TLS, where references are what is given.

    Every condition of a statement must hold; of a condition's values, one, and for a NotEquals each.
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html
    """

    def resolved(value: Any) -> str:
        _, secret, rest = value["Fn::Join"][1]
        return secrets.get(f"{secret['Ref']}{rest}", f"{{{{resolve:secretsmanager:{secret['Ref']}{rest}")

    for each in policy:
        if each["Effect"] == "Deny":
            conditions = each["Condition"]
            assert set(conditions) == {"StringNotEquals", "Bool"}
            unknown = all(referer != resolved(one) for one in conditions["StringNotEquals"]["aws:Referer"])
            if unknown and resolved(conditions["Bool"]["aws:SecureTransport"]) == "true":
                return True
    return False


def test_the_first_deployment_leaves_a_live_site_as_it_is(first: Synthesized) -> None:
    """DNS leads to the APIs until someone moves it, and that takes until its records have expired."""
    assert policies(first) == [[OPEN], [OPEN]]
    assert first.only("AWS::ApiGateway::DomainName")["DomainName"] == OWN.name
    # CloudFront shows its word from the beginning, so that the APIs can require it later.
    (word,), sent = words(first)
    assert sent == {word}
    # A direct request could have made up an address that CloudFront would have added.
    assert "BEHIND_PROXY" not in json.dumps(first.template["Resources"])


def test_a_word_that_is_not_put_in_its_place_locks_no_one_out(closed: Synthesized) -> None:
    (secret,), _ = words(closed)
    known = {f"{secret}:SecretString:word::}}}}": "abc", f"{secret}:SecretString:closed::}}}}": "true"}
    made_of = closed.only("AWS::SecretsManager::Secret")["GenerateSecretString"]

    assert json.loads(made_of["SecretStringTemplate"]) == {"closed": "true"}
    assert made_of["GenerateStringKey"] == "word"
    for policy in policies(closed):
        assert refuses(policy, "", known)
        assert refuses(policy, "abd", known)
        assert not refuses(policy, "abc", known)
        assert not refuses(policy, "", {})
        assert not refuses(policy, "abc", {})


def words(stage: Synthesized) -> tuple[list[str], set[str]]:
    """The words that are kept, and those that CloudFront sends, by logical id; no template has a word itself."""
    sent = set()
    for origin in config(stage)["Origins"]:
        (word,) = (each["HeaderValue"] for each in origin["OriginCustomHeaders"] if each["HeaderName"] == "Referer")
        sent.add(named(word))
    return sorted(stage.resources("AWS::SecretsManager::Secret")), sent


def named(reference: Any) -> str:
    """The secret that a reference names, which CloudFormation resolves."""
    start, secret, rest = reference["Fn::Join"][1]
    assert (start, rest) == ("{{resolve:secretsmanager:", ":SecretString:word::}}")
    return str(secret["Ref"])


def accepted(stage: Synthesized) -> list[list[str]]:
    """The words that each API accepts."""
    found = []
    for allow, deny in policies(stage):
        assert allow == OPEN
        asked = deny.pop("Condition")["StringNotEquals"]["aws:Referer"]
        assert deny == {**OPEN, "Effect": "Deny"}
        found.append([named(one) for one in asked])
    return found


def test_the_apis_answer_only_cloudfront(closed: Synthesized) -> None:
    (word,), sent = words(closed)

    assert accepted(closed) == [[word], [word]]
    assert sent == {word}


def test_a_new_word_is_sent_while_the_one_before_is_still_accepted(closed: Synthesized, rotated: Synthesized) -> None:
    again = cdk.Stack()
    OriginSecret(again, version=3)

    (first,), _ = words(closed)
    (kept, second), sent = words(rotated)
    assert kept == first
    assert accepted(rotated) == [[first, second], [first, second]]
    assert sent == {second}
    assert {first, second} & set(Template.from_stack(again).to_json()["Resources"]) == {second}
    # What CloudFront sends is accepted by what is deployed before it is sent.
    (distribution,) = rotated.resources("AWS::CloudFront::Distribution").values()
    assert set(rotated.resources("AWS::ApiGateway::Stage")) <= set(distribution["DependsOn"])
    # And both APIs are deployed anew.
    assert len(deployments(closed)) == 2
    assert deployments(closed).isdisjoint(deployments(rotated))


def deployments(stage: Synthesized) -> set[str]:
    return set(stage.resources("AWS::ApiGateway::Deployment"))


def test_both_apis_are_open_without_cloudfront(closed: Synthesized, dev: Synthesized, prod: Synthesized) -> None:
    """CloudFormation keeps a policy that the template no longer has: github.com/aws/aws-cdk/issues/21840."""
    assert policies(dev) == policies(prod) == [[OPEN], [OPEN]]
    # A policy takes effect with the next deployment of its API.
    assert deployments(closed).isdisjoint(deployments(prod))
    # And no other stack uses what CloudFront needs.
    assert not [name for name, output in closed.template["Outputs"].items() if "Export" in output]


def test_functions_trust_the_addresses_of_cloudfront_where_nothing_else_reaches_them(
    closed: Synthesized, first: Synthesized, prod: Synthesized
) -> None:
    def told(stage: Synthesized) -> set[bool]:
        return {"BEHIND_PROXY" in stage.variables(module) for module in stage.modules()}

    assert told(closed) == {True}
    assert told(first) == told(prod) == {False}


def test_the_log_is_private_encrypted_short_lived_and_holds_no_credentials(closed: Synthesized) -> None:
    bucket = closed.only("AWS::S3::Bucket", "Cdn")
    fields = closed.only("AWS::Logs::Delivery")["RecordFields"]

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]
    assert bucket["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"] == STAGES["prod"].log_retention_days
    assert not [field for field in fields if "cookie" in field.lower() or "query" in field.lower()]
    assert closed.only("AWS::Logs::DeliverySource")["LogType"] == "ACCESS_LOGS"


def test_only_the_delivery_of_the_log_is_in_us_east_1_where_the_stage_is_elsewhere(
    assemblies: Callable[[str], Assembly], everything: Synthesized
) -> None:
    app = assemblies("everything").app
    edge = app.node.find_child("BigTimeDeals-everything-edge")
    assert isinstance(edge, cdk.Stack)
    delivered = Synthesized(dict(Template.from_stack(edge).to_json()))

    assert (edge.account, edge.region) == ("111122223333", "us-east-1")
    assert {each["Type"].rpartition("::")[2] for each in delivered.template["Resources"].values()} == {
        "DeliverySource",
        "DeliveryDestination",
        "Delivery",
    }
    assert "distribution/E1A2B3C4D5E6F7" in json.dumps(delivered.only("AWS::Logs::DeliverySource"))
    assert "bigtimedeals-everything-cdnlog" in json.dumps(delivered.only("AWS::Logs::DeliveryDestination"))
    assert everything.resources("AWS::Logs::Delivery") == {}
    assert everything.resources("AWS::CloudFront::Distribution")
    assert {"CdnDistributionId", "CdnLogBucket"} <= {*everything.template["Outputs"]}
    assert not [name for name in everything.template["Rules"] if "Home" in name]  # which would refuse the region
    (statement,) = [
        each
        for policy in everything.all("AWS::S3::BucketPolicy", "CdnLog")
        for each in policy["PolicyDocument"]["Statement"]
        if each["Effect"] == "Allow"
    ]
    assert ":logs:us-east-1:" in json.dumps(statement["Condition"]["ArnLike"])


def test_a_stage_elsewhere_is_told_that_its_requests_are_not_logged_yet() -> None:
    stage = dataclasses.replace(STAGES["prod"], region="eu-central-1", options=(CLOSED,))
    stack = DealsStack(cdk.App(context=UNCOPIED, builtin_cloud_formation_validation=False), stage=stage)

    assert Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("set its distribution_id"))


def test_the_most_that_a_stage_can_have_stays_below_the_limit() -> None:
    """Its own name, still open beside CloudFront, and a second word."""
    everything = VARIANTS["everything"]
    cdn = next(each for each in everything.options if isinstance(each, Cdn))
    others = tuple(each for each in everything.options if each is not cdn)
    open_still = dataclasses.replace(cdn, closes_apis=False, word=2)
    key = str(everything.key_arn).replace("eu-central-1", "us-east-1")
    at_home = dataclasses.replace(everything, region="us-east-1", key_arn=key)
    most = dataclasses.replace(at_home, domain=OWN, options=(*others, open_still))

    stack = DealsStack(cdk.App(context=UNCOPIED, builtin_cloud_formation_validation=False), stage=most)

    assert len(Template.from_stack(stack).to_json()["Resources"]) <= LIMITS["resources of a stack"][1]


def test_a_name_countries_and_a_firewall_are_settings(first: Synthesized) -> None:
    found = config(first)

    assert found["Aliases"] == ["deals.example.com"]
    assert found["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert found["PriceClass"] == "PriceClass_All"
    assert found["Restrictions"]["GeoRestriction"] == {"RestrictionType": "whitelist", "Locations": ["DE", "US"]}
    assert found["WebACLId"] == FIRST.web_acl_arn


def test_behind_cloudfront_pages_have_no_prefix_and_know_its_name_where_it_has_one(everything: Synthesized) -> None:
    assert everything.variables("site")["SITE_BASE"] == ""
    assert everything.variables("site")["SITE_ORIGIN"] == "https://deals.example"
    assert everything.template["Outputs"]["SiteUrl"]["Value"] == "https://deals.example/"


def test_behind_cloudfront_a_trace_is_asked_for_by_its_id_where_work_is_shown(everything: Synthesized) -> None:
    policy = everything.only("AWS::CloudFront::CachePolicy", "CdnPublicPages")["CachePolicyConfig"]

    key = policy["ParametersInCacheKeyAndForwardedToOrigin"]
    assert key["QueryStringsConfig"] == {"QueryStringBehavior": "all"}
    assert len({"trace", *PAGE_QUERY}) > 10  # as many as a policy may name


def test_answers_are_cached_by_origin_where_they_differ_by_it(first: Synthesized) -> None:
    """docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/header-caching.html"""
    policies = first.all("AWS::CloudFront::CachePolicy")

    keys = [each["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"] for each in policies]

    assert ["Authorization", "Origin"] in [each["HeadersConfig"].get("Headers") for each in keys]


def test_the_name_leads_to_the_distribution_in_its_own_zone(first: Synthesized) -> None:
    records = first.all("AWS::Route53::RecordSet")
    (distribution,) = first.resources("AWS::CloudFront::Distribution")

    assert sorted(each["Type"] for each in records) == ["A", "AAAA"]
    for each in records:
        assert each["AliasTarget"]["DNSName"] == {"Fn::GetAtt": [distribution, "DomainName"]}
        assert each["HostedZoneId"] == "Z0123456789ABCDEFGHIJ"


def test_a_zone_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="hosted zone of domain_name"):
        Cdn(zone_id="Z0123456789ABCDEFGHIJ")
