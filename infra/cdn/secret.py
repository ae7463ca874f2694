"""The secret word by which the APIs recognize CloudFront."""

from __future__ import annotations

import json
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.settings import Stage

_WORD_LENGTH = 48  # characters of the word that only CloudFront knows: 285 bits


class OriginSecret(Construct):
    """A secret word that CloudFront sends, and by which the APIs refuse requests that bypass it, once they are closed.

    It is sent as the Referer. This and User-Agent are the only headers that a REST API's resource policy can look at,
    and so no firewall is needed (docs.aws.amazon.com/apigateway/latest/developerguide/
    apigateway-resource-policies-aws-condition-keys.html).
    ``version`` is the version of the word: raising it by one makes a new word. The previous word is still accepted,
    because CloudFront's edges take minutes to learn the new one. Older words are deleted.
    """

    def __init__(self, scope: Construct, *, version: int) -> None:
        super().__init__(scope, "Origin")
        self._words = [self._secret(each) for each in range(max(1, version - 1), version + 1)]

    def _secret(self, version: int) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            f"Word{version}",
            description="Sent by CloudFront to the APIs, which may answer nobody else",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template=json.dumps({"closed": "true"}),
                generate_string_key="word",
                exclude_punctuation=True,
                password_length=_WORD_LENGTH,
            ),
        )
        accept(secret, acceptances.WORD_OPENS_LITTLE)
        return secret

    @property
    def word(self) -> str:
        """The word that is sent, as a reference that CloudFormation resolves at deployment."""
        return _reference(self._words[-1], "word")

    @property
    def missing(self) -> dict[str, Any]:
        """The conditions of a request that has neither the word nor the previous one.

        CloudFormation resolves the references in all properties, says
        docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html; in a policy of
        SQS it did not (github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/874), and here it was not
        seen. So the word "true", which every request over TLS meets, is a part of the secret, too: where nothing is
        resolved, this policy is not valid, which ends the deployment, or it refuses nobody.
        """
        return {
            "StringNotEquals": {"aws:Referer": [_reference(each, "word") for each in self._words]},
            "Bool": {"aws:SecureTransport": _reference(self._words[-1], "closed")},
        }


def _reference(secret: secretsmanager.Secret, field: str) -> str:
    return secret.secret_value_from_json(field).unsafe_unwrap()


def resource_policy(stage: Stage, secret: OriginSecret | None) -> iam.PolicyDocument | None:
    """The resource policy of an API: it refuses nothing or, where the stage closes the APIs, what lacks the secret.

    On AWS, no API goes without a policy: CloudFormation keeps the one that an API has when the template no longer names
    one, and an API that CloudFront has left would go on refusing everybody (https://github.com/aws/aws-cdk/issues/21840).
    A method with an authorizer is then closed only by a Deny, which ours says, not by the lack of an Allow:
    https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-authorization-flow.html

    A policy takes effect with the next deployment of its API (docs.aws.amazon.com/apigateway/latest/developerguide/
    apigateway-resource-policies-create-attach.html). The CDK makes one, because it names deployments after the API's
    properties.
    """
    if stage.emulated:  # MiniStack's patterns match no line break: with a policy it would refuse a path that has one
        return None
    refused = [(iam.Effect.DENY, secret.missing)] if secret and stage.closes_apis else []
    statements = [
        iam.PolicyStatement(
            effect=effect,
            principals=[iam.AnyPrincipal()],
            actions=["execute-api:Invoke"],
            resources=["execute-api:/*"],
            conditions=conditions,
        )
        for effect, conditions in [(iam.Effect.ALLOW, None), *refused]
    ]
    return iam.PolicyDocument(statements=statements)
