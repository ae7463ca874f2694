"""The two REST APIs (the API and the site's pages), and what they share: logs, throttling, TLS, the gateway's answers.

The API has its routes and its authorizer. For pages, the first path segment decides which function answers; ``site``
answers all paths without another function. The functions check sessions and answer refusals with pages; the gateway
only invokes them.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from aws_cdk import Aws, CfnOutput, Duration, RemovalPolicy, Stack, Tags
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra import nag
from infra.bundling import ROOT
from infra.functions import ROUTES, Audience, Route
from infra.lambdas import Log, PythonFunction
from infra.nag import accept
from infra.names import alias
from infra.stage import SITE_STAGE, Domain, Stage
from shared.api.app import PASSWORD_PATHS, VERSION
from shared.http import answers
from shared.http.answers import phrase


def resource_policy(stage: Stage) -> iam.PolicyDocument | None:
    """The resource policy of an API, which by itself refuses nothing (see ``Gateway.refuse``).

    On AWS every API needs one: CloudFormation keeps an API's policy when the template drops it, so an API that refused
    everyone would stay closed (https://github.com/aws/aws-cdk/issues/21840). A method with an authorizer is closed only
    by a Deny, not by a missing Allow:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-authorization-flow.html
    """
    if stage.emulated:  # MiniStack's patterns match no line break, so a policy would refuse such paths
        return None
    return iam.PolicyDocument(statements=[_invoking(iam.Effect.ALLOW)])


def _invoking(effect: iam.Effect, conditions: Mapping[str, Any] | None = None) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        effect=effect,
        principals=[iam.AnyPrincipal()],
        actions=["execute-api:Invoke"],
        resources=["execute-api:/*"],
        conditions=conditions,
    )


REFUSALS = {
    "ACCESS_DENIED": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "UNAUTHORIZED": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "MISSING_AUTHENTICATION_TOKEN": (HTTPStatus.NOT_FOUND, "There is nothing here."),
    "DEFAULT_4XX": (HTTPStatus.NOT_FOUND, "There is nothing here."),
    "BAD_REQUEST_BODY": (HTTPStatus.BAD_REQUEST, "The body is not what this route takes."),
    "THROTTLED": (HTTPStatus.TOO_MANY_REQUESTS, "Too many requests: slow down."),
    "WAF_FILTERED": (HTTPStatus.FORBIDDEN, "The request was refused."),
    "INTEGRATION_FAILURE": (HTTPStatus.BAD_GATEWAY, "Something went wrong here: try again."),
    "INTEGRATION_TIMEOUT": (HTTPStatus.GATEWAY_TIMEOUT, "This took too long: try again."),
    "DEFAULT_5XX": (HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here: try again."),
}
"""The gateway's own answers. Kinds that aren't here have the status and body of DEFAULT_4XX or DEFAULT_5XX. Four can't
happen: no method has a key or a quota (INVALID_API_KEY, QUOTA_EXCEEDED), functions take all media types
(UNSUPPORTED_MEDIA_TYPE), and only paths have required parameters (BAD_REQUEST_PARAMETERS). AWS doesn't let anyone
change the 413 for more than 10 MB (REQUEST_TOO_LARGE):
https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html

An API refuses an unknown path or method as if it needed an AWS signature: without ``Authorization`` as
MISSING_AUTHENTICATION_TOKEN, with a bearer token as "not a valid key=value pair" (403, users report), a kind that AWS
doesn't list. No method of ours needs a signature, so all of these mean "not found", as DEFAULT_4XX says; the first is
here because the laptop's gateway leaves it 403. A resource ``{proxy+}`` for the rest would call a function for each
path tried.
https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
https://github.com/HumanCellAtlas/data-store/issues/328"""

OF_REFUSALS = {
    "Content-Security-Policy": "sandbox",
    "Referrer-Policy": answers.SECURITY_HEADERS["Referrer-Policy"],
    "X-Frame-Options": "DENY",
}
"""Security headers of these answers. The policy has no quotes: a value is itself in quotes, and whether API Gateway
takes some within isn't documented. A sandbox runs no script and sends no form; the page's style and link work."""

LONGEST_WAIT, MOST = 10, 29
"""How many seconds a gateway waits for a function, its start included; then it answers 504. A function can't bound its
own start. API Gateway waits 29 seconds at most, unless AWS raises that."""

ACCESS_LOG = {
    "requestId": "$context.requestId",
    "extendedRequestId": "$context.extendedRequestId",
    "time": "$context.requestTime",
    "address": "$context.identity.sourceIp",
    "userAgent": "$context.identity.userAgent",
    "username": "$context.authorizer.username",
    "method": "$context.httpMethod",
    "route": "$context.resourcePath",
    "protocol": "$context.protocol",
    "tls": "$context.tlsVersion",
    "status": "$context.status",
    "refusal": "$context.error.responseType",
    "firewall": "$context.waf.error",
    "bytes": "$context.responseLength",
    "milliseconds": "$context.responseLatency",
    "functionMilliseconds": "$context.integration.latency",
    "authorizerMilliseconds": "$context.authorizer.latency",
}
"""One line of JSON for each request; ``requestId`` is the functions' ``correlation_id``.

A path may contain a member's name for an address, so the log has the resource's path; the functions log other paths. No
client can choose ``extendedRequestId``:
https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-access-logging.html
"""


class Gateway(Construct):
    """A REST API with one stage. ``throttled`` are methods that hash passwords (path and method); ``api_id`` is its id
    in the local cloud.

    API Gateway has one role per account and region that writes all APIs' logs. A stack's first API creates it
    (``account`` is None); the second one gets the first as ``account`` and waits for it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        name: str,
        stage_name: str,
        api_id: str | None,
        throttled: Iterable[tuple[str, str]],
        account: Gateway | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._wait = Duration.seconds(min(MOST, LONGEST_WAIT * stage.slowness))
        self._policy, self._transport = resource_policy(stage), {} if stage.emulated else answers.TRANSPORT
        self.api = self._rest_api(name, self._deployment(stage, stage_name, throttled), account)
        self.stage = self.api.deployment_stage
        if account is not None:
            self.stage.node.add_dependency(account.api.node.find_child("Account"))
        # The gateway writes its errors to a log of this name. A log that it created itself would be kept forever.
        error_log = Log(
            self, "ErrorLog", stage=stage, name=f"API-Gateway-Execution-Logs_{self.api.rest_api_id}/{stage_name}"
        )
        self.stage.node.add_dependency(error_log)
        for kind in REFUSALS:
            if kind not in self.never:
                self._answer(kind)
        self.validator = self.api.add_request_validator(
            "Validator", validate_request_body=True, validate_request_parameters=True
        )
        if api_id:
            Tags.of(self.api).add("ms-custom-id", api_id)
        accept(self, nag.SESSIONS_OF_OUR_OWN)
        accept(self.stage, nag.NO_CACHE_BY_THE_HOUR)
        if not stage.tracing:
            accept(self.stage, nag.GATEWAY_NOT_TRACED)
        if not any(each.guards_apis for each in stage.options):
            accept(self.stage, nag.GATEWAY_WITHOUT_FIREWALL)

    never: Collection[str] = ()
    """Kinds of answers that this API never gives."""

    def _deployment(
        self, stage: Stage, stage_name: str, throttled: Iterable[tuple[str, str]]
    ) -> apigateway.StageOptions:
        """The settings of the API's one stage, with its access log."""
        # Only errors, and never requests, which contain passwords and tokens.
        logged: dict[str, Any] = {"logging_level": apigateway.MethodLoggingLevel.ERROR, "data_trace_enabled": False}
        # A method's settings replace all those for every method.
        sign_ins = apigateway.MethodDeploymentOptions(
            throttling_rate_limit=stage.sign_in_rate, throttling_burst_limit=stage.sign_in_burst, **logged
        )
        return apigateway.StageOptions(
            stage_name=stage_name,
            throttling_rate_limit=stage.throttle_rate,
            throttling_burst_limit=stage.throttle_burst,
            method_options={f"{path}/{method}": sign_ins for path, method in throttled},
            access_log_destination=apigateway.LogGroupLogDestination(Log(self, "AccessLog", stage=stage)),
            access_log_format=apigateway.AccessLogFormat.custom(json.dumps(ACCESS_LOG)),
            tracing_enabled=stage.tracing,
            **logged,
        )

    def _rest_api(self, name: str, deployment: apigateway.StageOptions, account: Gateway | None) -> apigateway.RestApi:
        """The API itself, with nothing in it. TLS 1.2 at least."""
        api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=name,
            policy=self._policy,
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            # Functions compress bodies on request, so the gateway must send bodies as bytes.
            # https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
            binary_media_types=["*/*"],
            deploy_options=deployment,
            # The role with which API Gateway writes the logs of all APIs of the account and region.
            # https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
            cloud_watch_role=account is None,
            cloud_watch_role_removal_policy=RemovalPolicy.RETAIN if account is None else None,
        )
        resource = api.node.default_child
        assert isinstance(resource, apigateway.CfnRestApi)  # noqa: S101  # RestApi is this one resource
        # No TLS below 1.2, and only ciphers with forward secrecy; the construct has no property for it yet.
        resource.security_policy = "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09"
        resource.endpoint_access_mode = "BASIC"
        return api

    def answer_by(self, function: PythonFunction) -> apigateway.Integration:
        """Let the gateway wait for a function. One permission for all methods, because a policy is limited to 20 KB."""
        accept(function.function, nag.AWAITED_BY_THE_GATEWAY)
        return apigateway.LambdaIntegration(function.awaited, scope_permission_to_method=False, timeout=self._wait)

    def refuse(self, conditions: Mapping[str, Any]) -> None:
        """Refuse requests that meet conditions, by the API's resource policy.

        A policy takes effect with the API's next deployment
        (docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-resource-policies-create-attach.html). The CDK
        makes one, because deployments are named after the API's properties.
        """
        if self._policy:
            self._policy.add_statements(_invoking(iam.Effect.DENY, conditions))

    @abstractmethod
    def document(self, status: HTTPStatus, detail: str) -> tuple[str, str]:
        """The media type and body of the gateway's own answer."""

    @property
    def headers(self) -> Mapping[str, str]:
        """More headers of such an answer."""
        return {}

    def _answer(self, kind: str) -> None:
        status, detail = REFUSALS[kind]
        media_type, body = self.document(status, detail)
        headers = {
            "Content-Type": f"'{media_type}'",
            "Cache-Control": "'no-store'",
            "X-Content-Type-Options": "'nosniff'",
            **{name: f"'{value}'" for name, value in (OF_REFUSALS | self._transport).items()},
            **self.headers,
            "X-Correlation-Id": "context.requestId",
        }
        if status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "'Bearer'"
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            headers["Retry-After"] = "'1'"
        self.api.add_gateway_response(
            kind.title().replace("_", ""),
            type=apigateway.ResponseType.of(kind),
            status_code=str(status.value),
            response_headers=headers,
            templates={"application/json": body},
        )


