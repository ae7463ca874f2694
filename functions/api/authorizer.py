"""The Lambda authorizer: maps a bearer token to an account and its role, or denies.

It denies instead of raising "Unauthorized", which would count each expired token as a function error. The gateway
answers a denial with 401 (``infra/``); routes decide who may do what. Its output:
https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.api.app import token_of
from shared.data.members import sessions
from shared.errors import NotSignedIn
from shared.runtime.environment import logger, table
from shared.runtime.metrics import measured
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The policy and caller for an authorizer's event."""
    arn: str = event["methodArn"]
    logger().set_correlation_id(event["requestContext"].get("requestId"))
    try:
        session = sessions.authenticate(table(), token_of(event), times.now())
    except NotSignedIn:
        logger().info("refused", function_request_id=context.aws_request_id, **measured())
        return _policy("anonymous", "Deny", arn)
    logger().info("authenticated", username=session.username, function_request_id=context.aws_request_id, **measured())
    named = {
        "username": session.username,
        "accountId": session.account_id,
        "role": session.role,
        "generation": session.generation,
    }
    return _policy(session.username, "Allow", arn) | {"context": named}


def _policy(principal: str, effect: str, arn: str) -> dict[str, Any]:
    return {
        "principalId": principal,
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Action": "execute-api:Invoke", "Effect": effect, "Resource": arn}],
        },
    }
