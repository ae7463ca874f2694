"""What bulk edits cost, as their document says."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from features.bulk_edits import data
from features.bulk_edits.tests.cases import begun
from shared.data.members import users
from shared.dynamodb.table import Table
from tests.support.engines import FAST, on
from tests.support.factories import NOW, a_deal, a_user, ago, post
from tests.support.wire import taken_by

pytestmark = on(FAST)

README = Path(__file__).resolve().parents[1] / "README.md"


def test_an_edit_takes_what_its_document_says(table: Table) -> None:
    users.create(table, a_user(role="editor"))
    posted = post(table, [a_deal(ago(minutes=n + 1), entropy=n.to_bytes(16)) for n in range(data.MOST)], NOW)
    move = {"does": "move", "changes": {"category": posted[0].category}}
    few, many = posted[: data.STEP], posted

    def walk(edit: data.BulkEdit) -> None:
        data.walk(table, edit, NOW)

    took = taken_by(
        table,
        {
            "a minute of the clock without edits": partial(data.sweep, table, NOW),
            "25 deals that stay as they are, planned and walked": lambda: walk(begun(table, few, "ana", NOW, **move)),
            "500 such deals, planned": lambda: begun(table, many, "ana", NOW, **move),
            "25 of them walked": lambda: walk(data.latest(table, "ana") or begun(table, [], "ana", NOW)),
        },
    )

    page = README.read_text(encoding="utf-8")
    lines = [f"| {name} | {of.read:g} | {of.write:g} | {of.dollars / 1000:.4f} |" for name, of in took.items()]
    assert [line for line in lines if line not in page] == []
