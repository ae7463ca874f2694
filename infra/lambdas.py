"""Lambda functions as constructs, and the triggers of background functions: clock, deployment, stream and queue.

A function has its artifact, its role and its log, which outlives the stack only if the stage's data does.
CloudFormation runs the seed when its content has changed. Each reader of the stream or a queue has its dead-letter
queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from aws_cdk import AssetHashType, CfnOutput, CustomResource, Duration, RemovalPolicy, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import nag
from infra.bundling import HANDLER, Artifact, digest_of
from infra.encryption import RECEIVES, SENDS, encrypt_queue, may_use
from infra.functions import DEAD_LETTERS, WORK, variables
from infra.nag import accept
from infra.rows import Function, Reading
from infra.stage import LOG_DAYS, ON_LAMBDA, Stage, Watch
from infra.storage import DealsTable

_DAYS = logs.RetentionDays
RETENTIONS = dict(zip(LOG_DAYS, (_DAYS.ONE_DAY, _DAYS.ONE_WEEK, _DAYS.ONE_MONTH, _DAYS.THREE_MONTHS), strict=True))
"""The CDK's names of the days that a stage may keep its logs."""


class Log(logs.LogGroup):
    """A log group of a stage. CloudFormation chooses its name, unless the writer requires one (``name``).

    A log with a chosen name never outlives its stack: the next stack couldn't create it.
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage, name: str | None = None) -> None:
        super().__init__(
            scope,
            construct_id,
            log_group_name=name,
            retention=RETENTIONS[stage.log_retention_days],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
            if stage.keeps_data and name is None
            else RemovalPolicy.DESTROY,
        )
        if stage.key_arn:
            resource = self.node.default_child
            assert isinstance(resource, logs.CfnLogGroup)  # noqa: S101  # a LogGroup is this one resource
            resource.kms_key_id = stage.key_arn
        else:
            accept(self, nag.KEY_OF_CLOUDWATCH)


class Role(iam.Role):
    """A service's role, which has its rights in itself. The CDK adds a policy to each role, of which a stack would have
    28 among its 500 resources.

    1.1.0 has such policies, and calls functions' roles ``Role``. These have another name: a role that had both policies
    during an update would pass IAM's 10,240 characters.
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    """

    def __init__(self, scope: Construct, construct_id: str, service: str) -> None:
        self._rights = iam.PolicyDocument()
        super().__init__(
            scope,
            construct_id,
            assumed_by=iam.ServicePrincipal(f"{service}.amazonaws.com"),
            inline_policies={"Rights": self._rights},
        )

    def add_to_principal_policy(self, statement: iam.PolicyStatement) -> iam.AddToPrincipalPolicyResult:
        """Add a right to the role's own document."""
        self._rights.add_statements(statement)
        return iam.AddToPrincipalPolicyResult(statement_added=True, policy_dependable=self)


