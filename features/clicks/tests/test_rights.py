"""The rights to the notes of clicks."""

from __future__ import annotations

from features.clicks.data.keys import counted_click
from infra.functions import FUNCTIONS
from tests.support.rights import Ask, policy_of


def test_notes_of_clicks_are_written_by_their_function_and_read_by_none() -> None:
    note, attributes = counted_click("salt", "192.0.2.7", "one", 7)["PK"], ("PK", "SK", "Type", "ExpiresAt")
    policies = {each.name: policy_of(each.access) for each in FUNCTIONS if each.access}
    may_put = {
        name: [policy.allows(Ask("PutItem", (note,), "", of)) for of in (attributes, ("Address",))]
        for name, policy in policies.items()
    }
    others = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")

    assert {name for name, may in may_put.items() if any(may)} == {"clicks"}
    assert may_put["clicks"] == [True, False]
    assert [name for name in others if any(policy.allows(Ask(name, (note,))) for policy in policies.values())] == []
