"""Read a feed record by record: recognise its format, find each field where the format has it, and apply its rule."""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, BinaryIO
from xml.etree.ElementTree import ParseError

import ijson
from defusedxml import DefusedXmlException

from features.feeds import documents, markup
from features.feeds.formats import COMPLETED, ITEMS, LAYOUTS, Format, gone, of_markup, of_table
from features.feeds.markup import Raw, named
from features.feeds.rules import Fault, Faults, LeftOut, Meaning
from features.feeds.shop import Shop
from features.feeds.source import WIDE, Entities, Lines, Source
from features.feeds.tables import SEPARATORS, Rows
from features.feeds.texts import amount, is_day, plain, when, without_tags
from features.imports import json_lines
from features.imports.json_lines import Record, WrongFile
from shared.values import money, times

MAX_DESCRIPTION = 1000
"""Characters of a feed's description that are kept."""

MAX_VARIANT = 60

MAX_GRAPH = 32 * 1024 * 1024
"""Bytes of JSON-LD, which may be one value."""

NAME_IT = "name the shop's, as in --shop https://shop.example."

NO_END = "its last line has no end"

READS = ", ".join(layout.looks for layout in LAYOUTS.values())
NO_FEED = f"This is no feed that btd reads. It reads {READS}."

_UNREADABLE = (ParseError, csv.Error, ijson.JSONError, UnicodeError, LookupError, OSError, EOFError, zlib.error)


