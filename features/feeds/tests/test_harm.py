"""A feed can't do harm: what can't be read is not taken for what isn't there."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from features.feeds.rules import RULES, Meaning, Then
from shared.data.catalog import feeds
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS
from shared.values.times import now
from tests.cli.conftest import Btd, ask, bare_table, btd, server, table, wide_terminal  # noqa: F401  # fixtures

README = Path(__file__).resolve().parents[1] / "README.md"
OPTIONS = ("--source", "up", "--shop", "https://up.example", "--update", "--end-missing")
COUNT = 12

Line = dict[str, str]


def lines(count: int = COUNT, **more: str) -> list[Line]:
    return [
        {
            "id": f"p-{number}", "title": f"Pier Mug {number}", "link": f"https://up.example/p-{number}",
            "price": "9.00 USD", "brand": "Lumen & Co", "product_type": "Home", "availability": "in stock", **more,
        }
        for number in range(count)
    ]  # fmt: skip


def separated(some: list[Line], delimiter: str = "\t") -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*some[0]], delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(some)
    return text.getvalue()


def shopify(some: list[Line]) -> str:
    names = {"id": "Handle", "title": "Title", "brand": "Vendor", "product_type": "Type", "price": "Variant Price"}
    rows = [{to: line[of].removesuffix(" USD") for of, to in names.items()} for line in some]
    return separated([row | {"Body (HTML)": "<p>Blue,\nand warm.</p>", "Status": "active"} for row in rows], ",")


def markup(some: list[Line]) -> str:
    items = "\n".join(
        "<item>"
        + "".join(f"<g:{name}>{text.replace('&', '&amp;')}</g:{name}>" for name, text in line.items())
        + "</item>"
        for line in some
    )
    return f'<rss xmlns:g="http://base.google.com/ns/1.0"><channel>\n{items}\n</channel></rss>\n'


def json_lines(some: list[Line]) -> str:
    names = {"id": "sourceId", "title": "title", "brand": "brand", "link": "link"}
    own = {"price": "9.00", "category": "home"}
    return "".join(json.dumps({to: line[of] for of, to in names.items()} | own) + "\n" for line in some)


SPELLINGS: dict[str, Callable[[list[Line]], str]] = {
    "tabs": separated, "commas": lambda some: separated(some, ","), "Shopify": shopify, "XML": markup,
    "JSON lines": json_lines, "JSON": lambda some: "[" + ",\n ".join(json_lines(some).splitlines()) + "]\n",
}  # fmt: skip


@pytest.fixture
def run(table: Table, btd: Btd, tmp_path: Path) -> Callable[..., str]:
    """Imports a text, and returns all that is printed."""

    def done(text: str | bytes, *options: str, code: int = 0) -> str:
        path = tmp_path / "feed"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return btd("import", str(path), *(options or OPTIONS), code=code).output

    return done


def active(table: Table) -> set[str]:
    """The ids of the active deals, without their source."""
    found = feeds.read(table, ALL_DEALS, limit=100, now=now()).items
    return {re.sub(r"^up:|:$", "", str(deal.source_id)) for deal in found}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_file_that_is_cut_anywhere_ends_nothing(table: Table, run: Callable[..., str], spelling: str) -> None:
    whole = SPELLINGS[spelling](lines())
    run(whole)
    all_of_them = active(table)
    assert len(all_of_them) == COUNT

    for share in (30, 55, 97):
        printed = run(whole[: len(whole) * share // 100], code=1)

        assert "Nothing was ended" in printed
        assert active(table) == all_of_them


def test_a_last_line_without_its_end_ends_nothing_and_is_no_fault_otherwise(run: Callable[..., str]) -> None:
    whole = separated(lines())
    run(whole)

    assert "its last line has no end" in run(whole.rstrip("\n"), code=1)
    assert "0 bad lines" in run(whole.rstrip("\n"), *OPTIONS[:-1])


@pytest.mark.parametrize("spelling", ["tabs", "commas", "Shopify"])
def test_a_quotation_mark_that_nothing_closes_spoils_its_own_row_alone(
    table: Table, run: Callable[..., str], spelling: str
) -> None:
    run(SPELLINGS[spelling](lines()))
    open_mark = SPELLINGS[spelling](lines(COUNT + 3)).replace("Pier Mug 4", '"Pier Mug 4')

    printed = run(open_mark, code=1)

    assert "a quotation mark opens, and nothing closes it" in printed
    assert "3 deals created" in printed
    assert "Nothing was ended" in printed
    assert len(active(table)) == COUNT + 3


def test_a_value_of_several_lines_is_read_and_a_mark_within_one_is_none(table: Table, run: Callable[..., str]) -> None:
    some = lines(3, description='Blue,\nand "warm"\n\nfor all')
    some[1]["title"] = 'Pan 12" wide'

    text = separated(some).replace('"Pan 12"" wide"', 'Pan 12" wide')
    run(text)

    assert active(table) == {"p-0", "p-1", "p-2"}


@pytest.mark.parametrize("field", ["id", "title"])
def test_a_line_break_in_a_title_or_an_id_is_a_fault(run: Callable[..., str], field: str) -> None:
    some = lines(3)
    some[1][field] = "p-1\nof two lines"

    printed = run(separated(some), code=1)

    assert f"line 3: {field}: has a line break" in printed.replace("row", "line")


def test_many_that_are_missing_are_ended_only_if_that_is_meant(table: Table, run: Callable[..., str]) -> None:
    run(separated(lines(20)))

    refused = run(separated(lines(15)), code=1)
    assert "5 of 20 deals of up are missing from the file. If they are gone, add --end-most." in refused
    assert len(active(table)) == 20

    run(separated(lines(16)))
    assert len(active(table)) == 16
    run(separated(lines(2)), *OPTIONS, "--end-most")
    assert len(active(table)) == 2


def test_a_source_whose_name_another_begins_with_ends_its_own_deals_alone(
    table: Table, run: Callable[..., str]
) -> None:
    run(separated(lines(3)))
    run(separated(lines(3)), "--source", "up:uk", "--update")

    run(separated(lines(2)))

    assert active(table) == {"p-0", "p-1", "uk:p-0", "uk:p-1", "uk:p-2"}


def test_what_is_out_of_stock_is_there_and_ends(table: Table, run: Callable[..., str]) -> None:
    run(separated(lines()))

    printed = run(separated(lines(availability="out of stock")))

    assert f"{COUNT} deals ended" in printed
    assert active(table) == set()


@pytest.mark.parametrize("broken", [{"id": ""}, {"price": "ask us"}, {"link": ""}, {"brand": "x" * 3000}])
def test_a_record_that_cannot_be_read_keeps_every_deal(table: Table, run: Callable[..., str], broken: Line) -> None:
    run(separated(lines()))
    some = lines()[:-1]
    some[3] |= broken

    printed = run(separated(some), code=1)

    assert "Nothing was ended, because of 1 bad line." in printed
    assert len(active(table)) == COUNT


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>x</loc></url></urlset>',
        "<root><thing><name>Mug</name></thing></root>",
        "Name;Cost\nMug;9\n",
    ],
    ids=["a sitemap", "another list", "another table"],
)
def test_what_is_no_feed_is_said_to_be_none_with_the_formats_that_are(run: Callable[..., str], text: str) -> None:
    for options in (OPTIONS, (*OPTIONS, "--check")):
        printed = run(text, *options, code=1)

        assert "This is no feed that btd reads. It reads JSON Lines" in printed
        assert "Heureka" in printed


def test_a_price_that_cannot_be_a_sales_is_left_out_and_counted(table: Table, run: Callable[..., str]) -> None:
    some = lines(4)
    for line, sale in zip(some, ("0.00 USD", "99.00 USD", "soon", "7.00 USD"), strict=True):
        line["sale_price"] = sale

    printed = run(separated(some))

    prices = {deal.price for deal in feeds.read(table, ALL_DEALS, limit=9, now=now()).items}
    assert prices == {"9.00", "7.00"}
    assert "sale price: impossible in 2 records, first in up:p-0: '0.00 USD'" in printed
    assert "sale price: unreadable in 1 record, first in up:p-2: 'soon'" in printed


def test_a_sale_whose_time_cannot_be_read_is_none(table: Table, run: Callable[..., str]) -> None:
    printed = run(separated(lines(1, sale_price="7.00 USD", sale_price_effective_date="in June")))

    assert "sale dates: unreadable in 1 record" in printed
    assert [deal.price for deal in feeds.read(table, ALL_DEALS, limit=9, now=now()).items] == ["9.00"]


def test_a_record_without_a_price_is_left_out_and_its_deal_stays(table: Table, run: Callable[..., str]) -> None:
    run(separated(lines(3)))
    some = lines(3)
    some[0]["price"] = "0.00 USD"

    assert "1 record left out: price: is nothing" in run(separated(some))
    assert len(active(table)) == 3


@pytest.mark.parametrize("picture", ["no picture", "https://up.example/<a>.jpg", "ftp://up.example/a.jpg", "x" * 3000])
def test_a_picture_never_refuses_a_record(table: Table, run: Callable[..., str], picture: str) -> None:
    printed = run(separated(lines(1, image_link=picture)))

    assert "picture: unreadable in 1 record, first in up:p-0" in printed
    assert [deal.image for deal in feeds.read(table, ALL_DEALS, limit=9, now=now()).items] == [None]


def test_the_document_says_of_each_field_what_the_rules_say() -> None:
    """Absent, empty, unreadable and impossible, in one table."""
    text = README.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (\w+(?: \w+)?(?: \| \w+(?: \w+)?){3}) \|$", text, re.MULTILINE))
    words = {Then.REFUSED: "refused", Then.LEFT_OUT: "left out", Then.WITHOUT: "without", Then.DEFAULT: "default"}

    expected = {name: " | ".join(words[getattr(rule, meaning)] for meaning in Meaning) for name, rule in RULES.items()}

    assert {name: rows.get(name) for name in expected} == expected
