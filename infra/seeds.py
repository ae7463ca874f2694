"""The seed, which CloudFormation runs when what it would write has changed."""

from __future__ import annotations

from aws_cdk import CustomResource, Duration
from constructs import Construct

from infra import acceptances
from infra.artifacts.bundling import digest_of
from infra.checks import accept
from infra.function import PythonFunction
from infra.table import DealsTable

SEEDED_BY = ("functions/background/seed.py", "shared/data/catalog/seeds.py", "shared/models/catalog.py")
"""The files that decide what the seed writes."""


class Seeds(CustomResource):
    """The items that every table has, such as its categories, written by the seed's function."""

    def __init__(self, scope: Construct, *, function: PythonFunction, table: DealsTable) -> None:
        super().__init__(
            scope,
            "Seeds",
            resource_type="Custom::SeedCategories",
            service_token=function.function.function_arn,
            # A seed that never answers would otherwise hold up a deployment for an hour.
            service_timeout=Duration.minutes(2),
            # CloudFormation asks again only when a property has changed.
            properties={"Seeds": digest_of(*SEEDED_BY)},
        )
        self.node.add_dependency(table, function)
        accept(function.function, acceptances.AWAITED_BY_CLOUDFORMATION)
