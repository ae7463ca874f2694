"""Three months of a site, as AWS would bill them: a small one, a middle one and a large one.

They are computed from the tables of docs/cost.md alone (``Tables``), so that a reader can follow each figure, and a
test can compute it again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.browser import FILE_HEAD, FILES, HTML_BYTES
from benchmarks.formulas import GIGABYTE, MONTH, Assumptions, hit_rate
from benchmarks.harness import markdown
from benchmarks.storage import ACCOUNT, DEAL, FOLLOWED, MESSAGE
from infra.functions import BY_NAME
from shared import settings
from shared.values import prices
from shared.values.prices import MILLION, Price

CACHED, ONE_DEAL, WATCH, SIGN_IN = "front page, from its cached copy", "one deal", "watch", "sign-in"
POST, CLOCK, NOTIFIED = "deal posted, without watchers", "a minute's work of the clock", "hot deal, for each reader"

Bill = dict[Price, float]
"""Quantities by price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """What happens in a month. ``views`` are pages, ``members_views`` those of members among them, ``follows`` likes
    and watches, ``caches`` CloudFront's regional caches (none: readers reach the gateways directly)."""

    name: str
    views: int
    members_views: int
    accounts: int
    sign_ins: int
    follows: int
    deals: int
    messages: int
    caches: int


MONTHS = (
    Month(name="small", views=30_000, members_views=3_000, accounts=500, sign_ins=100, follows=200, deals=300,
          messages=2_000, caches=0),
    Month(name="middle", views=3 * MILLION, members_views=300_000, accounts=30_000, sign_ins=10_000, follows=20_000,
          deals=3_000, messages=500_000, caches=1),
    Month(name="large", views=300 * MILLION, members_views=30 * MILLION, accounts=2 * MILLION, sign_ins=500_000,
          follows=MILLION, deals=30_000, messages=50 * MILLION, caches=10),
)  # fmt: skip

FIRST_VIEWS = 0.25
"""The share of views for which a browser fetches the style sheet, the script, the font and the mark, too."""

MONTHS_KEPT = 12
"""Months of deals and of follows that the table holds. Messages are kept for 90 days."""


class Tables:
    """The tables of the page, by the names of their markers: rows of numbers, by a row's name."""

    def __init__(self, section: Callable[[str], str]) -> None:
        self._section = section

    def rows(self, name: str) -> dict[str, list[str]]:
        lines = re.findall(r"^\| (.*) \|$", self._section(name), re.MULTILINE)
        return {row: cells for row, *cells in (re.split(r" ?\| ?", line) for line in lines)}

    def number(self, section: str, row: str, column: int) -> float:
        return float(self.rows(section)[row][column].replace(",", "") or 0)


def takes(tables: Tables, operation: str) -> Bill:
    """The quantities of one operation, from its rows of what is measured and of what a million costs."""
    functions, *cells = tables.rows("measured")[operation]
    reads, writes, queue, _, billed, _, body = (float(cell.replace(",", "") or 0) for cell in cells)
    names = functions.split(", ")
    share = settings.READERS_PER_COHORT if operation == NOTIFIED else 1  # readers of one invocation
    memory = max(BY_NAME[name].memory for name in names)
    sent = body + Assumptions().headers if body else 0
    return {
        prices.GATEWAY: 1.0 if body else 0.0,
        prices.INVOCATION: len(names) / share,
        prices.COMPUTING: billed / 1000 * memory / 1024,
        prices.READ: reads,
        prices.WRITE: writes,
        prices.QUEUEING: queue,
        prices.LOGGING: tables.number("operations", operation, 3) / MILLION / prices.LOGGING.dollars,
        prices.EGRESS: sent / GIGABYTE,
    }


