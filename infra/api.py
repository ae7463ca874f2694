"""The REST API: its routes, its authorizer, and its answers where no function is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aws_cdk import Duration, RemovalPolicy, Tags
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.artifacts.bundling import ROOT
from infra.checks import accept
from infra.firewall import Firewall
from infra.function import TRACING_IS_A_SETTING
from infra.logs import Log
from infra.routes import Caller, Route
from shared.api.paths import PASSWORD_PATHS, VERSION
from shared.http.statuses import phrase

if TYPE_CHECKING:
    from infra.settings import Stage

REFUSALS = {
    "ACCESS_DENIED": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "UNAUTHORIZED": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "EXPIRED_TOKEN": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "INVALID_SIGNATURE": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "INVALID_API_KEY": (HTTPStatus.UNAUTHORIZED, "There is no valid session: sign in."),
    "MISSING_AUTHENTICATION_TOKEN": (HTTPStatus.NOT_FOUND, "There is nothing here."),
    "RESOURCE_NOT_FOUND": (HTTPStatus.NOT_FOUND, "There is nothing here."),
    "BAD_REQUEST_BODY": (HTTPStatus.BAD_REQUEST, "The body is not what this route takes."),
    "BAD_REQUEST_PARAMETERS": (HTTPStatus.BAD_REQUEST, "The parameters are not what this route takes."),
    "REQUEST_TOO_LARGE": (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large."),
    "UNSUPPORTED_MEDIA_TYPE": (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be JSON."),
    "THROTTLED": (HTTPStatus.TOO_MANY_REQUESTS, "Too many requests: slow down."),
    "QUOTA_EXCEEDED": (HTTPStatus.TOO_MANY_REQUESTS, "Too many requests: slow down."),
    "WAF_FILTERED": (HTTPStatus.FORBIDDEN, "The request was refused."),
    "INTEGRATION_FAILURE": (HTTPStatus.BAD_GATEWAY, "Something went wrong here: try again."),
    "INTEGRATION_TIMEOUT": (HTTPStatus.GATEWAY_TIMEOUT, "This took too long: try again."),
    "DEFAULT_4XX": (HTTPStatus.BAD_REQUEST, "The request was refused."),
    "DEFAULT_5XX": (HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here: try again."),
}
"""What the gateway answers by itself. Every kind has its status: a default would otherwise state a wrong one."""

ACCESS_LOG = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "address": "$context.identity.sourceIp",
    "userAgent": "$context.identity.userAgent",
    "username": "$context.authorizer.username",
    "method": "$context.httpMethod",
    "route": "$context.resourcePath",
    "path": "$context.path",
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
"""One line of JSON for each request; ``requestId`` is the functions' ``correlation_id``."""

_WRITES_LOGS = "service-role/AmazonAPIGatewayPushToCloudWatchLogs"


def _routes_with_bodies() -> set[tuple[str, str]]:
    """Methods and paths that take a body, as the functions' own OpenAPI document says."""
    document = json.loads((ROOT / "functions" / "api" / "openapi.json").read_text(encoding="utf-8"))
    return {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }


