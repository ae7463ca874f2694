"""The site's page functions behind a small HTTP server, on a table of an engine's own, for browsers.

No gateway and no cloud: a request becomes the event that API Gateway would make of it.
``python -m tests.support.preview [deals.jsonl]`` shows it on a port, with the laptop's sample or the deals of a file.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import parse_qsl, urlsplit

from infra.bundling import module_of
from infra.functions import FUNCTIONS
from local import sample as laptop
from shared.data.catalog import deals, offers, picks, topics
from shared.dynamodb.table import Table
from shared.errors import BrandExists
from shared.models.catalog import CATEGORIES, EDITORS_CHOICE, FRONT_PAGE, Deal
from shared.models.members import Role
from shared.values import naming, times
from tests.support.cases import cases
from tests.support.engines import FAKE_CREDENTIALS, FAST_SERVER, MINISTACK
from tests.support.factories import ids, offered, post, token_of_new, worded
from tests.support.surroundings import a_context, event_of, given, start_over

if TYPE_CHECKING:
    from tests.support.browser import Place

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "deals.jsonl"

PREFIXES = {row.pages: row.name for row in FUNCTIONS if row.pages}
"""The function of the paths below each prefix, the longest one that fits; all others are ``site``'s."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A running site: where it is, its table, and the deals it has, newest first."""

    origin: str
    table: Table
    deals: list[Deal]


@contextmanager
def running(sample: Path = SAMPLE, *, drawn: bool = False, port: int = 0) -> Iterator[Preview]:
    """A site that is looked at as long as it runs."""
    with started(sample, drawn=drawn, port=port) as preview, looked_at(preview):
        yield preview


@contextmanager
def started(sample: Path = SAMPLE, *, drawn: bool = False, port: int = 0, most: int = 1200) -> Iterator[Preview]:
    """A site with the newest deals of a file, moved to end today. None has a picture.

    One that is ``drawn`` has the laptop's sample instead, with its drawings, and a bucket that takes pictures.
    """
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    now = times.now()
    with FAST_SERVER.table() as table, _files() if drawn else nullcontext():
        made = laptop.drawn(laptop.read(now), _reached) if drawn else _read(sample, now, most)
        filled = fill(table, made, now)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Preview(f"http://127.0.0.1:{server.server_port}", table, filled)
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


@contextmanager
def _files() -> Iterator[None]:
    """MiniStack's S3, where drawings are kept and the functions of a site that is looked at find them."""
    where = MINISTACK.reach().client.meta.endpoint_url
    with mock.patch.dict(os.environ, {"AWS_ENDPOINT_URL_S3": where}):
        yield


def _reached(_: str, connect: Callable[..., Any]) -> Any:
    """A new bucket."""
    found = connect("pictures", **FAKE_CREDENTIALS)
    found.client.create_bucket(Bucket=found.name)
    return found


@contextmanager
def looked_at(site: Preview) -> Iterator[None]:
    """The environment of a site's functions: they run in this process, where others find another or none."""
    more = {"POWERTOOLS_SERVICE_NAME": "preview", "POWERTOOLS_LOG_LEVEL": "ERROR"}
    with _environment(given(site.table, **more, SITE_ORIGIN=site.origin, SITE_BASE="")):
        yield


def finding(table: Table) -> AbstractContextManager[None]:
    """For a while, the functions of the site that is looked at find another table in their environment."""
    return _environment({"TABLE_NAME": table.name})