def bill(month: Month, tables: Tables) -> Bill:
    """A month's quantities by price."""
    hits = hit_rate(month.views / MONTH / month.caches) if month.caches else 0.0
    fetched = month.views * (1 - hits)
    files = month.views * FIRST_VIEWS * len(FILES)
    asked = {
        CACHED: fetched / 2,
        # A file costs what one deal costs, where no cache has it; and so does the count of a member's unread messages.
        ONE_DEAL: fetched / 2 + month.members_views + (0 if month.caches else files),
        WATCH: month.follows,
        SIGN_IN: month.sign_ins,
        POST: month.deals,
        NOTIFIED: month.messages,
        CLOCK: MONTH / 60,
    }
    quantities: Bill = defaultdict(float)
    for operation, count in asked.items():
        for price, quantity in takes(tables, operation).items():
            quantities[price] += quantity * count
    if month.caches:
        del quantities[prices.EGRESS]  # the gateways' data to CloudFront is free
        views = month.views + month.members_views + month.follows + month.sign_ins
        page = Assumptions().headers + HTML_BYTES
        sent = views * page + month.views * FIRST_VIEWS * (sum(FILES) + len(FILES) * FILE_HEAD)
        quantities |= {prices.EDGE_REQUEST: views + files, prices.EDGE_EGRESS: sent / GIGABYTE}
    table, indexes = (_stored(month, tables, column) / GIGABYTE for column in (1, 2))
    quantities |= {prices.STORAGE: table + indexes, prices.RECOVERY: table}
    quantities[prices.QUEUEING] += tables.number("fixed", "waiting for the queues", 0)
    for price, row in ((prices.ALARM, "metrics of alarms"), (prices.METRIC, "custom metrics")):
        quantities[price] = tables.number("fixed", row, 0)
    return quantities


def _stored(month: Month, tables: Tables, column: int) -> float:
    """Bytes after a year of such months, in the table (1) or in its indexes (2)."""
    kept = {
        DEAL: MONTHS_KEPT * month.deals,
        ACCOUNT: month.accounts,
        FOLLOWED: MONTHS_KEPT * month.follows,
        MESSAGE: settings.MESSAGE_LIFETIME.days / 30 * month.messages,
    }
    return sum(tables.number("storage", name, column) * count for name, count in kept.items())


def listed(tables: Tables, months: Sequence[Month] = MONTHS) -> str:
    """The bills side by side, with their sums, at list prices and without what is free in each month."""
    bills = {month.name: bill(month, tables) for month in months}
    rows = []
    for price in prices.PRICES:
        if any(each.get(price) for each in bills.values()):
            quantities = [each.get(price, 0.0) for each in bills.values()]
            cells = [(_quantity(price, each), _cents(dollars(price, each))) for each in quantities]
            rows.append([price.what, *(cell for pair in cells for cell in pair)])
    for name, of in (("at list prices", list_price), ("without what is free", to_pay)):
        rows.append([f"**Sum {name}**", *(cell for each in bills.values() for cell in ("", f"**{_cents(of(each))}**"))])
    head = ["Billed", *(cell for name in bills for cell in (name, "Dollars"))]
    return f"{happens(months)}\n\n{markdown(head, rows)}"


def happens(months: Sequence[Month]) -> str:
    """The table of what happens in each month."""
    lines: Mapping[str, Callable[[Month], int]] = {
        "pages viewed": lambda month: month.views,
        "by members, signed in": lambda month: month.members_views,
        "accounts": lambda month: month.accounts,
        "sign-ins": lambda month: month.sign_ins,
        "likes and watches": lambda month: month.follows,
        "deals posted": lambda month: month.deals,
        "messages to members": lambda month: month.messages,
        "CloudFront's regional caches": lambda month: month.caches,
    }
    rows = [[name, *(f"{of(month):,}" for month in months)] for name, of in lines.items()]
    return markdown(["In a month", *(month.name for month in months)], rows)


def dollars(price: Price, quantity: float, *, free: float = 0.0) -> float:
    """The cost of a quantity, rounded to cents as a bill's line is."""
    return round(max(0.0, quantity - free) * price.each, 2)


def list_price(of: Bill) -> float:
    """The sum of a bill's lines."""
    return sum(dollars(price, quantity) for price, quantity in of.items())


def to_pay(of: Bill) -> float:
    """The sum of a bill's lines, each without what every account has free."""
    return sum(dollars(price, quantity, free=price.free) for price, quantity in of.items())


def _quantity(price: Price, amount: float) -> str:
    return f"{amount:,.2f}" if price.unit in ("GB", "GB-month") else f"{amount:,.0f}"


def _cents(amount: float) -> str:
    return f"{amount:,.2f}"
