"""A release's part in an upgrade: ``python release_part.py ENDPOINT TABLE PART ...`` with that release on the path.

It runs with the code of 1.1.0 and with this code, so it uses only what both have, by the names of either. The parts:

``write DEALS`` fills a new table as 1.1.0 and its reader of the stream do: deals with their words, offers and verdicts,
members, likes, watches, alerts, drafts, orders, messages.
``edit SEED`` edits, withdraws and posts deals until its input ends, and prints how many writes there were.
``follow POSITION`` does what the stream's reader does with deals until its input ends and nothing is left, from a
position in the stream (empty: its beginning), and prints the position reached.
"""

from __future__ import annotations

import json
import random
import select
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from typing import Any

import botocore.session
from botocore.config import Config

from shared.data.catalog import changes, deals, offers, search
from shared.data.members import alerts, follows, users
from shared.dynamodb.attributes import unmarshal_item
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.errors import DealsError
from shared.values import times
from tests.support.factories import APPLE, SHOES, a_deal, a_user, account_of, open_brands, post

try:  # where 1.1.0 has the forms of a deal's item
    deal_items: Any = import_module("shared.data.catalog.deal_items")
except ModuleNotFoundError:
    deal_items = deals

TITLES = ("Trail runner", "Desk lamp", "Running shoes", "T-Shirt", "Rain jacket", "Camping stove", "Blue kettle 18 L")
PRODUCTS = "https://shop.example/view.php?id="
MEMBERS, ORDERS = "shared.data.members", "shared.data.orders"
PAUSE = 0.5
"""Seconds between two edits."""

LEAST = 25
"""Edits that are made even if the input ends at once."""

APART = 10
"""Deals that nobody edits: they are on sale, and other readers of the stream follow these."""


def the_deal(number: int, age: timedelta) -> Any:
    title = f"{TITLES[number % len(TITLES)]} {number}"
    link, price = f"{PRODUCTS}{number // 3}", f"{20 + number % 37}.90"
    brand = ("apple", "Apple") if number % 4 else ("asics", "ASICS")
    return a_deal(times.now() - age, title=title, link=link, price=price, brand=brand[0], brand_name=brand[1])


def write(table: Table, number: str) -> None:
    """Fill a table. Only 1.1.0's code has these modules."""
    seeds, drafts = map(import_module, ("shared.data.catalog.seeds", "shared.data.catalog.drafts"))
    announcements, items = map(import_module, (f"{MEMBERS}.announcements", f"{MEMBERS}.message_items"))
    addresses, stock = map(import_module, (f"{ORDERS}.addresses", f"{ORDERS}.stock"))
    limits, draft_of = import_module("shared.models.alerts").Limits, import_module("shared.models.drafts").Draft
    shop = import_module("tests.support.shop")

    now = times.now()
    seeds.plant(table, now - timedelta(days=60))
    open_brands(table)
    posted = post(table, [the_deal(each, timedelta(minutes=20 * each)) for each in range(int(number))], now)
    for member in range(20):
        name = f"member{member}"
        users.create(table, a_user(name, created_at=now))
        for topic in (APPLE, SHOES):
            follows.like(table, topic, name, now)
            follows.watch(table, topic, name, now)
        alerts.on_price(table, posted[member], name, account_of(name), limits(ceiling="5.00", currency="USD"), now)
        alerts.on_words(table, name, account_of(name), limits(words=f"kettle {member}"), now)
        items.insert(table, [announcements.compose(announcements.of_deal(posted[member], "brand"), name)])
        draft = draft_of(the_deal(9000 + member, timedelta()), name, account_of(name))
        drafts.save_new(table, draft, now, None)
    for deal in posted[:5]:
        stock.add(table, deal.deal_id, 9, now)
        addresses.save(table, "member0", "home", shop.HOME_ADDRESS)
        shop.buy(table, "member0", deal, now=now, account_id=account_of("member0"))
    new = [(deal_items.from_item(item), item) for item in _everything(table) if item["Type"] == "Deal"]
    filed = import_module("shared.data.catalog.imports").file_new(table, new)
    for deal, _ in new:
        if deal.deal_id not in filed:
            offers.file(table, None, deal)
            search.file(table, None, deal)
    oldest = {deal.link: deal for deal, _ in sorted(new, key=lambda each: each[0].created_at, reverse=True)}
    for deal in oldest.values():  # the first offer of a product, with which the later ones are compared, too
        offers.judge_anew(table, None, deal)


