"""The restore drill, on the engine of the local cloud, and the deals that a restored table's readers never hear of."""

from __future__ import annotations

import json

import pytest

from features.operations import unannounced
from shared.data import keys
from shared.data.catalog import deals, offers
from shared.data.catalog.deals import from_item, has_ended
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS
from shared.values import times
from tests.cli.conftest import Btd, bare_table, btd, table, wide_terminal  # noqa: F401  # fixtures
from tests.support.engines import MINISTACK, Engine
from tests.support.factories import a_deal, ago, indexed, listed, open_brands, post


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


def test_a_drill_restores_a_copy_and_leaves_the_table_as_it_is(table: Table, btd: Btd) -> None:
    now = times.now()
    open_brands(table)
    posted = indexed(table, post(table, [a_deal(now, title=f"Trail runner {number}") for number in range(5)], now))
    table.client.update_continuous_backups(
        TableName=table.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    before = list(table.everything())

    done = json.loads(btd("restore-drill", "--yes", "--behind", "7", "--json").stdout)["result"]

    assert [step["step"][:2] for step in done["steps"]] == ["1.", "2.", "3.", "4.", "5.", "6."]
    assert done["unannounced"] == 7
    assert done["lost"] == ""
    assert "12 changes not followed" in done["steps"][3]["found"]
    assert list(table.everything()) == before
    assert len(listed(table, ALL_DEALS, now=now)) == len(posted)
    assert [name for name in table.client.list_tables()["TableNames"] if "-drill-" in name] == []


def test_deals_whose_news_the_stream_still_held_are_listed(table: Table) -> None:
    now = times.now()
    open_brands(table)
    told, new, old, hot, cheaper, edited = post(
        table, [a_deal(now, title=f"Deal {number}", link=f"https://s.example/{number}") for number in range(6)], now
    )
    (imported,) = post(table, [a_deal(ago(days=9_000))])
    for deal in (told, old, hot, cheaper, edited):
        offers.file(table, None, deal, has_ended=has_ended(deals.get_item(table, deal.deal_id)))
    deals.make_hot(table, hot.deal_id, now)
    deals.edit(table, cheaper.deal_id, {"price": "1.00"}, now)
    deals.edit(table, edited.deal_id, {"title": "Another name"}, now)
    deals.withdraw(table, old.deal_id, now)

    found = {each.deal.deal_id: each.kinds for each in unannounced.find(table, now, 2)}

    assert found.keys() == {new.deal_id, hot.deal_id, cheaper.deal_id}
    assert found[cheaper.deal_id] == ("price",)
    assert found[hot.deal_id] == ("hot",)
    assert {"brand", "category"} <= {*found[new.deal_id]}
    assert imported.deal_id not in found
    assert from_item(table.get(keys.deal(told.deal_id)) or {}) == told
