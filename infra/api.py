"""The REST API: its routes, its authorizer, and its answers where no function is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

from aws_cdk import Duration, Tags
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.routes import Caller, Route

if TYPE_CHECKING:
    from infra.settings import Stage

STAGE_NAME = "v1"
"""The API's version: the first part of every path, so that paths are the same on every host."""

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

_OURS = {HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Content Too Large"}
"""RFC 9110's phrase where the standard library of Python 3.11 still has the older one."""


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
        self.api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=stage.stack_name,
            policy=policy,
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            # Functions compress when asked to, so bodies are bytes to the gateway.
            binary_media_types=["*/*"],
            deploy_options=apigateway.StageOptions(
                stage_name=STAGE_NAME,
                throttling_rate_limit=stage.throttle_rate,
                throttling_burst_limit=stage.throttle_burst,
            ),
            cloud_watch_role=False,
        )
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
        for route in routes:
            self.api.root.resource_for_path(route.path).add_method(
                route.method,
                integrations[route.function],
                authorizer=sessions if route.caller is Caller.SIGNED_IN else None,
            )

    @property
    def url(self) -> str:
        """The API's address, ending in ``/v1/``; a token until it is deployed."""
        return self.api.url

    def _answer(self, kind: str) -> None:
        status, detail = REFUSALS[kind]
        headers = {"Content-Type": "'application/problem+json'", "Cache-Control": "'no-store'"}
        if status is HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "'Bearer'"
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            headers["Retry-After"] = "'1'"
        problem = {
            "type": "about:blank",
            "title": _OURS.get(status, status.phrase),
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
