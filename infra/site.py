"""The parts of a stage, for monitoring and for features' resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.gateway import DealsApi, Gateway, SiteApi
from infra.lambdas import PythonFunction, StreamReader, WorkQueue
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
