"""The cost of an API request, in the headers of its answer."""

from __future__ import annotations

import re

from aws_lambda_powertools.utilities.typing import LambdaContext

from features.workings import data as workings
from features.workings import page_cost
from features.workings.entry import wrap
from functions.api import catalog, members
from shared.dynamodb.table import Table
from shared.values import times
from tests.functions.conftest import context, deployed, table  # noqa: F401  # fixtures
from tests.support.factories import join
from tests.support.surroundings import event


def test_where_work_is_shown_the_api_says_what_it_took_and_links_to_the_drawing_of_its_writes(
    table: Table, context: LambdaContext
) -> None:
    join(table, "ana")
    page_cost.trace.cache_clear()
    read, liked = (
        wrap(function)(event(name), context)["multiValueHeaders"]
        for function, name in ((catalog, "catalog-brand-page"), (members, "members-like-brand"))
    )
    page_cost.trace.cache_clear()

    (trace_id,) = re.findall(r'</table/took/([\w-]{16})>; rel="describedby"', liked["Link"][0])
    (group,) = (workings.find(table, trace_id, times.now()) or {})["groups"]
    assert (group["function"], [write["verb"] for write in group["writes"]]) == (
        "follows.like",
        ["put", "update", "check"],
    )
    assert liked["Server-Timing"][0].endswith(' + 7 WRU"')
    assert "RRU" in read["Server-Timing"][0]
    assert "Link" not in read
