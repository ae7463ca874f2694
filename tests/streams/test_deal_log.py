"""The log of a deal, as the stream's records write it: each change once, with who made it if that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared import settings
from shared.data import item_types
from shared.data.catalog import changes, deals, offers
from shared.dynamodb.table import Table
from shared.errors import InvalidCursor
from shared.models.catalog import Changed, Deal, LogLine, StockLevel
from shared.values import times
from tests.support.factories import a_deal
from tests.support.records import Record, batch, of_deal

Announce = Callable[[Any], dict[str, Any]]
NOW = times.now()


@pytest.fixture
def deal() -> Deal:
    return a_deal(NOW, number=7).signed("ana")


def lines(table: Table, deal: Deal, now: datetime = NOW) -> list[LogLine]:
    return list(changes.log_of(table, deal.deal_id, limit=25, now=now).items)


def edited(deal: Deal, by: str | None = None, **changes: Any) -> Deal:
    return replace(deal, version=deal.version + 1, **changes).signed(by)


def test_each_change_is_logged_once_and_in_order_however_often_its_record_comes(
    table: Table, announce: Announce, deal: Deal
) -> None:
    cheaper = edited(deal, "bo", price="9.50", coupon_code="SAVE")
    gone = edited(cheaper, "cy", withdrawn_at=NOW)
    # Two in one second: the records' numbers tell which was first.
    records = [of_deal(before, after, NOW) for before, after in ((None, deal), (deal, cheaper), (cheaper, gone))]

    for delivered in (records, records[1:]):
        assert announce(batch(delivered)) == {"batchItemFailures": []}

    at = [Changed("withdrawnAt", None, times.to_iso(NOW))]
    prices = [Changed("price", "31.90", "9.50"), Changed("couponCode", None, "SAVE")]
    assert [(line.by, [*line.changes]) for line in lines(table, deal)] == [("cy", at), ("bo", prices), ("ana", [])]
    assert offers.category_of_shop(table, "shop.example") == "shoes"


def unsigned_of(deal: Deal) -> dict[str, Record]:
    """Records of changes whose maker nobody knows, by what wrote them."""
    return {
        "a release without logs": of_deal(deal, replace(deal, version=2, title="Other")),
        "a hand in the table": of_deal(deal, replace(deal, title="Other")),
        "a record that was redriven": of_deal(deal, replace(deal, version=4, title="Other").signed("bo")),
    }


@pytest.mark.parametrize("what", unsigned_of(a_deal()))
def test_nobody_is_named_for_what_another_may_have_done(
    table: Table, announce: Announce, deal: Deal, what: str
) -> None:
    announce(batch([unsigned_of(deal)[what]]))

    assert [(line.by, line.changes) for line in lines(table, deal)] == [
        (None, (Changed("title", "Trail runner", "Other"),))
    ]


def test_what_no_person_changes_and_what_an_import_posts_makes_no_line(
    table: Table, announce: Announce, deal: Deal
) -> None:
    level = of_deal(deal, replace(deal, stock=StockLevel.LOW))
    swept = of_deal(deal, edited(deal))
    imported = of_deal(None, replace(deal, edited_by=None))

    announce(batch([level, swept, imported]))

    assert [item for item in table.scan()[0] if item["Type"] in (item_types.LOG_LINE, item_types.SHOP)] == []


def test_a_long_text_is_cut_and_a_log_is_read_by_pages_for_a_year(table: Table, announce: Announce, deal: Deal) -> None:
    long = edited(deal, "bo", description="x" * 5_000)
    announce(batch([of_deal(None, deal, NOW), of_deal(deal, long, NOW + timedelta(days=2))]))

    first = changes.log_of(table, deal.deal_id, limit=1, now=NOW)
    second = changes.log_of(table, deal.deal_id, limit=1, now=NOW, cursor=first.next)

    assert first.items[0].changes == (Changed("description", None, f"{'x' * changes.LONGEST}…"),)
    assert (second.items[0].by, second.next) == ("ana", None)
    assert [line.by for line in lines(table, deal, NOW + settings.LOG_LIFETIME)] == ["bo"]
    with pytest.raises(InvalidCursor):
        changes.log_of(table, "another", limit=1, now=NOW, cursor=first.next)


def test_what_the_desk_and_the_table_say_of_an_editor_is_the_version_that_was_written(table: Table) -> None:
    posted = deals.create(table, a_deal(NOW).signed("ana"), NOW)

    by_bo = deals.edit(table, posted.deal_id, {"title": "Road runner"}, NOW, by="bo")
    by_nobody = deals.edit(table, posted.deal_id, {"price": "9.50"}, NOW)

    assert [posted.editor, by_bo.editor, by_nobody.editor] == ["ana", "bo", None]
    assert deals.get(table, posted.deal_id).edited_by is None
