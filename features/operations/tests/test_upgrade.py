"""An upgrade of a damaged table of 1.1.0, back, and forward again, while editors, readers and the stream go on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from shared.data import keys
from shared.data.catalog import deals, feeds, offers, search, words
from shared.data.catalog.deals import from_item, is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import STREAM_VIEW
from shared.dynamodb.table import Table
from shared.dynamodb.writes import assign, forget, put
from shared.models.catalog import ALL_DEALS
from shared.values import links, times
from tests.cli.conftest import Btd, bare_table, btd, wide_terminal  # noqa: F401  # fixtures
from tests.data.test_releases import RELEASED, ROOT, WITH_THE_KEY, code_of
from tests.support.engines import DYNOXIDE_ENGINE, FAST_SERVER, KEY, Engine, create_without_stream, dynoxide_of
from tests.support.factories import APPLE, FEEDS, listed

DEALS = "1000"

DAMAGED = 20
"""One in so many deals is damaged before the step that repairs."""

BY_HAND = "it is damage"

STREAM: Any = {"StreamEnabled": True, "StreamViewType": STREAM_VIEW}

PART = Path(__file__).with_name("release_part.py")
UPGRADE = re.findall(
    r"^\| `btd (.+?)` \|",
    (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("### Upgrading from 1.1.0")[2].partition("###")[0],
    re.MULTILINE,
)
KEPT = {"BrandLike", "CategoryLike", "BrandWatch", "CategoryWatch", "Message", "PriceAlert", "WordsAlert"}
KEPT |= {"Draft", "Order", "OrderItem", "Address", "User", "Account", "Stock"}
"""The types of items that nobody writes meanwhile."""


@pytest.fixture
def server(tmp_path: Path) -> Engine:
    """An engine of its own, whose table has no stream at first: what fills the table files its deals itself."""
    reach = partial(dynoxide_of, tmp_path / "engine.db") if FAST_SERVER is DYNOXIDE_ENGINE else FAST_SERVER.reach
    return replace(FAST_SERVER, reach=reach, create=create_without_stream)


@contextmanager
def running(code: Path, table: Table, *part: str) -> Iterator[list[Any]]:
    """Run a part by a release's code, until the block ends; the list takes what it prints."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "COV", "BTD_"))}
    script = "\n".join((WITH_THE_KEY, f"runpy.run_path({str(PART)!r}, run_name='__main__')"))
    process = subprocess.Popen(
        [sys.executable, "-c", script, table.client.meta.endpoint_url, table.name, *part],
        cwd=code,
        env=plain
        | {"PYTHONPATH": str(code), "NO_PROXY": "127.0.0.1"}
        | {"AWS_ACCESS_KEY_ID": KEY.key_id, "AWS_SECRET_ACCESS_KEY": KEY.secret},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    printed: list[Any] = []
    try:
        yield printed
        out, errors = process.communicate("")
        assert process.returncode == 0, errors
        printed += [json.loads(line) for line in out.splitlines()]
    finally:
        process.kill()
        process.wait()


@contextmanager
def reading(table: Table) -> Iterator[None]:
    """Read lists, searches and deals as readers do, all the time."""
    stop, failures = threading.Event(), list[Exception]()

    def read() -> None:
        while not stop.is_set():
            try:
                for feed in FEEDS:
                    found = feeds.read(table, feed, limit=25, now=times.now()).items
                    assert len({deal.deal_id for deal in found}) == len(found)
                matches = search.find(table, words.asked("running shoes"), limit=25)
                for deal_id in matches.deal_ids[:3]:
                    offers.offers(table, deals.get(table, deal_id).link)
            except Exception as error:  # noqa: BLE001  # the test tells of it
                failures.append(error)
                return
            stop.wait(0.5)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert failures == []


def damage(table: Table) -> None:
    """Damage by hand what derives from some deals: a word is missing, an offer is stray, counts are wrong or text."""
    listed_deals = [from_item(each) for each in table.everything() if each["Type"] == keys.DEAL and is_listed(each)]
    writes = [
        assign(keys.topic(APPLE), {"LikesCount": 999}, refused=None),
        assign(keys.word_count("apple"), {"Deals": "many"}, refused=None),
    ]
    for deal in listed_deals[::DAMAGED]:
        stray = replace(deal, link="https://shop.example/former")
        writes.append(forget(keys.primary(search.items_of(deal)[deal.brand]), because=BY_HAND))
        writes.append(put(offers.to_item(stray, has_ended=False), because=BY_HAND))
    for write in writes:
        table.write(write)


def kept(items: Iterable[Item]) -> list[Item]:
    return sorted((each for each in items if each["Type"] in KEPT), key=lambda each: (each["PK"], each["SK"]))


def assert_each_list_is_exact(table: Table, everything: Sequence[Item]) -> None:
    """Compare feeds, products and searches with the deals themselves."""
    items = [each for each in everything if each["Type"] == keys.DEAL]
    active = sorted((each["DealId"] for each in items if is_listed(each)), reverse=True)
    assert listed(table, ALL_DEALS, now=times.now()) == active
    by_product: dict[str, set[str]] = {}
    for each in items:
        by_product.setdefault(links.product_hash(each["Link"]), set()).add(each["DealId"])
    copies = [each for each in everything if each["Type"] == keys.PRODUCT_OFFER]
    assert len(copies) == len(items)
    assert {(each["PK"], each["DealId"]) for each in copies} == {
        (keys.product(product), deal_id) for product, some in by_product.items() for deal_id in some
    }
    for typed in ("camping stove", "kettle"):
        found = search.find(table, words.asked(typed), limit=250)
        due = [each["DealId"] for each in items if is_listed(each) and typed in each["Title"].lower()]
        assert sorted(found.deal_ids) == sorted(due)


@pytest.mark.thorough
def test_a_table_of_1_1_0_is_upgraded_by_the_changelogs_steps_and_goes_back_and_forward_again(
    bare_table: Table,
    btd: Btd,
    tmp_path: Path,
) -> None:
    table, old = bare_table, code_of(RELEASED, tmp_path / "released")
    with running(old, table, "write", DEALS):
        pass
    table.client.update_table(TableName=table.name, StreamSpecification=STREAM)
    members, at = kept(table.everything()), [""]
    assert UPGRADE[0] == "backfill ProductOffer"

    for seed in ("forward", "again"):
        with running(ROOT, table, "follow", *at) as at, running(ROOT, table, "edit", seed), reading(table):
            for command in UPGRADE:
                if "--mend" in command:
                    damage(table)
                done = CliRunner().invoke(app, command.split())
                # A repair says that it left what has changed meanwhile.
                assert done.exit_code in ((0, 1) if "--mend" in command else (0,)), done.output
        # A repair leaves what changes between its two scans, such as the count of a busy word.
        btd("check", "--mend")
        assert "holds what it should" in btd("check").stdout
        everything = list(table.everything())
        assert_each_list_is_exact(table, everything)
        assert kept(everything) == members
        if seed == "forward":
            with running(old, table, "follow", *at) as at, running(old, table, "edit", "back"):
                pass
            assert kept(table.everything()) == members
