"""The parts of a deployment that are watched, and their metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from infra.exports import Exports
from infra.function import PythonFunction
from infra.functions import Caller
from infra.settings import Stage
from infra.streams import StreamReader, WorkQueue
from infra.table import DealsTable
from shared.runtime import metrics

MAXIMUM, MINIMUM, SUM, SAMPLES, P99 = "Maximum", "Minimum", "Sum", "SampleCount", "p99"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Everything that is watched. The functions' rows say who calls them."""

    table: DealsTable
    functions: Collection[PythonFunction]
    work: Sequence[WorkQueue]
    readers: Sequence[StreamReader]
    gateways: Mapping[str, apigateway.Stage]
    exports: Exports | None

    @property
    def queues(self) -> dict[str, sqs.Queue]:
        """The queues of work."""
        return {each.name: each.queue for each in self.work}

    @property
    def dead_letters(self) -> dict[str, sqs.Queue]:
        """The dead-letter queues, by what they are of."""
        return {each.name: each.dead_letters for each in self._fed}

    @property
    def mappings(self) -> dict[str, str]:
        """The ids of event source mappings, by the functions that they feed."""
        return {each.worker.row.name: each.mapping_id for each in self._fed}

    @property
    def _fed(self) -> list[WorkQueue | StreamReader]:
        return [*self.work, *self.readers]

    @property
    def answering(self) -> dict[str, lambda_.Function]:
        """The functions that a client waits for."""
        return self._called_by(Caller.GATEWAY)

    @property
    def working(self) -> dict[str, lambda_.Function]:
        """The functions that work on what has happened."""
        return self._called_by(Caller.EVENTS)

    @property
    def reading(self) -> list[str]:
        """The functions that have rights to the table, and so may meet a damaged item."""
        return [name for each in self.functions if each.row.access and (name := each.row.name) != "seed"]

    @property
    def stream_readers(self) -> dict[str, lambda_.Function]:
        """The functions that read the table's stream."""
        return {each.worker.row.name: each.worker.function for each in self.readers}

    def _called_by(self, caller: Caller) -> dict[str, lambda_.Function]:
        return {each.row.name: each.function for each in self.functions if each.row.caller is caller}


def of_function(stage: Stage, metric: metrics.Metric, module: str, statistic: str = SUM) -> cloudwatch.Metric:
    """A metric as one function reports it."""
    return cloudwatch.Metric(
        namespace=stage.stack_name,
        metric_name=metric.name,
        dimensions_map={metrics.DIMENSION: module},
        statistic=statistic,
    )


def only(stage: Stage, metric: metrics.Metric, statistic: str) -> cloudwatch.Metric:
    """A metric that only one function reports."""
    (module,) = metric.services
    return of_function(stage, metric, module, statistic)


def of_table(site: Site, name: str, **dimensions: str) -> cloudwatch.Metric:
    """A count that DynamoDB reports. Without an index's name, it leaves out what happened to the indexes."""
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name=name,
        dimensions_map={"TableName": site.table.name, **dimensions},
        statistic=SUM,
    )


def polls(mapping: str) -> cloudwatch.Metric:
    """Polls of an event source mapping: a value for each poll, zero if it found nothing.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    """
    return cloudwatch.Metric(
        namespace="AWS/Lambda",
        metric_name="PolledEventCount",
        dimensions_map={"EventSourceMappingUUID": mapping},
        statistic=SAMPLES,
    )
