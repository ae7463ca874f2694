"""Read files of deals record by record: JSON Lines, JSON, Google Merchant feeds and Shopify's product CSV.

Each record becomes the fields of a JSON line. The formats: https://support.google.com/merchants/answer/7052112 and
https://help.shopify.com/en/manual/products/import-export/using-csv
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote
from xml.etree.ElementTree import ParseError

import ijson
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from markupsafe import Markup

from cli import json_lines
from cli.json_lines import Record, WrongFile
from shared.errors import Invalid
from shared.models.catalog import CATEGORIES
from shared.values import links, money, times

MAX_RECORD = 1024 * 1024
"""Bytes of a record in other formats than JSON Lines."""

MAX_DESCRIPTION = 1000
"""Characters of a feed's description that are kept."""

HEAD = 4096
"""Bytes of a file that show its format."""

GOOGLE = "{http://base.google.com/ns/1.0}"
ATOM = "{http://www.w3.org/2005/Atom}"

_IS_OF_VARIANT = re.compile(r"Variant |Option\d Value")
"""Shopify's columns that aren't carried down."""

_BLOCK = re.compile(r"<(?=/?(p|br|div|h\d|li|td|th|tr|ul)\b)")
"""The start of a tag that separates words."""

_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
"""What browsers don't show of a text."""

OUT_OF_STOCK = "out of stock"
NOT_PUBLISHED = "not published"


class Format(StrEnum):
    """The formats that an import reads."""

    AUTO = "auto"
    JSONL = "jsonl"
    JSON = "json"
    GOOGLE = "google"
    SHOPIFY = "shopify"


@dataclass(frozen=True, slots=True)
class Shop:
    """What an import knows about a file. ``source`` prefixes its deals' ids; ``address`` is the shop's, for files
    without addresses; ``currency`` is the default; ``categories`` maps the file's to ours."""

    source: str = ""
    address: str = ""
    currency: str = "USD"
    categories: Mapping[str, str] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    """The number of records of each unmapped category."""

    def category(self, *names: str) -> str:
        """The category of the first name that is mapped, or that contains one of ours.

        Raises ValueError if there is none, and counts that name.
        """
        given = [name.strip() for name in names if name.strip()]
        for name in given:
            path = _path(name)
            known = (self.categories.get(" > ".join(path[:length])) for length in range(len(path), 0, -1))
            own = (part for part in reversed(path) if part in CATEGORIES)
            if slug := next(filter(None, known), None) or next(own, None):
                return slug
        if not given:
            raise ValueError("category: must be given")
        self.unknown[given[0]] += 1
        raise ValueError(f"category: {given[0]!r} is not mapped to one of ours (--categories)")

    def amount(self, text: str) -> tuple[str, str]:
        """An amount and its currency. Raises ValueError for a sign that several currencies share."""
        amount, written = money.read(text)
        if not written or money.is_of(written, self.currency):
            return amount, self.currency
        currency = money.named(written)
        if currency is None:
            raise ValueError(f"price: {written!r} does not name one currency (--currency)")
        return amount, currency

    def identity(self, own: str, link: str) -> str:
        """A record's ``sourceId``: its own id after its source's name, or else its shop's."""
        return f"{self.source or links.host(link)}:{own.strip()}"


