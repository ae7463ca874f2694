"""A stage's stack, which only composes and grants. ``Site`` gives its parts to monitoring and to features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import App, CfnOutput, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from infra import nag
from infra.bundling import bundle
from infra.functions import of_stage
from infra.gateway import DealsApi, Gateway, SiteApi, SiteDomain
from infra.lambdas import EachMinute, PythonFunction, Seeds, StreamReader, WorkQueue
from infra.nag import require
from infra.observability import Observability
from infra.rows import Bound, Caller
from infra.settings import Stage, Watch
from infra.storage import DealsTable
from shared import features, hooks

AUTHORIZER_IS_DEPLOYED = "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId"
"""The CDK's flag that redeploys an API when its authorizer changes, as it does when a method changes."""


def compose(app: App, stage: Stage) -> None:
    """Add a stage's stack to an app, to be checked at synthesis."""
    DealsStack(app, stage=stage)
    require(app)


class DealsStack(Stack):
    """Big Time Deals: the table, the functions, the API in front of them, the clock and the seeds."""

    def __init__(self, app: App, *, stage: Stage) -> None:
        about = f"Big Time Deals ({stage.name})"
        super().__init__(app, stage.stack_name, description=about, termination_protection=stage.is_protected)
        self.node.set_context(AUTHORIZER_IS_DEPLOYED, True)  # noqa: FBT003  # a context's value has no name
        # For cfn-lint, and therefore for SAM.
        self.template_options.metadata = {"cfn-lint": {"config": {"ignore_checks": [*nag.CFN_LINT]}}}

        table = DealsTable(self, stage=stage)
        artifacts = {name: bundle(name, stage.target) for name in sorted({row.artifact for row in of_stage(stage)})}
        by_name = {
            row.name: PythonFunction(self, row, artifact=artifacts[row.artifact], stage=stage, table=table)
            for row in of_stage(stage)
        }
        functions = by_name.values()
        work = WorkQueue(
            self,
            "Work",
            stage=stage,
            name="work",
            worker=by_name["messenger"],
            workers=stage.workers,
            senders=[each for each in functions if each.row.sends],
        )
        readers = [
            StreamReader(self, each.row.reads, stage=stage, table=table, function=each)
            for each in functions
            if each.row.reads
        ]
        EachMinute(self, functions=functions)

        api = DealsApi(self, stage=stage, functions=by_name)
        pages = SiteApi(self, stage=stage, functions=functions, account=api)
        if stage.domain:
            SiteDomain(self, domain=stage.domain, site=pages, api=api)
        site = Site(
            stage=stage,
            table=table,
            by_name=by_name,
            work=[work],
            readers=readers,
            api=api,
            pages=pages,
            origin=stage.origin,
        )
        for each in features.roles(hooks.Stack):
            each.add(self, site)
        CfnOutput(self, "SiteUrl", value=f"{site.origin}/" if site.origin else pages.api.url)
        if stage.watch is not Watch.NOTHING:
            Observability(self, site=site)
        Seeds(self, function=by_name["seed"], table=table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A feature's metric that has an alarm: if the stage watches everything, or the essentials and it is ``essential``.

    ``kind`` names the alarm and its section in ``document``: the runbook, or the feature's own. ``below`` and
    ``silence_is_bad`` are as in ``Alarms`` (``observability.py``).
    """

    kind: str
    metric: cloudwatch.Metric
    bound: Bound
    below: bool = False
    silence_is_bad: bool = False
    essential: bool = False
    document: str = "docs/runbook.md"


@dataclass(slots=True, kw_only=True)
class Site:
    """The parts of a stage; ``by_name`` has its functions, whose rows say who calls them.

    ``origin`` is the site's address for browsers, or None if that is the gateway's own. ``watched`` has the metrics of
    features that have alarms, ``graphs`` those that the dashboard draws.
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
