"""Small files in each spelling that shops use: rows in, rows out, field by field."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from features.feeds.formats import LAYOUTS, Format
from features.feeds.reading import Feed
from features.feeds.shop import Shop, categories, template
from features.feeds.texts import amount, plain, without_tags
from features.imports.json_lines import Record, WrongFile
from shared.dynamodb.table import Table
from shared.values.times import from_iso
from tests.cli.conftest import Btd, bare_table, btd, server, table, wide_terminal  # noqa: F401  # fixtures

FILES = Path(__file__).resolve().parent / "files"
NOW = from_iso("2026-06-01T12:00:00Z")
SHOP = "https://harbour.example"

Fields = Mapping[str, Any]


def feed_of(data: bytes, *, encoding: str = "", **told: Any) -> tuple[Feed, list[Record]]:
    feed = Feed(io.BytesIO(data), Shop(**told), Format.AUTO, NOW, encoding)
    return feed, list(feed)


def row(own: str, title: str, price: str, brand: str, category: str, **more: Any) -> Fields:
    return {"sourceId": own, "title": title, "price": price, "brand": brand, "category": category, **more}


PACE, LUMEN = "Pace Theory", "Lumen & Co"
CORPUS: Mapping[str, tuple[Format, list[Fields]]] = {
    "google-commas.csv": (Format.GOOGLE, [
        row("s:HB-400", "Pier Coat, long", "249.00", PACE, "clothing", currency="EUR", variant="Navy", listPrice=None,
            image="https://harbour.example/coat.jpg", description="Wool."),
        row("s:HB-401", "Gull Cap", "15.00", PACE, "clothing", listPrice="19.00", image=None),
    ]),
    "google-semicolons.csv": (Format.GOOGLE, [
        row("s:HB-410", "Kaffeekanne", "1299.00", LUMEN, "home", currency="EUR"),
        row("s:HB-411", "Becher 0,3 l", "9.50", LUMEN, "home"),
    ]),
    "google-bars.txt": (Format.GOOGLE, [row("s:HB-415", "Rope", "4.00", PACE, "outdoors", currency="USD")]),
    "meta.csv": (Format.GOOGLE, [row("s:HB-420", "Quay Sandal", "49.90", PACE, "shoes", currency="USD")]),
    "prisjakt.csv": (Format.GOOGLE, [
        row("s:aB1", "Fyr Lampa", "999.00", LUMEN, "home", currency="SEK", listPrice="1299.00", variant="Vit",
            image="https://harbour.example/fyr.jpg", link="https://harbour.example/fyr",
            expiresAt="2026-06-30T00:00:00Z"),
        row("s:aB2", "Fyr Stor", "1144000", LUMEN, "home", currency="SEK"),
    ]),
    "prisjakt.xml": (Format.GOOGLE, [row("s:pX1", "Fyr Lykta", "99.99", LUMEN, "home", currency="SEK")]),
    "shopify-2024.csv": (Format.SHOPIFY, [
        row("s:harbour-tee:HT-S", "Harbour Tee", "22.00", PACE, "clothing", listPrice="30.00", variant="S",
            link=f"{SHOP}/products/harbour-tee", image="https://cdn.harbour.example/tee.jpg", description="Cotton."),
        row("s:harbour-tee:HT-L", "Harbour Tee", "25.00", PACE, "clothing", image="https://cdn.harbour.example/tee-l.jpg"),
    ]),
    "woocommerce.csv": (Format.WOOCOMMERCE, [
        row("s:WC-41", "Slip Rope Lamp", "32.00", LUMEN, "home", listPrice="48.00", description="Brass.",
            link=f"{SHOP}/?p=41", image="https://harbour.example/rope.jpg", expiresAt=None),
        row("s:WC-43", "Jetty Cap", "19.00", PACE, "clothing", listPrice=None),
        row("s:WC-44-8", "Mole Shoe - 8", "80.00", PACE, "shoes", listPrice="95.00", variant="8",
            link=f"{SHOP}/?p=44", image="https://harbour.example/mole.jpg", expiresAt="2098-08-01T00:00:00Z"),
        row("s:WC-44-9", "Mole Shoe - 9", "95.00", PACE, "shoes", variant="9", link=f"{SHOP}/?p=44"),
    ]),
    "woocommerce-de.csv": (Format.WOOCOMMERCE, [
        row("s:WD-51", "Hafenlampe", "48.00", LUMEN, "home", description="Messing.", listPrice=None,
            image="https://harbour.example/hafenlampe.jpg"),
        row("s:WD-53-42", "Molenschuh - 42", "79.90", PACE, "shoes", listPrice="95.00", variant="42"),
    ]),
    "woocommerce-fr.csv": (Format.WOOCOMMERCE, [
        row("s:WF-61", "Lampe du port", "32.00", LUMEN, "home", description="Laiton.", listPrice="48.00"),
    ]),
    "woocommerce-es.csv": (Format.WOOCOMMERCE, [
        row("s:WE-71", "Lámpara del puerto", "32.00", LUMEN, "home", image="https://harbour.example/lampara.jpg"),
    ]),
    "woocommerce-it.csv": (Format.WOOCOMMERCE, [
        row("s:WI-81-42", "Scarpa del molo - 42", "1079.90", PACE, "shoes", description="Cuoio.", listPrice="1295.00",
            variant="42", image="https://harbour.example/scarpa.jpg", expiresAt="2098-08-01T00:00:00Z"),
    ]),
    "woocommerce-nl.csv": (Format.WOOCOMMERCE, [
        row("s:WN-91", "Havenlamp", "32.00", LUMEN, "home", description="Messing.", listPrice="48.00",
            link="https://harbour.example/havenlamp", image="https://harbour.example/havenlamp.jpg"),
    ]),
    "woocommerce-pl.csv": (Format.WOOCOMMERCE, [
        row("s:WP-102", "Czapka z mola - niebieski", "79.00", PACE, "clothing", description="Wełna.", listPrice="99.00",
            variant="niebieski", image="https://harbour.example/czapka.jpg"),
    ]),
    "woocommerce-pt.csv": (Format.WOOCOMMERCE, [
        row("s:WB-111", "Luminária do porto", "249.90", LUMEN, "home", description="Latão.", listPrice=None),
        row("s:WB-112", "Luminária velha", "149.90", LUMEN, "home"),
    ]),
    "woocommerce-sv.csv": (Format.WOOCOMMERCE, [
        row("s:WS-121", "Hamnlampa", "1299.00", LUMEN, "home", description="Mässing.", listPrice="1499.00",
            image="https://harbour.example/hamnlampa.jpg", expiresAt="2098-08-01T00:00:00Z"),
        row("s:WS-124", "Hamntröja - Blå", "699.00", "Jämt", "clothing", variant="Blå", listPrice=None,
            link=f"{SHOP}/?p=123"),
    ]),
    "heureka.xml": (Format.HEUREKA, [
        row("s:HK1", "Přístav Bunda", "1290.50", PACE, "clothing", currency="CZK", variant="modrá",
            description="Teplá bunda", link="https://harbour.example/bunda"),
    ]),
    "skroutz.xml": (Format.SKROUTZ, [
        row("s:SK1", "Λιμάνι Τσάντα", "89.90", PACE, "bags", currency="EUR", variant="μπλε",
            image="https://harbour.example/tsanta.jpg"),
    ]),
    "skroutz-own-root.xml": (Format.SKROUTZ, [
        row("s:SK5", "Φάρος", "1299.90", LUMEN, "home", currency="EUR", link="https://harbour.example/faros"),
    ]),
    "ceneo.xml": (Format.CENEO, [
        row("s:CE1", "Lampa portowa", "199.00", LUMEN, "home", currency="PLN", variant="biały", description="Mosiądz",
            image="https://harbour.example/lampa.jpg", link="https://harbour.example/lampa"),
    ]),
    "trovaprezzi.xml": (Format.TROVAPREZZI, [
        row("s:TR1", "Molo Scarpa", "79.90", PACE, "shoes", currency="EUR", listPrice="120.00"),
    ]),
    "yml.xml": (Format.YML, [
        row("s:YM1", "Наушники Маяк", "4990", LUMEN, "electronics", currency="RUB", listPrice="6990", variant="белый"),
        row("s:YM3", "Часы Lumen & Co Маяк 2", "9900", LUMEN, "electronics", currency="BYN"),
    ]),
    "jsonld.json": (Format.JSONLD, [
        row("s:LD1", "Reef Watch", "149.5", LUMEN, "electronics", currency="GBP", link="https://harbour.example/reef",
            image="https://harbour.example/reef.jpg", description="Steel."),
    ]),
    "laid-out.json": (Format.JSON, [
        row("s:keel-mug", "Keel Mug", "9.00", LUMEN, "home"), row("s:bow-mug", "Bow Mug", "11.00", LUMEN, "home"),
    ]),
}  # fmt: skip
"""Each file's format, and of each of its deals the fields that its spelling is about; None is one that it lacks."""


