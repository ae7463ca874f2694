"""Drafts in tests of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from features.drafts import data as drafts
from features.drafts import keys
from features.drafts.data import Draft
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import Deal
from shared.values import times
from tests.e2e.conftest import Plumbing
from tests.support import factories
from tests.support.rights import ANY_READ, REMOVERS
from tests.support.site import Site, Visitor, a_brand, a_deal, fresh
from tests.support.surroundings import event


def _draft(site: Site, _member: Visitor, _other: Visitor, _deal_ids: Sequence[str]) -> None:
    """Keep drafts, change, post and discard them; of two that are due, one is posted and the other cannot be."""
    plumbing, editor = Plumbing.of(site), site.editor("drafting")
    brand, once = a_brand(editor), {"Idempotency-Key": fresh("key")}
    first, again = (editor.post("/me/drafts", json={"title": "Begun"}, headers=once).json() for _ in range(2))
    assert first == again
    path = f"/me/drafts/{first['draftId']}"
    whole = a_deal(brand) | {"startsAt": "2037-01-01T00:00:00Z"}
    assert editor.put(path, json=whole).json() == editor.get(path).json()
    assert [editor.post(path).status_code for _ in range(2)] == [201, 201]
    assert editor.delete(f"/me/drafts/{editor.post('/me/drafts', json=whole).json()['draftId']}").status_code == 204

    due = _have_a_plan(site, editor, brand)
    _have_a_plan(site, editor, brand, ends_at=times.now() - timedelta(minutes=1))
    plumbing.call("Expiry", event("expiry-schedule"))
    assert [each["refused"] for each in editor.get("/me/drafts").json()["items"]] == [
        "It had ended before it was posted."
    ]
    # As a backup had them: nothing is posted twice.
    for item in (drafts.to_item(due), drafts.note_of(due) or {}):
        site.table.write(put(item, because="a test's own"))
    plumbing.call("Expiry", event("expiry-schedule"))
    drafts.discard(site.table, due)


def _have_a_plan(site: Site, who: Visitor, brand: str, in_minutes: int = -2, **of_deal: Any) -> Draft:
    """A draft that is planned, and due."""
    now = times.now()
    account = users.get(site.table, who.username, consistent=True)
    begun = factories.a_deal(now, brand=brand, **of_deal)
    draft = Draft(begun, account.username, account.account_id, now + timedelta(minutes=in_minutes))
    return drafts.save_new(site.table, draft, now - timedelta(hours=1), None)


USES = (_draft,)


def _own(table: Table, deal: Deal, username: str, now: datetime) -> None:
    """A draft that is planned for later, so that the clock doesn't post it."""
    account = users.get(table, username, consistent=True)
    begun = factories.a_deal(now, brand=deal.brand)
    planned = Draft(begun, account.username, account.account_id, now + timedelta(minutes=90))
    drafts.save_new(table, planned, now, None)


OWNS = (_own,)
REPORTERS = {"metrics.DEALS_POSTED": ("expiry",)}

EDITORS_PAGES = ("/desk/drafts",)
FORM_PAGES = {"/desk/drafts/12/preview": "/desk/drafts/12"}
TAKES_DEALS = ("/desk/drafts",)

_LACKING = {"title", "link", "price", "brand", "category", "startsAt"}
UNSAYABLE = {"/me/drafts": _LACKING, "/me/drafts/{draftId}": _LACKING}
"""A draft may lack the first five, unless it is to be posted, at once or at its time; the last is in the future."""

_DRAFTS = keys.drafts("ana")
RIGHTS = (
    (ANY_READ, _DRAFTS, "", f"desk editors expiry {REMOVERS}"),
    (("PutItem",), _DRAFTS, "", "desk editors"),
)
