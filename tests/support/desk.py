"""A deal as an editor types it, the desk's forms of it, and what is listed of it after they are sent."""

from __future__ import annotations

from functions.pages.desk import deal_form
from shared.data.catalog import feeds, picks
from shared.dynamodb.table import Table
from shared.html import views
from shared.models.catalog import ALL_DEALS, FRONT_PAGE, CuratedPage, Deal
from shared.values import times
from tests.support.browsing import Seen

LINK = "https://shop.example/trail-runner?variant=1"

DEAL = {
    "link": LINK, "title": "Trail runner", "price": "31.90", "listPrice": "158", "currency": "USD", "brand": "Apple",
    "category": "shoes", **dict.fromkeys(("couponCode", "variant", "expiresAt", "image", "description"), ""),
}  # fmt: skip


def posted(table: Table) -> list[Deal]:
    return list(feeds.read(table, ALL_DEALS, limit=100, now=times.now()).items)


def picked(table: Table, page: CuratedPage = FRONT_PAGE) -> list[str]:
    """The numbers of the deals of a page, in their order."""
    return [str(views.number(deal)) for deal in picks.read(table, page, times.now(), consistent=True)]


def filled(seen: Seen, **changed: str) -> dict[str, str]:
    """The page's form as a browser would send it, with some fields typed again."""
    values = seen.values()
    names = {"key", *DEAL, *(f"{deal_form.READ}{name}" for name in DEAL)}
    return {name: value for name, value in values.items() if name in names} | changed
