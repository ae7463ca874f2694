"""What the commands print of a table that they check, repair or rewrite."""

from __future__ import annotations

from shared.data import keys
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.models.catalog import Deal
from tests.cli.conftest import Btd, bare_table, btd, server, table, wide_terminal  # noqa: F401  # fixtures
from tests.cli.test_commands import posted  # noqa: F401  # a fixture
from tests.support.factories import SHOES


def test_backfilling_leaves_items_that_are_up_to_date(posted: list[Deal], btd: Btd) -> None:
    printed = btd("backfill", "Deal", "--segments", "3").stdout

    assert "items looked at, 0 rewritten" in printed


def test_a_table_is_held_against_its_invariants_and_mended(table: Table, btd: Btd) -> None:
    table.write(update(keys.topic(SHOES), "SET LikesCount = :seven", values={":seven": 7}, refused=None))

    found = btd("check", code=1).stdout
    mended = btd("check", "--mend").stdout

    (row,) = (line for line in found.splitlines() if "CATEGORY#shoes" in line and "likes and watches" in line)
    assert "LikesCount 7" in row
    assert "LikesCount 0" in row
    assert "mended" in mended
    assert "holds what it should" in btd("check").stdout


def test_a_damaged_item_leaves_only_what_depends_on_it_as_it_is(table: Table, posted: list[Deal], btd: Btd) -> None:
    table.write(update(keys.deal(posted[0].deal_id), "SET Price = :one", values={":one": 1}, refused=None))
    table.write(update(keys.topic(SHOES), "SET LikesCount = :seven", values={":seven": 7}, refused=None))

    refused = btd("check", "--mend", code=1)

    assert "Repair the damaged items first" in refused.output
    (likes,) = (line for line in refused.stdout.splitlines() if "likes and watches" in line)
    (feeds, *_) = (line for line in refused.stdout.splitlines() if "counts of feeds" in line)
    assert "mended" in likes
    assert "mended" not in feeds
