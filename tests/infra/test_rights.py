"""The roles' rights, and above all what no role must be able to do."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from infra.rights import Right
from infra.settings import STAGES
from shared.data import keys, partitions
from shared.data.catalog import feed_counts
from shared.dynamodb.schema import GSI1, GSI2, GSI3, USER_INDEX
from shared.models.catalog import BRAND, CATEGORY, Period, Topic
from tests.infra.conftest import Synthesized, synthesize
from tests.support.cases import cases
from tests.support.rights import ACCOUNT, DEAL, MESSAGES, REMOVERS, SESSION, USER, Ask, Policy
from tests.support.rights import ANY_READ as READS
from tests.support.rights import ANY_WRITE as WRITES

G_FORE = Topic(BRAND, "g-fore")


def who_may(site: Synthesized, operations: tuple[str, ...], key: str, index: str = "") -> set[str]:
    """The functions that may do one of some operations on a partition."""
    return {
        module
        for module in site.modules()
        if any(site.policy(module).allows(Ask(operation, (key,), index)) for operation in operations)
    }


def with_features(name: str, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The core's rows and those of features. The last value of each names functions: rows that are else the same are
    one, with all of them."""
    found = defaultdict[tuple[Any, ...], list[str]](list)
    for *what, functions in (*rows, *cases(name)):
        found[tuple(what)].append(functions)
    return [(*what, " ".join(functions)) for what, functions in found.items()]


@pytest.mark.parametrize(
    ("operations", "key", "index", "functions"),
    with_features(
        "RIGHTS",
        # Anyone may read deals; editors write them, and the clock, which ends them.
        (READS, DEAL, "", "catalog editors expiry members messenger mine refresher site"),
        (WRITES, DEAL, "", "editors expiry"),
        # Only functions of accounts see users' collections; what others write of them is told below.
        (WRITES, USER, "", REMOVERS),
        (READS, USER, "", REMOVERS),
        (READS, USER, USER_INDEX.name, ""),
        (WRITES, ACCOUNT, "", "accounts account"),
        (READS, ACCOUNT, "", ""),
        ((*READS, *WRITES), keys.user_email("ana@mail.example")["PK"], "", "accounts account"),
        # Sessions are read where someone is let in; only accounts make, list and end them.
        (READS, SESSION, "", "authorizer accounts mine account"),
        (WRITES, SESSION, "", REMOVERS),
        (READS, keys.sessions("ana"), GSI1.name, REMOVERS),
        # Messages are their readers', and only the messenger adds to them. GSI1 has the unread ones.
        (READS, MESSAGES, "", f"members mine {REMOVERS}"),
        (READS, MESSAGES, GSI1.name, "members account mine"),
        (("PutItem", "PartiQLInsert"), MESSAGES, "", "messenger"),
        # Watches are seen only by functions that count them or tell watchers.
        (READS, keys.watchers(G_FORE), "", f"messenger mine {REMOVERS}"),
        (READS, keys.watches("ana"), GSI1.name, "members mine"),
        (READS, keys.like(G_FORE, "ana")["PK"], "", f"mine {REMOVERS}"),
        (WRITES, keys.watchers(G_FORE), "", f"members mine {REMOVERS}"),
    ),
)
def test_a_partition_is_read_or_written_by_these_functions_and_no_others(
    prod: Synthesized, operations: tuple[str, ...], key: str, index: str, functions: str
) -> None:
    assert who_may(prod, operations, key, index) == set(functions.split())


BRAND_ITEM = keys.topic(G_FORE)["PK"]
CATEGORY_ITEM = keys.topic(Topic(CATEGORY, "shoes"))["PK"]


def test_roles_may_count_deals_in_all_periods_of_a_feed() -> None:
    names = {f"{feed_counts.COUNTS[Period.DAY]}{day:02}" for day in range(1, 32)}
    names |= {f"{feed_counts.COUNTS[Period.MONTH]}{month:02}" for month in range(1, 13)}

    assert {*partitions.COUNTS} == names | {"Type", feed_counts.TOTAL}


@pytest.mark.parametrize(
    ("key", "attribute", "functions"),
    with_features(
        "ATTRIBUTES",
        (USER, "Role", "accounts account"),
        *((USER, name, "accounts account") for name in ("Email", "Name", "Generation", "SignOuts", "HotPace")),
        (ACCOUNT, "Alerts", "accounts account members mine"),
        (DEAL, "Price", "editors expiry"),
        # The publisher's condition names the link, and IAM doesn't tell a condition's attributes from those written.
        (DEAL, "Link", "editors expiry publisher"),
        # A new brand has its name and its counts.
        (BRAND_ITEM, "Name", "editors"),
        (BRAND_ITEM, "WatchCount", f"editors members mine {REMOVERS}"),
        (BRAND_ITEM, "Day31", "editors expiry"),
        (CATEGORY_ITEM, "Name", "seed"),
        (CATEGORY_ITEM, "Featured", "editors refresher seed"),
    ),
)
def test_a_function_writes_the_attributes_that_are_its_work(
    prod: Synthesized, key: str, attribute: str, functions: str
) -> None:
    asked = [Ask(operation, (key,), "", ("PK", "SK", attribute)) for operation in WRITES if operation != "DeleteItem"]
    may = {module for module in prod.modules() if any(prod.policy(module).allows(each) for each in asked)}

    assert may == set(functions.split())


