"""The roles' rights, and above all what no role must be able to do."""

from __future__ import annotations

import pytest

from infra.access import Right
from infra.background_rights import MAILER
from shared.data import keys, partitions
from shared.dynamodb.schema import GSI1, GSI2, GSI3, USER_INDEX
from shared.models.catalog import BRAND, Topic
from tests.infra.conftest import Synthesized
from tests.support.rights import Ask, Policy, policy_of

READS = ("GetItem", "BatchGetItem", "Query", "PartiQLSelect")
WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")

DEAL = keys.deal("3F2VM8KqLdHD6qBOm7B4Q0YD0Fr")["PK"]
USER = keys.user("ana")["PK"]
ACCOUNT = keys.account("ana")["PK"]
SESSION = keys.session("9f86d081")["PK"]
G_FORE = Topic(BRAND, "g-fore")


def who_may(site: Synthesized, operations: tuple[str, ...], key: str, index: str = "") -> set[str]:
    """The functions that may do one of some operations on a partition."""
    return {
        module
        for module in site.modules()
        if any(site.policy(module).allows(Ask(operation, (key,), index)) for operation in operations)
    }


def test_anyone_may_read_deals_and_only_editors_and_the_clock_write_them(prod: Synthesized) -> None:
    assert who_may(prod, READS, DEAL) == {
        "catalog", "clicks", "desk", "editors", "expiry", "members", "messenger", "mine", "orders", "refresher",
        "resizer", "sales", "shop", "site",
    }  # fmt: skip
    assert who_may(prod, WRITES, DEAL) == {"desk", "editors", "expiry", "refresher", "resizer"}
    assert who_may(prod, ("PutItem", "DeleteItem"), DEAL) == {"desk", "editors", "expiry"}  # it posts what is planned


def test_drafts_are_read_where_editors_work_by_the_clock_and_by_what_removes_accounts(prod: Synthesized) -> None:
    removers = {"accounts", "account", "remover"}

    assert who_may(prod, READS, keys.drafts("ana")) == {"desk", "editors", "expiry", *removers}
    assert who_may(prod, ("PutItem",), keys.drafts("ana")) == {"desk", "editors"}


def test_the_function_of_clicks_alone_counts_them(prod: Synthesized) -> None:
    counter = keys.clicks("3F2VM8KqLdHD6qBOm7B4Q0YD0Fr")["PK"]

    assert who_may(prod, WRITES, counter) == {"clicks"}
    assert who_may(prod, READS, counter) == {"desk"}


def test_who_has_clicked_is_noted_by_the_function_of_clicks_and_read_by_nobody(prod: Synthesized) -> None:
    note, attributes = keys.counted_click("salt", "192.0.2.7", "one", 7)["PK"], ("PK", "SK", "Type", "ExpiresAt")
    may_put = {
        module: [prod.policy(module).allows(Ask("PutItem", (note,), "", of)) for of in (attributes, ("Address",))]
        for module in prod.modules()
    }

    assert {module for module, may in may_put.items() if any(may)} == {"clicks"}
    assert may_put["clicks"] == [True, False]
    assert who_may(prod, (*READS, *WRITES), note) == set()


def test_a_vote_is_written_for_members_and_a_score_by_those_and_who_ranks_it(prod: Synthesized) -> None:
    vote, score = keys.vote("ana", "3F2VM8KqLdHD6qBOm7B4Q0YD0Fr")["PK"], keys.score("3F2VM8KqLdHD6qBOm7B4Q0YD0Fr")["PK"]
    removing = {"accounts", "account", "remover"}

    assert who_may(prod, ("PutItem", "UpdateItem"), vote) == {"members", "mine"}
    assert who_may(prod, ("DeleteItem", "Query"), vote) == {"members", "mine"} | removing
    assert who_may(prod, WRITES, score) == {"members", "mine", "refresher"} | removing
    asks = [Ask("BatchGetItem", (USER,), "", ("PK", "SK", name)) for name in ("CreatedAt", "Email")]
    assert [prod.policy("members").allows(ask) for ask in asks] == [True, False]


def test_only_functions_of_accounts_and_orders_see_and_change_users_collections(prod: Synthesized) -> None:
    assert who_may(prod, WRITES, USER) == {"accounts", "account", "remover", "orders", "sales", "shop"}
    assert who_may(prod, READS, USER) == {"accounts", "account", "desk", "mine", "orders", "remover", "sales", "shop"}
    assert who_may(prod, READS, USER, USER_INDEX.name) == set()
    assert who_may(prod, WRITES, ACCOUNT) == {"accounts", "account", "members", "mine", "orders", "sales", "shop"}
    assert who_may(prod, READS, ACCOUNT) == set()
    assert who_may(prod, (*READS, *WRITES), keys.user_email("ana@mail.example")["PK"]) == {"accounts", "account"}


