"""The parts of a stage's stack, for its monitoring and for features that add to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from infra.gateway import DealsApi, Gateway, SiteApi
from infra.lambdas import PythonFunction, StreamReader, WorkQueue
from infra.rows import Bound, Caller
from infra.settings import Stage
from infra.storage import DealsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A metric of a feature's, which has an alarm where everything is watched, and where only the essential is if it is
    ``essential``.

    ``kind`` is the name of the alarm, and the heading of the section of the runbook that helps. ``below`` and
    ``silence_is_bad`` say when it rings, as ``Alarms`` does (``observability.py``).
    """

    kind: str
    metric: cloudwatch.Metric
    bound: Bound
    below: bool = False
    silence_is_bad: bool = False
    essential: bool = False


@dataclass(slots=True, kw_only=True)
class Site:
    """The parts of a stage. The functions' rows say who calls them, and ``by_name`` has the functions by their names.

    ``origin`` is how browsers know the site, or None where it is the gateway's own address. ``watched`` is
    what features have watched besides the functions, the queues and the table, and ``graphs`` what the dashboard draws
    of them.
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
