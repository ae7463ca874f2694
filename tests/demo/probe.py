"""What the demo's site does, as JSON, in a process of its own: the stand-ins and corrections are for good.

``python -m tests.demo.probe WHAT``: ``tab`` is what happens in a tab, and ``pages``
what pages say and take by another engine than the tab's, with the same table.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from demo import stand_ins

if sys.argv[1] != "pages":  # by the laptop's engine, with its threads
    stand_ins.install()
sys.modules["ministack"] = None  # type: ignore[assignment]  # the tab has none: it starts threads when it is imported

from botocore.handlers import BUILTIN_HANDLERS  # noqa: E402  # the stand-ins go first

from demo import dating, packing  # noqa: E402  # the same
from demo.site import Site, answered  # noqa: E402  # the same
from functions.background import refresher  # noqa: E402  # the same
from shared.api.bodies import NewDeal  # noqa: E402  # the same
from shared.data.catalog import deals, page_cache  # noqa: E402  # the same
from shared.dynamodb.schema import create_table_request  # noqa: E402  # the same
from shared.http import cached_pages  # noqa: E402  # the same
from shared.runtime import environment  # noqa: E402  # the same
from shared.values import times  # noqa: E402  # the same

NOTHING = json.dumps({"items": [], "files": {}})
POSTED = {
    "title": "Tab runner",
    "link": "https://shop.example/tab",
    "price": "31.90",
    "listPrice": "60.00",
    "currency": "USD",
    "brand": "pace-theory",
    "category": "shoes",
}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def tab() -> dict[str, Any]:
    """A deal is posted of a brand that a reader watches, and all is kept."""
    site = Site(packing.rows(), "http://demo.example", "/demo/site")
    made = packing.fill(site)
    begun = site.kept()
    cookies = {who: _cookies(site, who) for who in ("member", "editor")}
    seen: dict[str, Any] = {"front": page(site, "/"), "nothing": page(site, "/nothing")["status"]}
    seen["signed out"] = page(site, "/my/inbox")["location"]
    new = NewDeal.model_validate(POSTED).to_deal(times.now(), bytes(16))
    deals.create(environment.table(), new, times.now())
    changes, records = site.changes(), site.pending()
    site.records.clear()  # the tab is closed before the stream's readers run
    site.keep(NOTHING, records=records)
    site.follow()
    seen["inbox"] = page(site, "/my/inbox", cookies["member"])["text"]
    seen["search"] = page(site, "/search?q=tab+runner")["text"]
    site.tick()
    changes += site.changes()
    again = Site.__new__(Site)
    vars(again).update(vars(site))
    held = json.loads(site.kept())["items"]
    site.moto.items.clear()
    again.keep(begun, changes)
    seen["kept"] = _sorted(json.loads(again.kept())["items"]) == _sorted(held)
    seen["items"], seen["changes"] = len(held), len(changes)
    seen["gone"] = sum(item is None for _, item in changes)
    seen["session after"] = page(again, "/my/inbox", cookies["member"])["status"]
    return {**seen, **_moved(site, json.loads(begun)["items"], made)}


LATER = 400
"""Days: other months and another year, and more than the sample is old."""


def _moved(site: Site, items: list[Any], made: datetime) -> dict[str, Any]:
    """The sample moved by ``LATER`` days: its items, what is still of before, its copies and those that are
    built then, and whether it comes back. And the front page of an archive that was packed ten days ago."""
    now, at = made + timedelta(days=LATER), made.timestamp()
    later = dating.counted_anew(dating.moved(items, LATER, at))
    site.moto.items.clear()
    site.keep(json.dumps({"items": later, "files": {}}))
    table = environment.table()
    texts = [json.dumps({**item, "Body": ""}) for item in later]
    copies = {}
    for part in (page_cache.FRONT_PAGE_PICKS, page_cache.NEWEST):
        (found,) = page_cache.read(table, [part], shard=1, now=now, form=page_cache.HTML)
        built = refresher.as_html(refresher.build(part, (), now + packing.DAY))
        copies[part.name] = [DISC.sub("", each.text) for each in (found or page_cache.Copy(), built)]
    back = dating.counted_anew(dating.moved(later, -LATER, now.timestamp()))
    earlier = dating.counted_anew(dating.moved(items, -10, at))
    site.moto.items.clear()
    cached_pages.memory.cache_clear()
    days = site.keep(json.dumps({"items": earlier, "files": {}}), of=at - 10 * dating.DAY)
    return {
        "later": later,
        "then": now.isoformat(),
        "of before": [text for text in texts if any(day < made.date().isoformat() for day in DAY.findall(text))],
        "copies": copies,
        "back": _sorted(back) == _sorted(items),
        "moved": days,
        "front after": page(site, "/"),
    }


DAY = re.compile(r"20\d\d-\d\d-\d\d")
DISC = re.compile(r" disc(?=\")")
"""A drawing's background, which is chosen by the deal's id."""


def filled() -> Site:
    """The demo's site with the sample."""
    site = Site(packing.rows(), "http://demo.example", "/demo/site")
    packing.fill(site)
    return site


