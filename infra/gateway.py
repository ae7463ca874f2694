"""Shared by both REST APIs: logs, throttling, TLS, and the gateway's own answers."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from aws_cdk import RemovalPolicy, Tags
from aws_cdk import aws_apigateway as apigateway
from constructs import Construct

from infra import acceptances
from infra.cdn.secret import OriginSecret, resource_policy
from infra.checks import accept
from infra.function import PythonFunction
from infra.logs import Log
from infra.settings import Stage

REFUSALS = {
    "ACCESS_DENIED": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "UNAUTHORIZED": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "INVALID_API_KEY": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "MISSING_AUTHENTICATION_TOKEN": (HTTPStatus.NOT_FOUND, "There is nothing here."),
    "DEFAULT_4XX": (HTTPStatus.NOT_FOUND, "There is nothing here."),
    "BAD_REQUEST_BODY": (HTTPStatus.BAD_REQUEST, "The body is not what this route takes."),
    "BAD_REQUEST_PARAMETERS": (HTTPStatus.BAD_REQUEST, "The parameters are not what this route takes."),
    "REQUEST_TOO_LARGE": (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large."),
    "UNSUPPORTED_MEDIA_TYPE": (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be JSON."),
    "THROTTLED": (HTTPStatus.TOO_MANY_REQUESTS, "Too many requests: slow down."),
    "QUOTA_EXCEEDED": (HTTPStatus.TOO_MANY_REQUESTS, "Too many requests: slow down."),
    "WAF_FILTERED": (HTTPStatus.FORBIDDEN, "The request was refused."),
    "INTEGRATION_FAILURE": (HTTPStatus.BAD_GATEWAY, "Something went wrong here: try again."),
    "INTEGRATION_TIMEOUT": (HTTPStatus.GATEWAY_TIMEOUT, "This took too long: try again."),
    "DEFAULT_5XX": (HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here: try again."),
}
"""The gateway's own answers. A kind that is not here has the status and the body of DEFAULT_4XX or DEFAULT_5XX.

A path or method that an API does not have is refused as if it asked for a signature of AWS: without ``Authorization``
by MISSING_AUTHENTICATION_TOKEN, with a bearer token as "not a valid key=value pair" (403; so users report), a kind that
AWS does not list. No method of ours asks for a signature, so all of these mean that there is nothing, which is what
DEFAULT_4XX says; the first is here, too, because the laptop's gateway leaves it 403. A resource ``{proxy+}`` for the
rest would call a function for each path tried.

https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
https://github.com/HumanCellAtlas/data-store/issues/328"""

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

A path may hold a name that a member gave an address, so the log has the resource's; the functions log other paths.

``extendedRequestId`` is the id that no client can choose:
https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-access-logging.html"""


class Gateway(Construct):
    """A REST API of API Gateway with one stage. ``throttled`` are methods that hash passwords: path and method.
    ``api_id`` is the id that the local cloud gives it.

    API Gateway has one role to write the logs of all APIs of the account and region. The first API of a stack makes it
    (``account`` is None); the second one names the first as ``account`` and waits for it. ``secret`` is the one that
    CloudFront shows, if there is one.
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
        secret: OriginSecret | None,
        account: Gateway | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        access_log = Log(self, "AccessLog", stage=stage)
        # Errors only, and never the requests themselves: they hold passwords and tokens.
        logged: dict[str, Any] = {"logging_level": apigateway.MethodLoggingLevel.ERROR, "data_trace_enabled": False}
        # What is set for one method replaces all that is set for every method.
        sign_ins = apigateway.MethodDeploymentOptions(
            throttling_rate_limit=stage.sign_in_rate, throttling_burst_limit=stage.sign_in_burst, **logged
        )
        self.api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=name,
            policy=resource_policy(stage, secret),
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            # Functions compress bodies for clients that ask for it, so the gateway must send bodies as bytes.
            # https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
            binary_media_types=["*/*"],
            deploy_options=apigateway.StageOptions(
                stage_name=stage_name,
                throttling_rate_limit=stage.throttle_rate,
                throttling_burst_limit=stage.throttle_burst,
                method_options={f"{path}/{method}": sign_ins for path, method in throttled},
                access_log_destination=apigateway.LogGroupLogDestination(access_log),
                access_log_format=apigateway.AccessLogFormat.custom(json.dumps(ACCESS_LOG)),
                tracing_enabled=stage.tracing,
                **logged,
            ),
            # The one role by which API Gateway writes the logs of all APIs of the account and region.
            # https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
            cloud_watch_role=account is None,
            cloud_watch_role_removal_policy=RemovalPolicy.RETAIN if account is None else None,
        )
        self.stage = self.api.deployment_stage
        if account is not None:
            self.stage.node.add_dependency(account.api.node.find_child("Account"))
        resource = self.api.node.default_child
        assert isinstance(resource, apigateway.CfnRestApi)  # noqa: S101  # RestApi is this one resource
        # No TLS below 1.2, and no ciphers without forward secrecy; the construct has no property for it yet.
        resource.security_policy = "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09"
        resource.endpoint_access_mode = "BASIC"
        # The gateway writes its errors to a log of this name. One that it created itself would be kept forever.
        error_log = Log(
            self, "ErrorLog", stage=stage, name=f"API-Gateway-Execution-Logs_{self.api.rest_api_id}/{stage_name}"
        )
        self.stage.node.add_dependency(error_log)
        for kind in REFUSALS:
            self._answer(kind)
        self.validator = self.api.add_request_validator(
            "Validator", validate_request_body=True, validate_request_parameters=True
        )
        if api_id:
            Tags.of(self.api).add("ms-custom-id", api_id)
        accept(self, acceptances.SESSIONS_OF_OUR_OWN)
        accept(self.stage, acceptances.NO_CACHE_BY_THE_HOUR)
        if not stage.tracing:
            accept(self.stage, acceptances.GATEWAY_NOT_TRACED)
        if not stage.firewall:
            accept(self.stage, acceptances.GATEWAY_WITHOUT_FIREWALL)

    def answer_by(self, function: PythonFunction) -> apigateway.Integration:
        """Let the gateway wait for a function. One permission for all of its methods: a policy is limited to 20 KB."""
        accept(function.function, acceptances.AWAITED_BY_THE_GATEWAY)
        return apigateway.LambdaIntegration(function.awaited, scope_permission_to_method=False)

    @abstractmethod
    def document(self, status: HTTPStatus, detail: str) -> tuple[str, str]:
        """The media type and body of an answer that the gateway gives by itself."""

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
