"""Bulk edits in tests of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from features.bulk_edits import data, keys
from features.bulk_edits.data import BulkEdit, Planned
from shared.data.catalog import deals
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import identifiers, times
from tests.e2e.conftest import Plumbing
from tests.support.factories import NOW
from tests.support.rights import ANY_READ, REMOVERS
from tests.support.site import Site, Visitor, a_brand, a_deal
from tests.support.surroundings import event

EDIT_ID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv"


def begun(table: Table, planned: Sequence[Deal], username: str, now: datetime, **about: Any) -> BulkEdit:
    """An edit in the table: one that ends deals and is unfinished, if ``about`` says nothing else."""
    account_id = users.get(table, username, consistent=True).account_id
    edit_id = identifiers.derived(now, username, str(sorted(about)), *(deal.deal_id for deal in planned))
    known = {"does": "end", "changes": {}} | about
    return data.begin(
        table, BulkEdit(edit_id, username, account_id, now, planned=tuple(map(Planned.of, planned)), **known)
    )


def _own(table: Table, deal: Deal, username: str, now: datetime) -> None:
    """A finished edit of each kind, and a move that the clock finds unfinished and that changes nothing."""
    to: Mapping[str, str] = {"category": deal.category}
    page = {"name": "front", "before": [], "after": [deal.deal_id]}
    finished = {"state": data.CHANGED, "outcomes": ("same",), "restored": ("same",), "finished_at": now}
    begun(table, [deal], username, now, does="move", changes=to)
    begun(table, [deal], username, now, does="move", changes=to, page=page, **finished)


OWNS = (_own,)
HAPPENS = (partial(_own, username="ana", now=NOW),)

GOLDEN = (
    (keys.bulk_edit, ("ana", EDIT_ID), {"PK": "BULKEDITS#ana", "SK": f"EDIT#{EDIT_ID}"}),
    (keys.bulk_edits, ("ana",), "BULKEDITS#ana"),
    (keys.unfinished, (EDIT_ID,), {"PK": "UNFINISHEDEDITS", "SK": f"EDIT#{EDIT_ID}"}),
)

READ_BY = {keys.BULK_EDIT: lambda item: partial(data.get, username="ana", edit_id=item["SK"].partition("#")[2])}


def _edit(site: Site, _member: Visitor, other: Visitor, _deal_ids: Sequence[str]) -> None:
    """The clock ends and moves deals, undoes it, and leaves what a member has begun."""
    plumbing, editor = Plumbing.of(site), site.editor("bulk")
    brand, another = a_brand(editor), a_brand(editor)
    numbers = [editor.post("/deals", json=a_deal(brand)).json()["dealNumber"] for _ in range(2)]
    first, second = (deals.find(site.table, str(number), consistent=True) for number in numbers)
    now = times.now()
    ended = begun(site.table, [first], editor.username, now)
    begun(site.table, [second], editor.username, now, does="move", changes={"brand": another})
    begun(site.table, [second], other.username, now)
    plumbing.call("Expiry", event("expiry-schedule"))
    found = data.get(site.table, editor.username, ended.edit_id)
    assert found.outcomes == ("done",)
    data.undo(site.table, found, now)
    plumbing.call("Expiry", event("expiry-schedule"))
    assert data.get(site.table, editor.username, ended.edit_id).restored == ("done",)


USES = (_edit,)

EDITORS_PAGES_OF_SOMETHING = (f"/desk/deals/together/{EDIT_ID}",)
EDITORS = {
    "deals of a filter": "/desk/deals?q=mens&state=endless",
    "ending all of a filter": "/desk/deals/together?do=end&all=1&q=mens",
    "moving a deal with others": "/desk/deals/together?do=move&deal-{first.number}=1",
}
FORM_PAGES = {"/desk/deals/together/1/undo": "/desk/deals/together/1"}

RIGHTS = (
    (ANY_READ, keys.bulk_edits("ana"), "", f"desk expiry {REMOVERS}"),
    (("PutItem",), keys.bulk_edits("ana"), "", "desk"),
)

NOT_IN_SAMPLE = (keys.BULK_EDIT, keys.UNFINISHED)