def edit(table: Table, seed: str) -> None:
    """Change deals, as an editor does, until the input ends."""
    chance = random.Random(seed)
    items = [item for item in _everything(table) if item["Type"] == "Deal"]
    some = sorted(item["DealId"] for item in items)[: -APART or None]
    done = 0
    while not _input_ended(PAUSE) or done < LEAST:
        deal_id, what = chance.choice(some), chance.randrange(6)
        done += 1
        with suppress(DealsError):  # such as withdrawing what is withdrawn
            if what == 0:
                deals.withdraw(table, deal_id, times.now())
            elif what == 1:
                (new,) = post(table, [the_deal(chance.randrange(3000), timedelta())], times.now())
                some.append(new.deal_id)
            else:
                change = {
                    2: {"price": f"{chance.randrange(10, 60)}.50"},
                    3: {"title": f"{chance.choice(TITLES)} {done}"},
                    4: {"link": f"{PRODUCTS}{chance.randrange(300)}"},
                    5: {"link": f"https://shop.example/other/{chance.randrange(50)}"},
                }[what]
                deals.edit(table, deal_id, change, times.now())
    print(json.dumps(done))


def follow(table: Table, position: str = "") -> None:
    """Follow the stream until the input has ended and nothing is left."""
    records = _Records(table, position)
    ended, quiet = False, 0
    while quiet < 3:
        found = list(records.next())
        for record in found:
            _file(table, record)
        ended = ended or _input_ended(0)
        quiet = quiet + 1 if ended and not found else 0
        if not found:
            time.sleep(0.05)
    print(json.dumps(records.position))


class _Records:
    def __init__(self, table: Table, position: str) -> None:
        connected: Any = botocore.session.get_session().create_client(
            "dynamodbstreams",
            region_name="us-east-1",
            endpoint_url=table.client.meta.endpoint_url,
            config=Config(parameter_validation=False),  # the engine's sequence numbers are short
        )
        self._streams = connected
        (stream,) = self._streams.list_streams(TableName=table.name)["Streams"]
        (shard,) = self._streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]["Shards"]
        at = {"StreamArn": stream["StreamArn"], "ShardId": shard["ShardId"]}
        after = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": position}
        begin = after if position else {"ShardIteratorType": "TRIM_HORIZON"}
        self._iterator = self._streams.get_shard_iterator(**at, **begin)["ShardIterator"]
        self.position = position

    def next(self) -> Iterator[Any]:
        """The next records of deals, in order."""
        answer = self._streams.get_records(ShardIterator=self._iterator, Limit=200)
        self._iterator = answer["NextShardIterator"]
        for record in answer["Records"]:
            images = record["dynamodb"]
            self.position = images["SequenceNumber"]
            if (images.get("NewImage") or images["OldImage"]).get("Type") == {"S": "Deal"}:
                images["ApproximateCreationDateTime"] = images["ApproximateCreationDateTime"].timestamp()
                yield record


def _file(table: Table, record: Any) -> None:
    """What the publisher does with a deal's words and offer."""
    change: Any = changes.change_of(record)
    old, new = (unmarshal_item(record["dynamodb"].get(image, {})) for image in ("OldImage", "NewImage"))
    is_listed = deal_items.is_listed
    offers.file(table, change.before, change.after, has_ended=deal_items.has_ended(new))
    search.file(table, change.before if is_listed(old) else None, change.after if is_listed(new) else None)
    offers.judge_anew(table, change.before, change.after)


def _everything(table: Table) -> Iterator[Any]:
    start: Any = {}
    while start is not None:
        items, start = table.scan(start=start)
        yield from items


def _input_ended(seconds: float) -> bool:
    return bool(select.select([sys.stdin], [], [], seconds)[0])


if __name__ == "__main__":
    endpoint, name, part, *given = sys.argv[1:]
    credentials = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    asked = connect(name, Budget(answer=30), endpoint_url=endpoint, region_name="us-east-1", **credentials)
    {"write": write, "edit": edit, "follow": follow}[part](asked, *given)
