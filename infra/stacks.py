"""The stacks only compose and grant; each construct is in its own module."""

from __future__ import annotations

from aws_cdk import App, CfnOutput, Stack
from constructs import Construct

from infra import acceptances
from infra.api import DealsApi
from infra.artifacts.bundling import bundle
from infra.cdn.edge import Edge
from infra.cdn.secret import OriginSecret
from infra.checks import require
from infra.clock import EachMinute
from infra.exports import Exports
from infra.firewall import Firewall
from infra.function import PythonFunction
from infra.functions import FULL, LEAN, PILLOW, dead_letters_output, of_stage
from infra.gateway import open_to_all
from infra.mail import MailSending
from infra.observability.site import Site
from infra.observability.watch import Observability
from infra.pages import SiteApi, SiteDomain
from infra.pictures import Pictures
from infra.routes import ROUTES
from infra.seeds import Seeds
from infra.settings import Stage, Watch
from infra.streams import StreamReader, WorkQueue
from infra.table import DealsTable
from shared.api import paths

AUTHORIZER_IS_DEPLOYED = "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId"
"""The CDK's flag that makes a change of the authorizer a new deployment of its API, as a change of a method is."""


def compose(app: App, stage: Stage) -> None:
    """Give an app the stack of a stage, to be checked when it is synthesized."""
    DealsStack(app, stage=stage)
    require(app)


class DealsStack(Stack):
    """Big Time Deals: the table, the functions, the API in front of them, the clock and the seeds."""

    def __init__(self, scope: Construct, *, stage: Stage) -> None:
        super().__init__(
            scope,
            stage.stack_name,
            description=f"Big Time Deals ({stage.name})",
            termination_protection=stage.keeps_data,
        )
        self.node.set_context(AUTHORIZER_IS_DEPLOYED, True)  # noqa: FBT003  # a context's value has no name
        # For cfn-lint, and so for SAM.
        self.template_options.metadata = {"cfn-lint": {"config": {"ignore_checks": [*acceptances.CFN_LINT]}}}
        artifacts = {name: bundle(name, stage.target, trims=stage.trims_libraries) for name in (LEAN, FULL, PILLOW)}
        table = DealsTable(self, "Deals", stage=stage)
        functions = {
            row.name: PythonFunction(self, row, artifact=artifacts[row.artifact], stage=stage, table=table)
            for row in of_stage(stage)
        }

        work = WorkQueue(self, "Work", stage=stage, function=functions["messenger"], workers=stage.workers)
        for each in functions.values():
            if each.row.sends:
                work.take_from(each.function)
        pictures = Pictures(self, "PictureFiles", stage=stage)
        for each in functions.values():
            pictures.grant(each)
        # A picture takes the memory of a function: one at a time.
        uploads = WorkQueue(
            self, "Uploads", stage=stage, function=functions["resizer"], workers=stage.workers, batch_size=1
        )
        pictures.tell(uploads)
        readers = {
            each.row.name: StreamReader(self, each.row.reads, stage=stage, table=table.table, function=each)
            for each in functions.values()
            if each.row.reads
        }
        sending = MailSending(self, stage=stage, functions=list(functions.values())) if stage.mail else None
        queues = {"work": work, "uploads": uploads} | ({"mail": sending.queue} if sending else {})
        dead_letters = {name: each.dead_letters.queue for name, each in queues.items()} | {
            reader.reads.dead_letters: reader.dead_letters.queue for reader in readers.values()
        }

        secret = OriginSecret(self, "Origin", version=stage.cdn.word) if stage.cdn else None
        # MiniStack's patterns match no line break, so with a policy it would refuse a path that has one.
        without_cdn = None if stage.emulated else open_to_all()
        policy = secret.policy() if secret and stage.closes_apis else without_cdn
        api = DealsApi(
            self,
            "Gateway",
            stage=stage,
            routes=ROUTES,
            functions={name: functions[name].awaited for name in dict.fromkeys(route.function for route in ROUTES)},
            authorizer=functions["authorizer"].awaited,
            policy=policy,
        )
        pages = [each for each in functions.values() if each.row.pages is not None]
        site = SiteApi(self, "Pages", stage=stage, functions=pages, account=api, policy=policy)
        if sending:
            site.tell_address(sending.mailer)
        if stage.firewall:
            Firewall(self, "Firewall", stage=stage, gateways=[api, site])
        self._give_address(stage, api, site, [each.row.pages for each in pages if each.row.pages], secret)

        EachMinute(
            self,
            "EachMinute",
            functions=[functions[name].function for name in sorted(functions) if functions[name].row.each_minute],
        )

        nights = Exports(self, "Exports", stage=stage, table=table) if stage.export_days else None
        if stage.watch is not Watch.NOTHING:
            Observability(
                self,
                "Observability",
                stage=stage,
                site=Site(
                    functions=list(functions.values()),
                    queues={name: each.queue for name, each in queues.items()},
                    dead_letters=dead_letters,
                    mappings={each.worker.row.name: each.mapping_id for each in queues.values()}
                    | {name: reader.mapping_id for name, reader in readers.items()},
                    table_name=table.name,
                    gateways={"api": api.api.deployment_stage, "pages": site.api.deployment_stage},
                    exports=nights.machine if nights else None,
                ),
            )

        Seeds(self, function=functions["seed"], table=table)
        CfnOutput(self, "ApiUrl", value=api.api.url)
        CfnOutput(self, "ApiId", value=api.api.rest_api_id)
        CfnOutput(self, "TableName", value=table.name)
        CfnOutput(self, "QueueUrl", value=work.queue.queue_url)
        CfnOutput(self, "UploadsUrl", value=uploads.queue.queue_url)
        if sending:
            CfnOutput(self, "MailQueueUrl", value=sending.queue.queue.queue_url)
        for name, queue in dead_letters.items():
            CfnOutput(self, dead_letters_output(name), value=queue.queue_url)

    def _give_address(
        self, stage: Stage, api: DealsApi, site: SiteApi, private: list[str], secret: OriginSecret | None
    ) -> None:
        """Give the site its address: CloudFront's, which keeps nothing below the ``private`` prefixes, a custom
        domain's, or the gateway's."""
        address = stage.origin
        if stage.cdn and secret:
            edge = Edge(self, "Cdn", stage=stage, cdn=stage.cdn, api=api, site=site, private=private, secret=secret)
            address = address or f"https://{edge.host}"
            CfnOutput(self, "CdnUrl", value=f"https://{edge.host}{paths.ROOT}/")
            CfnOutput(self, "CdnDomainName", value=edge.domain_name)
        if stage.domain:
            domain = SiteDomain(self, "Domain", domain=stage.domain, site=site, api=api)
            CfnOutput(self, "SiteTarget", value=domain.domain.domain_name_alias_domain_name)
        CfnOutput(self, "SiteUrl", value=f"{address}/" if address else site.api.url)
        CfnOutput(self, "SiteId", value=site.api.rest_api_id)
