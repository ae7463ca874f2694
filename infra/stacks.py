"""The stacks only compose and grant; each construct is in its own module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_cdk import App, CfnOutput, CustomResource, Duration, Stack
from constructs import Construct

from infra import rights
from infra.api import DealsApi
from infra.artifacts.bundling import bundle, digest_of
from infra.cdn import CdnStack, OriginSecret
from infra.checks import accept, require
from infra.clock import EachMinute
from infra.function import PythonFunction
from infra.observability import Observability, Site
from infra.routes import ROUTES
from infra.streams import HOT_DEALS, NEW_DEALS, REMOVED_DEALS, SHOWN, StreamReader, WorkQueue
from infra.table import DealsTable

if TYPE_CHECKING:
    from infra.settings import Stage


def compose(app: App, stage: Stage) -> None:
    """Give an app all stacks of a stage, to be checked when they are synthesized."""
    deals = DealsStack(app, stage=stage)
    if stage.cdn and deals.origin_secret:
        CdnStack(app, stage=stage, cdn=stage.cdn, api=deals.rest_api, secret=deals.origin_secret)
    require(app)


class DealsStack(Stack):
    """Big Time Deals: the table, the functions, the API in front of them, the clock and the seeds."""

    def __init__(self, scope: Construct, *, stage: Stage, **kwargs: Any) -> None:
        super().__init__(
            scope,
            stage.stack_name,
            description=f"Big Time Deals ({stage.name})",
            termination_protection=stage.keeps_data,
            **kwargs,
        )
        # The CDK states dependencies that a reference already implies, which cfn-lint (and so SAM) warns of.
        self.template_options.metadata = {"cfn-lint": {"config": {"ignore_checks": ["W3005"]}}}
        lean = bundle("lean", stage.target)
        full = bundle("full", stage.target)

        table = DealsTable(self, "Deals", stage=stage)

        common: dict[str, Any] = {"stage": stage, "table": table}
        catalog = PythonFunction(self, "Catalog", module="catalog", artifact=lean, access=rights.CATALOG, **common)
        authorizer = PythonFunction(
            self, "Authorizer", module="authorizer", artifact=lean, access=rights.AUTHORIZER, **common
        )
        accounts = PythonFunction(
            # Hashing a password takes a whole processor and argon2's 64 MiB.
            self,
            "Accounts",
            module="accounts",
            artifact=full,
            access=rights.ACCOUNTS,
            memory=1769,
            **common,
        )
        members = PythonFunction(self, "Members", module="members", artifact=full, access=rights.MEMBERS, **common)
        editors = PythonFunction(self, "Editors", module="editors", artifact=full, access=rights.EDITORS, **common)
        seed = PythonFunction(self, "Seed", module="seed", artifact=lean, access=rights.SEED, timeout=30, **common)
        expiry = PythonFunction(
            self, "Expiry", module="expiry", artifact=lean, access=rights.EXPIRY, timeout=50, **common
        )

        announcer = PythonFunction(
            self, "Announcer", module="announcer", artifact=lean, access=rights.ANNOUNCER, timeout=30, **common
        )
        messenger = PythonFunction(
            self, "Messenger", module="messenger", artifact=lean, access=rights.MESSENGER, timeout=60, **common
        )
        refresher = PythonFunction(
            self, "Refresher", module="refresher", artifact=lean, access=rights.REFRESHER, timeout=60, **common
        )

        work = WorkQueue(
            self, "Work", stage=stage, function=messenger.function, timeout=Duration.seconds(60), workers=10
        )
        for sender in (announcer, messenger):
            work.take_from(sender.function)
        announced = StreamReader(
            self,
            "Announced",
            stage=stage,
            table=table.table,
            function=announcer.function,
            filters=(NEW_DEALS, HOT_DEALS),
            batch_size=100,
            window=Duration.seconds(0),
        )
        refreshed = StreamReader(
            self,
            "Refreshed",
            stage=stage,
            table=table.table,
            function=refresher.function,
            filters=(SHOWN, REMOVED_DEALS),
            batch_size=500,
            window=Duration.seconds(1),  # a burst of deals is one rebuild
        )

        self.origin_secret = OriginSecret(self, "Origin") if stage.cdn else None
        api = DealsApi(
            self,
            "Gateway",
            stage=stage,
            routes=ROUTES,
            functions={
                "catalog": catalog.awaited,
                "accounts": accounts.awaited,
                "members": members.awaited,
                "editors": editors.awaited,
            },
            authorizer=authorizer.awaited,
            policy=self.origin_secret.policy() if self.origin_secret else None,
        )
        self.rest_api = api.api

        EachMinute(
            self,
            "EachMinute",
            description="Takes ended deals out of the feeds, and rebuilds caches before they grow stale",
            functions=[expiry.function, refresher.function],
        )

        Observability(
            self,
            "Observability",
            stage=stage,
            site=Site(
                answering={
                    "catalog": catalog.function,
                    "authorizer": authorizer.function,
                    "accounts": accounts.function,
                    "members": members.function,
                    "editors": editors.function,
                },
                working={
                    "announcer": announcer.function,
                    "messenger": messenger.function,
                    "refresher": refresher.function,
                    "expiry": expiry.function,
                },
                stream_readers={"announcer": announcer.function, "refresher": refresher.function},
                work=work.queue,
                parked={
                    "work": work.parked.queue,
                    "news": announced.parked.queue,
                    "refreshes": refreshed.parked.queue,
                },
                table_name=table.name,
                api=api.api,
            ),
        )

        seeds = CustomResource(
            self,
            "Seeds",
            resource_type="Custom::SeedCategories",
            service_token=seed.function.function_arn,
            # A seed that never answers would otherwise hold up a deployment for an hour.
            service_timeout=Duration.minutes(2),
            # CloudFormation asks again only when a property has changed.
            properties={
                "Seeds": digest_of("functions/background/seed.py", "shared/data/catalog/seeds.py", "shared/models.py")
            },
        )
        seeds.node.add_dependency(table, seed)
        accept(
            seed.function,
            "CloudFormation waits for its answer: a deployment fails where there is none.",
            "Serverless-LambdaDLQ",
            "CKV_AWS_116",
        )

        CfnOutput(self, "ApiUrl", value=api.url)
        CfnOutput(self, "ApiId", value=api.api.rest_api_id)
        CfnOutput(self, "TableName", value=table.name)
        CfnOutput(self, "QueueUrl", value=work.queue.queue_url)
        CfnOutput(self, "ParkedWorkUrl", value=work.parked.queue.queue_url)
        CfnOutput(self, "ParkedNewsUrl", value=announced.parked.queue.queue_url)
        CfnOutput(self, "ParkedRefreshesUrl", value=refreshed.parked.queue.queue_url)