class Feed:
    """A shop's file that is being read, in a process of its own (``files.py``). What is known of it grows with each
    record.

    ``form``, ``encoding`` and ``separator`` say what it was recognised as. ``gone`` are the ids of records that can't
    be bought. ``doubts`` are reasons to think that it isn't whole. ``currencies`` counts the prices in each, and
    whether they name it.
    """

    def __init__(self, file: BinaryIO, shop: Shop, form: Format, now: datetime, encoding: str = "") -> None:
        self._file, self.shop, self._wanted, self._now = file, shop, form, now
        self._named = encoding
        self.form = Format.AUTO
        self.encoding, self.separator = encoding or "utf-8", ""
        self.currency = shop.currency
        self.gone: set[str] = set()
        self.doubts: list[str] = []
        self.faults = Faults()
        self.currencies: Counter[tuple[str, bool]] = Counter()
        self.read = 0
        self._id_place = ""

    def __iter__(self) -> Iterator[Record]:
        """The records in order. Raises WrongFile, possibly after some valid ones."""
        try:
            source = Source.of(self._file)
            for number, raw in self._raw(source):
                yield self._record(number, source.taken(), raw)
        except DefusedXmlException as error:
            raise WrongFile("The file declares XML entities. A feed needs no entities: it is not read.") from error
        except _UNREADABLE as error:
            other = ", or not in this encoding (--encoding)" if "invalid token" in str(error) else ""
            raise WrongFile(self.stopped(f"{error}{other}")) from error

    def stopped(self, why: str) -> str:
        """The sentence that the file is read no further."""
        return f"The file cannot be read {f'after record {self.read}' if self.read else 'at all'}: {why}."

    def _record(self, number: int, size: int, raw: Raw | Record) -> Record:
        self.read += 1
        if isinstance(raw, Record):
            return raw._replace(size=size)
        is_json = self.form in (Format.JSON, Format.JSONL)
        source_id = _id_of_json(raw, self.shop) if is_json else self._id(raw)
        try:
            fields = self._of_json(raw, source_id) if is_json else self._of_feed(raw, source_id)
            return Record(number, size, fields, source_id=source_id)
        except LeftOut as left_out:
            if left_out.is_gone:
                self.gone.add(source_id)
            return Record(number, size, left_out=str(left_out), source_id=source_id)
        except ValueError as error:
            return Record(number, size, fault=str(error), source_id=source_id)

    # Recognising

    def _raw(self, source: Source) -> Iterator[tuple[int, Any]]:
        head = source.head()
        if b"\0" in head and head[:2] not in WIDE:
            raise WrongFile("This is not a text file: save a spreadsheet as CSV, and unpack an archive.")
        text = head.decode("utf-16" if head[:2] in WIDE else "utf-8", errors="replace").lstrip("\ufeff").lstrip()
        if re.match(r"(?i)<(!doctype html|html)", text):
            raise WrongFile("This is a web page and not a feed: save the feed's own address.")
        if text[:1] == "<":
            yield from self._markup(source, text)
        elif text[:1] in ("{", "[", ""):
            yield from self._documents(source, text)
        else:
            yield from self._table(source)

    def _recognise(self, form: Format) -> None:
        if self._wanted not in (Format.AUTO, form):
            raise WrongFile(f"This is {LAYOUTS[form].looks}: use --format {form}.")
        self.form = form
        layout = LAYOUTS[form]
        self.currency = self.shop.currency or layout.currency or "USD"
        if layout.link and not self.shop.address:
            raise WrongFile(f"This is {layout.looks}, without addresses: {NAME_IT}")

    def _markup(self, source: Source, head: str) -> Iterator[tuple[int, Any]]:
        declared = re.match(r"<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", head)
        own = "utf-16" if source.head()[:2] in WIDE else declared[1].lower() if declared else "utf-8"
        self.encoding = self._named or own
        found = markup.items(Entities(source.buffered, self._named), ITEMS)  # type: ignore[arg-type]  # it is read, and nothing else
        forms = of_markup(str(next(found)), head)
        of_form = {name: form for form in reversed(forms) for name in LAYOUTS[form].item}
        items = (item for item in found if isinstance(item, markup.Item) and item.name in of_form)
        if not forms:
            raise WrongFile(NO_FEED)
        first = next(items, None)
        form = of_form[first.name] if first else forms[0]
        self._recognise(form)
        of_it = (item for item in chain([first] if first else [], items) if of_form[item.name] is form)
        yield from COMPLETED.get(form, iter)((number, item.texts) for number, item in enumerate(of_it, start=1))

    def _documents(self, source: Source, text: str) -> Iterator[tuple[int, Any]]:
        is_linked = re.search(r'"@(context|graph|type)"', text[:500])
        is_laid_out = (text.startswith("[") and "\n[" not in text) or re.match(r"\{\s*\n", text)
        if not is_linked and not is_laid_out:
            self._recognise(Format.JSONL)
            source.most = None  # the rest of an overlong line is skipped
            for record in json_lines.records(_Kept(source.buffered, self.doubts)):  # type: ignore[arg-type]  # its lines
                if record.fields and documents.is_deep(record.fields):
                    yield record.number, Record(record.number, 0, fault=documents.TOO_DEEP)
                else:
                    yield record.number, record if record.fields is None else record.fields
            return
        if is_linked:
            source.most = MAX_GRAPH
        number = 0
        for value in documents.values(source.buffered):
            found = [*documents.products(value)]
            if not number:
                self._recognise(Format.JSONLD if found else Format.JSON)
            for each in map(documents.texts_of, found) if self.form is Format.JSONLD else [value]:
                number += 1
                fault = each.why if isinstance(each, documents.Unfit) else "must be a JSON object"
                yield number, each if isinstance(each, dict) else Record(number, 0, fault=fault)
        if not number:
            self._recognise(Format.JSON)

    def _table(self, source: Source) -> Iterator[tuple[int, Any]]:
        lines = Lines(source, self._named)
        rows = Rows(lines)
        first = rows.first()
        fits = ((each, of_table([*map(named, rows.named(first, each))])) for each in SEPARATORS)
        separator, form = next(((each, form) for each, form in fits if form), ("", None))
        if form is None and '"' in first and "{" in first:  # a JSON line without its beginning
            self._recognise(Format.JSONL)
            yield from self._lines_after(lines)
            return
        if form is None:
            best = max(SEPARATORS, key=first.count)
            shown = ", ".join(rows.named(first, best)[:8])
            raise WrongFile(f"This is a table with the columns {shown}. {NO_FEED}")
        rows.begin(first, separator)
        self.separator, names = separator, LAYOUTS[form].named([named(name) for name in rows.names])
        self._recognise(form)
        faulty: list[tuple[int, Record]] = []
        for number, raw in COMPLETED.get(form, iter)(self._rows(rows, names, faulty)):
            yield from faulty
            faulty.clear()
            yield number, raw
        yield from faulty
        self.encoding = lines.encoding
        if not rows.ends:
            self.doubts.append(NO_END)

    def _lines_after(self, lines: Lines) -> Iterator[tuple[int, Any]]:
        """JSON lines after a first line that isn't JSON."""
        yield 1, Record(1, 0, fault="must be JSON")
        for number, line in enumerate(lines, start=2):
            for record in json_lines.records(io.BytesIO(line.encode(errors="replace"))):
                yield number, record._replace(number=number) if record.fields is None else record.fields

    def _rows(self, rows: Rows, names: list[str], faulty: list[tuple[int, Record]]) -> Iterator[tuple[int, Raw]]:
        """The rows of a table by the names of its columns; of two with one name, the first that has a text.

        Those that can't be read are put into ``faulty``.
        """
        for row in rows:
            if row.fault:
                faulty.append((row.number, Record(row.number, 0, fault=row.fault)))
                continue
            if len(row.values) < len(names):
                short = f"row {row.number} has {len(row.values)} of {len(names)} columns"
                self.doubts.append(short)
                if not rows.ends:
                    faulty.append((row.number, Record(row.number, 0, fault="the file ends within it")))
                    continue
            raw: dict[str, str] = {}
            for name, text in zip(names, row.values, strict=False):
                if not raw.get(name, "").strip():
                    raw[name] = text
            yield row.number, raw

    # Fields

    def _id(self, raw: Raw) -> str:
        own, link = self._own_id(raw), self._link(raw)
        return self.shop.identity(own, link) if own and own.strip() and "\n" not in own.strip() else ""

    def _own_id(self, raw: Raw) -> str | None:
        """The id, from where the first record has its own: from elsewhere it would be another deal's."""
        if not self._id_place:
            places = LAYOUTS[self.form].fields["id"]
            self._id_place = next((name for name in places if raw.get(name, "").strip()), places[0])
        return raw.get(self._id_place)

    def _link(self, raw: Raw) -> str:
        layout = LAYOUTS[self.form]
        written = self._first(raw, "link") or ""
        if not written.strip() and layout.link:
            written = layout.link_of(raw, self.shop.address)
        return written.strip().replace(" ", "%20")

    def _first(self, raw: Raw, field: str) -> str | None:
        """The text of a field: that of the first of its places that has one; None if none is there."""
        found = [raw[name] for name in LAYOUTS[self.form].fields.get(field, ()) if name in raw]
        return next((text for text in found if text.strip()), found[0] if found else None)

    def _of_json(self, raw: Mapping[str, Any], source_id: str) -> dict[str, Any]:
        """A record's fields, completed by what the import knows about its file."""
        fields = {"currency": self.currency, **raw}
        if not isinstance(category := raw.get("category", ""), str):
            return fields
        if source_id:
            fields["sourceId"] = source_id
        with suppress(ValueError) if not self.shop.categories else nullcontext():  # then the record's own is refused
            fields["category"] = self._category([category])
        return fields

    def _of_feed(self, raw: Raw, source_id: str) -> dict[str, Any]:
        if why := gone(self.form, raw):
            raise LeftOut(why, is_gone=True)

        def take(name: str, text: str | None, read: Callable[[str], Any]) -> Any:
            return self.faults.take(name, text, read, source_id)

        take("id", self._own_id(raw), _line)
        title = take("title", self._first(raw, "title"), lambda text: without_tags(_line(text)))
        categories = [raw.get(name, "") for name in LAYOUTS[self.form].fields.get("category", ())]
        variant = filter(None, (plain(raw.get(name, "")) for name in LAYOUTS[self.form].fields.get("variant", ())))
        found = {
            "title": title,
            "description": take("description", self._first(raw, "description"), _description),
            "variant": ", ".join(variant)[:MAX_VARIANT],
            **self._prices(raw, take),
            "brand": take("brand", self._first(raw, "brand"), plain) or plain(self.shop.source),
            "category": self._category(categories),
            "link": take("link", self._link(raw), str),
            "image": take("picture", self._first(raw, "image"), _picture),
            "postedAt": take("posted", self._first(raw, "posted"), self._past),
            "sourceId": source_id,
        }
        if not found["brand"]:
            raise ValueError("brand: is missing (--source)")
        return {name: value for name, value in found.items() if value}

    def _category(self, names: list[str]) -> str:
        try:
            return self.shop.category(*names)
        except ValueError as error:
            raise ValueError(f"category: {error}") from error

    def _prices(self, raw: Raw, take: Callable[..., Any]) -> dict[str, Any]:
        """The price that counts now, its currency, its end, and the price before, if that was higher."""
        named_currency = bool((self._first(raw, "currency") or "").strip())
        of_file = take("currency", self._first(raw, "currency") if named_currency else self.currency, _currency)

        def price(text: str) -> tuple[str, str]:
            try:
                found, currency = amount(text, of_file)
            except ValueError as error:
                raise Fault(Meaning.UNREADABLE, str(error)) from error
            if float(found) <= 0:
                raise Fault(Meaning.IMPOSSIBLE, "is nothing")
            self.currencies[currency, named_currency or not re.fullmatch(r"[\d\s.,'-]*", text)] += 1
            return found, currency

        now, currency = take("price", self._first(raw, "price"), price)
        before = take("list price", self._first(raw, "list_price"), price)
        ends = take("end", self._first(raw, "ends"), _time)

        def of_sale(text: str) -> tuple[str, str]:
            found = price(text)
            if found[1] != currency or float(found[0]) > float(now):
                raise Fault(Meaning.IMPOSSIBLE, "is not below the price")
            return found

        sale = take("sale price", self._first(raw, "sale_price"), of_sale)
        if sale and (during := take("sale dates", self._dates(raw), self._during)):
            begins, until = during
            if begins <= self._now < until:
                now, before = sale[0], (now, currency)
                ends = until if until < _NEVER else ends
        if before and (before[1] != currency or float(before[0]) <= float(now)):
            before = None
        return {
            "price": now,
            "currency": currency,
            "listPrice": before[0] if before else None,
            "expiresAt": times.to_iso(ends) if ends else None,
        }

    def _dates(self, raw: Raw) -> str:
        """When a sale begins and ends, with a slash between; nothing before it, or behind it, is any time."""
        if (written := self._first(raw, "sale_period")) and written.strip():
            return written
        return f"{self._first(raw, 'sale_begins') or ''}/{self._first(raw, 'sale_ends') or ''}"

    def _during(self, text: str) -> tuple[datetime, datetime]:
        begins, slash, ends = text.strip().partition("/")
        if not slash:
            raise Fault(Meaning.UNREADABLE, "has no end")
        day_after = timedelta(days=1) if is_day(ends) or self.form is Format.WOOCOMMERCE else timedelta()
        until = _time(ends) + day_after if ends.strip() else _NEVER
        return _time(begins) if begins.strip() else _ALWAYS, until

    def _past(self, text: str) -> str:
        at = _time(text)
        if at > self._now:
            raise Fault(Meaning.IMPOSSIBLE, "is in the future")
        return times.to_iso(at)


