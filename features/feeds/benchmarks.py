"""Importing feeds: the time and the memory that ``btd import`` takes for 8,000 records of each format.

Each feed is made of the sample's deals, repeated under new ids and links, and goes into a new table of MiniStack, whose
own work is part of the time. ``python -m benchmarks imports``; ``BTD_FEED`` names another file of JSON Lines.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.harness import markdown, record
from local.settings import ROOT
from shared.dynamodb.table import Table
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK

SAMPLE = ROOT / "tests" / "sample" / "deals.jsonl"
RECORDS = 8_000
SHOP = "https://harbour.example"
GOOGLE = 'xmlns:g="http://base.google.com/ns/1.0"'

Line = Mapping[str, str]


def main() -> None:
    """Measure, print and record."""
    rows = []
    for name, feed in FEEDS.items():
        with tempfile.TemporaryDirectory() as folder, MINISTACK.table() as table:
            path = Path(folder) / "feed"
            path.write_text(feed(lines()), encoding="utf-8")
            seconds, processor, most = run(table, path)
            again, _, _ = run(table, path)
        size = f"{len(feed(lines()).encode()) / 1e6:.1f}"
        rows.append([name, size, f"{seconds:.1f}", f"{processor:.1f}", f"{most / 1e6:.0f}", f"{again:.1f}"])
    head = ["Feed", "MB", "Seconds", "Processor seconds of the command", "Memory, MB", "Seconds, second import"]
    record("imports", markdown(head, rows), Path(__file__).with_name("README.md"))


def run(table: Table, path: Path) -> tuple[float, float, int]:
    """Import a file: the seconds it takes, the processor's seconds of the command, and its largest memory in bytes."""
    command = [sys.executable, "-m", "cli.main", "import", str(path), "--source", "harbour", "--shop", SHOP]
    reached = {"AWS_ENDPOINT_URL": table.client.meta.endpoint_url, "BTD_TABLE": table.name}
    reached |= {name.upper(): value for name, value in FAKE_CREDENTIALS.items()}
    reached["AWS_REGION"] = reached.pop("REGION_NAME")
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | reached, stdout=printed, stderr=printed)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    print(text)
    if process.returncode or f"{RECORDS:,} deals " not in text:
        raise SystemExit(text)
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def lines() -> Iterator[Line]:
    """A number of records in the form of JSON Lines."""
    path = Path(os.environ.get("BTD_FEED", SAMPLE))
    known = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(itertools.islice(itertools.cycle(known), RECORDS)):
        own = {"sourceId": f"p-{number}", "link": f"{SHOP}/products/p-{number}"}
        yield {name: text for name, text in (line | own).items() if name not in ("postedAt", "withdrawnAt")}


def _google(line: Line) -> dict[str, str]:
    listed = line.get("listPrice", "")
    return {
        "id": line["sourceId"],
        "title": line["title"],
        "description": line.get("description", ""),
        "link": line["link"],
        "image_link": line.get("image", ""),
        "price": f"{listed or line['price']} {line['currency']}",
        "sale_price": f"{line['price']} {line['currency']}" if listed else "",
        "brand": line["brand"],
        "product_type": line["category"],
        "availability": "in stock",
    }


def _shopify(line: Line) -> dict[str, str]:
    return {
        "Handle": line["sourceId"],
        "Title": line["title"],
        "Body (HTML)": f"<p>{escape(line.get('description', ''))}</p>",
        "Vendor": line["brand"],
        "Type": line["category"],
        "Published": "true",
        "Variant SKU": f"SKU-{line['sourceId']}",
        "Variant Inventory Qty": "3",
        "Variant Price": line["price"],
        "Variant Compare At Price": line.get("listPrice", ""),
        "Image Src": line.get("image", ""),
        "Status": "active",
    }


def _elements(line: Line, *own: str) -> str:
    fields = (f"<g:{name}>{escape(text)}</g:{name}>" for name, text in _google(line).items() if text)
    return "".join([*own, *fields])


def _rss(records: Iterator[Line]) -> str:
    items = "\n".join(f"<item>{_elements(line)}</item>" for line in records)
    return f'<?xml version="1.0"?><rss version="2.0" {GOOGLE}><channel>\n{items}\n</channel></rss>'


def _atom(records: Iterator[Line]) -> str:
    entries = "\n".join(f"<entry>{_elements(line)}</entry>" for line in records)
    return f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" {GOOGLE}>\n{entries}\n</feed>'


def _table(row: Callable[[Line], dict[str, str]], delimiter: str) -> Callable[[Iterator[Line]], str]:
    def written(records: Iterator[Line]) -> str:
        rows = [*map(row, records)]
        text = io.StringIO()
        table = csv.DictWriter(text, [*rows[0]], delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
        return text.getvalue()

    return written


FEEDS: Mapping[str, Callable[[Iterator[Line]], str]] = {
    "JSON Lines": lambda records: "".join(json.dumps(line) + "\n" for line in records),
    "JSON": lambda records: json.dumps([*records]),
    "Google Merchant, RSS": _rss,
    "Google Merchant, Atom": _atom,
    "Google Merchant, tab-separated": _table(_google, "\t"),
    "Shopify's CSV": _table(_shopify, ","),
}
"""A feed of each format."""

BENCHMARKS = {"imports": main}
