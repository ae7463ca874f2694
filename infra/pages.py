"""The site's pages: a REST API of their own, whose paths' first part decides which function answers.

``site`` answers whatever no other function has a prefix for. The functions check sessions and refuse in the site's own
look; the gateway only leads to them.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

from aws_cdk import Aws, Tags
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.gateway import Gateway
from shared.http.statuses import phrase

if TYPE_CHECKING:
    from infra.function import PythonFunction
    from infra.settings import Domain, Stage

STAGE_NAME = "web"

METHODS = ("GET", "HEAD", "POST")
"""What browsers send. A feed reader's HEAD would be refused by a gateway that knows GET only."""

REST = "{proxy+}"
"""All that follows a prefix; nothing does not match it, so a prefix is a resource of its own."""

_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<title>{title} - Big Time Deals</title></head><body><h1>{title}</h1><p>{detail}</p><p><a href="{home}">'
    "To the front page</a></p></body></html>"
)


class SiteApi(Gateway):
    """The REST API of the pages, with its one stage, ``web``."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        functions: Sequence[PythonFunction],
        account: Gateway,
        policy: iam.PolicyDocument | None = None,
    ) -> None:
        self._base = stage.site_base
        super().__init__(
            scope,
            construct_id,
            stage=stage,
            name=f"{stage.stack_name}-site",
            stage_name=STAGE_NAME,
            throttled=[(f"{each.row.pages}/{REST}", "POST") for each in functions if each.row.takes_passwords],
            policy=policy,
            account=account,
        )
        if stage.site_id:
            Tags.of(self.api).add("ms-custom-id", stage.site_id)
        validator = self.api.add_request_validator(
            "Validator", validate_request_body=True, validate_request_parameters=True
        )
        for each in functions:
            integration = apigateway.LambdaIntegration(each.awaited, scope_permission_to_method=False)
            prefix = self.api.root.resource_for_path(each.row.pages or "/")
            for resource in (prefix, prefix.add_resource(REST)):
                for verb in METHODS:
                    method = resource.add_method(verb, integration, request_validator=validator)
                    self.accept_open(method, "Pages are for anyone; their functions find out who is signed in.")
        self.accept_settings(stage, [each.awaited for each in functions])
        origin = self._origin(stage)
        for each in functions:
            each.function.add_environment("SITE_ORIGIN", origin)
            each.function.add_environment("SITE_BASE", stage.site_base)

    def document(self, status: HTTPStatus, detail: str) -> tuple[str, str]:
        """A page without a look: the gateway knows neither templates nor style."""
        page = _PAGE.format(title=phrase(status), detail=html.escape(detail), home=f"{self._base}/")
        return "text/html; charset=utf-8", page

    @property
    def headers(self) -> Mapping[str, str]:
        """No page may show it in a frame."""
        return {"X-Frame-Options": "'DENY'"}

    def _origin(self, stage: Stage) -> str:
        """The origin that browsers know the site by; empty where that is CloudFront's own, which nobody can know yet.

        The distribution needs the API's id, the API its functions: these cannot need the distribution's name.
        """
        if stage.origin is None and stage.cdn is None:
            return f"https://{self.api.rest_api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}"
        return stage.origin or ""


class SiteDomain(Construct):
    """A domain of one's own for both APIs: the pages at its root, the API below its version."""

    def __init__(
        self, scope: Construct, construct_id: str, *, domain: Domain, site: Gateway, api: Gateway, version: str
    ) -> None:
        super().__init__(scope, construct_id)
        self.domain = apigateway.DomainName(
            self,
            "Name",
            domain_name=domain.name,
            certificate=acm.Certificate.from_certificate_arn(self, "Certificate", domain.certificate_arn),
            endpoint_type=apigateway.EndpointType.REGIONAL,
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        for name, gateway, path in (("Pages", site, None), ("Api", api, version)):
            apigateway.BasePathMapping(
                self,
                name,
                domain_name=self.domain,
                rest_api=gateway.api,
                base_path=path,
                stage=gateway.api.deployment_stage,
            )