def fill(table: Table, made: Sequence[Deal], now: datetime) -> list[Deal]:
    """Create deals with their brands, words and offers, and pick some for the curated pages. Newest first."""
    for name in sorted({deal.brand_name for deal in made}):
        try:
            topics.create_brand(table, naming.slug(name), name, now)
        except BrandExists:
            continue
    created = post(table, made, now)
    listed = [deal for deal in created if deal.withdrawn_at is None]
    offered(table, created)
    table.gather([partial(offers.judge_anew, table, None, deal) for deal in created])
    judged = deals.get_many(table, ids(created), consistent=True)
    table.gather([partial(offers.file, table, None, deal) for deal in judged if deal.verdict])
    worded(table, [deal for deal in judged if deal.withdrawn_at is None])
    for leave in cases("FILLS"):
        leave(table, listed, now)
    of_brands = {deal.brand: deal for deal in sorted(listed, key=lambda deal: deal.discount_percent or 0)}
    best = sorted(of_brands.values(), key=lambda deal: deal.discount_percent or 0, reverse=True)
    picks.set_featured(table, FRONT_PAGE, ids(best[:9]), now)
    picks.set_featured(table, EDITORS_CHOICE, ids(best[9:17] or best[:5]), now)
    return listed


def entered(site: Place, username: str, role: Role = "member") -> str:
    """The token of someone new who is signed in."""
    return token_of_new(site.table, username, role)


def _read(sample: Path, now: datetime, most: int) -> list[Deal]:
    """The newest deals of a file, as if the last one were posted five minutes ago."""
    rows = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]
    rows = sorted(rows, key=lambda row: row["postedAt"])[-most:]
    moved = now - timedelta(minutes=5) - datetime.fromisoformat(rows[-1]["postedAt"])
    return [_deal(row, moved, now, number) for number, row in enumerate(rows)]


def _deal(row: Mapping[str, Any], moved: timedelta, now: datetime, number: int) -> Deal:
    created = (datetime.fromisoformat(row["postedAt"]) + moved).astimezone(UTC)
    withdrawn = row.get("withdrawnAt")
    return Deal(
        deal_id=deals.new_id(created, row["sourceId"], b""),
        title=row["title"],
        link=row["link"],
        brand=naming.slug(row["brand"]),
        brand_name=row["brand"],
        category=naming.slug(row["category"]) if naming.slug(row["category"]) in CATEGORIES else "home",
        price=row["price"],
        list_price=row.get("listPrice"),
        currency=row["currency"],
        source_id=row["sourceId"],
        created_at=created,
        coupon_code="BIGTIME15" if number % 5 == 4 else None,
        description="Ships from the shop’s own store; returns within 30 days." if number % 5 == 4 else None,
        ends_at=now + timedelta(hours=7 * (number % 20) + 5) if number % 9 == 4 else None,
        withdrawn_at=(datetime.fromisoformat(withdrawn) + moved).astimezone(UTC) if withdrawn else None,
        hot_at=created if number % 25 == 4 else None,
    )


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    try:
        with mock.patch.dict(os.environ, variables):
            start_over()
            yield
    finally:
        start_over()


_ONE_AT_A_TIME = threading.Lock()
"""An environment of Lambda's handles one event at a time, and Powertools' resolver keeps it in its class."""


class _Handler(BaseHTTPRequestHandler):
    """API Gateway, as far as pages see it."""

    protocol_version = "HTTP/1.1"

    # Headers and body are two packets. Together with the other side's delayed acknowledgement, Nagle's algorithm would
    # hold back the second one for 40 milliseconds.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        event = event_of(
            parts.path,
            self.command,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers=dict(self.headers.items()),
            body=self.rfile.read(length).decode() if length else None,
        )
        fitting = [prefix for prefix in PREFIXES if f"{parts.path}/".startswith(f"{prefix}/")]
        name = PREFIXES[max(fitting, key=len)] if fitting else "site"
        with _ONE_AT_A_TIME:
            answer = import_module(module_of(name)).handler(event, a_context())
        body = base64.b64decode(answer["body"]) if answer["isBase64Encoded"] else answer["body"].encode()
        self.send_response(answer["statusCode"])
        for header, values in answer["multiValueHeaders"].items():
            for value in values:
                self.send_header(header, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_HEAD = do_GET  # noqa: N815  # the same

    def log_message(self, *_: object) -> None:
        """Say nothing: the functions log."""


if __name__ == "__main__":
    with running(Path(*sys.argv[1:]), drawn=len(sys.argv) == 1, port=4576) as site:
        sys.stdout.write(f"{site.origin}\n")
        threading.Event().wait()