@pytest.mark.parametrize("name", CORPUS)
def test_a_file_in_a_shops_spelling_is_recognised_and_read_field_by_field(name: str) -> None:
    form, expected = CORPUS[name]

    feed, found = feed_of((FILES / name).read_bytes(), source="s", address=SHOP)

    assert feed.form is form
    assert [record.fault for record in found if record.fault] == []
    deals = [record.fields for record in found if record.fields is not None]
    assert [
        {key: (fields or {}).get(key) for key in wanted} for fields, wanted in zip(deals, expected, strict=True)
    ] == expected


@pytest.mark.parametrize("name", CORPUS)
def test_a_map_of_categories_is_suggested_for_each_format_and_read_when_it_is_filled_in(
    name: str, tmp_path: Path
) -> None:
    text = (FILES / name).read_text(encoding="utf-8")
    theirs = re.sub(r"\b(Home|Clothing|Shoes|Bags|Electronics|Outdoors)\b", "Příslušenství", text, flags=re.IGNORECASE)

    feed, _ = feed_of(theirs.encode(), source="s", address=SHOP)
    path = tmp_path / "categories.toml"
    path.write_text(template(feed.shop.unknown).replace('""', '"outdoors"'), encoding="utf-8")
    _, found = feed_of(theirs.encode(), source="s", address=SHOP, categories=categories(path))

    assert feed.shop.unknown.total() == len(CORPUS[name][1])
    assert [record.fault for record in found if record.fault] == []
    assert {(record.fields or {})["category"] for record in found if record.fields} == {"outdoors"}


