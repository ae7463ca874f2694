"""The workings in the stack: who shows its work, and what the browser of the table may read."""

from __future__ import annotations

from features.workings import items as workings
from features.workings.panel import FOLLOWERS
from infra.functions import FUNCTIONS
from infra.settings import STAGES
from shared.data import keys
from shared.data.partitions import PERSONAL
from shared.dynamodb.schema import GSI1, USER_INDEX
from tests.infra.conftest import Synthesized, assemblies, dev, prod  # noqa: F401  # fixtures
from tests.support.cases import cases
from tests.support.rights import Ask

SHOWN = {row.name for row in FUNCTIONS if row.shows_work}


def test_what_a_page_took_is_shown_on_dev_and_the_laptop_and_never_on_prod(dev: Synthesized, prod: Synthesized) -> None:
    def told(stage: Synthesized) -> set[str]:
        return {module for module in stage.modules() if "SHOWS_WORK" in stage.variables(module)}

    assert SHOWN
    assert set(dev.modules()) >= SHOWN
    assert told(dev) == {row.name for row in FUNCTIONS if row.access} & set(dev.modules())  # others have no table
    assert SHOWN.isdisjoint(prod.modules())
    assert told(prod) == set()
    assert {name for name, stage in STAGES.items() if stage.shows_work} == {"dev", "local"}


def test_traces_are_kept_and_read_where_work_is_shown_and_nowhere_else(dev: Synthesized, prod: Synthesized) -> None:
    place = workings.trace_steps(keys.deal("1")["PK"])

    def may(stage: Synthesized, *operations: str) -> set[str]:
        asks = [Ask(operation, (place,)) for operation in operations]
        return {module for module in stage.modules() if any(map(stage.policy(module).allows, asks))}

    assert may(dev, "PutItem") == {row.name for row in FUNCTIONS if row.traced}
    assert may(dev, "Query") == {row.name for row in FUNCTIONS if row.pages is not None and row.access}
    assert may(dev, "GetItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert") == set()
    assert may(prod, "PutItem", "Query", "GetItem", "UpdateItem", "DeleteItem", "PartiQLInsert") == set()


def test_a_form_is_said_to_be_followed_by_the_functions_whose_filters_want_its_items() -> None:
    for row in FUNCTIONS:
        filters = [each["dynamodb"] for each in (row.reads.filters if row.reads else ())]
        types = {each for image in filters for each in image.get("NewImage", {}).get("Type", {}).get("S", ())}
        assert types == set(FOLLOWERS.get(row.name, ()))


WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")


DEAL_ID = "3F2VM8KqLdHD6qBOm7B4Q0YD0Fr"


DEAL = keys.deal(DEAL_ID)["PK"]


USER = keys.user("ana")["PK"]


ACCOUNT = keys.account("ana")["PK"]


SESSION = keys.session("9f86d081")["PK"]


def test_the_table_is_shown_where_it_is_shown_without_sessions_and_what_is_peoples_own(dev: Synthesized) -> None:
    shown = dev.policy("collections")
    personal = [(key, index or "") for index, some in PERSONAL.items() for key in some]

    assert not any(shown.allows(Ask(operation, (key,))) for operation in WRITES for key in (DEAL, USER, ACCOUNT))
    # The session of the editor who asks, by its token; no list of sessions.
    assert shown.allows(Ask("GetItem", (SESSION,)))
    assert not shown.allows(Ask("Query", (keys.sessions("ana"),), GSI1.name))
    for key in (SESSION, keys.password("ana")["PK"], keys.user_email("ana@mail.example")["PK"]):
        assert not shown.allows(Ask("Query", (key,)))
    # Of people certain attributes, which it must name.
    assert {"", USER_INDEX.name} <= {index for _, index in personal}
    for key, index in personal:
        assert shown.allows(
            Ask("Query", (key,), index, ("PK", "GSI1PK", "UserIndex", "Username", *cases("ATTRIBUTES_SHOWN")))
        )
        assert not shown.allows(Ask("Query", (key,), index))
        for attribute in ("Email", "Name", "Addresses", "Address", "PasswordHash", "Generation"):
            assert not shown.allows(Ask("Query", (key,), index, ("PK", attribute)))
    # Of an account the session needs less.
    assert not shown.allows(Ask("GetItem", (USER,), "", ("PasswordHash",)))
    assert not shown.allows(Ask("GetItem", (USER,)))
    # To count them: of all items the keys and the type.
    assert shown.allows(Ask("Scan", (), "", ("PK", "SK", "Type")))
    assert not shown.allows(Ask("Scan", (), "", ("PK", "SK", "Email")))
    assert not shown.allows(Ask("Scan"))
