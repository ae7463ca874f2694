"""``docs/nosql-workbench.json`` is what the schema, the keys and the sample make, and nothing else."""

from __future__ import annotations

import json

from shared.dynamodb.schema import INDEXES
from tools import workbench


def test_the_written_model_is_what_the_code_writes() -> None:
    written = json.loads(workbench.PATH.read_text(encoding="utf-8"))

    assert written == workbench.document(), "python -m tools.workbench writes it again"


def test_the_model_shows_each_index_and_each_kind_of_item() -> None:
    (table,) = json.loads(workbench.PATH.read_text(encoding="utf-8"))["DataModel"]

    types = {item["Type"]["S"] for item in table["TableData"] if "Type" in item}

    assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == [index.name for index in INDEXES]
    assert types >= {
        "Deal", "Brand", "Category", "User", "UserEmail", "Session", "Message", "Saved", "BrandWatch", "CategoryLike",
        "FrontPage", "EditorsChoice", "ProductOffer", "Word", "Clicks", "CountedClick", "Ending",
    }  # fmt: skip
