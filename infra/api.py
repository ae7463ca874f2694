"""The REST API: its routes and its authorizer."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_apigateway as apigateway
from constructs import Construct

from infra import acceptances
from infra.artifacts.bundling import ROOT
from infra.cdn.secret import OriginSecret
from infra.checks import accept
from infra.function import PythonFunction
from infra.gateway import Gateway
from infra.routes import ROUTES, Caller, Route
from infra.settings import Stage
from shared.api.paths import PASSWORD_PATHS, VERSION
from shared.http import statuses

OPEN_TO_BROWSERS = "catalog"
"""The function that tells browsers what other sites' pages may send. It cannot write."""


def _routes_with_bodies() -> set[tuple[str, str]]:
    """Methods and paths that take a body, as the functions' own OpenAPI document says."""
    document = json.loads((ROOT / "functions" / "api" / "openapi.json").read_text(encoding="utf-8"))
    return {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }


class DealsApi(Gateway):
    """The REST API that the OpenAPI document describes, with its one stage, ``v1``."""

    def __init__(
        self, scope: Construct, *, stage: Stage, functions: Mapping[str, PythonFunction], secret: OriginSecret | None
    ) -> None:
        self._open = bool(stage.cors_origins)
        super().__init__(
            scope,
            "Gateway",
            stage=stage,
            name=stage.stack_name,
            stage_name=VERSION,
            api_id=stage.api_id,
            throttled=[(path, "POST") for path in PASSWORD_PATHS],
            secret=secret,
        )
        sessions = apigateway.RequestAuthorizer(
            self,
            "Authorizer",
            handler=functions["authorizer"].awaited,
            identity_sources=[apigateway.IdentitySource.header("Authorization")],
            # The authorizer's answers are never kept, so that signing out takes effect at once.
            results_cache_ttl=Duration.seconds(0),
        )
        accept(functions["authorizer"].function, acceptances.AWAITED_BY_THE_GATEWAY)
        integrations = {
            name: self.answer_by(functions[name]) for name in dict.fromkeys(route.function for route in ROUTES)
        }
        bodies = _routes_with_bodies() if stage.checks_bodies else set()
        # A JSON object with any fields: the functions say which of them are wrong (422).
        an_object = apigateway.JsonSchema(
            schema=apigateway.JsonSchemaVersion.DRAFT4, type=apigateway.JsonSchemaType.OBJECT
        )
        model = self.api.add_model("JsonObject", content_type="application/json", schema=an_object) if bodies else None
        methods = {(route.path, verb): route for route in ROUTES for verb in self._verbs(route, bodies)}
        for (path, verb), route in methods.items():
            method = self.api.root.resource_for_path(path).add_method(
                verb,
                integrations[route.function],
                authorizer=sessions if route.caller is Caller.SIGNED_IN else None,
                request_validator=self.validator,
                request_parameters={f"method.request.path.{name}": True for name in re.findall(r"{(\w+)}", path)},
                request_models={"application/json": model} if model and (verb, path) in bodies else None,
            )
            if route.caller is Caller.ANYONE:
                accept(method, acceptances.OPEN_ROUTE)
        if stage.cors_origins:
            # OPTIONS of each path without a session. The paths of public reads have it from ``_verbs``.
            asked = {route.path for route in ROUTES if route.is_public_read}
            for path in dict.fromkeys(route.path for route in ROUTES if route.path not in asked):
                resource = self.api.root.resource_for_path(path)
                accept(resource.add_method("OPTIONS", integrations[OPEN_TO_BROWSERS]), acceptances.OPEN_TO_PREFLIGHTS)
        accept(self.api, acceptances.AWS_OWN_POLICY_FOR_LOGS)
        CfnOutput(Stack.of(self), "ApiUrl", value=self.api.url)
        CfnOutput(Stack.of(self), "ApiId", value=self.api.rest_api_id)

    def _verbs(self, route: Route, bodies: Collection[tuple[str, str]]) -> Sequence[str]:
        """The methods that a route is deployed as: HEAD beside GET, because a gateway refuses methods it does not have.

        Where browsers ask with OPTIONS, GET is deployed as ANY, which takes every method that its path has not: with a
        method for each, the stack would have too many resources. So are the other methods of a path that is all one
        function's and takes sessions only, but for those whose bodies are checked.
        """
        if not self._open:
            return ["GET", "HEAD"] if route.method == "GET" else [route.method]
        takers = {(each.function, each.caller) for each in ROUTES if each.path == route.path}
        alike = takers == {(route.function, Caller.SIGNED_IN)} and (route.method, route.path) not in bodies
        return ["ANY"] if alike or route.method == "GET" else [route.method]

    @property
    def headers(self) -> Mapping[str, str]:
        """The gateway's own answers hold nothing private, so with CORS every page may read them."""
        if not self._open:
            return {}
        readable = "'Retry-After, WWW-Authenticate, X-Correlation-Id'"
        return {"Access-Control-Allow-Origin": "'*'", "Access-Control-Expose-Headers": readable}

    def document(self, status: HTTPStatus, detail: str) -> tuple[str, str]:
        """A problem document (RFC 9457)."""
        return statuses.MEDIA_TYPE, json.dumps(statuses.document(status, detail))