class PythonFunction(Construct):
    """A Lambda function, made from its row in ``functions.py``."""

    def __init__(self, scope: Construct, row: Function, *, artifact: Artifact, stage: Stage, table: DealsTable) -> None:
        super().__init__(scope, row.name.capitalize())
        self.row = row
        log = Log(self, "Log", stage=stage)
        # Not the CDK's managed policy, which may create and write every log of the account.
        self.role = Role(self, "Rights", "lambda")
        log.grant_write(self.role)
        table.grant(self.role, row.access_at(stage))
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Big Time Deals: {row.name}",
            runtime=lambda_.Runtime(f"python{stage.target.python}", lambda_.RuntimeFamily.PYTHON),
            architecture=lambda_.Architecture.custom(stage.target.architecture),
            handler=HANDLER,
            code=lambda_.Code.from_asset(
                str(artifact.path), asset_hash=artifact.digest, asset_hash_type=AssetHashType.CUSTOM
            ),
            role=self.role,
            log_group=log,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if row.calls_itself else None,
            tracing=lambda_.Tracing.ACTIVE if stage.tracing else None,
            timeout=Duration.seconds(row.timeout * stage.slowness),
            memory_size=row.memory,
            environment=variables(row, stage, table.name),
        )
        self._snap_start = stage.snap_start
        accept(self.function, nag.NO_VPC, nag.NO_RESERVED_CONCURRENCY, nag.NO_SECRET_IN_ENVIRONMENT)
        if stage.tracing:
            accept(self.role, nag.X_RAY_TAKES_EVERYTHING)
        else:
            accept(self.function, nag.FUNCTION_NOT_TRACED)
        if stage.target.python != ON_LAMBDA.python:
            here = stage.target.uv_platform is None
            accept(self.function, nag.PYTHON_OF_THE_LOCAL_CLOUD if here else nag.OLDER_PYTHON)

    @cached_property
    def awaited(self) -> lambda_.IFunction:
        """The function for synchronous callers: with SnapStart, an alias of its newest version."""
        if not self._snap_start:
            return self.function
        resource = self.function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101  # a Function is this one resource
        # Not for every function: a snapshot needs a version, which the other functions don't have.
        resource.snap_start = lambda_.CfnFunction.SnapStartProperty(apply_on="PublishedVersions")
        return lambda_.Alias(self, "Live", alias_name="live", version=self.function.current_version)


_TOO_LATE = Duration.minutes(1)


class EachMinute(Construct):
    """Invokes the functions whose rows say so, every minute.

    A missed or failed minute isn't repeated: the next one does its work.
    """

    def __init__(self, scope: Construct, *, stage: Stage, functions: Iterable[PythonFunction]) -> None:
        super().__init__(scope, "EachMinute")
        invoked = [each.function for each in sorted(functions, key=lambda each: each.row.name) if each.row.each_minute]
        rule = events.Rule(
            self,
            "Rule",
            description="Takes ended deals out of the feeds, and rebuilds caches before they grow stale",
            schedule=events.Schedule.rate(Duration.minutes(1)),
            enabled=not stage.standby,
            targets=[
                targets.LambdaFunction(function, retry_attempts=0, max_event_age=_TOO_LATE) for function in invoked
            ],
        )
        accept(rule, nag.CLOCK_REPEATS)
        for function in invoked:
            function.configure_async_invoke(retry_attempts=0, max_event_age=_TOO_LATE)
            accept(function, nag.INVOKED_BY_THE_CLOCK)


SEEDED_BY = ("functions/background/seed.py", "shared/data/catalog/topics.py", "shared/models/catalog.py")
"""The files that decide what the seed writes."""


class Seeds(CustomResource):
    """The items that every table needs, such as categories, written by the seed's function."""

    def __init__(self, scope: Construct, *, function: PythonFunction, table: DealsTable) -> None:
        super().__init__(
            scope,
            "Seeds",
            resource_type="Custom::SeedCategories",
            service_token=function.function.function_arn,
            # Otherwise a seed that never answers would block a deployment for an hour.
            service_timeout=Duration.minutes(2),
            # CloudFormation calls again only if a property has changed.
            properties={"Seeds": digest_of(*SEEDED_BY)},
        )
        self.node.add_dependency(table, function)
        accept(function.function, nag.AWAITED_BY_CLOUDFORMATION)


KEPT_FOR = Duration.days(14)
"""How long a dead-letter queue keeps a message: SQS's maximum.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"""

MAX_RECEIVES = 5
"""Deliveries of a unit of work before it goes to the dead-letter queue. Repeating one is harmless."""

COUNTED = lambda_.MetricsConfig(metrics=[lambda_.MetricType.EVENT_COUNT])
"""Lambda counts an event source mapping's polls only if configured, each count as a metric:
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics"""


def _queue(scope: Construct, stage: Stage, **settings: Any) -> sqs.Queue:
    """A queue encrypted by SQS or with the stage's key, and accessible only over TLS if the cloud has it."""
    queue = sqs.Queue(
        scope, "Queue", encryption=sqs.QueueEncryption.SQS_MANAGED, enforce_ssl=not stage.emulated, **settings
    )
    if stage.key_arn:
        encrypt_queue(queue, stage.key_arn)
    else:
        accept(queue, nag.KEY_OF_SQS)
    if stage.emulated:
        accept(queue, nag.LOCAL_WITHOUT_TLS)
    return queue


