"""The formulas of docs/cost.md, computed by hand; and its tables, which must follow from them."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from pathlib import Path
from unittest import mock

import pytest

from benchmarks import formulas, months, storage
from benchmarks.browser import in_a_browser
from benchmarks.cost import ANYONE, at_the_limit, by_the_month, day_at_the_limit, fixed, listed, plans
from benchmarks.formulas import (
    Assumptions,
    Invocation,
    Operation,
    edge_million,
    edge_month,
    hit_rate,
)
from benchmarks.months import CACHED, CLOCK, SIGN_IN
from benchmarks.operations import measure
from infra.settings import STAGES
from shared.http.answers import FRESH
from shared.values import prices
from shared.values.prices import MILLION
from tests.support.surroundings import start_over

PAGE = (Path(__file__).parents[1] / "docs" / "cost.md").read_text(encoding="utf-8")


def stated(pattern: str, text: str = PAGE) -> str:
    """The only text that a pattern finds on the page."""
    (found,) = re.findall(pattern, text, re.DOTALL)
    return str(found)


NOTHING = Assumptions(wait=4, platform_log=0, access_log=0, event_overhead=0, headers=0)

of_stages = pytest.mark.thorough
"""For what is counted in the templates of stages: making them takes longer than most tests."""

VIEW = Operation("view", (Invocation("catalog", 512, 1.0, 1, 1000, 1),), reads=1, writes=0, requests=1, body=4000)


def test_a_function_is_billed_for_its_share_of_a_processor_and_its_waits() -> None:
    small = Invocation("f", 512, 1.0, 2, 0, 0)
    whole = dataclasses.replace(small, memory=1769)
    large = dataclasses.replace(small, memory=3538)

    assert small.billed(NOTHING) == 12  # 1 ms x 1769/512 + 2 x 4 ms, and the next whole one
    assert whole.billed(NOTHING) == large.billed(NOTHING) == 9
    assert small.billed(dataclasses.replace(NOTHING, slower=2)) == 15


def test_a_view_costs_what_its_services_list() -> None:
    cost = {service: dollars * MILLION for service, dollars in VIEW.dollars(NOTHING).items()}

    assert cost["API Gateway"] == pytest.approx(3.50)
    assert cost["Lambda"] == pytest.approx(0.20 + 0.0000133334 * 0.008 * 0.5 * MILLION)
    assert cost["DynamoDB"] == pytest.approx(0.125)
    assert cost["logs"] == pytest.approx(0.50)
    assert cost["data"] == pytest.approx(0.36)
    assert VIEW.million(NOTHING) == pytest.approx(sum(cost.values()))
    assert VIEW.million(NOTHING, egress=False) == pytest.approx(sum(cost.values()) - 0.36)


def test_the_cost_of_what_is_done_for_many_at_once_is_shared() -> None:
    page = dataclasses.replace(VIEW, count=250)

    assert page.million(NOTHING) == pytest.approx(VIEW.million(NOTHING) / 250)


def test_logs_are_billed_with_what_lambda_the_gateway_and_cloudwatch_add() -> None:
    given = dataclasses.replace(NOTHING, platform_log=300, access_log=400, event_overhead=26)

    # Our line and Lambda's three, and the gateway's: 1000 + 300 + 4 x 26 + 400 + 26.
    assert VIEW.dollars(given)["logs"] * MILLION == pytest.approx(0.5 * 1.830)


def test_hits_come_with_views_within_the_seconds_that_a_page_is_fresh() -> None:
    assert hit_rate(0, 5) == 0
    assert hit_rate(0.2, 5) == 0.5
    assert hit_rate(10, 5) == pytest.approx(50 / 51)
    assert f"max-age={int(50 / 10)}" in FRESH


def test_a_million_views_are_requests_data_and_what_is_fetched() -> None:
    assert edge_million(4.0, 1.0, 1000) == pytest.approx(1.00 + 0.085)
    assert edge_million(4.0, 0.9, 1000) == pytest.approx(1.085 + 0.4)
    assert edge_million(4.0, 0.9, 1000, discount=0.3) == pytest.approx(1.085 * 0.7 + 0.4)


def test_a_page_in_a_browser_is_its_requests_and_its_fetches() -> None:
    first = formulas.browser_million(4.0, 0.9, 5000, [1000, 2000])

    assert first == pytest.approx(3 * 1.00 + 8000 * 1e6 / 1e9 * 0.085 + 0.1 * 4.0)
    assert formulas.browser_million(4.0, 0.9, 5000) == edge_million(4.0, 0.9, 5000)


def test_the_page_says_what_a_page_in_a_browser_costs() -> None:
    origin, head = stated(r"10\.0% of (\d+\.\d+)"), stated(r"The head of an answer is (\d+) bytes")

    assert in_a_browser(float(origin), int(head)) in PAGE
    assert plans(float(origin)) in PAGE


def test_the_free_tier_is_taken_off_requests_and_data() -> None:
    assert edge_month(10 * MILLION, 4.0, 1.0, 1000) == 0
    assert edge_month(10 * MILLION, 4.0, 0.5, 1000) == pytest.approx(20)
    assert edge_month(11 * MILLION, 4.0, 1.0, 1000) == pytest.approx(1.00)
    # 2,000 GB, of which 1,000 are free.
    assert edge_month(10 * MILLION, 4.0, 1.0, 200_000) == pytest.approx(85)


@pytest.mark.parametrize("discount", [0.0, 0.3])
def test_the_hit_rate_that_is_needed_is_the_one_that_costs_the_goal(discount: float) -> None:
    hits = formulas.hits_needed(4.0, 1500, goal=1.25, discount=discount)

    assert edge_million(4.0, hits, 1500, discount=discount) == pytest.approx(1.25)
    assert formulas.hits_needed(4.0, 5000, goal=1.25) > 1


def test_each_price_names_the_page_that_states_it() -> None:
    assert all(price.page.startswith("aws.amazon.com/") for price in prices.PRICES)
    assert listed() in PAGE


def test_each_part_of_the_page_is_written() -> None:
    parts = re.findall(r"<!-- (?!end of )([\w ]+) -->\n(.*?)<!-- end of \1 -->", PAGE, re.DOTALL)

    assert len(parts) >= 8
    assert all(len(text) > 50 for _, text in parts)
    assert formulas.MONTH == 2_592_000


@pytest.mark.thorough
def test_operations_take_the_units_that_the_page_says() -> None:
    table = stated(r"<!-- measured -->\n(.*?)<!-- end")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    units = {name: [float(reads), float(writes), float(queue)] for name, _, reads, writes, queue, *_ in rows[1:]}

    try:
        with mock.patch.dict(os.environ):
            operations = measure(rounds=2).operations
    finally:
        start_over()

    # A deal's cached pages grow with the deals that are posted before it.
    for each in operations:
        took = [each.reads / each.count, each.writes / each.count, each.queue / each.count]
        assert took == pytest.approx(units[each.name], rel=0.1, abs=0.01), each.name


def price_of(operation: str) -> float:
    """The cost of a million of an operation, as the page has it."""
    return float(stated(rf"\n\| {operation} \|(?: \d+\.\d+ \|){{6}} (\d+\.\d+) \|\n"))


@of_stages
def test_the_page_says_what_a_month_costs_whether_anyone_comes_or_not() -> None:
    assert fixed(price_of(CLOCK)) in PAGE


SUMS = {name: price_of(name) for name in (*ANYONE, SIGN_IN)}


def test_the_dearest_request_is_the_one_of_the_pages_own_rows() -> None:
    rows = re.findall(r"\n\| ([^|]+) \|(?: \d+\.\d+ \|){6} (\d+\.\d+) \|", stated(r"<!-- operations -->(.*?)<!-- end"))
    prices_of = {name: float(price) for name, price in rows}

    assert at_the_limit(SUMS) in PAGE
    # All that a request causes is in a row. Editors post deals, and nobody asks for the clock or a hot deal's readers.
    assert {*prices_of} - {*SUMS} == {CLOCK, "deal posted, without watchers", "hot deal, for each reader"}
    assert prices_of | SUMS == prices_of
    lists = re.findall(r"\| \d+ \| \d+ \| ([\d.]+) \|\n", stated(r"\| First page \|(.*?)\n\n"))
    assert SUMS[CACHED] + max(map(float, lists)) * prices.READ.dollars < max(SUMS.values())
    assert SUMS[stated(r"that anyone may send is a (\w+)\.")] == max(SUMS[name] for name in ANYONE)


TABLES = months.Tables(lambda name: stated(rf"<!-- {name} -->\n(.*?)<!-- end"))


@pytest.mark.parametrize("name", sorted(TABLES.rows("operations").keys() - {"For a million of"}))
def test_an_operation_costs_what_its_measured_row_takes(name: str) -> None:
    took, row = months.takes(TABLES, name), [float(cell) for cell in TABLES.rows("operations")[name]]
    parts = (
        (prices.GATEWAY,), (prices.INVOCATION, prices.COMPUTING), (prices.READ, prices.WRITE), (prices.LOGGING,),
        (prices.QUEUEING,), (prices.EGRESS,),
    )  # fmt: skip

    # The page's figures have two decimals: a unit of a millionth, and a hundredth of a millisecond.
    assert row[:-1] == pytest.approx(
        [sum(took[each] * each.each for each in part) * MILLION for part in parts], abs=0.02
    )
    assert row[-1] == pytest.approx(sum(row[:-1]), abs=0.03)
    logged, body = (TABLES.number("measured", name, column) for column in (6, 7))
    least = logged + (Assumptions().access_log if body else 0)
    assert least / 1000 * 0.5 <= row[3] <= (least + 5 * (290 + 6 * 26)) / 1000 * 0.5 + 0.01


def test_three_months_are_billed_as_the_other_tables_say() -> None:
    """Each line is a quantity at a price of the list, and the sums are those of the lines."""
    assert months.listed(TABLES) in PAGE

    lines = TABLES.rows("three months")
    of_price = {price.what: price for price in prices.PRICES}
    sums, free = [0.0] * 3, [0.0] * 3
    for what in lines.keys() & of_price.keys():
        price, cells = of_price[what], [float(cell.replace(",", "")) for cell in lines[what]]
        rounding = 0.006 + price.each * (0.005 if price.unit.startswith("GB") and price.unit != "GB-second" else 0.5)
        for place, (quantity, dollars) in enumerate(zip(cells[::2], cells[1::2], strict=True)):
            assert dollars == pytest.approx(quantity * price.each, abs=rounding), what
            sums[place] += dollars
            free[place] += max(0.0, dollars - price.free * price.each)
    for name, of in (("at list prices", sums), ("without what is free", free)):
        bold = [float(cell.strip("*").replace(",", "")) for cell in lines[f"**Sum {name}**"] if cell]
        assert bold == pytest.approx(of, abs=0.06)
    assert len(lines.keys() & of_price.keys()) >= 12


def test_what_a_cache_answers_reaches_no_function_and_its_readers_pay_no_data_of_the_region() -> None:
    fetches, middle = [], months.MONTHS[1]
    for caches in (1, 10, 0):
        bill = months.bill(dataclasses.replace(middle, caches=caches), TABLES)
        fetches.append(bill[prices.GATEWAY])
        assert (prices.EDGE_REQUEST in bill, bill.get(prices.EGRESS, 0) > 0) == (caches > 0, caches == 0)

    assert fetches == sorted(fetches)
    rest = fetches[0] - middle.views * (1 - hit_rate(middle.views / formulas.MONTH))
    assert rest == pytest.approx(middle.members_views + middle.sign_ins + middle.follows + middle.deals)


@of_stages
@pytest.mark.parametrize(("stage", "most"), [("prod", 2.50), ("dev", 0.75)])
def test_a_stage_costs_little_without_visitors(stage: str, most: float) -> None:
    """The goal is $10 a month. AWS's free tiers are not taken off."""
    assert 0 < sum(dollars for _, _, dollars in by_the_month(STAGES[stage], price_of(CLOCK))) < most


