"""The site with real deals in it: every feed, walked to its end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from local.settings import REGION, access_key
from shared.values.slugs import slug
from tests.support.site import Site, Visitor
from tests.support.waiting import eventually

Line = dict[str, Any]


@pytest.fixture(scope="module")
def active(imported: list[Line]) -> dict[str, Line]:
    """The lines of the deals that are not withdrawn, by source id."""
    return {line["sourceId"]: line for line in imported if "withdrawnAt" not in line}


def walk(visitor: Visitor, path: str, limit: int | None = 100) -> Iterator[dict[str, Any]]:
    """All deals of a feed, by following the cursors, in pages of a limit or of the usual size."""
    cursor = None
    while True:
        asked = {"limit": limit, "cursor": cursor}
        page = visitor.get(path, params={name: value for name, value in asked.items() if value is not None}).json()
        assert page["next"] is None or len(page["items"]) == (limit or 25)
        yield from page["items"]
        cursor = page["next"]
        if cursor is None:
            return


def assert_newest_first(deals: list[dict[str, Any]]) -> None:
    ids, times = [deal["dealId"] for deal in deals], [deal["createdAt"] for deal in deals]
    assert ids == sorted(set(ids), reverse=True)
    assert times == sorted(times, reverse=True)


def test_every_deal_is_in(site: Site, imported: list[Line]) -> None:
    sources, start = set(), None
    while True:
        items, start = site.table.scan(start=start)
        sources |= {item["SourceId"] for item in items if item["Type"] == "Deal" and "SourceId" in item}
        if start is None:
            break

    assert {line["sourceId"] for line in imported} <= sources


def test_the_latest_deals_list_each_active_deal_exactly_once_newest_first(
    visitor: Visitor, imported: list[Line], active: dict[str, Line]
) -> None:
    ours = {line["sourceId"] for line in imported}

    walked = list(walk(visitor, "/deals"))

    assert_newest_first(walked)
    listed = [deal["sourceId"] for deal in walked if deal["sourceId"] in ours]
    assert len(listed) == len(active)
    assert set(listed) == set(active)
    assert all(deal["status"] == "active" for deal in walked)


def test_a_walk_with_the_usual_page_meets_the_same_deals(visitor: Visitor, imported: list[Line]) -> None:
    whole = [deal["dealId"] for deal in walk(visitor, "/deals")]

    def usual() -> list[str]:
        return [deal["dealId"] for deal in walk(visitor, "/deals", limit=None)]

    # The first page is the cached one, which follows a large import within seconds.
    assert eventually(usual, lambda found: found == whole) == whole


@pytest.mark.parametrize("kind", ["brand", "category"])
def test_every_topics_feed_lists_its_active_deals_exactly_once_newest_first(
    visitor: Visitor, imported: list[Line], active: dict[str, Line], kind: str
) -> None:
    ours = {line["sourceId"] for line in imported}
    expected: dict[str, set[str]] = defaultdict(set)
    for line in imported:
        expected[slug(line[kind])] |= {line["sourceId"]} & active.keys()

    plural = {"brand": "brands", "category": "categories"}[kind]
    for topic, sources in expected.items():
        walked = list(walk(visitor, f"/{plural}/{topic}/deals"))
        assert_newest_first(walked)
        listed = [deal["sourceId"] for deal in walked if deal["sourceId"] in ours]
        assert len(listed) == len(sources), topic
        assert set(listed) == sources, topic


def test_each_deal_reads_as_it_was_imported(visitor: Visitor, active: dict[str, Line]) -> None:
    walked = {deal["sourceId"]: deal for deal in walk(visitor, "/deals")}

    for source, line in active.items():
        deal = walked[source]
        assert {name: deal[name] for name in ("title", "link", "price", "currency")} == {
            name: line[name] for name in ("title", "link", "price", "currency")
        }
        assert deal["image"] == line.get("image")
        assert deal["listPrice"] == line.get("listPrice")
        assert deal["createdAt"] == line["postedAt"]
        assert deal["category"] == line["category"].lower()
        assert deal["brand"]["brand"] == slug(line["brand"])


def test_brands_that_differ_in_case_are_one(visitor: Visitor, imported: list[Line]) -> None:
    written = {line["brand"] for line in imported if line["brand"].lower() == "asics"}

    listed = [brand for brand in visitor.get("/brands").json()["items"] if brand["brand"] == "asics"]

    assert written == {"ASICS", "Asics"}
    assert len(listed) == 1
    assert visitor.get("/brands/ASICS/deals").json() == visitor.get("/brands/Asics/deals").json()


def test_a_withdrawn_deal_is_readable_and_in_no_feed(visitor: Visitor, site: Site, imported: list[Line]) -> None:
    withdrawn = next(line for line in imported if "withdrawnAt" in line)
    pointer = site.table.get({"PK": f"DEALSOURCE#{withdrawn['sourceId']}", "SK": f"DEALSOURCE#{withdrawn['sourceId']}"})
    assert pointer is not None

    assert visitor.get(f"/deals/{pointer['DealId']}").json()["status"] == "withdrawn"
    assert not any(index in read_with_the_cli(site, pointer["DealId"]) for index in ("GSI1PK", "GSI2PK", "GSI3PK"))


def test_a_deal_read_with_the_aws_cli_has_exactly_the_keys_of_the_model(
    site: Site, visitor: Visitor, active: dict[str, Line]
) -> None:
    line = next(line for line in active.values() if slug(line["brand"]) != line["brand"].lower())
    (deal,) = [
        deal for deal in walk(visitor, f"/brands/{slug(line['brand'])}/deals") if deal["sourceId"] == line["sourceId"]
    ]
    posted = datetime.fromisoformat(line["postedAt"]).astimezone(UTC)
    key = f"DEAL#{deal['dealId']}"

    item = read_with_the_cli(site, deal["dealId"])

    keys = {
        name: value["S"] for name, value in item.items() if name in ("PK", "SK", "UserIndex") or name.startswith("GSI")
    }
    assert keys == {
        "PK": key,
        "SK": key,
        "GSI1PK": f"DEALS#{posted:%Y-%m-%d}T00:00:00",
        "GSI1SK": key,
        "GSI2PK": f"BRAND#{slug(line['brand'])}#{posted:%Y-%m}-01T00:00:00",
        "GSI2SK": key,
        "GSI3PK": f"CATEGORY#{line['category'].lower()}#{posted:%Y-%m-%d}T00:00:00",
        "GSI3SK": key,
    }
    assert item["Type"] == {"S": "Deal"}
    assert "ExpiresAt" not in item


def read_with_the_cli(site: Site, deal_id: str) -> dict[str, Any]:
    """A deal's item, as the AWS CLI prints it."""
    aws = shutil.which("aws")
    if aws is None:
        pytest.skip("the AWS CLI is not installed")
    key = json.dumps({name: {"S": f"DEAL#{deal_id}"} for name in ("PK", "SK")})
    plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    nowhere = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    key_of_the_checkout = access_key(site.home)
    signed = {
        "AWS_ACCESS_KEY_ID": key_of_the_checkout.key_id,
        "AWS_SECRET_ACCESS_KEY": key_of_the_checkout.secret,
        "NO_PROXY": "127.0.0.1",
    }
    done = subprocess.run(
        [
            *(aws, "dynamodb", "get-item", "--table-name", site.table.name, "--key", key, "--output", "json"),
            *("--endpoint-url", site.endpoint, "--region", REGION),
        ],
        env=plain | nowhere | signed,
        check=True,
        capture_output=True,
    )
    item: dict[str, Any] = json.loads(done.stdout)["Item"]
    return item