def categories(path: Path) -> dict[str, str]:
    """Read a map of categories from TOML. Raises Invalid, which says what is wrong."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid(f"{path} is not a map of categories in TOML: {error}.") from error
    wrong = [name for name, slug in read.items() if slug and slug not in CATEGORIES]
    if wrong:
        raise Invalid(f"{path}: {wrong[0]!r} must be one of {', '.join(CATEGORIES)}, or empty.")
    return {" > ".join(_path(name)): slug for name, slug in read.items() if slug}


def template(unknown: Counter[str]) -> str:
    """A map to fill in, as TOML: each unmapped category, with its number of records."""
    lines = [f'{json.dumps(name, ensure_ascii=False)} = ""  # {count}' for name, count in unknown.most_common()]
    return "\n".join([f"# Write one of these between the quotes: {', '.join(CATEGORIES)}.", *lines, ""])


def records(file: BinaryIO, shop: Shop, form: Format, now: datetime) -> Iterator[Record]:
    """A file's records in order; gzip is unpacked.

    Raises WrongFile, possibly after some valid records.
    """
    source = _Source(file)
    number = 0
    try:
        if source.head().startswith(b"\x1f\x8b"):
            source = _Source(gzip.GzipFile(fileobj=source.buffered))
        found = _format(source.head())
        if form not in (Format.AUTO, found):
            raise WrongFile(f"This is {_LOOKS[found]}: use --format {found}.")
        for number, fields in _READERS[found](source):
            if isinstance(fields, Record):
                yield fields
                continue
            size, source_id = source.taken(), _IDENTITIES[found](fields, shop)
            try:
                made = _MAKERS[found](fields, shop, now)
            except _LeftOut as left_out:
                yield Record(number, size, left_out=str(left_out))
            except ValueError as error:
                yield Record(number, size, fault=str(error), source_id=source_id)
            else:
                yield Record(number, size, made | ({"sourceId": source_id} if source_id else {}), source_id=source_id)
    except DefusedXmlException as error:
        raise WrongFile("The file declares XML entities. A feed needs no entities: it is not read.") from error
    except (ParseError, csv.Error, ijson.JSONError, UnicodeError, OSError, EOFError, zlib.error) as error:
        after = f"after record {number}" if number else "at all"
        raise WrongFile(f"The file cannot be read {after}: {error}.") from error


class _LeftOut(Exception):
    """A record that isn't a deal now, with the reason."""


class _Source(io.RawIOBase):
    """A file that counts the bytes read, and limits the size of a record."""

    def __init__(self, file: Any) -> None:
        self._read = getattr(file, "read1", file.read)
        self._since = 0
        self.most: int | None = MAX_RECORD
        self.buffered = io.BufferedReader(self, 2 * HEAD)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.most is not None and self._since > self.most:
            raise OSError(f"the next one has more than {self.most // 1024} KB")
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        self._since += len(data)
        return len(data)

    def head(self) -> bytes:
        return self.buffered.peek(HEAD)[:HEAD]

    def taken(self) -> int:
        """The bytes read since the last call."""
        taken, self._since = self._since, 0
        return taken

    def text(self) -> io.TextIOWrapper:
        wide = self.head()[:2] in (b"\xff\xfe", b"\xfe\xff")
        return io.TextIOWrapper(self.buffered, encoding="utf-16" if wide else "utf-8-sig", newline="")


def _format(head: bytes) -> Format:
    """The format of a file with this beginning. Raises WrongFile."""
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    if b"\0" in head and not wide:
        raise WrongFile("This is not a text file: save a spreadsheet as CSV, and unpack an archive.")
    text = head.decode("utf-16" if wide else "utf-8", errors="replace")
    text = text.lstrip("\ufeff").lstrip()
    if text[:1] == "<":
        if re.match(r"(?i)<(!doctype html|html)", text):
            raise WrongFile("This is a web page and not a feed: save the feed's own address.")
        return Format.GOOGLE
    if text[:1] == "[" and "\n[" not in text:
        return Format.JSON
    first = text.splitlines()[0] if text else ""
    if text[:1] in ("", "{", "[") or not re.search(r"[,;\t]", first):
        return Format.JSONL
    if {"id", "title"} <= {*map(_name, first.split("\t"))}:
        return Format.GOOGLE
    columns = next(csv.reader([first], delimiter=";" if first.count(";") > first.count(",") else ","))
    if {"Handle", "Title"} <= {*columns}:
        return Format.SHOPIFY
    if '"' in first and "{" in first:  # a JSON line without its beginning
        return Format.JSONL
    shown = ", ".join(columns[:8])
    raise WrongFile(f"This is a table with the columns {shown}: --format google or shopify does not read it.")


def _name(text: str) -> str:
    """Google's name in all its spellings: ``g:image_link``, ``image link``."""
    return text.strip().strip('"').lower().removeprefix("g:").replace(" ", "_")


def _json_lines(source: _Source) -> Iterator[tuple[int, Any]]:
    source.most = None  # the rest of an overlong line is skipped
    for record in json_lines.records(source.buffered):
        yield record.number, record.fields or record._replace(size=source.taken())


def _json(source: _Source) -> Iterator[tuple[int, Any]]:
    for number, document in enumerate(ijson.items(source.buffered, "item", buf_size=HEAD), start=1):
        if not isinstance(document, dict):
            yield number, Record(number, source.taken(), fault="must be a JSON object")
        else:
            yield number, document