def test_no_day_costs_a_fortune() -> None:
    """Requests that cost more than what anyone may send are throttled more."""
    prod, dearest = STAGES["prod"], max(SUMS[name] for name in ANYONE)

    assert day_at_the_limit(prod.throttle_rate, dearest) < 200
    assert day_at_the_limit(STAGES["dev"].throttle_rate, dearest) < 20
    assert SUMS[SIGN_IN] * prod.sign_in_rate < dearest * prod.throttle_rate


@pytest.mark.thorough
def test_the_sample_takes_the_bytes_that_the_page_says() -> None:
    said = storage.listed(storage.measure())

    now = months.Tables(lambda _: said).rows("storage")
    for name, cells in TABLES.rows("storage").items():
        if name != "In the sample":
            figures = [[float(cell.replace(",", "")) for cell in each] for each in (now[name], cells)]
            assert figures[0] == pytest.approx(figures[1], rel=0.02), name
    share = TABLES.number("storage", "the whole sample", 2) / TABLES.number("storage", "the whole sample", 1)
    assert f"Indexes take {share:.2f} times" in PAGE


def test_provisioned_capacity_is_cheaper_from_the_stated_utilization() -> None:
    for unit, on_demand in ((prices.PROVISIONED_READ, prices.READ), (prices.PROVISIONED_WRITE, prices.WRITE)):
        assert f"utilization of {unit.each / on_demand.each:.1%}" in " ".join(PAGE.split())
    hour = prices.PROVISIONED_WRITE.dollars
    for words in (
        f"needs {math.ceil(100 / 0.7)} write capacity units",
        f"costs ${143 * 720 * hour:,.2f} provisioned and ${100 * formulas.MONTH * prices.WRITE.each:,.2f} on demand",
        f"{math.ceil(600 / 0.7)} units cost ${858 * 720 * hour:,.2f}",
    ):
        assert words in " ".join(PAGE.split())