def test_each_format_that_is_described_can_be_named_and_has_a_file() -> None:
    assert {*LAYOUTS} == {*Format} - {Format.AUTO}
    assert {*LAYOUTS} - {Format.JSONL} == {form for form, _ in CORPUS.values()}


@pytest.mark.parametrize(
    ("encoding", "named"), [("cp1252", ""), ("utf-8", ""), ("utf-16", ""), ("cp1250", "windows-1250")]
)
def test_a_table_in_a_spreadsheets_encoding_is_read(encoding: str, named: str) -> None:
    title = "Büchse" if encoding != "cp1250" else "Lampička ťažká"
    text = (FILES / "google-semicolons.csv").read_text(encoding="utf-8").replace("Kaffeekanne", title)

    feed, (first, _) = feed_of(text.encode(encoding), encoding=named, source="s")

    assert (first.fields or {})["title"] == title
    assert feed.encoding == (named or ("windows-1252" if encoding == "cp1252" else encoding))


@pytest.mark.parametrize(("declares", "named"), [("windows-1250", ""), ("utf-8", "windows-1250")])
def test_xml_is_in_the_encoding_that_it_declares_or_that_is_named(declares: str, named: str) -> None:
    text = re.sub(r"<\?xml.*?\?>", "", (FILES / "heureka.xml").read_text(encoding="utf-8")).strip()
    data = f'<?xml version="1.0" encoding="{declares}"?>\n{text}'.encode("cp1250")

    feed, (first, *_) = feed_of(data, encoding=named, source="s")

    assert (first.fields or {})["title"] == "Přístav Bunda"
    assert feed.encoding == "windows-1250"
    with pytest.raises(WrongFile, match="not in this encoding \\(--encoding\\)"):
        feed_of(data.replace(declares.encode(), b"utf-8", 1), source="s")


@pytest.mark.parametrize(
    ("text", "currency", "read"),
    [
        ("1 299,00 SEK", "USD", ("1299.00", "SEK")),
        ("1\u00a0299,00 kr", "SEK", ("1299.00", "SEK")),
        ("1\u202f299 Kč", "USD", ("1299", "CZK")),
        ("1'299.00 CHF", "USD", ("1299.00", "CHF")),
        ("1’299.–", "CHF", ("1299", "CHF")),
        ("199:-", "SEK", ("199", "SEK")),
        ("12,- €", "USD", ("12", "EUR")),
        ("1.299", "EUR", ("1299", "EUR")),
        ("1,299", "USD", ("1299", "USD")),
        ("1.299.000,50 zł", "USD", ("1299000.50", "PLN")),
        ("12.345", "KWD", ("12.345", "KWD")),
        ("4 990 ₽", "USD", ("4990", "RUB")),
        ("0.5", "USD", ("0.5", "USD")),
        ("0,00", "EUR", ("0.00", "EUR")),
    ],
)
def test_an_amount_is_read_as_the_world_writes_it(text: str, currency: str, read: tuple[str, str]) -> None:
    assert amount(text, currency) == read


