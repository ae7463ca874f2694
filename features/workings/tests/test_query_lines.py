"""The lines of the browser of the table, which an operator types."""

from __future__ import annotations

import json
import shlex

from features.workings import drawings
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from tests.cli.conftest import Btd, bare_table, btd, server, table, wide_terminal  # noqa: F401  # fixtures


def test_the_line_of_the_browser_finds_the_items_of_an_index_backward(table: Table, btd: Btd) -> None:
    partition = "MESSAGES#it's"
    for key in ("MESSAGE#1", "MESSAGE#2", "OTHER"):
        place = {"GSI1PK": partition, "GSI1SK": key}
        table.write(put({"PK": partition, "SK": key, **place}, because="a test's own"))

    *_, line = drawings.query_lines(table.name, partition, GSI1, "MESSAGE", backward=True)
    found = json.loads(btd(*shlex.split(line["text"])[1:], "--json").stdout)

    assert [item["SK"] for item in found["result"]] == ["MESSAGE#2", "MESSAGE#1"]
    assert [request["index"] for request in found["requests"]] == ["GSI1"]
