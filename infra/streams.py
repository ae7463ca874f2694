"""The work after a write: readers of the table's stream, the queue of the fan-out, and their dead-letter queues."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.function import PythonFunction
from infra.functions import Reading
from infra.settings import Stage, Watch

KEPT_FOR = Duration.days(14)
"""How long a dead-letter queue keeps a message: SQS's longest.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
"""

MAX_RECEIVES = 5
"""Deliveries of a cohort of readers, or of a mail, before it goes to the dead-letter queue. Either is repeated without
harm."""

COUNTED = lambda_.MetricsConfig(metrics=[lambda_.MetricType.EVENT_COUNT])
"""Lambda counts what an event source mapping polls only where it is told to, each count a metric of its own:
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
"""


class DeadLetterQueue(Construct):
    """A dead-letter queue: what is in it has failed for good and waits for ``btd redrive``."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self.queue = sqs.Queue(
            self,
            "Queue",
            retention_period=KEPT_FOR,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not stage.emulated,
        )
        _accept_no_tls(self.queue, stage)
        accept(self.queue, acceptances.WHERE_FAILURES_WAIT, acceptances.KEY_OF_SQS)


class StreamReader(Construct):
    """Lets a function read the records of the table's stream that match one of its filters.

    A batch that fails is halved until the record at fault is alone. This record is tried again, then put into the
    dead-letter queue.
    """

    def __init__(
        self,
        scope: Construct,
        reads: Reading,
        *,
        stage: Stage,
        table: dynamodb.ITable,
        function: PythonFunction,
    ) -> None:
        super().__init__(scope, reads.name)
        self.reads = reads
        self.dead_letters = DeadLetterQueue(self, "DeadLetters", stage=stage)
        source = sources.DynamoEventSource(
            table,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
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
            on_failure=sources.SqsDlq(self.dead_letters.queue),
            metrics_config=COUNTED if stage.watch is Watch.FULL else None,
        )
        function.function.add_event_source(source)
        self.mapping_id = source.event_source_mapping_id
        accept(self.dead_letters.queue, acceptances.OF_A_STREAMS_READER)
        accept(function.function, acceptances.FED_BY_A_MAPPING)
        accept(function.role, acceptances.STREAMS_ARE_LISTED_WHOLE)


class WorkQueue(Construct):
    """A queue of work, the function that works on it, and its dead-letter queue: the fan-out's, uploads' and mail's."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: Stage,
        function: PythonFunction,
        workers: int,
        batch_size: int = 5,
    ) -> None:
        super().__init__(scope, construct_id)
        self.worker = function
        self._emulated = stage.emulated
        self.dead_letters = DeadLetterQueue(self, "DeadLetters", stage=stage)
        self.queue = sqs.Queue(
            self,
            "Queue",
            # Six times the function's timeout, as Lambda's documentation advises:
            # https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
            visibility_timeout=Duration.seconds(6 * function.row.timeout),
            retention_period=Duration.days(4),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters.queue, max_receive_count=MAX_RECEIVES),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not stage.emulated,
        )
        _accept_no_tls(self.queue, stage)
        source = sources.SqsEventSource(
            self.queue,
            batch_size=batch_size,
            report_batch_item_failures=True,
            max_concurrency=workers,
            metrics_config=COUNTED if stage.watch is Watch.FULL else None,
        )
        function.function.add_event_source(source)
        self.mapping_id = source.event_source_mapping_id
        accept(self.queue, acceptances.KEY_OF_SQS)
        accept(function.function, acceptances.FED_BY_A_MAPPING, acceptances.QUEUE_HAS_THE_FAILURES)

    def take_from(self, function: lambda_.Function, variable: str = "QUEUE_URL") -> None:
        """Let a function send to the queue, which it knows by a variable, and do nothing else with it."""
        # On AWS a batch is authorized as the messages in it; MiniStack asks for a right of its own.
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html
        self.queue.grant(function, "sqs:SendMessage", *(["sqs:SendMessageBatch"] if self._emulated else []))
        function.add_environment(variable, self.queue.queue_url)


def _accept_no_tls(queue: sqs.Queue, stage: Stage) -> None:
    if stage.emulated:
        accept(queue, acceptances.LOCAL_WITHOUT_TLS)