def test_sessions_are_read_where_somebody_is_let_in_and_only_accounts_make_list_and_end_them(prod: Synthesized) -> None:
    assert who_may(prod, READS, SESSION) == {"authorizer", "accounts", "mine", "account", "desk", "sales", "shop"}
    assert who_may(prod, WRITES, SESSION) == {"accounts", "account", "remover"}
    assert who_may(prod, READS, keys.sessions("ana"), GSI1.name) == {"accounts", "account", "remover"}


def test_a_mailed_token_is_made_by_the_mailer_which_cannot_use_it(dev: Synthesized) -> None:
    """Its stage sends mail; the roles of all others are the same."""
    token = keys.email_token("9f86d081")["PK"]
    mailer = policy_of(MAILER)

    assert who_may(dev, READS, token) == {"accounts", "account"}
    assert who_may(dev, WRITES, token) == {"accounts", "account"}
    assert mailer.allows(Ask("PutItem", (token,)))
    assert not mailer.allows(Ask("GetItem", (token,)))
    assert not any(mailer.allows(Ask(operation, (USER,))) for operation in ("GetItem", "UpdateItem", "DeleteItem"))
    assert not mailer.allows(Ask("GetItem", (USER,), "", ("Addresses",)))
    assert not mailer.allows(Ask("GetItem", (keys.password("ana")["PK"],)))


def test_messages_are_their_readers_and_only_the_messenger_adds_to_them(prod: Synthesized) -> None:
    assert who_may(prod, READS, keys.messages("ana")) == {"accounts", "members", "account", "mine", "remover"}
    assert who_may(prod, READS, keys.messages("ana"), GSI1.name) == {"members", "account", "mine", "shop"}
    assert who_may(prod, ("PutItem", "PartiQLInsert"), keys.messages("ana")) == {"messenger", "orders", "sales", "shop"}


def test_what_deletes_many_items_at_once_could_put_none_but_empty_ones(prod: Synthesized) -> None:
    """BatchWriteItem is one right for deletions and for what is put."""

    def may_write(module: str, *attributes: str) -> bool:
        return prod.policy(module).allows(Ask("BatchWriteItem", (keys.messages("ana"),), "", attributes))

    assert {module for module in prod.modules() if may_write(module, "PK", "SK")} == {"accounts", "account"}
    assert not [module for module in prod.modules() if may_write(module, "PK", "SK", "Title")]


def test_the_messenger_sees_of_accounts_only_whose_they_are_and_since_when(prod: Synthesized) -> None:
    def may_read(*attributes: str) -> bool:
        return prod.policy("messenger").allows(Ask("BatchGetItem", (USER,), "", attributes))

    assert may_read("PK", "SK", "Username", "CreatedAt")
    assert not may_read("Username", "Email")
    assert not may_read()


def test_a_passwords_hash_is_seen_and_written_where_passwords_are_checked_and_nowhere_else(
    prod: Synthesized, dev: Synthesized
) -> None:
    password = keys.password("ana")["PK"]

    for site in (prod, dev):
        assert who_may(site, (*READS, *WRITES, "ConditionCheckItem"), password) == {"accounts", "account"}
    for module in ("authorizer", "collections"):
        assert not dev.policy(module).allows(Ask("GetItem", (USER,), "", ("PasswordHash",)))
        assert not dev.policy(module).allows(Ask("GetItem", (USER,)))


def test_stock_is_the_shops(prod: Synthesized) -> None:
    stock = keys.stock_shard("3F2VM8KqLdHD6qBOm7B4Q0YD0Fr", 1)["PK"]

    assert who_may(prod, WRITES, stock) == {"orders", "sales", "shop"}


def test_open_orders_are_read_by_editors_and_the_clock_and_by_no_buyer(prod: Synthesized) -> None:
    day = keys.order_in_open("placed", "2050-06-15", 1, "")["GSI3PK"]

    assert who_may(prod, READS, day, GSI3.name) == {"expiry", "orders", "sales"}
    assert not who_may(prod, ("PutItem", "DeleteItem"), USER) & {"expiry", "sales"}


def test_watches_are_seen_only_by_functions_that_count_them_or_tell_watchers(prod: Synthesized) -> None:
    assert who_may(prod, READS, keys.watchers(G_FORE)) == {"messenger", "accounts", "account", "mine", "remover"}
    assert who_may(prod, READS, keys.watches("ana"), GSI1.name) == {"members", "mine"}
    assert who_may(prod, READS, keys.like(G_FORE, "ana")["PK"]) == {"accounts", "account", "mine", "remover"}
    assert who_may(prod, WRITES, keys.watchers(G_FORE)) == {"accounts", "members", "account", "mine", "remover"}


