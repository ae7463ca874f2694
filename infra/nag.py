"""cdk-nag's rules, which every synthesis checks, and each accepted violation with its reason.

``accept`` attaches an acceptance to its construct; checkov and cfn-lint read theirs from the same list. A test fails
for an unneeded acceptance.
"""

from __future__ import annotations

import aws_cdk as cdk
import cdk_nag
from constructs import IConstruct


class Acceptance:
    """A reason, and the rules that may be broken for it.

    A single finding of a cdk-nag rule is named by its brackets: ``AwsSolutions-IAM5[Resource::*]``.
    """

    def __init__(self, reason: str, *rules: str) -> None:
        self.reason = reason
        self.rules = rules


CFN_LINT = ("W3005",)
"""The CDK states dependencies that a reference already implies."""

NO_LOG_NO_VERSIONS = ("AwsSolutions-S1", "CKV_AWS_18", "CKV_AWS_21")
"""Rules broken by a bucket without logging and versions."""

_NO_DEAD_LETTERS = ("Serverless-LambdaDLQ", "CKV_AWS_116")
"""Rules broken by a function without a dead-letter queue of its own."""

_OPEN = ("AwsSolutions-APIG4", "CKV_AWS_59")
"""Rules broken by a method that requires no session."""

# Functions

NO_VPC = Acceptance(
    "DynamoDB and SQS are public services, asked over TLS with the role's own signature. A VPC would put "
    "nothing out of reach, but need endpoints or a NAT gateway, which cost by the hour.",
    "CKV_AWS_117",
)
NO_RESERVED_CONCURRENCY = Acceptance(
    "Reserved concurrency is taken from what all functions of the account share, and of the ten that a new "
    "account has none can be. What calls is bounded instead: the API is throttled, the queue has a maximum of "
    "workers, a shard of the stream one reader, and the clock ticks once a minute.",
    "CKV_AWS_115",
)
NO_SECRET_IN_ENVIRONMENT = Acceptance(
    "Lambda encrypts the environment with a key of AWS, and no secret is in it: names, a stage, a log level.",
    "CKV_AWS_173",
)
_ON_EVERYTHING = ("AwsSolutions-IAM5[Resource::*]", "Serverless-LambdaStarPermissions")
"""Rules broken by a role with a right on everything."""

X_RAY_TAKES_EVERYTHING = Acceptance("X-Ray's rights are on everything or nothing.", *_ON_EVERYTHING)
X_RAY_IS_A_SETTING = (
    "X-Ray is a setting of the stage, for $5 per million traces. Logs with correlation ids, metrics and alarms show "
    "without it what is slow and what fails."
)
FUNCTION_NOT_TRACED = Acceptance(X_RAY_IS_A_SETTING, "Serverless-LambdaTracing")
PYTHON_OF_THE_LOCAL_CLOUD = Acceptance(
    "The local cloud runs functions on the interpreter that runs it.",
    "AwsSolutions-L1",
    "Serverless-LambdaLatestVersion",
)
OLDER_PYTHON = Acceptance(
    "The stage names this Python, which AWS still supports: libraries or tools of one's own may need it.",
    *PYTHON_OF_THE_LOCAL_CLOUD.rules,
)
AWAITED_BY_CLOUDFORMATION = Acceptance(
    "CloudFormation waits for its answer: a deployment fails where there is none.", *_NO_DEAD_LETTERS
)
AWAITED_BY_THE_GATEWAY = Acceptance(
    "The gateway waits for its answer: nothing is queued that could become a dead letter.", *_NO_DEAD_LETTERS
)
FED_BY_A_MAPPING = Acceptance(
    "Lambda hands it batches and waits: one that fails goes to a dead-letter queue by what it came from.",
    *_NO_DEAD_LETTERS,
)
QUEUE_HAS_THE_FAILURES = Acceptance(
    "A mapping of a queue has no destination for failures: the queue has one, where they wait.",
    "Serverless-LambdaEventSourceMappingDestination",
)
_NEXT_MINUTE = "The next minute does the work of one that failed: there is nothing to park and send again."
CLOCK_REPEATS = Acceptance(_NEXT_MINUTE, "Serverless-EventBusDLQ")
INVOKED_BY_THE_CLOCK = Acceptance(_NEXT_MINUTE, *_NO_DEAD_LETTERS, "Serverless-LambdaAsyncFailureDestination")

# The table, the stream and the queues

