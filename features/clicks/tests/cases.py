"""Clicks in tests of all features."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx

from features.clicks.data import clicks, keys
from shared.data.keys import id_in
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.support.commands import PATIENCE
from tests.support.rights import ANY_READ, DEAL
from tests.support.site import Site, Visitor, a_deal

DEAL_ID = "0ujtsYcg"


def followed(table: Table, deal: Deal) -> None:
    """A reader follows a deal to its shop."""
    clicks.count(table, deal.deal_id)


HAPPENS_TO = (followed,)


def same(key: str) -> dict[str, str]:
    return {"PK": key, "SK": key}


GOLDEN = (
    (keys.clicks, (DEAL_ID,), same("CLICKS#0ujtsYcg")),
    (keys.counted_click, ("salt", "192.0.2.7", DEAL_ID, 7), same("COUNTEDCLICK#2f2f095e32c35db563add4b7ab78044a")),
)


def _of_all(table: Table) -> dict[str, int]:
    return clicks.of(table, sorted(id_in(item["PK"]) for item in table.scan()[0] if item["Type"] == "Deal"))


LISTED_BY = {keys.CLICKS: (_of_all,)}

_CLICKS = keys.clicks(DEAL_ID)["PK"]

RIGHTS = (
    # The function of clicks counts them, and could write no deal.
    (("PutItem", "UpdateItem", "DeleteItem"), _CLICKS, "", "clicks"),
    (("GetItem", "BatchGetItem", "Query"), _CLICKS, "", "desk"),
    (ANY_READ, DEAL, "", "clicks"),
)

RECIPES = (
    (
        "features/clicks/README.md",
        (
            "The first release reads both forms",
            "The second release writes the new form",
            "The third release drops the old form",
        ),
    ),
)


def _followed_through_the_gateway(site: Site, editor: Visitor, brand: str) -> None:
    """A reader is led to the shop, and the click is counted once."""
    deal = editor.post("/deals", json=a_deal(brand)).json()
    reader = {"Host": urlsplit(site.origin).netloc, "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}

    for _ in range(2):
        led = httpx.get(f"{site.endpoint}/go/{deal['dealNumber']}", headers=reader, trust_env=False, timeout=PATIENCE)
        assert (led.status_code, led.headers["Location"]) == (302, deal["link"])

    assert clicks.of(site.table, [deal["dealId"]]) == {deal["dealId"]: 1}


AT_THE_GATEWAY = (_followed_through_the_gateway,)

IMPORTS = {"clicks": ("minijinja",)}
PUBLIC_FUNCTIONS = ("clicks",)
TRACED = ("/go/{number}",)
