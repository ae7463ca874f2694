"""The site's pages: a REST API of their own. The first part of a path decides which function answers.

``site`` answers every path that no other function has a prefix for. The functions themselves check sessions and answer
refusals with pages of the site; the gateway only invokes them.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Collection, Mapping
from http import HTTPStatus

from aws_cdk import Aws, CfnOutput, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_certificatemanager as acm
from constructs import Construct

from infra import acceptances
from infra.cdn.secret import OriginSecret
from infra.checks import accept
from infra.function import PythonFunction
from infra.gateway import Gateway
from infra.settings import SITE_STAGE, Domain, Stage
from shared.api.paths import VERSION
from shared.http.statuses import phrase

ANY = "ANY"
"""All methods that a path has not by themselves. The functions refuse what they do not take (405): a method for each
of GET, HEAD and POST would be a tenth of the 500 resources that a stack may have.

https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-any-method.html"""

REST = "{proxy+}"
"""All that follows a prefix. It does not match an empty rest, so the prefix needs a resource of its own."""

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{margin:0;font:1.05rem/1.5 system-ui,sans-serif;"
    "background:light-dark(rgb(246 242 233),rgb(18 17 14));color:light-dark(rgb(22 20 15),rgb(244 239 228))}"
    "header,main{padding:1rem max(1rem,50vw - 38rem)}"
    "header{background:rgb(22 20 15)}"
    "header a{color:rgb(244 239 228);font:700 1.6rem/1 Arial Narrow,sans-serif;"
    "text-decoration:none;text-transform:uppercase}"
    "h1{font:700 clamp(2rem,1.5rem + 2.2vw,3.6rem)/1.05 Arial Narrow,sans-serif;margin:1.5rem 0 .5rem}"
    "main a{color:inherit}"
)
"""The site's look, as far as it goes without a file: the gateway may be what refuses the file.

Colours as numbers: ``#`` may mean something in a template of the gateway."""

STYLE_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"
"""The hash by which a content security policy allows that style: https://www.w3.org/TR/CSP3/#match-element-to-source-list."""

_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title} - Big Time Deals</title><style>{style}</style></head>"
    '<body><header><a href="{home}">Big Time Deals</a></header>'
    '<main><h1>{title}</h1><p>{detail}</p><p><a href="{home}">To the front page</a></p></main></body></html>'
)


class SiteApi(Gateway):
    """The REST API of the pages, with its one stage, ``web``."""

    def __init__(
        self,
        scope: Construct,
        *,
        stage: Stage,
        functions: Collection[PythonFunction],
        account: Gateway,
        secret: OriginSecret | None,
    ) -> None:
        self._base = stage.site_base
        answering = {each.row.pages: each for each in functions if each.row.pages is not None}
        super().__init__(
            scope,
            "Pages",
            stage=stage,
            name=f"{stage.stack_name}-site",
            stage_name=SITE_STAGE,
            api_id=stage.site_id,
            throttled=[(f"{path}/{REST}", "POST") for path, each in answering.items() if each.row.takes_passwords],
            secret=secret,
            account=account,
        )
        self.private = [path for path in answering if path]
        for path, each in answering.items():
            integration = self.answer_by(each)
            prefix = self.api.root.resource_for_path(path or "/")
            for resource in (prefix, prefix.add_resource(REST)):
                method = resource.add_method(ANY, integration, request_validator=self.validator)
                accept(method, acceptances.OPEN_PAGE)
            if each.row.takes_passwords:
                # A method of its own, because it is throttled by itself.
                method = resource.add_method("POST", integration, request_validator=self.validator)
                accept(method, acceptances.OPEN_PAGE)
        # The distribution needs the API's id, and the API its functions. So these cannot know CloudFront's own name.
        own = "" if stage.cdn else f"https://{self.api.rest_api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}"
        for each in functions:
            if each.row.pages is not None or each.row.sends_mail:  # both make links
                each.function.add_environment("SITE_ORIGIN", stage.origin or own)
                each.function.add_environment("SITE_BASE", self._base)
        CfnOutput(Stack.of(self), "SiteId", value=self.api.rest_api_id)

    def document(self, status: HTTPStatus, detail: str) -> tuple[str, str]:
        """A page that is whole in itself: the gateway has neither the templates nor the style sheets."""
        page = _PAGE.format(style=_STYLE, title=phrase(status), detail=html.escape(detail), home=f"{self._base}/")
        return "text/html; charset=utf-8", page

    @property
    def headers(self) -> Mapping[str, str]:
        """No other page may show such an answer in a frame."""
        return {"X-Frame-Options": "'DENY'"}


class SiteDomain(Construct):
    """A custom domain for both APIs: the pages at its root, the API below its version."""

    def __init__(self, scope: Construct, *, domain: Domain, site: Gateway, api: Gateway) -> None:
        super().__init__(scope, "Domain")
        name = apigateway.DomainName(
            self,
            "Name",
            domain_name=domain.name,
            certificate=acm.Certificate.from_certificate_arn(self, "Certificate", domain.certificate_arn),
            endpoint_type=apigateway.EndpointType.REGIONAL,
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        for mapping, gateway, path in (("Pages", site, None), ("Api", api, VERSION)):
            apigateway.BasePathMapping(
                self, mapping, domain_name=name, rest_api=gateway.api, base_path=path, stage=gateway.stage
            )
        CfnOutput(Stack.of(self), "SiteTarget", value=name.domain_name_alias_domain_name)
