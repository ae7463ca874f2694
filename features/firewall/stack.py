"""AWS WAF in front of both APIs: it refuses large bodies, and addresses with too many requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from features.firewall.rights import Firewall
from infra.functions import FUNCTIONS
from infra.gateway import Gateway
from infra.lambdas import Log
from infra.nag import Acceptance, accept
from infra.site import Site
from infra.stage import SITE_STAGE, Stage
from shared.api.app import PASSWORD_PATHS, ROOT
from shared.http.answers import document
from shared.http.requests import MAX_BODY_BYTES

REQUESTS = 2_000
SIGN_INS = 100
"""Requests of one address within five minutes: to all routes, and to those that hash a password."""

PASSWORD_PATHS = (
    *(ROOT + path for path in PASSWORD_PATHS),
    *(f"{base}{each.pages}/" for each in FUNCTIONS if each.takes_passwords for base in ("", f"/{SITE_STAGE}")),
)
"""Prefixes of paths that hash a password: the API's, and the pages' with and without the gateway's stage.

Longer paths and all methods count, too: the gateway also accepts a final slash, and a method named in a header
(``X-HTTP-Method-Override``). AWS's documentation mentions neither.
"""

REDACTED = ("authorization", "cookie", "referer")

_REFUSALS = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: f"A request must have at most {MAX_BODY_BYTES} bytes.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests from your address: slow down.",
}


_NOTHING_IS_JAVA = Acceptance("Nothing here is Java: there is no Log4j to protect.", "CKV_AWS_192")


def add(stack: Stack, site: Site) -> None:
    """Add the firewall if the stage has the setting."""
    if site.stage.option(Firewall):
        WebAcl(stack, stage=site.stage, gateways=[*site.gateways.values()])


class WebAcl(Construct):
    """A web ACL on both APIs' stages, and a log of what it refuses.

    Its answers are problem documents declared as JSON: WAF doesn't know ``application/problem+json``.
    https://docs.aws.amazon.com/waf/latest/APIReference/API_CustomResponseBody.html
    """

    def __init__(self, scope: Construct, *, stage: Stage, gateways: Sequence[Gateway]) -> None:
        super().__init__(scope, "Firewall")
        acl = waf.CfnWebACL(
            self,
            "Acl",
            scope="REGIONAL",
            default_action={"allow": {}},
            # Behind a proxy all requests come from its few addresses, so a firewall there must count.
            rules=_RULES[:1] if stage.front else _RULES,
            visibility_config=_visible("Firewall"),
            custom_response_bodies={
                str(status.value): {"contentType": "APPLICATION_JSON", "content": json.dumps(document(status, detail))}
                for status, detail in _REFUSALS.items()
            },
            # By default WAF inspects only 16 KB of a body.
            # https://docs.aws.amazon.com/waf/latest/developerguide/web-acl-setting-body-inspection-limit.html
            association_config={"requestBody": {"API_GATEWAY": {"defaultSizeInspectionLimit": "KB_32"}}},
        )
        accept(acl, _NOTHING_IS_JAVA)
        for gateway in gateways:
            waf.CfnWebACLAssociation(
                self, f"Guards{gateway.node.id}", resource_arn=gateway.stage.stage_arn, web_acl_arn=acl.attr_arn
            )
        # WAF writes only to logs with this prefix.
        # https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
        log = Log(self, "Log", stage=stage, name=f"aws-waf-logs-{stage.stack_name}")
        # CloudFormation's name of a log ends in ":*", which WAF refuses (github.com/aws/aws-cdk, issue 18253).
        address = Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=log.log_group_name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        blocked = {"ActionCondition": {"Action": "BLOCK"}}
        waf.CfnLoggingConfiguration(
            self,
            "Logging",
            resource_arn=acl.attr_arn,
            log_destination_configs=[address],
            # The API's own log has the allowed requests.
            logging_filter={
                "DefaultBehavior": "DROP",
                "Filters": [{"Behavior": "KEEP", "Requirement": "MEETS_ANY", "Conditions": [blocked]}],
            },
            # The log must reveal neither sessions, nor the word that opens closed APIs, nor queries of mailed links and
            # forms: tokens, and searches.
            redacted_fields=[*({"singleHeader": {"Name": name}} for name in REDACTED), {"queryString": {}}],
        )


def _rule(name: str, priority: int, status: HTTPStatus, **statement: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {"responseCode": status.value, "customResponseBodyKey": str(status.value)}
    if status is HTTPStatus.TOO_MANY_REQUESTS:
        answer["responseHeaders"] = [{"name": "Retry-After", "value": "300"}]
    return {
        "name": name,
        "priority": priority,
        "action": {"block": {"customResponse": answer}},
        "statement": statement,
        "visibilityConfig": _visible(name),
    }


def _visible(metric: str) -> dict[str, Any]:
    """Metrics without samples of requests, which contain what the log redacts.

    https://docs.aws.amazon.com/waf/latest/APIReference/API_VisibilityConfig.html
    """
    return {"cloudWatchMetricsEnabled": True, "metricName": metric, "sampledRequestsEnabled": False}


def _per_address(limit: int, **scope: Any) -> dict[str, Any]:
    return {"limit": limit, "aggregateKeyType": "IP", "evaluationWindowSec": 300, **scope}


def _read_by(*transformations: str) -> list[dict[str, Any]]:
    return [{"priority": number, "type": each} for number, each in enumerate(transformations)]


def _below(path: str) -> dict[str, Any]:
    """Match paths with a prefix as the gateway reads them: decoded, without ``//`` and ``/../``."""
    return {
        "byteMatchStatement": {
            "fieldToMatch": {"uriPath": {}},
            "positionalConstraint": "STARTS_WITH",
            "searchString": path,
            "textTransformations": _read_by("URL_DECODE", "NORMALIZE_PATH"),
        }
    }


_RULES = [
    _rule(
        "LargeBodies",
        0,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        sizeConstraintStatement={
            # WAF inspects as much as a body may have. A longer body matches, too.
            "fieldToMatch": {"body": {"oversizeHandling": "MATCH"}},
            "comparisonOperator": "GT",
            "size": MAX_BODY_BYTES,
            "textTransformations": _read_by("NONE"),
        },
    ),
    _rule("Floods", 1, HTTPStatus.TOO_MANY_REQUESTS, rateBasedStatement=_per_address(REQUESTS)),
    _rule(
        "PasswordGuessing",
        2,
        HTTPStatus.TOO_MANY_REQUESTS,
        rateBasedStatement=_per_address(
            SIGN_INS, scopeDownStatement={"orStatement": {"statements": [_below(path) for path in PASSWORD_PATHS]}}
        ),
    ),
]
