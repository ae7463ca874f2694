"""Saved deals in tests of all features."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from playwright.sync_api import Page, expect

from features.saved.data import keys, saved
from shared.data.invariants import PARTNERS
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.support.factories import NOW
from tests.support.states import MEMBERS as OF_MEMBERS
from tests.support.tab import at, press, site_in

DEAL_ID = "0ujtsYcg"


def own(table: Table, deal: Deal, username: str, now: datetime) -> None:
    """A member saves a deal."""
    saved.save(table, deal, username, now)


OWNS = (own,)

GOLDEN = (
    (keys.saved, ("ana", DEAL_ID), {"PK": "SAVED#ana", "SK": "DEAL#0ujtsYcg"}),
    (keys.saved_by, ("ana",), "SAVED#ana"),
)

LISTED_BY = {keys.SAVED: (partial(saved.latest, username="ana", limit=9),)}

LOST = {
    "a saved deal is nobody's": (
        PARTNERS,
        False,
        lambda items: [
            *items,
            next(each for each in items if each["Type"] == keys.SAVED)
            | {"Username": "gus", "PK": keys.saved("gus", "")["PK"]},
        ],
    ),
}

LATE = {
    "save": lambda table, deal, account: saved.save(table, deal, "ana", NOW, account),
    "unsave": lambda table, deal, account: saved.unsave(table, deal.deal_id, "ana", account),
}
UNDOES = {"unsave": "save"}

DEFERRED = (
    (
        "/my/saved/{number}",
        {"on": "1"},
        "/deals/{number}?notice=saved",
        lambda table, deal: saved.is_saved(table, deal.deal_id, "ana"),
    ),
)
MEMBERS_PAGES = MEMBERS_LISTS = ("/my/saved",)
FORM_PAGES = {"/my/saved/12": "/deals/12"}
MEMBERS = {"saved": "/my/saved"}
EMPTY = ("/my/saved",)
BUDGETS = {"saved": OF_MEMBERS}
ASKED = (("member", "/my/saved"),)
ONE_READ = TRACED = ("/my/saved",)
TRACED_FORMS = {
    "save": (lambda _browser, _table, deal: (f"/my/saved/{deal.number}", {"on": "1"}), [2 * 2], "put check")
}


def _save_in_the_tab(page: Page, deal: str) -> None:
    press(page, "Save")
    expect(site_in(page).get_by_role("button", name="Saved")).to_be_visible()
    at(page, "/my/saved")
    expect(site_in(page).locator(f"main a[href$='{deal}']").first).to_be_visible()


IN_THE_TAB = (_save_in_the_tab,)