def test_no_function_writes_many_items_at_once(prod: Synthesized) -> None:
    """BatchWriteItem is one right for deletions and for what is put, and no condition of a write goes with it."""
    asked = Ask("BatchWriteItem", (keys.messages("ana"),), "", ("PK", "SK"))

    assert not [module for module in prod.modules() if prod.policy(module).allows(asked)]


def test_the_messenger_sees_of_accounts_only_whose_they_are_and_since_when(prod: Synthesized) -> None:
    def may_read(*attributes: str) -> bool:
        return prod.policy("messenger").allows(Ask("BatchGetItem", (USER,), "", attributes))

    assert may_read("PK", "SK", "Username", "CreatedAt")
    assert not may_read("Username", "Email")
    assert not may_read()


def test_where_attributes_are_restricted_no_write_is_given_the_others(dev: Synthesized) -> None:
    """``ReturnValues`` would give a write's function the item that was there."""
    restricted = [
        statement
        for module in dev.modules()
        for statement in dev.policy(module).statements
        if "dynamodb:Attributes" in statement.get("Condition", {}).get("ForAllValues:StringEquals", {})
    ]

    returned = {str(each["Condition"]["StringEqualsIfExists"].get("dynamodb:ReturnValues")) for each in restricted}
    assert returned == {"['NONE', 'UPDATED_OLD', 'UPDATED_NEW']"}


@pytest.mark.parametrize("module", ["mine", "members", "expiry", "authorizer", *cases("IMPERSONAL")])
def test_these_functions_see_of_an_account_nothing_personal(prod: Synthesized, module: str) -> None:
    policy = prod.policy(module)

    for operation in ("GetItem", "BatchGetItem", "Query", "ConditionCheckItem"):
        assert not policy.allows(Ask(operation, (USER,)))
        for attribute in ("Email", "Name", *cases("PRIVATE")):
            assert not policy.allows(Ask(operation, (USER,), "", ("AccountId", attribute)))


def test_a_passwords_hash_is_seen_and_written_where_passwords_are_checked_and_nowhere_else(
    prod: Synthesized, dev: Synthesized
) -> None:
    password = keys.password("ana")["PK"]

    for site in (prod, dev):
        assert who_may(site, (*READS, *WRITES, "ConditionCheckItem"), password) == {"accounts", "account"}
    assert not dev.policy("authorizer").allows(Ask("GetItem", (USER,), "", ("PasswordHash",)))
    assert not dev.policy("authorizer").allows(Ask("GetItem", (USER,)))


def test_the_function_that_anyone_may_call_reads_the_pages_and_nothing_else(prod: Synthesized) -> None:
    allowed = list(prod.policy("catalog").rights())
    rights = {(right.index, *right.keys) for right in allowed}

    assert {right.operation for right in allowed} == {"GetItem", "BatchGetItem", "Query"}
    public = {
        partitions.DEAL, partitions.DEAL_NUMBER, partitions.DEALS, partitions.ENDINGS_OF_DAYS, partitions.BRANDS,
        partitions.WORD, partitions.WORDS, *partitions.TOPICS, *partitions.CURATED,
        *partitions.FEED_CACHES, *partitions.PICKS_CACHES,
    }  # fmt: skip
    assert rights == {("", key) for key in public} | {
        (GSI1.name, partitions.ALL_DEALS_BY_DAY),
        (GSI1.name, partitions.CATEGORY_BY_DISCOUNT),
        *cases("PUBLIC"),
        (GSI2.name, partitions.BRAND_BY_MONTH),
        (GSI2.name, partitions.BRAND_BY_PRICE),
        (GSI3.name, partitions.CATEGORY_BY_DAY),
        (GSI3.name, partitions.CATEGORY_BY_PRICE),
    }


def test_one_key_that_is_not_allowed_refuses_a_request_of_many(prod: Synthesized) -> None:
    cache = keys.deals_cache(1)["PK"]

    assert prod.policy("catalog").allows(Ask("BatchGetItem", (cache,)))
    assert not prod.policy("catalog").allows(Ask("BatchGetItem", (cache, SESSION)))


