"""Reading pages: the catalog's handler against botocore's own Query of the same 25 deals and ``json.dumps``."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3

from benchmarks.harness import compare, record
from functions.api import catalog
from functions.background import refresher
from shared.api.bodies import NewDeal
from shared.data import keys
from shared.data.catalog import deals, page_cache, topics
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, Deal
from shared.services import Queue
from shared.values import naming, times
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK
from tests.support.surroundings import given, page

SAMPLE = Path(__file__).parent.parent / "tests" / "sample" / "deals.jsonl"
CONTEXT: Any = SimpleNamespace(
    aws_request_id="8f2d5c1e-4b7a-4c39-9f10-2a6b8c4d0e1f", get_remaining_time_in_millis=lambda: 10_000
)
GOALS = {"front page, cached": "0.45", "a page of a feed, by cursor": "0.60"}


def main(rounds: int = 40) -> None:
    """Measure, print and record."""
    with MINISTACK.table() as store:
        os.environ |= given(store)
        day = ALL_DEALS.period.start_of(fill(store)[0].created_at)
        cases = _cases(store, boto3.client("dynamodb"), day)
        with redirect_stdout(_NOWHERE):  # the log lines are made, not shown
            for case in cases.values():
                case()
            text = compare({name: partial(_spent, case) for name, case in cases.items()}, GOALS, rounds=rounds)
    record("pages", text)


def _spent(case: Callable[[], object], calls: int = 4) -> float:
    """The processor time of this process for one call, in seconds."""
    before = time.process_time()
    for _ in range(calls):
        case()
    return (time.process_time() - before) / calls


def fill(store: Table) -> list[Deal]:
    """Put sixty deals of the sample into a seeded table, all of this second; returns them."""
    now = times.now()
    lines = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()[:60]]
    for slug, name in {naming.slug(line["brand"]): line["brand"] for line in lines}.items():
        topics.create_brand(store, slug, name, now)
    posted = []
    for number, line in enumerate(lines):
        fields = {name: value for name, value in line.items() if name not in ("postedAt", "withdrawnAt")}
        new = NewDeal.model_validate({**fields, "sourceId": f"{number}"})
        posted.append(deals.create(store, new.to_deal(now, secrets.token_bytes(16)), now))
    return posted


def new_queue(store: Table) -> Queue:
    """An empty queue on the local cloud that a table is on."""
    client = boto3.client("sqs", endpoint_url=store.client.meta.endpoint_url, **FAKE_CREDENTIALS)  # type: ignore[call-overload]  # all given
    return Queue(client.create_queue(QueueName=store.name)["QueueUrl"], client=client)


def _cases(store: Table, stock: Any, day: str) -> dict[str, Any]:
    with redirect_stdout(_NOWHERE):
        refresher.handler({}, CONTEXT)
        cursor = json.loads(catalog.handler(request("GET", "/deals"), CONTEXT)["body"])["next"]

    def yardstick() -> None:
        answer = stock.query(
            TableName=store.name,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :day",
            ExpressionAttributeValues={":day": {"S": keys.feed_partition(ALL_DEALS, day)}},
            ScanIndexForward=False,
            Limit=25,
        )
        assert len(answer["Items"]) == 25
        json.dumps(answer["Items"])

    def serve(path: str, **query: str) -> Any:
        asked = request("GET", path, query=query)

        def case() -> None:
            assert catalog.handler(asked, CONTEXT)["statusCode"] == 200

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


def request(
    method: str, path: str, *, query: Mapping[str, str] | None = None, body: Any = None, packed: bool = False
) -> dict[str, Any]:
    """The gateway's event of a request: of a client that takes a compressed answer (``packed``), or not."""
    headers = {"Content-Type": "application/json", **({"Accept-Encoding": "gzip, br"} if packed else {})}
    text = None if body is None else json.dumps(body)
    return page(path, headers, **(query or {})) | {"httpMethod": method, "body": text}