def test_the_function_that_anyone_may_call_reads_the_pages_and_nothing_else(prod: Synthesized) -> None:
    allowed = list(prod.policy("catalog").rights())
    rights = {(right.index, *right.keys) for right in allowed}

    assert {right.operation for right in allowed} == {"GetItem", "BatchGetItem", "Query"}
    public = {
        partitions.DEAL, partitions.DEAL_NUMBER, partitions.DEALS, partitions.ENDINGS_OF_DAYS, partitions.BRANDS,
        partitions.SCORE, partitions.WORD, partitions.WORDS, *partitions.TOPICS, *partitions.CURATED,
        *partitions.FEED_CACHES, *partitions.PICKS_CACHES,
    }  # fmt: skip
    assert rights == {("", key) for key in public} | {
        (GSI1.name, partitions.ALL_DEALS_BY_DAY),
        (GSI1.name, partitions.CATEGORY_BY_DISCOUNT),
        (GSI1.name, partitions.POPULAR),
        (GSI2.name, partitions.BRAND_BY_MONTH),
        (GSI2.name, partitions.BRAND_BY_PRICE),
        (GSI3.name, partitions.CATEGORY_BY_DAY),
        (GSI3.name, partitions.CATEGORY_BY_PRICE),
    }


def test_one_key_that_is_not_allowed_refuses_a_request_of_many(prod: Synthesized) -> None:
    cache = keys.deals_cache(1)["PK"]

    assert prod.policy("catalog").allows(Ask("BatchGetItem", (cache,)))
    assert not prod.policy("catalog").allows(Ask("BatchGetItem", (cache, SESSION)))


def test_the_table_is_shown_where_it_is_shown_without_sessions_and_what_is_peoples_own(dev: Synthesized) -> None:
    shown = dev.policy("collections")
    order = keys.order_parts("3F2VM8KqLdHD6qBOm7B4Q0YD0Fr")

    assert not any(shown.allows(Ask(operation, (key,))) for operation in WRITES for key in (DEAL, USER, ACCOUNT))
    # The session of the editor who asks, by its token; no list of sessions.
    assert shown.allows(Ask("GetItem", (SESSION,)))
    assert not shown.allows(Ask("Query", (keys.sessions("ana"),), GSI1.name))
    for key in (SESSION, keys.password("ana")["PK"], keys.user_email("ana@mail.example")["PK"]):
        assert not shown.allows(Ask("Query", (key,)))
    # Of users and orders certain attributes, which it must name.
    for key, index in ((USER, ""), (USER, USER_INDEX.name), (order, GSI1.name)):
        assert shown.allows(Ask("Query", (key,), index, ("PK", "GSI1PK", "UserIndex", "Username", "Status")))
        assert not shown.allows(Ask("Query", (key,), index))
        for attribute in ("Email", "Name", "Addresses", "Address", "PasswordHash", "Generation"):
            assert not shown.allows(Ask("Query", (key,), index, ("PK", attribute)))
    # To count them: of all items the keys and the type.
    assert shown.allows(Ask("Scan", (), "", ("PK", "SK", "Type")))
    assert not shown.allows(Ask("Scan", (), "", ("PK", "SK", "Email")))
    assert not shown.allows(Ask("Scan"))


def test_the_publisher_writes_words_and_offers_and_reads_nothing(prod: Synthesized) -> None:
    publisher = prod.policy("publisher")

    assert not any(publisher.allows(Ask(operation, (key,))) for operation in READS for key in (DEAL, USER, "WORD#shoe"))
    assert not any(publisher.allows(Ask(operation, (key,))) for operation in WRITES for key in (DEAL, USER))
    assert publisher.allows(Ask("PutItem", ("WORD#shoe",)))


def test_only_functions_that_tell_everybody_scan_and_only_the_names_of_users(prod: Synthesized) -> None:
    def scan(*attributes: str, index: str = USER_INDEX.name) -> Ask:
        return Ask("Scan", (), index, attributes)

    scanners = {module for module in prod.modules() if prod.policy(module).allows(scan("Username"))}
    messenger = prod.policy("messenger")

    # The desk says how many users a hot deal will be told to, and counts their names for it.
    assert scanners == {"messenger", "desk"}
    assert messenger.allows(scan("Username", "PK", "SK", "UserIndex"))
    assert not messenger.allows(scan("Username", "PasswordHash"))
    assert not messenger.allows(scan("Email"))
    assert not messenger.allows(scan())  # which asks for whole items
    assert not any(messenger.allows(scan("Username", index=index)) for index in ("", GSI1.name, GSI2.name, GSI3.name))


def test_no_request_gets_past_the_keys_by_naming_none(prod: Synthesized) -> None:
    # ForAllValues is also true without any keys: so only operations that must name a key are cut this way.
    for module in prod.modules():
        for right in prod.policy(module).rights():
            assert right.keys or right.operation == "Scan", (module, right)
            assert right.operation not in {"PartiQLSelect", "PartiQLUpdate", "PartiQLDelete"}, (module, right)

    with pytest.raises(ValueError, match="Scan cannot be cut to partitions"):
        Right("Scan", (partitions.DEAL,))


def test_no_kind_of_partition_is_taken_for_another() -> None:
    kinds = {
        kind
        for name, value in vars(partitions).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str | tuple)
        for kind in ((value,) if isinstance(value, str) else value)
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