def test_the_publisher_writes_words_and_offers_and_of_a_deal_its_verdict_alone(prod: Synthesized) -> None:
    publisher = prod.policy("publisher")

    assert not any(publisher.allows(Ask(operation, (key,))) for operation in READS for key in (DEAL, USER, "WORD#shoe"))
    assert not any(publisher.allows(Ask(operation, (key,))) for operation in WRITES for key in (DEAL, USER))
    assert publisher.allows(Ask("PutItem", ("WORD#shoe",)))
    for operation in ("BatchGetItem", "UpdateItem"):
        assert publisher.allows(Ask(operation, (DEAL,), "", ("PK", "SK", "Link", "Verdict")))
        assert not publisher.allows(Ask(operation, (DEAL,), "", ("PK", "Price")))


def test_only_functions_that_notify_everyone_scan_and_only_the_names_of_users(prod: Synthesized) -> None:
    def scan(*attributes: str, index: str = USER_INDEX.name) -> Ask:
        return Ask("Scan", (), index, attributes)

    scanners = {module for module in prod.modules() if prod.policy(module).allows(scan("Username"))}
    messenger = prod.policy("messenger")

    assert scanners == {"messenger", *cases("SCAN_NAMES")}
    assert messenger.allows(scan("Username", "PK", "SK", "UserIndex"))
    assert not messenger.allows(scan("Username", "PasswordHash"))
    assert not messenger.allows(scan("Email"))
    assert not messenger.allows(scan())  # which asks for whole items
    assert not any(messenger.allows(scan("Username", index=index)) for index in ("", GSI1.name, GSI2.name, GSI3.name))


def test_no_request_gets_past_the_keys_by_naming_none(prod: Synthesized) -> None:
    for module in prod.modules():
        policy = prod.policy(module)
        for right in policy.rights():
            assert right.keys or right.operation == "Scan", (module, right)
            assert right.operation not in {"PartiQLSelect", "PartiQLUpdate", "PartiQLDelete"}, (module, right)
            # ForAllValues alone would be true where IAM is given no keys.
            assert not right.keys or not policy.allows(right, leading_keys=False), (module, right)

    with pytest.raises(ValueError, match="Scan cannot be cut to partitions"):
        Right("Scan", (partitions.DEAL,))


def test_a_stage_may_grant_indexes_as_a_whole_and_the_table_still_by_partition() -> None:
    """The way out if ``dynamodb:LeadingKeys`` does not hold the key of a queried index."""
    catalog = synthesize(replace(STAGES["prod"], rights_by_index=True)).policy("catalog")

    for index in (GSI1, GSI2, GSI3):
        assert catalog.allows(Ask("Query", (keys.sessions("ana"),), index.name))
        assert catalog.allows(Ask("Query", (keys.sessions("ana"),), index.name), leading_keys=False)
        assert not catalog.allows(Ask("Scan", (), index.name))
    assert not catalog.allows(Ask("Query", (USER,), USER_INDEX.name))
    for operation, key in (("GetItem", SESSION), ("Query", keys.messages("ana")), ("BatchGetItem", USER)):
        assert not catalog.allows(Ask(operation, (key,)))


def test_no_kind_of_partition_is_taken_for_another() -> None:
    kinds = {
        kind
        for name, value in vars(partitions).items()
        if name.isupper() and not name.startswith("_") and type(value) in (str, tuple)
        for kind in ((value,) if isinstance(value, str) else value)
        if isinstance(kind, str)  # and not a row of the table of item types
    }

    policies = {kind: Policy([_only(kind)], "table") for kind in kinds}

    for kind, policy in policies.items():
        for other in kinds - {kind}:
            assert not policy.allows(Ask("GetItem", (other.replace("*", "x"),))), (kind, other)


def _only(kind: str) -> dict[str, object]:
    right = Right("GetItem", (kind,))
    return {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "table", "Condition": dict(right.conditions)}


def test_every_right_names_what_it_is_for_and_none_is_to_change_the_table_itself(prod: Synthesized) -> None:
    for module in prod.modules():
        for action, resource in prod.allowed(module):
            assert "*" not in action, module
            assert action not in {"dynamodb:DeleteTable", "dynamodb:UpdateTable"}, module
            # The CDK grants the listing of streams, which can be allowed on everything only.
            assert resource != "*" or action == "dynamodb:ListStreams", (module, action)
            # Nothing writes to an index.
            assert "/index/" not in resource or action.partition(":")[2] not in WRITES, (module, action)


def test_only_what_feeds_the_fan_out_sends_to_its_queue(prod: Synthesized) -> None:
    senders = {
        module
        for module in prod.modules()
        for action, resource in prod.allowed(module)
        if action == "sqs:SendMessage" and resource.startswith("WorkQueue")
    }

    assert senders == {"publisher", "messenger"}


def test_each_function_has_a_role_and_a_log_of_its_own(prod: Synthesized) -> None:
    functions = prod.all("AWS::Lambda::Function")

    roles = {each["Role"]["Fn::GetAtt"][0] for each in functions}
    logs = {each["LoggingConfig"]["LogGroup"]["Ref"] for each in functions}

    assert len(roles) == len(logs) == len(functions)
