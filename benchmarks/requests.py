"""What benchmarks ask functions: events of the gateway, on a table with deals of the sample."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3

from shared.api.bodies import NewDeal
from shared.data.catalog import deals, topics
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.services import Queue
from shared.values import naming, times
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.surroundings import page

SAMPLE = Path(__file__).parent.parent / "tests" / "sample" / "deals.jsonl"
CONTEXT: Any = SimpleNamespace(
    aws_request_id="8f2d5c1e-4b7a-4c39-9f10-2a6b8c4d0e1f", get_remaining_time_in_millis=lambda: 10_000
)


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


def request(
    method: str, path: str, *, query: Mapping[str, str] | None = None, body: Any = None, packed: bool = False
) -> dict[str, Any]:
    """The gateway's event of a request: of a client that takes a compressed answer (``packed``), or not."""
    headers = {"Content-Type": "application/json", **({"Accept-Encoding": "gzip, br"} if packed else {})}
    text = None if body is None else json.dumps(body)
    return page(path, headers, **(query or {})) | {"httpMethod": method, "body": text}
