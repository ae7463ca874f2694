"""A stop under writes keeps each write that was answered, and no part of one that was not."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from local import __main__ as local
from local import cloud
from local.settings import Home
from tests.support.probe import NAME, client, home

__all__ = ["home"]

pytestmark = pytest.mark.thorough

WRITERS = 4
STOPS = 20


def writing(home: Home, round_: int, written: list[str], ends: threading.Event) -> Iterator[threading.Thread]:
    """Threads that write pairs of items, each in one transaction, until the cloud answers no more."""

    # A client that tries again would go on for half a minute after the stop.
    dynamodb = client(home, "dynamodb", retries={"total_max_attempts": 1})

    def write(writer: int) -> None:
        for number in itertools.count():
            name = f"{round_}-{writer}-{number}"
            pair = [{"Put": {"TableName": NAME, "Item": {"PK": {"S": f"{name}.{side}"}}}} for side in "ab"]
            try:
                dynamodb.transact_write_items(TransactItems=pair)
            except (BotoCoreError, ClientError):
                if ends.is_set():
                    return
                continue
            written.append(name)

    for writer in range(WRITERS):
        thread = threading.Thread(target=write, args=(writer,))
        thread.start()
        yield thread


def kept(home: Home) -> set[str]:
    """The keys of a table's items."""
    pages = client(home, "dynamodb").get_paginator("scan").paginate(TableName=NAME, ConsistentRead=True)
    return {item["PK"]["S"] for page in pages for item in page["Items"]}


def test_twenty_stops_under_writes_keep_all_that_was_answered(home: Home) -> None:
    client(home, "dynamodb").create_table(
        TableName=NAME,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    port = cloud.last_port(home)
    assert port is not None
    written: list[str] = []
    for round_ in range(STOPS):
        before, ends = len(written), threading.Event()
        threads = list(writing(home, round_, written, ends))
        while len(written) < before + 10:
            ends.wait(0.01)
        local.down(home)
        ends.set()
        for thread in threads:
            thread.join()
        cloud.start(home, port)

        found = kept(home)

        assert [name for name in written if not {f"{name}.a", f"{name}.b"} <= found] == []
        assert len({name.rpartition(".")[0] for name in found}) * 2 == len(found)
