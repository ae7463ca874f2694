"""What the demo's site does, as JSON: a process of its own, for the stand-ins and corrections are for good."""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.parse import urlencode

from demo import stand_ins

stand_ins.install()
sys.modules["ministack"] = None  # type: ignore[assignment]  # the tab has none: it starts threads when it is imported

from demo import packing  # noqa: E402  # the stand-ins go first
from demo.site import Site  # noqa: E402  # the same

NOTHING = json.dumps({"items": [], "files": {}})
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def main() -> dict[str, Any]:
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


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