_ALWAYS = times.from_iso("1970-01-01T00:00:00Z")
_NEVER = times.from_iso("9999-01-01T00:00:00Z")


class _Kept:
    """Lines of a file; the last one is doubtful if it has no line end."""

    def __init__(self, file: Any, doubts: list[str]) -> None:
        self._file, self._doubts = file, doubts
        self._last = b"\n"

    def readline(self, size: int = -1) -> bytes:
        line: bytes = self._file.readline(size)
        if not line and not self._last.endswith(b"\n"):
            self._doubts.append(NO_END)
        self._last = line or b"\n"
        return line


def _id_of_json(raw: Mapping[str, Any], shop: Shop) -> str:
    own = raw.get("sourceId")
    return (f"{shop.source}:{own}" if shop.source else own) if isinstance(own, str) else ""


def _line(text: str) -> str:
    """A text of one line: a title or an id of several is a sign of an open quotation mark."""
    if re.search(r"[\r\n]", text.strip()):
        raise Fault(Meaning.UNREADABLE, "has a line break")
    return text.strip()


def _description(text: str) -> str:
    found = without_tags(text)
    return found if len(found) <= MAX_DESCRIPTION else found[:MAX_DESCRIPTION].rsplit(" ", 1)[0] + " …"


def _picture(text: str) -> str:
    address = text.strip().replace(" ", "%20")
    if not re.match(r"https?://", address):
        raise Fault(Meaning.UNREADABLE, "is no address")
    return address


def _currency(text: str) -> str:
    code = {"RUR": "RUB", "BYR": "BYN"}.get(text.strip().upper(), text.strip().upper())
    if code not in money.currencies():
        raise Fault(Meaning.UNREADABLE, f"{text!r} is none")
    return code


def _time(text: str) -> datetime:
    found = when(text)
    if found is None:
        raise Fault(Meaning.UNREADABLE, f"{text.strip()!r} is no time")
    return found
