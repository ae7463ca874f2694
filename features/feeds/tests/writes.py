"""The imports of a shop's feed, for ``tests/interleave``."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from features.feeds.fields import Source
from features.feeds.importing import FeedImporter, Wishes
from features.feeds.shop import Shop
from shared.data.catalog import deals
from tests.interleave.beginning import LATER
from tests.support.factories import NOW, a_deal, ago

if TYPE_CHECKING:
    from tests.interleave.processes import Process

HEAD = "id,title,link,price,brand,product_type,condition,availability"
OF_SHOP = [
    a_deal(ago(hours=6), source_id=f"harbour:{own}", title=own, link=f"https://harbour.example/{own}")
    for own in ("cap", "coat")
]
CAP, COAT = (deal.deal_id for deal in OF_SHOP)


def prepare(at: Process) -> None:
    """Two deals of the shop are there."""
    for deal in OF_SHOP:
        deals.create(at.table, deal.with_own(Source("harbour")), NOW)


def imported(at: Process, *lines: str, **wishes: bool) -> str:
    """Import a file of the shop; returns what it refused."""
    shop = Shop(source="harbour", currency="USD", default="shoes")
    importer = FeedImporter(at.table, LATER, shop=shop, wishes=Wishes(**wishes), workers=1)
    importer.run(BytesIO("\n".join([HEAD, *lines, ""]).encode()))
    report = importer.report
    return f"{report.bad} {report.refused}"


def line(own: str, price: str) -> str:
    return f"{own},{own},https://harbour.example/{own},{price} USD,Apple,Shoes,new,in stock"


WRITES = {
    "update from a feed": lambda at: imported(at, line("cap", "29.00"), line("coat", "31.90"), update=True),
    "update from a later feed": lambda at: imported(at, line("cap", "27.00"), line("hat", "9.00"), update=True),
    "end missing": lambda at: imported(at, line("coat", "31.90"), update=True, end_missing=True),
    "edit a feed's price": lambda at: deals.edit(at.table, CAP, {"price": "20.00"}, LATER, by="ed"),
    "end a feed's deal": lambda at: deals.edit(at.table, CAP, {"ends_at": LATER}, LATER, by="ed"),
}
BEFORE_WRITES = (prepare,)
WRITES_DIFFER = {
    frozenset({"update from a later feed", "end missing"}): "what is missing depends on when each of two files is read"
}