class DealsApi(Construct):
    """The API Gateway REST API with its one stage, ``v1``."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        routes: Sequence[Route],
        functions: Mapping[str, lambda_.IFunction],
        authorizer: lambda_.IFunction,
        policy: iam.PolicyDocument | None = None,
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
            rest_api_name=stage.stack_name,
            policy=policy,
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            # Functions compress when asked to, so bodies are bytes to the gateway.
            binary_media_types=["*/*"],
            deploy_options=apigateway.StageOptions(
                stage_name=VERSION,
                throttling_rate_limit=stage.throttle_rate,
                throttling_burst_limit=stage.throttle_burst,
                method_options={f"{path}/POST": sign_ins for path in PASSWORD_PATHS},
                access_log_destination=apigateway.LogGroupLogDestination(access_log),
                access_log_format=apigateway.AccessLogFormat.custom(json.dumps(ACCESS_LOG)),
                tracing_enabled=stage.tracing,
                **logged,
            ),
            # The one role by which API Gateway writes the logs of all APIs of the account and region.
            cloud_watch_role=True,
            cloud_watch_role_removal_policy=RemovalPolicy.RETAIN,
        )
        self._secure_transport()
        # The gateway writes its errors to a log of this name, and would create one that is kept for ever.
        error_log = Log(
            self, "ErrorLog", stage=stage, name=f"API-Gateway-Execution-Logs_{self.api.rest_api_id}/{VERSION}"
        )
        self.api.deployment_stage.node.add_dependency(error_log)
        if stage.api_id:
            Tags.of(self.api).add("ms-custom-id", stage.api_id)
        for kind in REFUSALS:
            self._answer(kind)
        sessions = apigateway.RequestAuthorizer(
            self,
            "Authorizer",
            handler=authorizer,
            identity_sources=[apigateway.IdentitySource.header("Authorization")],
            # Signing out takes effect at once: what the authorizer said is never kept.
            results_cache_ttl=Duration.seconds(0),
        )
        integrations = {
            # One permission per function, not one per method: the policy of a function is limited to 20 KB.
            name: apigateway.LambdaIntegration(function, scope_permission_to_method=False)
            for name, function in functions.items()
        }
        validator = self.api.add_request_validator(
            "Validator", validate_request_body=True, validate_request_parameters=True
        )
        bodies = _routes_with_bodies() if stage.checks_bodies else set()
        model = self._json_object() if bodies else None
        for route in routes:
            method = self.api.root.resource_for_path(route.path).add_method(
                route.method,
                integrations[route.function],
                authorizer=sessions if route.caller is Caller.SIGNED_IN else None,
                request_validator=validator,
                request_parameters={f"method.request.path.{name}": True for name in re.findall(r"{(\w+)}", route.path)},
                request_models={"application/json": model} if model and (route.method, route.path) in bodies else None,
            )
            if route.caller is Caller.ANYONE:
                accept(
                    method,
                    "The contract lets anyone call it: it is read by the public, or how one signs up and in.",
                    "AwsSolutions-APIG4",
                    "CKV_AWS_59",
                )
        if stage.firewall:
            Firewall(self, "Firewall", stage=stage, api_stage=self.api.deployment_stage)
        self._accept(stage, [*functions.values(), authorizer])

    @property
    def url(self) -> str:
        """The API's address, ending in ``/v1/``; a token until it is deployed."""
        return self.api.url

    def _secure_transport(self) -> None:
        """Refuse TLS below 1.2, and ciphers without forward secrecy; the construct has no property for it yet."""
        resource = self.api.node.default_child
        assert isinstance(resource, apigateway.CfnRestApi)  # noqa: S101  # RestApi is this one resource
        resource.security_policy = "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09"
        resource.endpoint_access_mode = "BASIC"

    def _json_object(self) -> apigateway.Model:
        """A JSON object, and no word about its fields: which of them are wrong is for the functions to say (422)."""
        return self.api.add_model(
            "JsonObject",
            content_type="application/json",
            schema=apigateway.JsonSchema(
                schema=apigateway.JsonSchemaVersion.DRAFT4, type=apigateway.JsonSchemaType.OBJECT
            ),
        )

    def _accept(self, stage: Stage, functions: Sequence[lambda_.IFunction]) -> None:
        accept(
            self,
            "Sessions are items of the table, looked up by our own authorizer: signing out takes effect at once.",
            "AwsSolutions-COG4",
        )
        accept(
            self.api,
            "AWS documents this policy of its own for the one role that writes the logs of all APIs of an account.",
            f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{_WRITES_LOGS}]",
        )
        api_stage = self.api.deployment_stage
        accept(
            api_stage,
            "A cache of the gateway costs by the hour, used or not. Pages are cached in the table, and by CloudFront.",
            "CKV_AWS_120",
        )
        if not stage.tracing:
            accept(api_stage, TRACING_IS_A_SETTING, "Serverless-APIGWXrayEnabled", "CKV_AWS_73")
        if not stage.firewall:
            accept(
                api_stage,
                "The firewall is a setting of the stage, for $8 a month and $0.60 per million requests.",
                "AwsSolutions-APIG3",
            )
        for function in functions:
            accept(
                function.lambda_ if isinstance(function, lambda_.Alias) else function,
                "The gateway waits for its answer: nothing is queued that could be parked.",
                "Serverless-LambdaDLQ",
                "CKV_AWS_116",
            )

    def _answer(self, kind: str) -> None:
        status, detail = REFUSALS[kind]
        headers = {
            "Content-Type": "'application/problem+json'",
            "Cache-Control": "'no-store'",
            "X-Content-Type-Options": "'nosniff'",
        }
        headers["X-Correlation-Id"] = "context.requestId"
        if status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "'Bearer'"
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            headers["Retry-After"] = "'1'"
        problem = {
            "type": "about:blank",
            "title": phrase(status),
            "status": status.value,
            "detail": detail,
        }
        self.api.add_gateway_response(
            kind.title().replace("_", ""),
            type=apigateway.ResponseType.of(kind),
            status_code=str(status.value),
            response_headers=headers,
            templates={"application/json": json.dumps(problem)},
        )
