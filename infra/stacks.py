"""A stage's stack, which only composes and grants."""

from __future__ import annotations

from aws_cdk import Annotations, App, CfnOutput, Stack

from infra import nag, places
from infra.bundling import bundle
from infra.functions import of_stage
from infra.gateway import DealsApi, SiteApi, SiteDomain
from infra.lambdas import EachMinute, PythonFunction, Seeds, StreamReader, WorkQueue
from infra.nag import require
from infra.site import Site
from infra.stage import Stage
from infra.storage import DealsTable
from shared import features, hooks


def compose(app: App, stage: Stage) -> None:
    """Add a stage's stack to an app, to be checked at synthesis."""
    DealsStack(app, stage=stage)
    require(app)


class DealsStack(Stack):
    """Big Time Deals: the table, the functions, the API in front of them, the clock and the seeds."""

    def __init__(self, app: App, *, stage: Stage) -> None:
        about = f"Big Time Deals ({stage.name})"
        super().__init__(
            app,
            stage.stack_name,
            description=about,
            termination_protection=stage.is_protected,
            env=places.environment(stage),
            tags=dict(stage.tags) or None,
        )
        for number, lack in enumerate(places.lacks(stage)):
            Annotations.of(self).add_warning_v2(f"lack-{number}", lack)
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
        EachMinute(self, stage=stage, functions=functions)

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
        for each in features.roles(hooks.Stack):
            each.watch(self, site)
        Seeds(self, function=by_name["seed"], table=table)
