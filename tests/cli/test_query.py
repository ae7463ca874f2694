"""``btd query`` shows any item collection, and the browser of the table says how to ask for it."""

from __future__ import annotations

import json
import shlex

from shared.data import keys
from shared.data.members import users
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.html import item_collection
from tests.cli.conftest import Btd
from tests.support.factories import a_user


def test_the_line_of_the_browser_finds_the_items_of_an_index_backward(table: Table, btd: Btd) -> None:
    partition = "MESSAGES#it's"
    for key in ("MESSAGE#1", "MESSAGE#2", "OTHER"):
        place = {"GSI1PK": partition, "GSI1SK": key}
        table.write(put({"PK": partition, "SK": key, **place}, because="a test's own"))

    *_, line = item_collection.query_lines(table.name, partition, GSI1, "MESSAGE", backward=True)
    found = json.loads(btd(*shlex.split(line["text"])[1:], "--json").stdout)

    assert [item["SK"] for item in found["result"]] == ["MESSAGE#2", "MESSAGE#1"]
    assert [request["index"] for request in found["requests"]] == ["GSI1"]


def test_a_passwords_hash_is_not_printed(table: Table, btd: Btd) -> None:
    users.create(table, a_user("ana", password_hash="$argon2id$secret"))

    shown = btd("query", keys.password("ana")["PK"]).stdout

    assert "Password" in shown
    assert "argon2id" not in shown


def test_an_index_without_a_sort_key_has_no_beginning_of_one(table: Table, btd: Btd) -> None:
    refused = btd("query", "USER#ana", "--index", "UserIndex", "--begins-with", "x", code=2)

    assert "UserIndex has no sort key." in refused.output
