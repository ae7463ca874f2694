"""The picture of a deal: who may still give it one when an upload is worked on, and whether a deal shows one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from shared.data.catalog import deals, editing
from shared.data.members import users
from shared.data.removal import remove_account
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values.pictures import Picture
from tests.support.factories import NOW, a_deal, account_of, ahead, join, post

UPLOAD = "uploads/3F2VM8KqLdHD6qBOm7B4Q0YD0Fs"
RED, BLUE = (Picture(digit * 20, 40, 30, "c81e1e") for digit in "ab")


@pytest.fixture
def deal(table: Table) -> Deal:
    join(table, "ana")
    users.set_role(table, "ana", "editor")
    (posted,) = post(table, [a_deal()])
    return posted


def record(table: Table, deal: Deal, picture: Picture = RED, at: str = "2026-06-04T12:00:00Z") -> bool:
    """Work on an upload that ana sent as an editor."""
    asked = table, deal.deal_id, UPLOAD, at, picture, "", ahead(minutes=1)
    return editing.record_picture(*asked, by="ana", account_id=account_of("ana"))


def remove(table: Table) -> None:
    remove_account(table, users.get(table, "ana", consistent=True), NOW)


def test_an_editors_upload_becomes_the_deals_picture(table: Table, deal: Deal) -> None:
    assert record(table, deal)

    assert deals.get(table, deal.deal_id).picture == RED
    assert deals.get_item(table, deal.deal_id)["EditedBy"] == f"{deal.version + 1} ana"


@pytest.mark.parametrize(
    "change",
    [lambda table: users.set_role(table, "ana", "member"), remove],
    ids=["a member by now", "removed"],
)
def test_an_upload_is_refused_whose_sender_is_no_editor_any_more(
    table: Table, deal: Deal, change: Callable[[Table], None]
) -> None:
    record(table, deal, BLUE, at="2026-06-04T11:00:00Z")
    change(table)

    kept = record(table, deal)

    after = deals.get(table, deal.deal_id)
    assert (kept, after.picture, after.version) == (False, BLUE, deal.version + 1)
    assert editing.outcome_of(after) == editing.Outcome(UPLOAD, "Its sender is no longer an editor.")


def test_an_upload_is_refused_whose_senders_name_is_another_editors_by_now(table: Table, deal: Deal) -> None:
    asked = table, deal.deal_id, UPLOAD, "2026-06-04T12:00:00Z", RED, "", ahead(minutes=1)

    kept = editing.record_picture(*asked, by="ana", account_id="the account that had this name")

    after = deals.get(table, deal.deal_id)
    assert (kept, after.picture) == (False, None)
    assert "EditedBy" not in deals.get_item(table, deal.deal_id)


def test_whether_a_deal_shows_a_picture_is_read_from_the_table(table: Table, deal: Deal) -> None:
    record(table, deal)

    shown = [editing.is_picture_shown(table, deal.deal_id, each) for each in (RED, BLUE, replace(RED, width=20))]

    assert shown == [True, False, True]  # the hash names the files
    assert not editing.is_picture_shown(table, "3F2VM8KqLdHD6qBOm7B4Q0YD0Fs", RED)