OPEN_TO_BROWSERS = "catalog"
"""The function that answers preflight requests of other sites' pages. It can't write."""


def _routes_with_bodies() -> set[tuple[str, str]]:
    """The methods and paths that take a body, from the OpenAPI document."""
    document = json.loads((ROOT / "functions" / "api" / "openapi.json").read_text(encoding="utf-8"))
    return {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }


class DealsApi(Gateway):
    """The REST API that the OpenAPI document describes, with its single stage ``v1``."""

    def __init__(self, scope: Construct, *, stage: Stage, functions: Mapping[str, PythonFunction]) -> None:
        self._open = bool(stage.cors_origins)
        super().__init__(
            scope,
            "Gateway",
            stage=stage,
            name=stage.stack_name,
            stage_name=VERSION,
            api_id=stage.api_id,
            throttled=[(path, "POST") for path in PASSWORD_PATHS],
        )
        sessions = apigateway.RequestAuthorizer(
            self,
            "Authorizer",
            handler=functions["authorizer"].awaited,
            identity_sources=[apigateway.IdentitySource.header("Authorization")],
            # The authorizer's answers are never cached, so that signing out takes effect at once.
            results_cache_ttl=Duration.seconds(0),
        )
        accept(functions["authorizer"].function, nag.AWAITED_BY_THE_GATEWAY)
        integrations = {
            name: self.answer_by(functions[name]) for name in dict.fromkeys(route.function for route in ROUTES)
        }
        bodies = _routes_with_bodies() if stage.checks_bodies else set()
        # A JSON object with any fields: the functions name the invalid ones (422).
        an_object = apigateway.JsonSchema(
            schema=apigateway.JsonSchemaVersion.DRAFT4, type=apigateway.JsonSchemaType.OBJECT
        )
        model = self.api.add_model("JsonObject", content_type="application/json", schema=an_object) if bodies else None
        methods = {(route.path, verb): route for route in ROUTES for verb in self._verbs(route, bodies)}
        for (path, verb), route in methods.items():
            method = self.api.root.resource_for_path(path).add_method(
                verb,
                integrations[route.function],
                authorizer=sessions if route.caller is Audience.SIGNED_IN else None,
                request_validator=self.validator,
                request_parameters={f"method.request.path.{name}": True for name in re.findall(r"{(\w+)}", path)},
                request_models={"application/json": model} if model and (verb, path) in bodies else None,
            )
            if route.caller is Audience.ANYONE:
                accept(method, nag.OPEN_ROUTE)
        if stage.cors_origins:
            # OPTIONS without a session for each path. Paths of public reads have it from ``_verbs``.
            asked = {route.path for route in ROUTES if route.is_public_read}
            for path in dict.fromkeys(route.path for route in ROUTES if route.path not in asked):
                resource = self.api.root.resource_for_path(path)
                accept(resource.add_method("OPTIONS", integrations[OPEN_TO_BROWSERS]), nag.OPEN_TO_PREFLIGHTS)
        accept(self.api, nag.AWS_OWN_POLICY_FOR_LOGS)
        CfnOutput(Stack.of(self), "ApiUrl", value=self.api.url)
        CfnOutput(Stack.of(self), "ApiId", value=self.api.rest_api_id)

    def _verbs(self, route: Route, bodies: Collection[tuple[str, str]]) -> Sequence[str]:
        """The methods that a route is deployed as: GET with HEAD, because a gateway refuses methods it doesn't have.

        If browsers send OPTIONS, GET is deployed as ANY, which takes all methods that its path lacks: with one for
        each, the stack would have too many resources. The same holds for other methods of a path with a single function
        and sessions only, except those whose bodies are checked.
        """
        if not self._open:
            return ["GET", "HEAD"] if route.method == "GET" else [route.method]
        takers = {(each.function, each.caller) for each in ROUTES if each.path == route.path}
        alike = takers == {(route.function, Audience.SIGNED_IN)} and (route.method, route.path) not in bodies
        return ["ANY"] if alike or route.method == "GET" else [route.method]

    @property
    def headers(self) -> Mapping[str, str]:
        """The gateway's own answers are public, so with CORS every page may read them."""
        if not self._open:
            return {}
        readable = "'Retry-After, WWW-Authenticate, X-Correlation-Id'"
        return {"Access-Control-Allow-Origin": "'*'", "Access-Control-Expose-Headers": readable}

    def document(self, status: HTTPStatus, detail: str) -> tuple[str, str]:
        """A problem document (RFC 9457)."""
        return answers.MEDIA_TYPE, json.dumps(answers.document(status, detail))