def _cookies(site: Site, username: str) -> str:
    return "; ".join(line.partition(";")[0] for line in site.sign_in(username))


def page(site: Site, path: str, cookies: str = "", fields: dict[str, str] | None = None) -> dict[str, Any]:
    """What a page answers: its status, its text, and where it leads."""
    headers = {**({"Cookie": cookies} if cookies else {}), **(FORM if fields else {})}
    got = site.answer("POST" if fields else "GET", path, headers, urlencode(fields) if fields else None)
    told = dict(got["headers"])
    return {
        "status": got["status"],
        "text": got["content"].decode(),
        "location": told.get("Location", ""),
        "timing": told.get("Server-Timing", ""),
    }


def _sorted(items: list[Any]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def pages(kept: str, endpoint: str, address: str, asked: str) -> list[list[Any]]:
    """The status, the ``Server-Timing`` and the text of the pages that are ``asked`` (JSON: paths by a username), by
    another engine that holds the items of the file ``kept``, moved to today; ``address`` is where the demo has its
    pages."""
    parts = urlsplit(address)
    site = Site(packing.rows(), f"{parts.scheme}://{parts.netloc}", parts.path)
    site.keep(Path(kept).read_text(), of=int((packing.PARTS / "made").read_text()))
    _move(site, json.loads(site.kept()), endpoint)
    seen = []
    for who, paths in json.loads(asked).items():
        cookies = _cookies(site, who) if who else ""
        for path in paths:
            cached_pages.memory.cache_clear()  # how long a copy stays in memory depends on the machine
            got = page(site, path, cookies)
            seen.append([got["status"], got["timing"], got["text"]])
    return seen


def _move(site: Site, kept: Any, endpoint: str) -> None:
    """Have the site ask another engine, with the kept items in its table."""
    BUILTIN_HANDLERS[:] = [each for each in BUILTIN_HANDLERS if each[1] is not answered]
    site.corrected.__exit__(None, None, None)
    os.environ["AWS_ENDPOINT_URL_DYNAMODB"] = endpoint
    environment.table.cache_clear()
    client: Any = environment.table().client
    client.create_table(**create_table_request("big-time-deals"))
    for item in kept["items"]:
        client.put_item(TableName="big-time-deals", Item=_sent(item))
    site.files.held |= {name: tuple(file) for name, file in kept["files"].items()}


def _sent(value: Any) -> Any:
    """The kept items as a client sends them: bytes, where the JSON has them in base64."""
    if isinstance(value, dict):
        return {
            name: base64.b64decode(each) if name == "B" and isinstance(each, str) else _sent(each)
            for name, each in value.items()
        }
    return [_sent(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    asked: dict[str, Callable[..., Any]] = {each.__name__: each for each in (tab, pages)}
    json.dump(asked[sys.argv[1]](*sys.argv[2:]), sys.stdout)
