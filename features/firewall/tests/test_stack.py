"""The firewall of both APIs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from features.firewall.rights import Firewall
from features.firewall.stack import WebAcl
from infra.functions import FUNCTIONS
from infra.settings import STAGES
from shared.api.app import PASSWORD_PATHS
from shared.http.requests import MAX_BODY_BYTES
from tests.infra.conftest import Synthesized


@pytest.fixture(scope="module")
def acl() -> dict[str, Any]:
    """The properties of the web ACL of an API that is reached directly."""
    stack = cdk.Stack()
    WebAcl(stack, stage=replace(STAGES["prod"], options=(Firewall(),)), gateways=[])
    (acl,) = Template.from_stack(stack).find_resources("AWS::WAFv2::WebACL").values()
    return dict(acl["Properties"])


def rule(acl: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (each for each in acl["Rules"] if each["Name"] == name)
    return dict(found)


def test_a_stage_has_a_firewall_only_where_it_says_so(prod: Synthesized, everything: Synthesized) -> None:
    guarded = json.dumps(everything.all("AWS::WAFv2::WebACLAssociation"))

    assert not prod.resources("AWS::WAFv2::WebACL")
    assert len(everything.resources("AWS::ApiGateway::Stage")) == 2
    assert all(f'"{stage}"' in guarded for stage in everything.resources("AWS::ApiGateway::Stage"))


def test_it_does_not_take_cloudfronts_addresses_for_those_of_readers(everything: Synthesized) -> None:
    rules = everything.only("AWS::WAFv2::WebACL")["Rules"]

    assert [each["Name"] for each in rules] == ["LargeBodies"]


def test_it_refuses_the_bodies_that_the_functions_would_refuse_for_their_size(acl: dict[str, Any]) -> None:
    statement = rule(acl, "LargeBodies")["Statement"]["SizeConstraintStatement"]

    assert (statement["ComparisonOperator"], statement["Size"]) == ("GT", MAX_BODY_BYTES)
    # All of such a body is looked at, and what is longer than that counts as larger.
    assert statement["FieldToMatch"] == {"Body": {"OversizeHandling": "MATCH"}}
    limit = acl["AssociationConfig"]["RequestBody"]["API_GATEWAY"]["DefaultSizeInspectionLimit"]
    assert int(limit.removeprefix("KB_")) * 1024 == MAX_BODY_BYTES


def test_guessing_passwords_is_bounded_more_than_reading(acl: dict[str, Any]) -> None:
    guessing = rule(acl, "PasswordGuessing")["Statement"]["RateBasedStatement"]
    reading = rule(acl, "Floods")["Statement"]["RateBasedStatement"]

    matches = [each["ByteMatchStatement"] for each in guessing["ScopeDownStatement"]["OrStatement"]["Statements"]]
    matched = {each["SearchString"] for each in matches}
    assert matched >= {f"/v1{path}" for path in PASSWORD_PATHS}
    assert matched >= {f"{base}{row.pages}/" for row in FUNCTIONS if row.takes_passwords for base in ("", "/web")}
    assert guessing["Limit"] < reading["Limit"]
    assert "ScopeDownStatement" not in reading
    # Paths are compared as the gateway reads them.
    for match in matches:
        # A slash at the end, another method or one that a header names: all of it counts.
        assert match["PositionalConstraint"] == "STARTS_WITH"
        assert match["FieldToMatch"] == {"UriPath": {}}
        assert [each["Type"] for each in match["TextTransformations"]] == ["URL_DECODE", "NORMALIZE_PATH"]


def test_its_answers_are_problem_documents_with_statuses_of_the_openapi_document(acl: dict[str, Any]) -> None:
    statuses = set()

    for each in acl["Rules"]:
        answer = each["Action"]["Block"]["CustomResponse"]
        problem = json.loads(acl["CustomResponseBodies"][answer["CustomResponseBodyKey"]]["Content"])
        assert set(problem) == {"type", "title", "status", "detail"}
        assert problem["status"] == answer["ResponseCode"]
        statuses.add(answer["ResponseCode"])

    assert statuses == {413, 429}


def test_no_sample_of_requests_shows_what_the_log_leaves_out(acl: dict[str, Any]) -> None:
    shown = [each["VisibilityConfig"]["SampledRequestsEnabled"] for each in (acl, *acl["Rules"])]

    assert not any(shown)


def test_what_it_refuses_is_logged_without_the_callers_token(everything: Synthesized) -> None:
    logging = everything.only("AWS::WAFv2::LoggingConfiguration")
    (destination,) = logging["LogDestinationConfigs"]
    log_id = destination["Fn::Join"][1][-1]["Ref"]
    log = everything.template["Resources"][log_id]

    assert log["Properties"]["LogGroupName"].startswith("aws-waf-logs-")
    # If a log of this name outlived its stack, or the firewall, the next one could not be made.
    assert log["DeletionPolicy"] == "Delete"
    headers = [each["SingleHeader"]["Name"] for each in logging["RedactedFields"] if "SingleHeader" in each]
    assert sorted(headers) == ["authorization", "cookie", "referer"]
    assert {"QueryString": {}} in logging["RedactedFields"]
    assert logging["LoggingFilter"]["DefaultBehavior"] == "DROP"
