"""A table is restored beside the one that went wrong, by the runbook's own commands."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
from botocore import xform_name

from shared.data import invariants, keys
from shared.data.catalog import deals, search
from shared.data.members import follows
from shared.dynamodb.schema import STREAM_VIEW, TTL_ATTRIBUTE, create_table_request
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget
from tests.support.engines import MINISTACK, on
from tests.support.factories import APPLE, FEEDS, NOW, a_deal, join, listed, post
from tests.support.pages import indexed

RUNBOOK = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text(encoding="utf-8")
DRILL = RUNBOOK.partition("\n## Restoring the table\n")[2].partition("\n## ")[0]
COMMANDS = re.findall(r"^aws dynamodb (.+)$", DRILL, re.MULTILINE)
TARGET = "big-time-deals-restored"


@on(MINISTACK)
def test_a_restored_table_becomes_whole_by_the_commands_of_the_runbook(table: Table) -> None:
    restored = replace(table, name=f"{table.name}-restored")
    join(table, "ana")
    follows.like(table, APPLE, "ana", NOW)
    (deal,) = indexed(table, post(table, [a_deal()]))
    # The stream was to write this word when the moment came that is restored.
    (word, *_) = search.items_of(deal).values()
    table.write(forget(keys.primary(word), because="the stream has not come to it"))

    for command in COMMANDS:
        ask(table, command.replace(TARGET, restored.name).replace("TABLE", table.name))
    try:
        deals.withdraw(table, deal.deal_id, NOW)
        (fault,) = invariants.check(restored, NOW)
        assert (fault.rule, invariants.mend(restored, fault)) == (invariants.WORDS, True)
        assert invariants.check(restored, NOW) == []
        assert [listed(restored, feed) for feed in FEEDS] == [[deal.deal_id]] * 3
        described = table.client.describe_table(TableName=restored.name)["Table"]
        declared = create_table_request("any")
        assert names(described["GlobalSecondaryIndexes"]) == names(declared["GlobalSecondaryIndexes"])
        assert described["StreamSpecification"]["StreamViewType"] == STREAM_VIEW
        assert described["LatestStreamArn"]
        ttl = table.client.describe_time_to_live(TableName=restored.name)["TimeToLiveDescription"]
        assert (ttl["AttributeName"], ttl["TimeToLiveStatus"]) == (TTL_ATTRIBUTE, "ENABLED")
    finally:
        table.client.update_table(TableName=restored.name, DeletionProtectionEnabled=False)
        table.client.delete_table(TableName=restored.name)


def names(indexes: Any) -> set[str]:
    return {each["IndexName"] for each in indexes}


def ask(table: Table, command: str) -> None:
    """Do what the AWS CLI would do."""
    operation, *words = shlex.split(command)
    model = botocore.session.get_session().get_service_model("dynamodb")
    name = next(each for each in model.operation_names if xform_name(each, "-") == operation)
    shape = model.operation_model(name).input_shape
    assert shape is not None
    members = {f"--{xform_name(member, '-')}": member for member in shape.members}
    given: dict[str, Any] = {}
    for number, word in enumerate(words):
        if word in members:
            following = words[number + 1] if number + 1 < len(words) else "--"
            given[members[word]] = True if following.startswith("--") else value(following)
    getattr(table.client, xform_name(name))(**given)


def value(text: str) -> Any:
    """A value in the CLI's shorthand."""
    if "=" not in text:
        return text
    pairs = (part.split("=") for part in text.split(","))
    return {name: {"true": True}.get(each, each) for name, each in pairs}
