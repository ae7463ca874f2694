"""AWS WAF in front of both APIs: optional; it refuses large bodies, and addresses that ask too often."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.functions import FUNCTIONS
from infra.logs import Log
from infra.settings import SITE_STAGE
from shared.api import paths
from shared.http.body import MAX_BODY_BYTES
from shared.http.statuses import document

if TYPE_CHECKING:
    from infra.gateway import Gateway
    from infra.settings import Stage

REQUESTS = 2_000
SIGN_INS = 100
"""Requests that one address may make within five minutes: in all, and of the routes that hash a password."""

PASSWORD_PATHS = (
    *(paths.ROOT + path for path in paths.PASSWORD_PATHS),
    *(f"{base}{each.pages}/" for each in FUNCTIONS if each.takes_passwords for base in ("", f"/{SITE_STAGE}")),
)
"""The beginnings of paths that hash a password: the API's, and the pages' with and without the gateway's stage.

A longer path and any method count, too: the gateway also takes a path with a slash at its end, and a method that a
header names in place of the one sent (``X-HTTP-Method-Override``). AWS's documentation mentions neither.
"""

REDACTED = ("authorization", "cookie", "referer")

_REFUSALS = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: f"A request must have at most {MAX_BODY_BYTES} bytes.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests from your address: slow down.",
}


class Firewall(Construct):
    """A web ACL on the stages of both APIs, and a log of what it refused.

    Its answers are problem documents that are declared to be JSON: WAF knows no ``application/problem+json``.
    https://docs.aws.amazon.com/waf/latest/APIReference/API_CustomResponseBody.html
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage, gateways: Sequence[Gateway]) -> None:
        super().__init__(scope, construct_id)
        too_large = _rule(
            "LargeBodies",
            0,
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            size_constraint_statement=waf.CfnWebACL.SizeConstraintStatementProperty(
                # WAF looks at as much as a body may have. A longer one matches, too.
                field_to_match=waf.CfnWebACL.FieldToMatchProperty(
                    body=waf.CfnWebACL.BodyProperty(oversize_handling="MATCH")
                ),
                comparison_operator="GT",
                size=MAX_BODY_BYTES,
                text_transformations=_AS_IT_IS,
            ),
        )
        too_often = _rule("Floods", 1, HTTPStatus.TOO_MANY_REQUESTS, rate_based_statement=_per_address(REQUESTS))
        guessing = _rule(
            "PasswordGuessing",
            2,
            HTTPStatus.TOO_MANY_REQUESTS,
            rate_based_statement=_per_address(SIGN_INS, _any_of(*(_below(path) for path in PASSWORD_PATHS))),
        )
        acl = waf.CfnWebACL(
            self,
            "Acl",
            scope="REGIONAL",
            default_action=waf.CfnWebACL.DefaultActionProperty(allow={}),
            # Behind CloudFront all requests come from its few addresses: CloudFront's own firewall must count them.
            rules=[too_large] if stage.cdn else [too_large, too_often, guessing],
            visibility_config=_visible("Firewall"),
            custom_response_bodies={
                str(status.value): waf.CfnWebACL.CustomResponseBodyProperty(
                    content_type="APPLICATION_JSON",
                    content=json.dumps(document(status, detail)),
                )
                for status, detail in _REFUSALS.items()
            },
            association_config=waf.CfnWebACL.AssociationConfigProperty(
                # By default WAF looks at 16 KB of a body only.
                # https://docs.aws.amazon.com/waf/latest/developerguide/web-acl-setting-body-inspection-limit.html
                request_body={
                    "API_GATEWAY": waf.CfnWebACL.RequestBodyAssociatedResourceTypeConfigProperty(
                        default_size_inspection_limit="KB_32"
                    )
                }
            ),
        )
        accept(acl, acceptances.NOTHING_IS_JAVA)
        for gateway in gateways:
            waf.CfnWebACLAssociation(
                self,
                f"Guards{gateway.node.id}",
                resource_arn=gateway.api.deployment_stage.stage_arn,
                web_acl_arn=acl.attr_arn,
            )
        # WAF writes only to logs whose names begin with these words.
        # https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
        log = Log(self, "Log", stage=stage, name=f"aws-waf-logs-{stage.stack_name}")
        # CloudFormation's own name of a log ends in ":*", which WAF does not accept (github.com/aws/aws-cdk, issue
        # 18253).
        address = Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=log.log_group_name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        waf.CfnLoggingConfiguration(
            self,
            "Logging",
            resource_arn=acl.attr_arn,
            log_destination_configs=[address],
            # What is let through is in the API's own log.
            logging_filter={
                "DefaultBehavior": "DROP",
                "Filters": [
                    {
                        "Behavior": "KEEP",
                        "Requirement": "MEETS_ANY",
                        "Conditions": [{"ActionCondition": {"Action": "BLOCK"}}],
                    }
                ],
            },
            # A reader of the log learns neither a session nor the word that leads past CloudFront.
            redacted_fields=[{"singleHeader": {"Name": name}} for name in REDACTED],
        )


_AS_IT_IS = [waf.CfnWebACL.TextTransformationProperty(priority=0, type="NONE")]


def _rule(name: str, priority: int, status: HTTPStatus, **statement: Any) -> waf.CfnWebACL.RuleProperty:
    headers = [{"name": "Retry-After", "value": "300"}] if status is HTTPStatus.TOO_MANY_REQUESTS else None
    return waf.CfnWebACL.RuleProperty(
        name=name,
        priority=priority,
        action=waf.CfnWebACL.RuleActionProperty(
            block=waf.CfnWebACL.BlockActionProperty(
                custom_response=waf.CfnWebACL.CustomResponseProperty(
                    response_code=status.value, custom_response_body_key=str(status.value), response_headers=headers
                )
            )
        ),
        statement=waf.CfnWebACL.StatementProperty(**statement),
        visibility_config=_visible(name),
    )


def _per_address(
    limit: int, scope: waf.CfnWebACL.StatementProperty | None = None
) -> waf.CfnWebACL.RateBasedStatementProperty:
    return waf.CfnWebACL.RateBasedStatementProperty(
        limit=limit, aggregate_key_type="IP", evaluation_window_sec=300, scope_down_statement=scope
    )


def _any_of(*statements: waf.CfnWebACL.StatementProperty) -> waf.CfnWebACL.StatementProperty:
    return waf.CfnWebACL.StatementProperty(or_statement=waf.CfnWebACL.OrStatementProperty(statements=list(statements)))


def _below(path: str) -> waf.CfnWebACL.StatementProperty:
    """Paths with this beginning, as the gateway reads them: decoded, and with neither ``//`` nor ``/../``."""
    return waf.CfnWebACL.StatementProperty(
        byte_match_statement=waf.CfnWebACL.ByteMatchStatementProperty(
            field_to_match=waf.CfnWebACL.FieldToMatchProperty(uri_path={}),
            positional_constraint="STARTS_WITH",
            search_string=path,
            text_transformations=[
                waf.CfnWebACL.TextTransformationProperty(priority=0, type="URL_DECODE"),
                waf.CfnWebACL.TextTransformationProperty(priority=1, type="NORMALIZE_PATH"),
            ],
        )
    )


def _visible(metric: str) -> waf.CfnWebACL.VisibilityConfigProperty:
    return waf.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=metric, sampled_requests_enabled=True
    )