def _google(source: _Source) -> Iterator[tuple[int, Any]]:
    if source.head().lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \r\n\t")[:1] != b"<":
        rows = csv.DictReader(source.text(), delimiter="\t")
        rows.fieldnames = [_name(name) for name in rows.fieldnames or ()]
        yield from enumerate(rows, start=1)
        return
    number = 0
    open_elements: list[Any] = []
    for event, element in iterparse(source.buffered, events=("start", "end"), forbid_dtd=False):
        if event == "start":
            open_elements.append(element)
            continue
        open_elements.pop()
        if element.tag in ("item", f"{ATOM}entry"):
            number += 1
            yield number, _children(element)
            open_elements[-1].clear()  # free what is already read


def _children(element: Any) -> dict[str, str]:
    """A feed item's texts by name; of two with one name, Google's or else the first."""
    found: dict[str, str] = {}
    for child in element:
        name = _name(re.sub(r"\{.*\}", "", child.tag))
        text = (child.text or "").strip() or child.get("href", "")
        if text and (child.tag.startswith(GOOGLE) or name not in found):
            found[name] = text
    return found


def _shopify(source: _Source) -> Iterator[tuple[int, Any]]:
    """A file's variants: values that only a product's first row has are carried down."""
    rows = csv.DictReader(source.text(), delimiter=";" if b";" in source.head().split(b"\n")[0] else ",")
    product: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):  # rows are counted as in a spreadsheet
        given = {name: text.strip() for name, text in row.items() if name and isinstance(text, str) and text.strip()}
        if row.get("Variant Inventory Tracker") == "":
            given.pop("Variant Inventory Qty", None)  # it is not counted, and Shopify writes 0
        if given.get("Handle") != product.get("Handle"):
            product = given
        if "Variant Price" in given:
            carried = {name: text for name, text in product.items() if not _IS_OF_VARIANT.match(name)}
            yield number, {**given, **carried}


def _of_json(raw: Mapping[str, Any], shop: Shop, _now: datetime) -> dict[str, Any]:
    """A record's fields, completed by what the import knows about its file."""
    fields = {"currency": shop.currency, **raw}
    if shop.categories and isinstance(category := raw.get("category"), str):
        fields["category"] = shop.category(category)
    return fields


def _id_of_json(raw: Mapping[str, Any], shop: Shop) -> str:
    own = raw.get("sourceId")
    return (f"{shop.source}:{own}" if shop.source else own) if isinstance(own, str) else ""


def _id_of_google(raw: Mapping[str, Any], shop: Shop) -> str:
    link = raw.get("link") or ""
    return shop.identity(raw.get("id") or raw.get("guid") or link, link)


def _id_of_shopify(raw: Mapping[str, Any], shop: Shop) -> str:
    own = raw.get("Variant SKU") or _variant(raw)
    return shop.identity(":".join(filter(None, [raw.get("Handle"), own])), shop.address)


def _variant(raw: Mapping[str, Any]) -> str:
    """The options that distinguish a Shopify variant."""
    options = [raw.get(f"Option{number} Value") for number in (1, 2, 3)]
    return ", ".join(option for option in options if option and option != "Default Title")


def _of_google(raw: Mapping[str, str], shop: Shop, now: datetime) -> dict[str, Any]:
    raw = {name: text for name, text in raw.items() if name and isinstance(text, str) and text.strip()}
    if _name(raw.get("availability", "")) in ("out_of_stock", "preorder", "backorder"):
        raise _LeftOut(OUT_OF_STOCK)
    price, ends, before = raw.get("price", ""), None, None
    begins, _, until = raw.get("sale_price_effective_date", "").partition("/")
    if "sale_price" in raw and (_when(begins) or now) <= now < (_when(until) or datetime.max.replace(tzinfo=UTC)):
        price, before, ends = raw["sale_price"], price, _when(until)
    variant = ", ".join(raw[name].strip() for name in ("color", "size", "material") if name in raw)
    return {
        **_deal(raw.get("title", ""), raw.get("description") or raw.get("summary") or "", variant),
        **_prices(price, before, shop),
        "brand": _text(raw.get("brand") or shop.source),
        "category": shop.category(raw.get("product_type", ""), raw.get("google_product_category", "")),
        "link": _address(raw.get("link", "")),
        **_not_empty(
            image=_address(raw.get("image_link", "")), expiresAt=_iso(ends or _when(raw.get("expiration_date", "")))
        ),
        **_not_empty(postedAt=_iso(_when(raw.get("pubdate", "")))),
    }


