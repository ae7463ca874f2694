"""What the demo's site does, as JSON, in a process of its own: the stand-ins and corrections are for good.

``python -m tests.demo.probe WHAT``: ``tab`` is what a reader and an editor do, ``learner`` what a learner does, and
``pages`` what 40 pages say and take, by moto as in the tab, or by another engine that holds the same.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from demo import stand_ins

stand_ins.install()
sys.modules["ministack"] = None  # type: ignore[assignment]  # the tab has none: it starts threads when it is imported

from botocore.handlers import BUILTIN_HANDLERS  # noqa: E402  # the stand-ins go first

from demo import packing  # noqa: E402  # the same
from demo.site import Site, answered  # noqa: E402  # the same
from shared.dynamodb.schema import create_table_request  # noqa: E402  # the same
from shared.http import cached_pages  # noqa: E402  # the same
from shared.learn import exercises  # noqa: E402  # the same
from shared.runtime import environment  # noqa: E402  # the same

NOTHING = json.dumps({"items": [], "files": {}})
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def tab() -> dict[str, Any]:
    """A reader likes a brand, an editor posts a deal of it, and all is kept."""
    site = filled()
    begun = site.kept()
    cookies = {who: _cookies(site, who) for who in ("member", "editor")}
    seen: dict[str, Any] = {"front": page(site, "/"), "nothing": page(site, "/nothing")["status"]}
    seen["signed out"] = page(site, "/my/inbox")["location"]
    new = page(site, "/desk/deals/new?link=https%3A%2F%2Fshop.example%2Ftab", cookies["editor"])
    seen["form"] = new["status"]
    fields = {"key": new["text"].partition('name="key" value="')[2].partition('"')[0], "title": "Tab runner"}
    fields |= {"link": "https://shop.example/tab", "price": "31.90", "listPrice": "60", "currency": "USD"}
    fields |= {"brand": "pace-theory", "category": "shoes"}
    seen["posted"] = page(site, "/desk/deals", cookies["editor"], fields)
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
    return seen


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


def learner() -> dict[str, str]:
    """A learner opens a lesson, runs another, and solves an exercise at the second try."""
    site, exercise = filled(), exercises.find("exercise-second-like")
    seen = {"lesson": page(site, "/learn/item-collection")["text"]}
    seen["own table"] = page(site, "/learn/indexes-and-projections", fields={"run": "1"})["text"]
    for name, typed in (("mended", exercise.solution), ("broken", exercise.broken)):
        seen[name] = page(site, f"/learn/{exercise.slug}", fields={"request": typed})["text"]
    return seen


OPEN = (
    *("/", "/deals", "/deals/1", "/deals/2", "/deals/150", "/categories/shoes", "/categories/clothing", "/brands"),
    *("/brands/tundra-supply", "/brands/pace-theory", "/search?q=shoes", "/search?q=shoes&sort=price", "/popular"),
    *("/feed.atom", "/nothing", "/learn", "/learn/item-collection", "/table", "/shop", "/account/sign-in", "/go/1"),
)
MEMBERS = ("/my/inbox", "/my/saved", "/my/watches", "/shop", "/shop/cart", "/shop/orders", "/account", "/deals/1", "/")
EDITORS = (
    *(
        "/desk",
        "/desk/deals/new",
        "/desk/deals/150",
        "/desk/shop",
        "/desk/brands",
        "/desk/deals",
        "/deals/1",
        "/my/inbox",
    ),
    *("/brands/pace-theory", "/account"),
)
TIMING = re.compile(r"(\d+) requests, (\d+) round trips, (at least |~)?([\d.]+) RRU")
VARIES = re.compile(
    r"\d+(?:[.,]\d+)? ms|\b[0-9a-f]{32,}\b|[0-9a-zA-Z]{27}\b|(?<=value=\")[\w-]{20,}(?=\")|(?<=>)\d+\.\d(?=<)|[≥~]"
    r"|<p class=\"million\">.*?</p>|(?<=x=\")[\d.]+(?=\" width)|(?<=width=\")[\d.]+|(?<=\dT)\d\d:\d\d:\d\dZ"
    r"|is counted by AWS&#x27;s rules [^.]*\.|is counted, too, and [^.]*\.|(?<=CACHE)(?:(?:#|%23)\w+)+"
)
"""Milliseconds and their bars, keys of forms and of sessions, moments, which copy of a page was read, and of units how
they are counted and what they cost."""


def pages(name: str, endpoint: str = "") -> list[Any]:
    """``name`` is a file with the table of ``Site.kept``; where there is none, the sample is written there."""
    kept = Path(name)
    site = Site(packing.rows(), "http://demo.example", "/site")
    if not kept.exists():
        packing.fill(site)
        kept.write_text(site.kept())
    elif not endpoint:
        site.keep(kept.read_text())
    if endpoint:
        _move(site, kept, endpoint)
    seen = []
    for who, paths in (("", OPEN), ("member", MEMBERS), ("editor", EDITORS)):
        cookies = "; ".join(line.partition(";")[0] for line in site.sign_in(who)) if who else ""
        for path in paths:
            cached_pages.memory.cache_clear()  # how long a copy stays in memory depends on the machine
            got = site.answer("GET", path, {"Cookie": cookies} if cookies else {})
            timing = str(dict(got["headers"]).get("Server-Timing", ""))
            found = TIMING.search(timing)
            seen.append([who, path, got["status"], found.groups() if found else None, _text(got["content"])])
    return seen


def _move(site: Site, kept: Path, endpoint: str) -> None:
    """Have the site ask another engine, with the kept items in its table."""
    BUILTIN_HANDLERS[:] = [each for each in BUILTIN_HANDLERS if each[1] is not answered]
    site.corrected.__exit__(None, None, None)
    os.environ["AWS_ENDPOINT_URL_DYNAMODB"] = endpoint
    environment.table.cache_clear()
    client: Any = environment.table().client
    client.create_table(**create_table_request("big-time-deals"))
    held = json.loads(kept.read_text())
    for item in held["items"]:
        client.put_item(TableName="big-time-deals", Item=_sent(item))
    site.files.held |= {name: tuple(file) for name, file in held["files"].items()}


def _sent(value: Any) -> Any:
    """The kept items as a client sends them: bytes, where the JSON has them in base64."""
    if isinstance(value, dict):
        return {
            name: base64.b64decode(each) if name == "B" and isinstance(each, str) else _sent(each)
            for name, each in value.items()
        }
    return [_sent(each) for each in value] if isinstance(value, list) else value


def _text(content: bytes) -> str:
    return VARIES.sub("", content.decode())


if __name__ == "__main__":
    json.dump(globals()[sys.argv[1]](*sys.argv[2:]), sys.stdout)