def _dead_letters(scope: Construct, stage: Stage, name: str) -> sqs.Queue:
    """A dead-letter queue: its messages failed permanently and wait for someone to send them again."""
    queue = _queue(Construct(scope, "DeadLetters"), stage, retention_period=KEPT_FOR)
    accept(queue, nag.WHERE_FAILURES_WAIT)
    CfnOutput(Stack.of(scope), DEAD_LETTERS[name], value=queue.queue_url)
    return queue


class StreamReader(Construct):
    """Lets a function read the stream records that match its row's filters.

    A failing batch is halved until the failing record is alone; that is retried, then goes to the dead-letter queue.
    """

    def __init__(
        self, scope: Construct, reads: Reading, *, stage: Stage, table: DealsTable, function: PythonFunction
    ) -> None:
        super().__init__(scope, reads.name)
        self.name = reads.dead_letters
        self.worker = function
        self.dead_letters = _dead_letters(self, stage, self.name)
        source = sources.DynamoEventSource(
            table.table,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            enabled=False if stage.standby else None,
            filters=[lambda_.FilterCriteria.filter(pattern) for pattern in reads.filters],
            batch_size=reads.batch_size,
            max_batching_window=Duration.seconds(reads.window),
            bisect_batch_on_error=True,
            report_batch_item_failures=True,
            retry_attempts=5,
            # The stream keeps records for 24 hours. After six a record goes to the dead-letter queue, while it can
            # still be read.
            # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
            max_record_age=Duration.hours(6),
            on_failure=sources.SqsDlq(self.dead_letters),
            metrics_config=COUNTED if stage.watch is Watch.FULL else None,
        )
        function.function.add_event_source(source)
        may_use(function.role, stage, "sqs", *SENDS)
        self.mapping_id = source.event_source_mapping_id
        accept(self.dead_letters, nag.OF_A_STREAMS_READER)
        accept(function.function, nag.FED_BY_A_MAPPING)
        accept(function.role, nag.STREAMS_ARE_LISTED_WHOLE)


class WorkQueue(Construct):
    """A queue of work with its worker function, its senders (which find it in ``variable``), and its dead-letter
    queue."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        name: str,
        worker: PythonFunction,
        workers: int,
        batch_size: int = 5,
        senders: Iterable[PythonFunction] = (),
        variable: str = "QUEUE_URL",
    ) -> None:
        super().__init__(scope, construct_id)
        self.name = name
        self.worker = worker
        self.dead_letters = _dead_letters(self, stage, name)
        self.queue = _queue(
            self,
            stage,
            # Six times the function's timeout, as Lambda's documentation advises:
            # https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
            visibility_timeout=Duration.seconds(6 * worker.row.timeout),
            retention_period=Duration.days(4),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MAX_RECEIVES),
        )
        CfnOutput(Stack.of(self), WORK[name], value=self.queue.queue_url)
        source = sources.SqsEventSource(
            self.queue,
            batch_size=batch_size,
            report_batch_item_failures=True,
            max_concurrency=workers,
            metrics_config=COUNTED if stage.watch is Watch.FULL else None,
        )
        worker.function.add_event_source(source)
        may_use(worker.role, stage, "sqs", *RECEIVES)
        self.mapping_id = source.event_source_mapping_id
        accept(worker.function, nag.FED_BY_A_MAPPING, nag.QUEUE_HAS_THE_FAILURES)
        # On AWS a batch is authorized as its messages; MiniStack requires a right of its own.
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html
        actions = ["sqs:SendMessage", *(["sqs:SendMessageBatch"] if stage.emulated else [])]
        for each in senders:
            self.queue.grant(each.function, *actions)
            may_use(each.role, stage, "sqs", *SENDS)
            each.function.add_environment(variable, self.queue.queue_url)
