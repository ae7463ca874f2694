"""An upload becomes its deal's picture, if its sender is still an editor."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from features.pictures.data import uploads
from features.pictures.models import Picture
from shared.data.catalog import deals
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.data.test_deals import (
    UPLOAD,
    edited,  # noqa: F401  # fixtures
    remove,
)
from tests.support.factories import account_of, ahead

RED, BLUE = (Picture(digit * 20, 40, 30, "c81e1e") for digit in "ab")


def record(table: Table, edited: Deal, picture: Picture = RED, at: str = "2026-06-04T12:00:00Z") -> bool:
    """Work on an upload that ana sent as an editor."""
    asked = table, edited.deal_id, UPLOAD, at, picture, "", ahead(minutes=1)
    return uploads.record_picture(*asked, by="ana", account_id=account_of("ana"))


def test_an_editors_upload_becomes_the_deals_picture(table: Table, edited: Deal) -> None:
    assert record(table, edited)

    assert deals.get(table, edited.deal_id).own(Picture) == RED
    assert deals.get_item(table, edited.deal_id)["EditedBy"] == f"{edited.version + 1} ana"


@pytest.mark.parametrize(
    "change",
    [lambda table: users.set_role(table, "ana", "member"), remove],
    ids=["a member by now", "removed"],
)
def test_an_upload_is_refused_whose_sender_is_no_editor_any_more(
    table: Table, edited: Deal, change: Callable[[Table], None]
) -> None:
    record(table, edited, BLUE, at="2026-06-04T11:00:00Z")
    change(table)

    kept = record(table, edited)

    after = deals.get(table, edited.deal_id)
    assert (kept, after.own(Picture), after.version) == (False, BLUE, edited.version + 1)
    assert uploads.outcome_of(after) == uploads.Outcome(UPLOAD, "Its sender is no longer an editor.")


def test_an_upload_is_refused_whose_senders_name_is_another_editors_by_now(table: Table, edited: Deal) -> None:
    asked = table, edited.deal_id, UPLOAD, "2026-06-04T12:00:00Z", RED, "", ahead(minutes=1)

    kept = uploads.record_picture(*asked, by="ana", account_id="the account that had this name")

    after = deals.get(table, edited.deal_id)
    assert (kept, after.own(Picture)) == (False, None)
    assert "EditedBy" not in deals.get_item(table, edited.deal_id)


def test_whether_a_deal_shows_a_picture_is_read_from_the_table(table: Table, edited: Deal) -> None:
    record(table, edited)

    shown = [uploads.is_picture_shown(table, edited.deal_id, each) for each in (RED, BLUE, RED._replace(width=20))]

    assert shown == [True, False, True]  # the hash names the files
    assert not uploads.is_picture_shown(table, "3F2VM8KqLdHD6qBOm7B4Q0YD0Fs", RED)