@pytest.mark.parametrize("text", ["gratis", "kr", "12 kr", "$", "1 to 2", "--", "12,3,4 zł x"])
def test_what_is_no_single_amount_is_refused_with_its_own_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"no amount|one currency"):
        amount(text, "USD")


def test_characters_without_width_split_no_word_and_make_no_other_brand() -> None:
    assert plain("Pace\u00adThe\u200bory\ufeff\u2060 \u00a0 Co") == "PaceTheory Co"
    assert without_tags("Ruck&shy;sack<br>blau &amp; rot<!-- <b> --><p>a &lt; b") == "Rucksack blau & rot a < b"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>Blue<script>alert(1)</script> and <style>p {}</style>warm", "Blue and warm"),
        ("wa<b>rm</b> <i title='>'>wool</i>", "warm wool"),
        ("&lt;b&gt; is bold", "<b> is bold"),
        ("5 < 6 & 7 &gt; 6", "5 < 6 & 7 > 6"),
        ("<ul><li>a<li>b</ul>c", "a b c"),
        ("<p>" * 100_000 + "far", ""),
    ],
)
def test_markup_is_read_as_browsers_show_it(markup: str, text: str) -> None:
    assert without_tags(markup) == text


def test_of_two_names_of_a_category_googles_first_counts_and_the_alternate_link_of_atom() -> None:
    feed = (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><entry><g:id>1</g:id>'
        "<title>Mug</title>"
        '<link rel="self" href="https://s.example/feed"/><link rel="alternate" href="https://s.example/mug"/>'
        "<g:product_type>Home</g:product_type><g:product_type>Shoes</g:product_type><g:price>9 USD</g:price>"
        "<g:brand>B</g:brand></entry></feed>"
    )

    _, (record,) = feed_of(feed.encode())

    assert (record.fields or {})["category"] == "home"
    assert (record.fields or {})["link"] == "https://s.example/mug"


CHECKED = """\
Format: a feed like Google Merchant's, a comma between columns, in utf-8
Currency: EUR, as the amounts say
2 deals would be created, 0 changed, 0 left as they are
1 record would be left out: out of stock, first s:HB-402
sale price: impossible in 1 record, first in s:HB-400: '1 199,00 EUR'
description: empty in 1 record, first in s:HB-401
picture: unreadable in 1 record, first in s:HB-401: 'no picture'

  Pier Coat, long (Navy)
  €249.00 · Pace Theory · clothing
  https://harbour.example/pier-coat

  Gull Cap
  €15.00, was €19.00 · Pace Theory · clothing
  https://harbour.example/gull-cap
"""


def test_a_check_says_how_a_file_is_read_and_what_an_import_would_do_and_writes_nothing(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    before = [*table.everything()]

    checked = btd("import", str(FILES / "google-commas.csv"), "--source", "s", "--check")

    assert checked.stdout == CHECKED
    assert [*table.everything()] == before


def test_a_check_names_what_would_be_changed_ended_and_refused_and_the_options_to_add(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    first = (FILES / "google-semicolons.csv").read_text(encoding="utf-8")
    path = tmp_path / "feed.csv"
    path.write_text(first, encoding="utf-8")
    btd("import", str(path), "--source", "s")
    later = first.replace("1.299,00 EUR", "1.199,00").replace("Becher 0,3 l", "Bécher").replace("9,50 EUR", "ask us")
    path.write_bytes((later + "HB-412;Karte;https://harbour.example/karte;5,00;Lumen & Co;Cards\n").encode("cp1252"))

    checked = btd("import", str(path), "--source", "s", "--update", "--end-missing", "--check", code=1)

    assert "in windows-1252\nCurrency: USD for amounts that name none\n" in checked.stdout
    assert "0 deals would be created, 1 changed, 0 left as they are" in checked.stdout
    assert "Nothing was ended, because of 2 bad lines." in checked.stdout
    assert "1 record would be refused: price: 'ask us' is no amount, first line 3 s:HB-411" in checked.stdout
    assert "category: 'Cards' is not mapped to one of ours (--categories), first line 4 s:HB-412" in checked.stdout
    assert "--categories for 'Cards'" in checked.stderr
    assert "--encoding" in checked.stderr
    assert "--currency" in checked.stderr
