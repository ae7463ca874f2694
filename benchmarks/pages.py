"""Reading pages: the catalog's handler against botocore's own Query of the same 25 deals and ``json.dumps``."""

from __future__ import annotations

import itertools
import json
import os
import secrets
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import boto3

from benchmarks.harness import interleave, record, table
from benchmarks.servers import client_arguments, ministack
from functions.api import catalog
from functions.background import refresher
from shared.api.bodies import NewDeal
from shared.data import keys
from shared.data.catalog import brands, deals, page_cache, seeds
from shared.dynamodb import provision
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, Deal
from shared.runtime import environment
from shared.values import slugs, times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

NAME = "benchmark-pages"
SAMPLE = Path(__file__).parent.parent / "tests" / "sample" / "deals.jsonl"
CONTEXT = cast("LambdaContext", SimpleNamespace(aws_request_id="benchmark", log_stream_name="benchmark"))
GOALS = {
    "front page, cached": "0.45",
    "a page of a feed, by cursor": "0.60",
    "the first page of a feed, uncached": "",
}


def main(rounds: int = 40) -> None:
    """Measure, print and record."""
    with ministack() as endpoint:
        arguments = client_arguments(endpoint)
        stock = boto3.client("dynamodb", **arguments)
        provision.create_table(stock, NAME)
        os.environ |= {
            "TABLE_NAME": NAME,
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": arguments["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": arguments["aws_secret_access_key"],
            "AWS_DEFAULT_REGION": arguments["region_name"],
            "POWERTOOLS_SERVICE_NAME": "benchmark",
        }
        store = environment.table()
        day = ALL_DEALS.period.start_of(fill(store)[0].created_at)
        cases = _cases(store, stock, day)
        with redirect_stdout(_NOWHERE):  # the log lines are made, not shown
            rows = interleave(cases, rounds=rounds)
    record("pages", table(rows, GOALS))


def fill(store: Table) -> list[Deal]:
    """Put sixty deals of the sample into an empty table, all of this second; returns them."""
    now = times.now()
    seeds.plant(store, now)
    with SAMPLE.open(encoding="utf-8") as lines:
        source = [json.loads(line) for line in lines]
    posted, known = [], set()
    for number, line in enumerate(itertools.islice(itertools.cycle(source), 60)):
        slug = slugs.slug(line["brand"])
        if slug not in known:
            brands.create(store, slug, line["brand"], now)
            known.add(slug)
        fields = {name: value for name, value in line.items() if name not in ("postedAt", "withdrawnAt")}
        new = NewDeal.model_validate({**fields, "sourceId": f"{number}"})
        posted.append(deals.create(store, new.to_deal(now, secrets.token_bytes(16)), now))
    return posted


def _cases(store: Table, stock: Any, day: str) -> dict[str, Any]:
    with redirect_stdout(_NOWHERE):
        refresher.handler({}, CONTEXT)
        cursor = json.loads(catalog.handler(_request("/deals"), CONTEXT)["body"])["next"]

    def yardstick() -> None:
        answer = stock.query(
            TableName=NAME,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :day",
            ExpressionAttributeValues={":day": {"S": keys.feed_partition(ALL_DEALS, day)}},
            ScanIndexForward=False,
            Limit=25,
        )
        assert len(answer["Items"]) == 25
        json.dumps(answer["Items"])

    def serve(path: str, **query: str) -> Any:
        def case() -> None:
            answer = catalog.handler(_request(path, **query), CONTEXT)
            assert answer["statusCode"] == 200

        return case

    return {
        "botocore's Query of 25 deals and json.dumps (the yardstick)": yardstick,
        "front page, cached": serve("/front-page"),
        "front page, the same handler without the cache": serve("/front-page", limit="24"),
        "a page of a feed, by cursor": serve("/deals", cursor=cursor),
        "the first page of a feed, uncached": serve("/deals", limit="24"),
        "reading the two cached copies alone": lambda: page_cache.read(
            store, [page_cache.NEWEST], shard=1, now=times.now()
        ),
    }


_NOWHERE = Path(os.devnull).open("w")  # noqa: SIM115  # open for as long as the benchmark runs


def _request(path: str, **query: str) -> dict[str, Any]:
    return {
        "resource": path,
        "path": path,
        "httpMethod": "GET",
        "headers": {"Accept": "*/*"},
        "queryStringParameters": query or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
        "body": None,
        "isBase64Encoded": False,
        "requestContext": {"stage": "v1", "path": f"/v1{path}", "requestId": "benchmark"},
    }