ANY = "ANY"
"""All methods that a path doesn't have itself. Functions refuse the wrong ones (405): separate methods for GET, HEAD
and POST would be a tenth of a stack's 500 resources.
https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-any-method.html"""

REST = "{proxy+}"
"""Everything below a prefix. It doesn't match the prefix itself, which needs its own resource."""

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
"""The site's look without files: the gateway may refuse those, too. Colours have no ``#``, which may be special in its
templates."""

STYLE_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"
"""The hash with which a content security policy allows that style:
https://www.w3.org/TR/CSP3/#match-element-to-source-list."""

_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title} - Big Time Deals</title><style>{style}</style></head>"
    '<body><header><a href="{home}">Big Time Deals</a></header>'
    '<main><h1>{title}</h1><p>{detail}</p><p><a href="{home}">To the front page</a></p></main></body></html>'
)


class SiteApi(Gateway):
    """The pages' REST API, with its single stage ``web``. It has neither an authorizer nor models."""

    never = ("UNAUTHORIZED", "BAD_REQUEST_BODY")

    def __init__(
        self,
        scope: Construct,
        *,
        stage: Stage,
        functions: Collection[PythonFunction],
        account: Gateway,
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
            account=account,
        )
        self.private = [path for path in answering if path]
        for path, each in answering.items():
            integration = self.answer_by(each)
            prefix = self.api.root.resource_for_path(path or "/")
            for resource in (prefix, prefix.add_resource(REST)):
                method = resource.add_method(ANY, integration, request_validator=self.validator)
                accept(method, nag.OPEN_PAGE)
            if each.row.takes_passwords:
                # A separate method, because it has its own throttling.
                method = resource.add_method("POST", integration, request_validator=self.validator)
                accept(method, nag.OPEN_PAGE)
        # A proxy in front needs the API's id, and the API its functions, so these can't know the proxy's name.
        own = "" if stage.front else f"https://{self.api.rest_api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}"
        for each in functions:
            if each.row.pages is not None or each.row.makes_links:
                each.function.add_environment("SITE_ORIGIN", stage.origin or own)
                each.function.add_environment("SITE_BASE", self._base)
        CfnOutput(Stack.of(self), "SiteId", value=self.api.rest_api_id)

    def document(self, status: HTTPStatus, detail: str) -> tuple[str, str]:
        """A self-contained page: the gateway has neither templates nor style sheets."""
        page = _PAGE.format(style=_STYLE, title=phrase(status), detail=html.escape(detail), home=f"{self._base}/")
        return "text/html; charset=utf-8", page


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
            # The APIs' own policy; TLS_1_2 would also take ciphers without forward secrecy.
            security_policy=apigateway.SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
            endpoint_access_mode=apigateway.EndpointAccessMode.BASIC,
        )
        for mapping, gateway, path in (("Pages", site, None), ("Api", api, VERSION)):
            apigateway.BasePathMapping(
                self, mapping, domain_name=name, rest_api=gateway.api, base_path=path, stage=gateway.stage
            )
        CfnOutput(Stack.of(self), "SiteTarget", value=name.domain_name_alias_domain_name)
        if domain.zone_id:
            alias(
                self,
                domain.zone_id,
                domain.name,
                kinds=["A"],  # a regional name has IPv4 addresses only, unless it is told otherwise
                target=name.domain_name_alias_domain_name,
                target_zone_id=name.domain_name_alias_hosted_zone_id,
            )
