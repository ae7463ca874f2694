"""``btd import`` on the feeds that shops give away: small files of each format, and what is wrong with others."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from features.feeds.fields import TakenOver
from features.feeds.formats import Format
from features.feeds.reading import Feed
from features.feeds.shop import Shop
from features.feeds.source import MAX_RECORD
from features.feeds.texts import amount
from features.imports.json_lines import Record, WrongFile
from local.settings import ROOT
from shared.data import keys
from shared.data.catalog import deals, feeds, offers
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import NotFound
from shared.models.catalog import ALL_DEALS, Deal, Status
from shared.values.times import from_iso, now, to_iso
from tests.cli.conftest import Btd, ask, bare_table, btd, server, table, wide_terminal  # noqa: F401  # fixtures
from tests.support import recipes

FEEDS = Path(__file__).resolve().parent / "files"
MAP = str(FEEDS / "categories.toml")
NOW = from_iso("2026-06-01T12:00:00Z")


def read(data: bytes, form: Format = Format.AUTO, **told: Any) -> list[Record]:
    return list(Feed(io.BytesIO(data), Shop(**told), form, NOW))


def fields_of(found: list[Record]) -> list[dict[str, Any]]:
    return [record.fields for record in found if record.fields is not None]


def active(table: Table) -> dict[str, Deal]:
    """The deals in the feed of all, by the ids of their sources."""
    return {str(deal.source_id): deal for deal in feeds.read(table, ALL_DEALS, limit=100, now=now()).items}


def test_a_google_feed_goes_in(table: Table, btd: Btd) -> None:
    result = btd(
        "import", str(FEEDS / "google.xml"), "--source", "harbour", "--categories", MAP, "--currency", "EUR", code=1
    )

    assert "2 deals created" in result.stdout
    assert "1 record left out: out of stock" in result.stdout
    assert "line 4: category: 'Gift cards' is not mapped to one of ours (--categories)" in result.stderr
    there = active(table)
    shoe, lamp = there["harbour:HB-100"], there["harbour:HB-101"]
    assert (shoe.title, shoe.price, shoe.list_price, shoe.currency) == ("Quay Runner & Laces", "59.00", "95.00", "USD")
    assert shoe.description == "Light running shoe. Two pairs of laces."
    assert (shoe.category, shoe.variant, shoe.brand_name) == ("shoes", "Slate, 9", "Pace Theory")
    assert shoe.image == "https://harbour.example/pictures/quay-runner.jpg"
    assert shoe.ends_at == from_iso("2099-02-01T04:59:00Z")
    assert (lamp.price, lamp.currency, lamp.category, lamp.list_price) == ("1299.00", "EUR", "home", None)


def test_atom_and_tab_separated_feeds_and_a_json_array_go_in(table: Table, btd: Btd) -> None:
    for name in ("google-atom.xml", "google.tsv", "deals.json"):
        btd("import", str(FEEDS / name), "--source", "harbour")

    there = active(table)
    assert {name: (deal.title, deal.price, deal.list_price, deal.currency) for name, deal in there.items()} == {
        "harbour:HB-200": ("Tide Jacket", "120.00", None, "GBP"),
        "harbour:HB-300": ('Buoy Mug "blue"', "9.00", "18.00", "USD"),
        "harbour:mooring-socks": ("Mooring Socks", "12.00", "16.00", "USD"),
        "harbour:anchor-tent": ("Anchor Tent", "240.00", None, "CAD"),
    }
    assert there["harbour:HB-200"].description == "Keeps the rain out."
    assert there["harbour:HB-200"].link == "https://harbour.example/tide-jacket"


def test_a_shopify_export_goes_in_with_what_a_products_first_row_has(table: Table, btd: Btd) -> None:
    result = btd("import", str(FEEDS / "shopify.csv"), "--shop", "https://harbour.example/", "--categories", MAP)

    assert "3 deals created" in result.stdout
    assert "1 record left out: out of stock" in result.stdout
    assert "1 record left out: not published" in result.stdout
    there = active(table)
    sand = there["harbour.example:breakwater-tee:BT-SAND-M"]
    assert (sand.title, sand.price, sand.list_price) == ("Breakwater Tee", "26.00", "40.00")
    assert (sand.variant, sand.category, sand.brand_name) == ("Sand, M", "clothing", "Pace Theory")
    assert sand.link == "https://harbour.example/products/breakwater-tee"
    assert sand.image == "https://cdn.harbour.example/tee-sand.jpg"
    assert there["harbour.example:fender-mug"].variant is None


@pytest.mark.parametrize(
    ("tracker", "policy", "count"), [("shopify", "deny", 0), ("shopify", "continue", 1), ("", "deny", 1)]
)
def test_what_a_shop_counts_and_has_none_left_of_is_out_of_stock(tracker: str, policy: str, count: int) -> None:
    stock = "Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy"
    rows = f"Handle,Title,Vendor,Type,Variant Price,{stock}\nmug,Mug,Pace Theory,Home,9.00,{tracker},0,{policy}\n"

    found = read(rows.encode(), address="https://harbour.example")

    assert len(fields_of(found)) == count


def test_addresses_with_spaces_are_encoded_and_scripts_are_no_description() -> None:
    head = "Handle,Title,Vendor,Type,Variant Price,Image Src,Body (HTML)"
    mug = "mug,Mug,Pace Theory,Home,9.00,https://cdn.harbour.example/a mug.jpg"
    rows = f"{head}\n{mug},<style>p {{}}</style>Blue<script>go()</script> mug\n"

    (fields,) = fields_of(read(rows.encode(), address="https://harbour.example"))

    assert (fields["image"], fields["description"]) == ("https://cdn.harbour.example/a%20mug.jpg", "Blue mug")


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_is_read_in_the_encodings_of_spreadsheets(packed: Callable[[bytes], bytes], encoding: str) -> None:
    text = (FEEDS / "google.tsv").read_text(encoding="utf-8").replace("Buoy", "Büoy")

    (fields,) = fields_of(read(packed(text.encode(encoding)), source="s"))

    assert fields["title"] == 'Büoy Mug "blue"'


AMOUNTS = {
    "159.00 USD": ("159.00", "USD"),
    "CHF 12.50": ("12.50", "CHF"),
    "$1,299.00": ("1299.00", "USD"),
    "€19": ("19", "EUR"),
    "1.299,00 €": ("1299.00", "EUR"),
    "12,50": ("12.50", "USD"),
    "9 usd": ("9", "USD"),
}


@pytest.mark.parametrize(("text", "read"), AMOUNTS.items(), ids=AMOUNTS)
def test_amounts_as_feeds_write_them(text: str, read: tuple[str, str]) -> None:
    assert amount(text, "USD") == read


def test_a_dollar_is_that_of_the_shops_currency() -> None:
    assert amount("$12", "CAD") == ("12", "CAD")


def item(**fields: str) -> bytes:
    """A feed of one item."""
    given = {"id": "1", "title": "Mug", "link": "https://s.example/mug", "price": "9.00 USD", "brand": "B"}
    given |= {"product_type": "Home", **fields}
    texts = "".join(f"<g:{name}>{text}</g:{name}>" for name, text in given.items())
    return f'<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item>{texts}</item></channel></rss>'.encode()


@pytest.mark.parametrize(
    ("during", "price", "ends"),
    [
        ("2026-05-01T00:00Z/2026-07-01T00:00Z", "7.00", "2026-07-01T00:00:00Z"),
        ("2026-07-01T00:00Z/2026-08-01T00:00Z", "9.00", None),
        ("2026-01-01T00:00Z/2026-02-01T00:00Z", "9.00", None),
    ],
    ids=["now", "later", "over"],
)
def test_a_sale_price_counts_while_the_sale_lasts(during: str, price: str, ends: str | None) -> None:
    (fields,) = fields_of(read(item(sale_price="7.00 USD", sale_price_effective_date=during)))

    assert (fields["price"], fields.get("expiresAt")) == (price, ends)
    assert fields.get("listPrice") == ("9.00" if price == "7.00" else None)


def test_times_are_read_as_iso_and_as_mail_writes_them() -> None:
    (fields,) = fields_of(read(item(pubDate="Mon, 25 May 2026 08:00:00 +0200", expiration_date="2026-07-01")))

    assert (fields["postedAt"], fields["expiresAt"]) == ("2026-05-25T06:00:00Z", "2026-07-01T00:00:00Z")


def test_the_longest_mapped_name_of_a_category_counts() -> None:
    shop = Shop(categories={"apparel": "clothing", "apparel > shoes": "shoes"})

    assert [shop.category(name) for name in ("Apparel > Shoes > Boots", "apparel/Hats", "Goods > Bags")] == [
        "shoes",
        "clothing",
        "bags",
    ]


def test_the_categories_without_one_of_ours_are_written_as_a_map_which_then_serves(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    path = tmp_path / "map.toml"

    suggested = btd("import", str(FEEDS / "google.xml"), "--suggest-categories", str(path))

    assert "1 name of categories in 4 records" in suggested.stdout
    assert active(table) == {}
    text = path.read_text(encoding="utf-8")
    assert '"Gift cards" = ""  # 1' in text
    path.write_text(text.replace('""', '"home"'), encoding="utf-8")
    assert "3 deals created" in btd("import", str(FEEDS / "google.xml"), "--categories", str(path)).stdout
    assert "exists" in btd("import", str(FEEDS / "google.xml"), "--suggest-categories", str(path), code=1).stderr


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], bool]) -> str:
    """The array of the sample as a later file has it: with changes, and without what ``change`` refuses."""
    lines = json.loads((FEEDS / "deals.json").read_text(encoding="utf-8"))
    path = tmp_path / "later.json"
    path.write_text(json.dumps([line for line in lines if change(line)]), encoding="utf-8")
    return str(path)


def test_a_later_file_changes_what_is_there_ends_what_is_missing_and_brings_it_back(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    first = [str(FEEDS / "deals.json"), "--source", "harbour"]
    btd("import", *first)
    btd("import", str(FEEDS / "deals.json"), "--source", "other")
    later = changed(
        tmp_path, lambda line: line["sourceId"] == "mooring-socks" and bool(line.update(price="11.00") or 1)
    )
    (old,) = (deal for name, deal in active(table).items() if name == "harbour:mooring-socks")

    result = btd("import", later, "--source", "harbour", "--update", "--end-missing")

    assert "1 deal updated\n1 deal ended" in result.stdout
    assert sorted(active(table)) == ["harbour:mooring-socks", "other:anchor-tent", "other:mooring-socks"]
    assert deals.get(table, old.deal_id).price == "11.00"
    assert "updated" not in btd("import", later, "--source", "harbour", "--update").stdout
    assert "2 deals updated" in btd("import", *first, "--update").stdout
    assert len(active(table)) == 4


@pytest.mark.usefixtures("table")
def test_a_check_shows_deals_before_the_shop_and_its_categories_are_told(btd: Btd, tmp_path: Path) -> None:
    file = tmp_path / "products.csv"
    text = (FEEDS / "shopify.csv").read_text(encoding="utf-8")
    file.write_text(re.sub("Clothing|Shoes|Home", "Dárky", text), encoding="utf-8")

    checked = btd("import", str(file), "--source", "harbour", "--check", code=1)

    assert "0 deals would be created" in checked.stdout
    assert "$24.00, was $40.00 · Pace Theory · no category yet" in checked.stdout
    assert "https://shop.example/products/breakwater-tee" in checked.stdout
    assert "Add --shop with the shop's address" in checked.stderr


def test_what_yesterdays_file_had_and_todays_lacks_has_ended_and_is_compared_with(table: Table, btd: Btd) -> None:
    options = ("--source", "tide", "--update", "--end-missing")
    btd("import", str(FEEDS / "yesterday.tsv"), *options)
    yesterday = active(table)

    checked = btd("import", str(FEEDS / "today.tsv"), *options, "--check")
    result = btd("import", str(FEEDS / "today.tsv"), *options)

    today = active(table)
    assert sorted(yesterday) == [f"tide:TM-{number}" for number in (1, 2, 3, 4)]
    assert sorted(today) == [f"tide:TM-{number}" for number in (10, 2, 4, 9)]
    assert (today["tide:TM-2"].price, today["tide:TM-4"]) == ("50.00", yesterday["tide:TM-4"])
    for line in ("2 deals created", "1 deal updated", "2 deals ended"):
        assert line in result.stdout
    assert "2 deals would be ended" in checked.stdout
    known = {str(deal.source_id): deal for deal in deals.get_many(table, [each.deal_id for each in yesterday.values()])}
    assert [known[f"tide:TM-{gone}"].status(now()) for gone in (1, 3)] == [Status.EXPIRED] * 2
    for deal in {**known, **today}.values():
        offers.file(table, None, deal)
    for deal in today.values():
        offers.follow(table, deal)
    judged = {name: deals.get(table, deal.deal_id, consistent=True) for name, deal in today.items()}
    mug, lamp = judged["tide:TM-9"], judged["tide:TM-10"]
    assert mug.is_lowest
    assert mug.verdict is not None
    assert mug.verdict.cheapest == 2000  # of the offer that ended
    assert not lamp.is_lowest


FIRST = (str(FEEDS / "deals.json"), "--source", "harbour", "--update")
TENT = "harbour:anchor-tent"


@pytest.fixture
def edit(table: Table, btd: Btd) -> Callable[..., Deal]:
    """Imports the feed, and returns an editor who changes the tent in it."""
    btd("import", *FIRST)
    deal_id = active(table)[TENT].deal_id

    def change(**changes: Any) -> Deal:
        return deals.edit(table, deal_id, changes, now(), by="ed")

    return change


def test_a_deal_that_its_feed_withdraws_is_history_and_the_feeds_own_whatever_the_feed_says_later(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    posted, over = {"postedAt": "2026-05-01T00:00:00Z"}, "2026-05-20T00:00:00Z"
    btd("import", changed(tmp_path, lambda line: line.update(posted) is None), *FIRST[1:])
    deal_id = active(table)[TENT].deal_id

    btd("import", changed(tmp_path, lambda line: line.update(posted, withdrawnAt=over) is None), *FIRST[1:])
    btd("import", *FIRST)

    deal = deals.get(table, deal_id)
    assert (deal.withdrawn_at, deal.ends_at) == (from_iso(over), from_iso(over))
    assert (deal.is_retracted, deal.own(TakenOver)) == (False, None)


@pytest.mark.parametrize("ago", [0, 60])
def test_what_an_editor_has_ended_stays_ended_whatever_the_feed_says_of_it(
    table: Table, btd: Btd, tmp_path: Path, edit: Callable[..., Deal], ago: int
) -> None:
    edit(ends_at=now() - timedelta(seconds=ago))
    cheaper = changed(tmp_path, lambda line: line.update(price="9.00") is None)

    for file in (FIRST[0], cheaper, FIRST[0]):
        btd("import", file, *FIRST[1:])

    assert sorted(active(table)) == ["harbour:mooring-socks"]


def test_a_deal_that_its_feed_has_again_is_active_although_an_editor_has_changed_it(
    table: Table, btd: Btd, tmp_path: Path, edit: Callable[..., Deal]
) -> None:
    without = changed(tmp_path, lambda line: line["sourceId"] != "anchor-tent")
    btd("import", without, *FIRST[1:], "--end-missing")
    assert TENT not in active(table)
    edit(category="home")

    btd("import", *FIRST)

    assert active(table)[TENT].category == "home"


def test_a_field_is_an_editors_until_the_feed_says_the_same(
    table: Table, btd: Btd, tmp_path: Path, edit: Callable[..., Deal]
) -> None:
    edit(title="Anchor Tent for Two", price="1.00")

    def title_and_price(title: str) -> tuple[str, str]:
        path = changed(
            tmp_path, lambda line: line.update(title=title if "tent" in line["sourceId"] else "Socks") is None
        )
        btd("import", path, *FIRST[1:])
        tent = active(table)[TENT]
        return tent.title, tent.price

    first = title_and_price("Tent")
    agreed = title_and_price("Anchor Tent for Two")
    later = title_and_price("Anchor Tent 2026")

    assert [first, agreed, later] == [
        ("Anchor Tent for Two", "240.00"), ("Anchor Tent for Two", "240.00"), ("Anchor Tent 2026", "240.00")
    ]  # fmt: skip


@pytest.mark.parametrize("reopens", ["without an end", "with an end"])
def test_the_end_of_a_reopened_deal_is_the_feeds_once_they_agree(
    table: Table, btd: Btd, tmp_path: Path, edit: Callable[..., Deal], reopens: str
) -> None:
    week, month = (now() + timedelta(days=days) for days in (7, 30))
    edit(ends_at=now())
    edit(ends_at=week if reopens == "with an end" else None)
    until = changed(tmp_path, lambda line: line.update(expiresAt=to_iso(month)) is None)

    for file in (FIRST[0], until):
        btd("import", file, *FIRST[1:])

    assert active(table)[TENT].ends_at == (week if reopens == "with an end" else month)


def test_an_editor_who_ends_a_deal_while_an_import_changes_it_has_ended_it(
    table: Table, btd: Btd, tmp_path: Path, edit: Callable[..., Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    until = changed(tmp_path, lambda line: line.update(expiresAt=to_iso(now() + timedelta(days=30))) is None)
    write = deals.edit

    def after_the_editor(*arguments: Any, **named: Any) -> Deal:
        monkeypatch.setattr(deals, "edit", write)
        edit(ends_at=now())
        return write(*arguments, **named)

    monkeypatch.setattr(deals, "edit", after_the_editor)
    btd("import", until, *FIRST[1:])

    assert len(active(table)) == 1


def test_an_editors_end_of_release_1_1_stays(table: Table, btd: Btd, edit: Callable[..., Deal]) -> None:
    tent = edit(ends_at=now())
    table.write(update(keys.deal(tent.deal_id), "REMOVE TakenOver", refused=None))

    btd("import", *FIRST)

    assert TENT not in active(table)


def test_an_id_that_is_given_to_another_product_is_reported(table: Table, btd: Btd, tmp_path: Path) -> None:
    btd("import", str(FEEDS / "deals.json"), "--source", "harbour")
    later = changed(tmp_path, lambda line: not line.update(title="Keel", link="https://harbour.example/keel"))

    result = btd("import", later, "--source", "harbour", "--update", code=1)

    assert "line 1: sourceId: harbour:mooring-socks is that of another product, 'Mooring Socks'" in result.stderr
    assert {deal.title for deal in active(table).values()} == {"Mooring Socks", "Anchor Tent"}


def test_an_id_of_another_product_is_reported_without_a_source_and_within_one_file(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    btd("import", str(FEEDS / "deals.json"))
    later = changed(tmp_path, lambda line: not line.update(title="Keel", link="https://harbour.example/keel"))
    both = tmp_path / "both.xml"
    other = item(title="Keel", link="https://s.example/keel").partition(b"<item>")[2]
    both.write_bytes(item().replace(b"</channel></rss>", b"<item>" + other))

    results = [btd("import", path, code=1) for path in (later, str(both))]

    assert "line 1: sourceId: mooring-socks is that of another product, 'Mooring Socks'" in results[0].stderr
    assert "line 2: sourceId: s.example:1 is that of another product, 'Mug'" in results[1].stderr
    assert {deal.title for deal in active(table).values()} == {"Mooring Socks", "Anchor Tent", "Mug"}


def test_a_damaged_deal_keeps_no_other_from_being_ended(
    table: Table, btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "more.json"
    lines = json.loads((FEEDS / "deals.json").read_text(encoding="utf-8"))
    more = [lines[0] | {"sourceId": f"cap-{number}", "link": f"https://harbour.example/{number}"} for number in "123"]
    path.write_text(json.dumps(more + lines), encoding="utf-8")
    btd("import", str(path), "--source", "harbour")
    there = active(table)
    unread, damaged = there["harbour:cap-1"].deal_id, there["harbour:cap-2"].deal_id
    table.write(update(keys.deal(unread), "SET Price = :none", values={":none": 0}, refused=NotFound()))
    editing = deals.edit

    def spoiled(table: Table, deal_id: str, *arguments: Any, **named: Any) -> Deal:
        """A deal that is damaged between the reading of the feed and its end."""
        if deal_id == damaged:
            table.write(update(keys.deal(deal_id), "SET Price = :none", values={":none": 0}, refused=NotFound()))
        return editing(table, deal_id, *arguments, **named)

    monkeypatch.setattr(deals, "edit", spoiled)

    result = btd("import", str(FEEDS / "deals.json"), "--source", "harbour", "--end-missing")

    assert "1 deal ended" in result.stdout
    assert sorted(active(table)) == ["harbour:anchor-tent", "harbour:mooring-socks"]
    assert unread in result.stderr
    assert damaged in result.stderr


def test_nothing_is_ended_by_a_file_that_breaks_off(table: Table, btd: Btd, tmp_path: Path) -> None:
    btd("import", str(FEEDS / "deals.json"), "--source", "harbour")
    path = tmp_path / "broken.json"
    path.write_bytes((FEEDS / "deals.json").read_bytes()[:-60])

    result = btd("import", str(path), "--source", "harbour", "--end-missing", code=1)

    assert "after record 1" in result.stderr
    assert len(active(table)) == 2


def test_what_is_missing_is_ended_for_a_source_alone(btd: Btd) -> None:
    assert "--source" in btd("import", str(FEEDS / "deals.json"), "--end-missing", code=2).stderr


BOMB = b'<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + item(title="&b;")
GOOGLE = (FEEDS / "google.xml").read_bytes()
TRUNCATED = GOOGLE[: GOOGLE.index(b"Wharf Lamp")]
ROW = (FEEDS / "google.tsv").read_bytes()
WRONG: Mapping[str, tuple[bytes, Format, int, str]] = {
    "a truncated feed": (TRUNCATED, Format.AUTO, 1, "cannot be read after record 1"),
    "gzip that breaks off": (gzip.compress(GOOGLE)[:-20], Format.AUTO, 0, "cannot be read"),
    "gzip that is none": (b"\x1f\x8b" + GOOGLE, Format.AUTO, 0, "cannot be read at all"),
    "an entity bomb": (BOMB, Format.AUTO, 0, "declares XML entities"),
    "a web page": (b"<!DOCTYPE html><html></html>", Format.AUTO, 0, "a web page and not a feed"),
    "a table of another kind": (b"Name,Cost\nMug,9\n", Format.AUTO, 0, "a table with the columns Name, Cost"),
    "another format than is named": (GOOGLE, Format.SHOPIFY, 0, "use --format google"),
    "an item of ten megabytes": (item(description="x" * 10_000_000), Format.AUTO, 0, "more than 1024 KB"),
    "a row of ten megabytes": (ROW + b"x" * 10_000_000, Format.AUTO, 1, "cannot be read after record 1"),
    "an encoding that is not the declared one": (
        GOOGLE.replace(b"Wharf", b"Wh\xe4rf"), Format.AUTO, 1, "cannot be read after record 1"
    ),
    "an array that breaks off": ((FEEDS / "deals.json").read_bytes()[:-60], Format.AUTO, 1, "after record 1"),
    "a spreadsheet": (b"PK\x03\x04" + bytes(range(256)) * 40, Format.AUTO, 0, "is not a text file"),
    "a Shopify export without an address": (
        (FEEDS / "shopify.csv").read_bytes(), Format.AUTO, 0, "name the shop's, as in --shop"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("data", "form", "before", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_said_once_and_what_is_before_the_fault_is_read(
    data: bytes, form: Format, before: int, reason: str
) -> None:
    found: list[Record] = []
    with pytest.raises(WrongFile, match=reason.replace("(", r"\(")):
        found.extend(Feed(io.BytesIO(data), Shop(categories={"apparel & accessories > shoes": "shoes"}), form, NOW))

    assert len([record for record in found if not record.fault]) == before


def test_what_is_before_a_fault_is_imported_and_the_fault_is_said(table: Table, btd: Btd, tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_bytes(TRUNCATED)

    result = btd("import", str(path), "--source", "harbour", "--categories", MAP, code=1)

    assert "1 deal created" in result.stdout
    assert result.stderr.startswith("The file cannot be read after record 1: ")
    assert result.stderr.count("\n") == 1


def test_a_fault_that_all_lines_share_is_said_once(table: Table, btd: Btd, tmp_path: Path) -> None:
    path = tmp_path / "others.jsonl"
    path.write_text("".join(json.dumps({"id": number, "name": "Mug"}) + "\n" for number in range(200)))

    result = btd("import", str(path), code=1)

    assert result.stderr.startswith("line 1 and 199 more: ")
    assert result.stderr.count("\n") == 1


class _Long(io.RawIOBase):
    """A feed of so many items, made while it is read."""

    def __init__(self, items: int) -> None:
        start, _, rest = item().partition(b"<item>")
        body = b"<item>" + rest.partition(b"</channel>")[0]
        self._parts = iter([start, *(body,) * items, b"</channel></rss>"])
        self._left = b""

    def read1(self, size: int) -> bytes:
        self._left = self._left or next(self._parts, b"")
        read, self._left = self._left[:size], self._left[size:]
        return read


def test_a_long_feed_is_read_in_little_memory() -> None:
    list(Feed(_Long(10), Shop(), Format.AUTO, NOW))  # type: ignore[arg-type]  # it is read, and nothing else
    tracemalloc.start()
    found = sum(record.fault == "" for record in Feed(_Long(5000), Shop(), Format.AUTO, NOW))  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found == 5000
    assert peak < MAX_RECORD


README = FEEDS.parent.parent / "README.md"
NAMES = {"feed.xml": "google.xml", "products_export.csv": "shopify.csv"}
"""The files that stand for those of the document's examples."""


