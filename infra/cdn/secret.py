"""The secret word by which the APIs recognize CloudFront."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.gateway import of_everybody, open_to_all

_WORD_LENGTH = 48  # characters of the word that only CloudFront knows: 285 bits


class OriginSecret(Construct):
    """A secret word that CloudFront sends and the APIs require: requests that bypass CloudFront are refused.

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
            description="Sent by CloudFront to the APIs, which answer nobody else",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                exclude_punctuation=True, password_length=_WORD_LENGTH
            ),
        )
        accept(secret, acceptances.WORD_OPENS_LITTLE)
        return secret

    @property
    def word(self) -> str:
        """The word that is sent, as a reference that CloudFormation resolves at deployment."""
        return self._words[-1].secret_value.unsafe_unwrap()

    def policy(self) -> iam.PolicyDocument:
        """A resource policy that refuses all requests without the word or the previous one.

        A policy takes effect with the next deployment of its API (docs.aws.amazon.com/apigateway/latest/developerguide/
        apigateway-resource-policies.html). The CDK makes one, because it names deployments after the API's properties.
        That CloudFormation puts the word in its place within a Condition was not seen: it does so in a managed policy
        of IAM, and did not in a policy of SQS (https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/
        issues/874). Where it does not, everybody is refused. docs/deploying.md has the check. A custom resource could
        not be given the word either (docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html).
        """
        accepted = [word.secret_value.unsafe_unwrap() for word in self._words]
        policy = open_to_all()
        policy.add_statements(of_everybody(iam.Effect.DENY, {"StringNotEquals": {"aws:Referer": accepted}}))
        return policy
