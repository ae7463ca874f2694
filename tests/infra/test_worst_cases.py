"""What someone who takes a function over could do at worst, by its role."""

from __future__ import annotations

import pytest

from infra.functions import BY_NAME, FUNCTIONS
from shared.data import keys, partitions
from tests.support.rights import Ask, policy_of
from tools import worst_cases
from tools.worst_cases import WORST, sees, worst, writes

OF_CORE = {
    "catalog": "",
    "site": "",
    "authorizer": "",
    "accounts": "sign in as anyone, make editors, destroy any account",
    "account": "sign in as anyone, make editors, destroy any account",
    "members": "watch for anyone, set anyone's alerts, write to any member",
    "mine": "watch for anyone, set anyone's alerts, write to any member",
    "editors": "change any deal, change any deal's link, change the picks",
    "publisher": "change any deal's link, change what search finds, add to logs of deals",
    "messenger": "set anyone's alerts, write to any member",
    "refresher": "change the picks, change what pages show",
    "expiry": "change any deal, change any deal's link",
    "remover": "destroy any account",
    "seed": "change the picks, rename categories",
}


@pytest.mark.parametrize(("name", "could"), OF_CORE.items())
def test_someone_with_a_functions_role_could_do_this_at_worst(name: str, could: str) -> None:
    assert ", ".join(says for says in worst(BY_NAME[name]) if says in WORST.values()) == could


def test_only_who_signs_up_members_could_make_editors_and_two_let_in_whoever_they_like() -> None:
    assert [each.name for each in FUNCTIONS if writes(each, keys.USER, "Role")] == ["accounts", "account"]
    takes_over = {name for name in OF_CORE if worst_cases.TAKES_OVER in worst(BY_NAME[name])}
    assert takes_over == {"accounts", "account"}


def test_hashes_are_also_seen_by_those_who_read_the_stream() -> None:
    how = {each.name: sees(each, keys.PASSWORD, "PasswordHash") for each in FUNCTIONS}

    assert {name: way for name, way in how.items() if way} == {
        "accounts": "reading",
        "account": "reading",
        "publisher": "stream",
        "refresher": "stream",
    }


@pytest.mark.parametrize(
    ("type_", "attribute"), [(keys.USER, "Email"), (keys.USER, "Role"), (keys.PASSWORD, "PasswordHash")]
)
def test_the_table_of_roles_says_what_iam_would(type_: str, attribute: str) -> None:
    """Of each function, on the rows of its rights."""
    partition = partitions.of(type_).replace("*", "ana")
    for each in FUNCTIONS:
        policy = policy_of(each.access)
        may = {
            operation
            for operation in ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem")
            if policy.allows(Ask(operation, (partition,), "", ("PK", attribute)))
        }

        assert (sees(each, type_, attribute) == "reading") == bool(may - {"PutItem", "UpdateItem"}), each.name
        assert writes(each, type_, attribute) == bool(may & {"PutItem", "UpdateItem"}), each.name