def test_each_command_of_the_document_runs(
    table: Table, btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, with a map of categories that is filled in."""
    for name, given in NAMES.items():
        shutil.copy(FEEDS / given, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    categories = (FEEDS / "categories.toml").read_text(encoding="utf-8").replace('""', '"home"')
    lines = recipes.typed(str(README.relative_to(ROOT)))

    for line in lines:
        if "--suggest-categories" not in line:
            Path("categories.toml").write_text(categories, encoding="utf-8")
        btd(*shlex.split(line)[1:])
        Path("categories.toml").unlink()

    assert len(lines) > 4


RECIPES = re.findall(
    r"```python\n# (\w+)\.py\n(.*?)```",
    README.read_text(encoding="utf-8"),
    re.DOTALL,
)
CONVERTED = {
    "rss": ("deals.rss", {"s:https://deals.example/?p=7": ("Tide Radio", "49.99", None)}),
}


def test_each_recipe_is_tried() -> None:
    assert {name for name, _ in RECIPES} == CONVERTED.keys()


@pytest.mark.parametrize(("name", "script"), RECIPES)
def test_a_recipe_makes_lines_that_go_in(table: Table, btd: Btd, tmp_path: Path, name: str, script: str) -> None:
    file, expected = CONVERTED[name]
    ran = subprocess.run([sys.executable, "-c", script, FEEDS / file], capture_output=True, check=True)
    path = tmp_path / "deals.jsonl"
    path.write_bytes(ran.stdout)

    btd("import", str(path), "--source", "s")

    there = active(table)
    assert {own: (deal.title, deal.price, deal.list_price) for own, deal in there.items()} == expected