KEY_OF_DYNAMODB = Acceptance(
    "DynamoDB encrypts every table with a key of AWS, for nothing. A key in KMS costs $0.03 per 10,000 uses, "
    "and $1 a month where it is ours: for a trail of its uses, and a switch that makes the data unreadable.",
    "CKV_AWS_119",
)
MINISTACK_ASKS_ON_EVERYTHING = Acceptance("MiniStack asks for it on everything.", *_ON_EVERYTHING)
STREAMS_ARE_LISTED_WHOLE = Acceptance(
    "ListStreams can be allowed on everything only; it lists streams, not what is in them.", *_ON_EVERYTHING
)
KEY_OF_SQS = Acceptance(
    "SQS encrypts it with a key of its own, for nothing (SqsManagedSseEnabled); this rule knows of keys in KMS only.",
    "CKV_AWS_27",
)
WHERE_FAILURES_WAIT = Acceptance(
    "This is where failures wait: nothing takes them from here but a person.", "Serverless-SQSRedrivePolicy"
)
OF_A_STREAMS_READER = Acceptance(
    "It is the dead-letter queue of a stream's reader, which this rule does not look at.", "AwsSolutions-SQS3"
)
LOCAL_WITHOUT_TLS = Acceptance("The local cloud is reached without TLS, on this machine only.", "AwsSolutions-SQS4")

# The gateways

_WRITES_LOGS = "service-role/AmazonAPIGatewayPushToCloudWatchLogs"
AWS_OWN_POLICY_FOR_LOGS = Acceptance(
    "AWS documents this policy of its own for the one role that writes the logs of all APIs of an account.",
    f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{_WRITES_LOGS}]",
)
OPEN_ROUTE = Acceptance(
    "The OpenAPI document lets anyone call it: to read public pages, to sign up or to sign in.", *_OPEN
)
OPEN_TO_PREFLIGHTS = Acceptance(
    "Browsers ask without credentials what they may send; the answer is the setting.", *_OPEN
)
OPEN_PAGE = Acceptance("Pages are for anyone; their functions find out who is signed in.", *_OPEN)
SESSIONS_OF_OUR_OWN = Acceptance(
    "Sessions are items of the table, looked up by functions of our own: signing out takes effect at once.",
    "AwsSolutions-COG4",
)
NO_CACHE_BY_THE_HOUR = Acceptance(
    "A cache of the gateway costs by the hour, used or not. Pages are cached in the table.",
    "CKV_AWS_120",
)
GATEWAY_NOT_TRACED = Acceptance(X_RAY_IS_A_SETTING, "Serverless-APIGWXrayEnabled", "CKV_AWS_73")
GATEWAY_WITHOUT_FIREWALL = Acceptance(
    "The firewall is a setting of the stage, for $8 a month and $0.60 per million requests.", "AwsSolutions-APIG3"
)

# Logs

KEY_OF_CLOUDWATCH = Acceptance(
    "CloudWatch encrypts every log with a key of its own. One of ours would cost $1 a month and more for each "
    "use, and everyone who may read the log may use it as well.",
    "CKV_AWS_158",
)


PACKS = ("AwsSolutions", "Serverless")
"""The packs of rules. A rule's name begins with its pack's."""

CHECKOV = "CKV"
"""The prefix of checkov's rules."""


def require(app: cdk.App) -> None:
    """Make every synthesis of an app fail that breaks a rule of these packs."""
    cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(app), cdk_nag.ServerlessChecks(app))


def accept(construct: IConstruct, *acceptances: Acceptance) -> None:
    """Accept that a construct breaks rules; cdk-nag's rules also on everything within it.

    checkov reads it from the resource's metadata in the template. Raises ValueError for a rule of neither.
    """
    for reason, rule in ((each.reason, rule) for each in acceptances for rule in each.rules):
        pack = rule.partition("-")[0]
        if pack in PACKS:
            cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"{pack}::{rule}", reason=reason))
        elif rule.startswith(CHECKOV):
            resource = construct if cdk.CfnResource.is_cfn_resource(construct) else construct.node.default_child
            assert isinstance(resource, cdk.CfnResource)  # noqa: S101  # all that we accept something of is one resource
            earlier = (resource.get_metadata("checkov") or {"skip": []})["skip"]
            resource.add_metadata("checkov", {"skip": [*earlier, {"id": rule, "comment": reason}]})
        else:
            raise ValueError(f"{rule} must be a rule of cdk-nag's packs or of checkov")
