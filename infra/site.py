"""The parts of a stage, for monitoring and for features' resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from infra.gateway import DealsApi, Gateway, SiteApi
from infra.lambdas import PythonFunction, StreamReader, WorkQueue
from infra.rows import Caller
from infra.stage import Bound, Stage
from infra.storage import DealsTable
from shared.runtime import metrics

MAXIMUM, SUM = "Maximum", "Sum"

RUNBOOK = "docs/runbook.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A metric that has an alarm: if the stage watches everything, or the essentials and it is ``essential``.

    ``kind`` names the alarm and its section in ``document``: the runbook, or the feature's own. ``below``: it rings
    below its bound. ``silence_is_bad``: it also rings when its metric stops.
    """

    kind: str
    metric: cloudwatch.Metric
    bound: Bound
    below: bool = False
    silence_is_bad: bool = False
    essential: bool = False
    document: str = RUNBOOK


@dataclass(slots=True, kw_only=True)
class Site:
    """The parts of a stage; ``by_name`` has its functions, whose rows say who calls them.

    ``origin`` is the site's address for browsers, or None if that is the gateway's own. ``watched`` has metrics of
    features that have alarms, ``graphs`` those that a dashboard draws.
    """

    stage: Stage
    table: DealsTable
    by_name: Mapping[str, PythonFunction]
    work: list[WorkQueue]
    readers: Sequence[StreamReader]
    api: DealsApi
    pages: SiteApi
    origin: str | None
    watched: list[Watched] = field(default_factory=list)
    graphs: list[tuple[str, list[cloudwatch.Metric]]] = field(default_factory=list)

    @property
    def functions(self) -> list[PythonFunction]:
        """All functions."""
        return [*self.by_name.values()]

    @property
    def gateways(self) -> dict[str, Gateway]:
        """Both APIs."""
        return {"api": self.api, "pages": self.pages}

    @property
    def queues(self) -> dict[str, sqs.Queue]:
        """The queues of work."""
        return {each.name: each.queue for each in self.work}

    @property
    def dead_letters(self) -> dict[str, sqs.Queue]:
        """The dead-letter queues, by the name of the queue or reader that they belong to."""
        return {each.name: each.dead_letters for each in self._fed}

    @property
    def mappings(self) -> dict[str, str]:
        """The ids of event source mappings, by function."""
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
        """The functions that events invoke."""
        return self._called_by(Caller.EVENTS)

    @property
    def reading(self) -> list[str]:
        """The functions that read the table, and may meet a damaged item."""
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
