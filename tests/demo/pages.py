"""What 40 pages of the demo say and take, as JSON: from moto as in the tab, or from another engine that holds the same.

``python -m tests.demo.pages KEPT [ENDPOINT]``: a process of its own, for the stand-ins and corrections are for good.
KEPT is a file with the table of ``Site.kept``; where there is none, the sample is written there.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from demo import stand_ins

stand_ins.install()

from botocore.handlers import BUILTIN_HANDLERS  # noqa: E402  # the stand-ins go first

from demo import packing  # noqa: E402  # the same
from demo import site as demo_site  # noqa: E402  # the same
from shared.dynamodb.schema import create_table_request  # noqa: E402  # the same
from shared.http import cached_pages  # noqa: E402  # the same
from shared.runtime import environment  # noqa: E402  # the same

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


def main(kept: Path, endpoint: str = "") -> list[Any]:
    site = demo_site.Site(packing.rows(), "http://demo.example", "/site")
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


def _move(site: demo_site.Site, kept: Path, endpoint: str) -> None:
    """Have the site ask another engine, with what was kept in its table."""
    BUILTIN_HANDLERS[:] = [each for each in BUILTIN_HANDLERS if each[1] is not demo_site.answered]
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
    """What was kept as a client sends it: bytes, where the JSON has them in base64."""
    if isinstance(value, dict):
        return {
            name: base64.b64decode(each) if name == "B" and isinstance(each, str) else _sent(each)
            for name, each in value.items()
        }
    return [_sent(each) for each in value] if isinstance(value, list) else value


def _text(content: bytes) -> str:
    return VARIES.sub("", content.decode())


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1]), *sys.argv[2:]), sys.stdout)