def _of_shopify(raw: Mapping[str, str], shop: Shop, _now: datetime) -> dict[str, Any]:
    if not shop.address:
        raise WrongFile("A Shopify export has no addresses: name the shop's, as in --shop https://shop.example.")
    if raw.get("Status", "active").lower() != "active" or raw.get("Published", "true").lower() == "false":
        raise _LeftOut(NOT_PUBLISHED)
    stock = raw.get("Variant Inventory Qty", "")
    if re.fullmatch(r"0|-\d+", stock) and raw.get("Variant Inventory Policy", "deny") == "deny":
        raise _LeftOut(OUT_OF_STOCK)
    link = f"{shop.address.rstrip('/')}/products/{quote(raw['Handle'])}"
    return {
        **_deal(raw.get("Title", ""), raw.get("Body (HTML)", ""), _variant(raw)),
        **_prices(raw["Variant Price"], raw.get("Variant Compare At Price"), shop),
        "brand": _text(raw.get("Vendor", "")),
        "category": shop.category(raw.get("Type", ""), raw.get("Product Category", "")),
        "link": link,
        **_not_empty(image=_address(raw.get("Variant Image") or raw.get("Image Src") or "")),
    }


def _deal(title: str, description: str, variant: str) -> dict[str, Any]:
    text = _text(description)
    if len(text) > MAX_DESCRIPTION:
        text = text[:MAX_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    return {"title": _text(title), **_not_empty(description=text, variant=variant[:60])}


def _prices(price: str, before: str | None, shop: Shop) -> dict[str, Any]:
    """The price, its currency, and the earlier price if that was higher."""
    amount, currency = shop.amount(price)
    listed, of_list = shop.amount(before or "")
    higher = of_list == currency and _number(listed) > _number(amount)
    return {"price": amount, "currency": currency, **_not_empty(listPrice=listed if higher else None)}


def _number(amount: str) -> float:
    try:
        return float(amount)
    except ValueError:
        return 0.0


def _not_empty(**fields: str | None) -> dict[str, str]:
    return {name: value.strip() for name, value in fields.items() if value and value.strip()}


def _text(html: str) -> str:
    """The text of HTML, in one line."""
    text = str(Markup(_BLOCK.sub(" <", _UNSEEN.sub(" ", html))).striptags())  # noqa: S704  # its text alone is taken
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _address(written: str) -> str:
    """An address as feeds write it, its spaces encoded."""
    return written.strip().replace(" ", "%20")


def _when(text: str) -> datetime | None:
    """Parse an ISO 8601 or RFC 822 time, in UTC if it has no zone; None for an empty text."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text.strip())
        except (ValueError, TypeError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _iso(when: datetime | None) -> str | None:
    return times.to_iso(when) if when else None


def _path(category: str) -> list[str]:
    """A category's parts in lower case, the widest first: Google writes ``Apparel > Shoes``."""
    return [part.strip().lower() for part in re.split(r">|/", category) if part.strip()] or [""]


_READERS: Mapping[Format, Callable[[_Source], Iterator[tuple[int, Any]]]] = {
    Format.JSONL: _json_lines,
    Format.JSON: _json,
    Format.GOOGLE: _google,
    Format.SHOPIFY: _shopify,
}
_IDENTITIES: Mapping[Format, Callable[[Mapping[str, Any], Shop], str]] = {
    Format.JSONL: _id_of_json,
    Format.JSON: _id_of_json,
    Format.GOOGLE: _id_of_google,
    Format.SHOPIFY: _id_of_shopify,
}
_MAKERS: Mapping[Format, Callable[[Mapping[str, Any], Shop, datetime], dict[str, Any]]] = {
    Format.JSONL: _of_json,
    Format.JSON: _of_json,
    Format.GOOGLE: _of_google,
    Format.SHOPIFY: _of_shopify,
}
_LOOKS: Mapping[Format, str] = {
    Format.JSONL: "JSON Lines",
    Format.JSON: "a JSON array",
    Format.GOOGLE: "a feed like Google Merchant's",
    Format.SHOPIFY: "CSV as Shopify exports it",
}
