"""A search costs the same over 8,000 and over 100,000 deals. ``python -m benchmarks search``.

Requests, read units and round trips are counted on dynoxide, whose capacity figures are DynamoDB's; no time is
measured. ``tests/data/test_costs.py`` holds what is shown here: pages as the site asks for them. The deals are
imported into the table as files of items, as from an export of DynamoDB. The data layer makes the items; their titles
are the sample's, repeated, some with one more word. Each is of a shop of its own, and so a card of its own.
"""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import markdown, record
from shared import settings
from shared.data import keys
from shared.data.catalog import deals, search, selecting, words
from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.schema import create_table_request
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.models.catalog import Deal, Selection
from shared.values import naming
from tests.support.engines import DYNOXIDE, dynoxide_of
from tests.support.factories import NOW, a_deal, ago

SAMPLE = Path(__file__).parent.parent / "tests" / "sample" / "deals.jsonl"
SIZES = (8_000, 100_000)
NAME = "benchmark-search"

SEARCHES = {
    "a word": "shirt",
    "the beginning of words": "sh",
    "two words": "mens shirt",
    "five words": "outdoor research mens sleeve tee",
    "a common word and a rare one": "mens heirloom",
    "two common words that rarely meet": "mens kettle",
    "two common words that never meet": "shirt kettle",
    "a word that no deal has": "shirrt",
    "words that few deals have all of": "mens kettle shirt sleeve heirloom",
    "a word and a highest price": "shirt",
    "the beginning of words, half price": "sh",
    "two words, half price": "mens shirt",
    "a mistyped word beside another, half price": "mens shirrt",
    "a part of a run of characters": "运动鞋",
    "one character of a run": "鞋",
    "a word with a synonym": "tee",
}

LIMITS = {
    "a word and a highest price": Selection(most="40.00", currency="USD"),
    **{name: Selection(discount=50) for name in SEARCHES if name.endswith("half price")},
}
"""The limits of searches that have some."""

RUNS = ("男子轻便运动鞋", "女子防水徒步鞋", "户外折叠水壶")
"""Titles without spaces: every twentieth deal has one."""

RARE = 12
"""Deals that have a rare word, or in which two common words meet, however many deals there are."""


class Taken(NamedTuple):
    """The cost of one page of a search, and how many deals it found."""

    requests: int
    reads: float
    round_trips: int
    found: int


def main() -> None:
    """Measure, print and record."""
    taken = []
    for size in SIZES:
        with filled(size) as table:
            taken.append(measure(table))
    head = ["Search"]
    for size in SIZES:
        head += [f"{size:,} deals: requests", "RRU", "round trips", "found"]
    rows = [[name, *(f"{figure:g}" for each in taken for figure in each[name])] for name in taken[0]]
    record("search", markdown(head, rows))


def measure(table: Table) -> dict[str, Taken]:
    """The cost of each search's first page, as the site asks for it, of a second one, and of a search's feed."""
    trace = Trace().attach(table)

    def page(name: str, cursor: str | None = None) -> tuple[Taken, str | None]:
        trace.start_over()
        wanted = words.asked(SEARCHES[name])
        if name not in LIMITS:
            found = search.find(table, wanted, limit=settings.READ_FOR_CARDS, cursor=cursor)
            following, cards = found.next, search.first_cards(found.matches, settings.CARDS_OF_A_SEARCH)
            some = search.partly(table, found, search.room(cards, settings.CARDS_OF_A_SEARCH))
        else:
            selected = selecting.find(table, wanted, LIMITS[name], now=NOW)
            following, cards = None, search.first_cards(selected.matches, settings.CARDS_OF_A_SEARCH)
            some = selecting.partly(table, selected, search.room(cards, settings.CARDS_OF_A_SEARCH), NOW)
        (heads, _), (heads_of_some, _) = search.heads(cards, NOW), search.heads(some, NOW)
        whole, others = search.active_of_both(table, heads, heads_of_some, NOW)
        shown = len(whole) + len(others)
        return Taken(trace.count, trace.capacity.read, trace.round_trips, shown), following

    def feed(name: str) -> Taken:
        trace.start_over()
        most, limits = settings.CARDS_OF_A_SEARCH, LIMITS.get(name, Selection())
        found = selecting.page(table, SEARCHES[name], limits, limit=most, now=NOW, all_words=True)
        return Taken(trace.count, trace.capacity.read, trace.round_trips, len(found.page.items))

    pages = {name: page(name) for name in SEARCHES}
    _, following = pages["a word"]
    pages["a word, the page after it"] = page("a word", following)
    feeds = {f"{name}, as a feed": feed(name) for name in ("a word", "the beginning of words, half price")}
    return {name: taken for name, (taken, _) in pages.items()} | feeds


def items(size: int) -> Iterator[Item]:
    """A number of listed deals with their words, and the words' counts."""
    counts: Counter[str] = Counter()
    forms: dict[str, set[str]] = {}
    for deal in _made_up(size):
        yield deals.to_item_listed(deal, listed=True)
        found = search.items_of(deal)
        yield from found.values()
        counts.update(found.keys())
        for word, form in words.of_deal(deal).items():
            forms.setdefault(word, set()).add(form)
    for word, number in counts.items():
        count = {"Type": keys.WORD_COUNT, "Word": word, "Deals": number, "Forms": forms[word]}
        yield {**keys.word_count(word), **count}


@contextmanager
def filled(size: int) -> Iterator[Table]:
    """A table with a number of deals, imported as files: a request for every 25 items would take an hour."""
    with tempfile.TemporaryDirectory() as folder:
        schema, database, export = (Path(folder) / name for name in ("schema.json", "deals.db", "export"))
        described = {**create_table_request(NAME), "TableStatus": "ACTIVE"}
        del described["StreamSpecification"]  # nobody reads it
        schema.write_text(json.dumps({"Table": described}), encoding="utf-8")
        data = export / NAME / "data"
        data.mkdir(parents=True)
        with gzip.open(data / "items.json.gz", "wt", encoding="utf-8", compresslevel=1) as file:
            file.writelines(json.dumps({"Item": marshal_item(item)}) + "\n" for item in items(size))
        command: list[str | Path] = [DYNOXIDE, "import", "--source", export, "--schema", schema, "--output", database]
        subprocess.run(command, check=True, capture_output=True)
        yield replace(dynoxide_of(database), name=NAME)


def _made_up(size: int) -> Iterator[Deal]:
    """A number of deals, a minute apart: "heirloom" is rare, "kettle" is frequent and rarely meets "mens"."""
    sample = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    chance = random.Random(size)
    rare = set(chance.sample(range(size), RARE))
    mens = {number for number, like in enumerate(sample) if "mens" in words.in_text(like["title"])}
    plain = [number for number in sorted(mens) if "shirt" not in words.in_text(sample[number]["title"])]
    for number in range(size):
        which = plain[0] if number in rare else number % len(sample)
        like = sample[which]
        title = like["title"]
        if number in rare:
            title = f"Heirloom kettle {title}"
        elif which not in mens and "shirt" not in words.in_text(title):
            title = f"Kettle {title}"
        elif number % 20 == 0:
            title = f"{RUNS[number // 20 % len(RUNS)]} {number}"
        yield a_deal(
            ago(minutes=number),
            entropy=chance.randbytes(16),
            title=title,
            brand=naming.slug(like["brand"]),
            brand_name=like["brand"],
            category=naming.slug(like["category"]),
            link=f"https://shop{number}.example/products",
            **{name: like[name] for name in ("price", "currency")},
            list_price=like.get("listPrice"),
        )
