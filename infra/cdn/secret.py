"""The secret word by which the APIs recognize CloudFront."""

from __future__ import annotations

import json

from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.gateway import of_everybody, open_to_all

_WORD_LENGTH = 48  # characters of the word that only CloudFront knows: 285 bits


class OriginSecret(Construct):
    """A secret word that CloudFront sends, and by which the APIs refuse requests that bypass it, once they are closed.

    It is sent as the Referer. This and User-Agent are the only headers that a REST API's resource policy can look at,
    and so no firewall is needed (docs.aws.amazon.com/apigateway/latest/developerguide/
    apigateway-resource-policies-aws-condition-keys.html).
    ``version`` is the version of the word: raising it by one makes a new word. The previous word is still accepted,
    because CloudFront's edges take minutes to learn the new one. Older words are deleted.
    """

    def __init__(self, scope: Construct, construct_id: str, *, version: int) -> None:
        super().__init__(scope, construct_id)
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

    def policy(self) -> iam.PolicyDocument:
        """A resource policy that refuses all requests without the word or the previous one.

        A policy takes effect with the next deployment of its API (docs.aws.amazon.com/apigateway/latest/developerguide/
        apigateway-resource-policies-create-attach.html). The CDK makes one, because it names deployments after the
        API's properties. CloudFormation resolves the references in all properties, says
        docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html; in a policy of
        SQS it did not (github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/874), and here it was not
        seen. So the word "true", which every request over TLS meets, is a part of the secret, too: where nothing is
        resolved, this policy is not valid, which ends the deployment, or it refuses nobody.
        """
        policy = open_to_all()
        refused = {
            "StringNotEquals": {"aws:Referer": [_reference(each, "word") for each in self._words]},
            "Bool": {"aws:SecureTransport": _reference(self._words[-1], "closed")},
        }
        policy.add_statements(of_everybody(iam.Effect.DENY, refused))
        return policy


def _reference(secret: secretsmanager.Secret, field: str) -> str:
    return secret.secret_value_from_json(field).unsafe_unwrap()
