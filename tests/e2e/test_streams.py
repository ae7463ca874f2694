"""Work that follows a write, as deployed: messages, caches, follow-ups.and the ledger on a laptop."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from local import cloud
from local.cloud import free_port
from local.settings import Home
from shared.data import keys
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.writes import put
from shared.models.catalog import FRONT_PAGE
from tests.e2e.conftest import Plumbing, posted, shown
from tests.support import surroundings
from tests.support.commands import eventually, until
from tests.support.site import Site, Visitor, fresh, home, probed, stream_to_a_function, told, write

__all__ = ["home", "probed"]


@pytest.fixture(scope="module")
def plumbing(site: Site) -> Plumbing:
    return Plumbing.of(site)


@pytest.fixture(scope="module")
def expired(site: Site) -> str:
    """The key of an item whose time is over: what the cloud's TTL, once a minute, removes."""
    item = {**keys.session(fresh("expired")), "Type": "Session", "ExpiresAt": int(time.time()) - 60}
    site.table.write(put(item, because="a test"))
    return str(item["PK"])


def wait_for_the_stream(editor: Visitor, brand: str) -> None:
    """Post a deal and wait until it is shown: earlier writes have been read from the stream by then."""
    deal_id = posted(editor, brand)
    eventually(lambda: shown(editor), lambda deals: deal_id in deals)


def test_functions_read_what_comes_after_a_restart(probed: Home, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    stream_to_a_function(probed, seen)
    write(probed, "one", "two", "three")
    assert until(lambda: "three" in told(seen))

    assert cloud.stop(probed)
    cloud.start(probed, free_port())
    write(probed, "four")

    assert until(lambda: "four" in told(seen))


def test_what_follows_from_picks_comes_to_an_end(site: Site, editor: Visitor, brand: str) -> None:
    deal_id = posted(editor, brand)
    assert editor.put("/front-page/featured", json={"dealIds": [deal_id]}).status_code == 200
    assert editor.patch(f"/deals/{deal_id}", json={"title": "Renamed"}).status_code == 200
    picks = keys.featured(FRONT_PAGE)
    assert until(lambda: (site.table.get(picks, consistent=True) or {})["Featured"][0]["Title"] == "Renamed")

    wait_for_the_stream(editor, brand)  # what that write brings about
    writes = site.writes()
    wait_for_the_stream(editor, brand)

    assert picks["PK"] not in writes.keys()  # noqa: SIM118  # it is no mapping


@pytest.mark.thorough  # about MiniStack, not about our code
def test_ministack_leaves_removals_by_ttl_out_of_the_stream(site: Site, plumbing: Plumbing, expired: str) -> None:
    """Lambda would deliver a REMOVE by the service, which the filters or else the functions pass over."""
    key = {"PK": expired, "SK": expired}
    removal = surroundings.by_ttl({**key, "Type": "Session"})

    assert until(lambda: site.table.get(key, consistent=True) is None)

    told = [(r["eventName"]) for r in plumbing.records() if r["dynamodb"]["Keys"] == marshal_item(key)]
    assert told == ["INSERT"]
    for name in ("Publisher", "Refresher"):
        assert plumbing.call(name, surroundings.batch([removal])) == {"batchItemFailures": []}
