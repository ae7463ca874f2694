"""Pictures in tests of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import httpx

from features.pictures import keys
from features.pictures.data import fetches
from features.pictures.models import LOOKS, UPLOADS
from features.pictures.rights import FetchedPictures
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.e2e.conftest import Plumbing
from tests.support.commands import until
from tests.support.factories import plain_picture
from tests.support.rights import ANY_READ, ANY_WRITE, DEAL
from tests.support.site import Site, Visitor, a_brand, a_deal
from tests.support.surroundings import event

# As late as it can be: until then the page looks again each second.
EDITORS = {
    "a picture being made": f"/desk/deals/{{first.number}}/picture?key={UPLOADS}{{first.deal_id}}&looked={LOOKS}",
}
IMPORTS = {"pictures": ("minijinja",)}
OPTIONS = (FetchedPictures(hosts=("*.shop.example",)),)
DEAD_WORK = (("UploadsDeadLettersUrl", "UploadsUrl", event("resizer-upload")["Records"][0]["body"]),)
KEPT = ("PictureFilesBucket1709A7C0", "UploadsQueue9C3802C9", "UploadsDeadLettersQueue0FC3382D")

_FETCHES = keys.fetch("", datetime(2026, 6, 4, tzinfo=UTC), "")["PK"]
RIGHTS = (
    (ANY_READ, DEAL, "", "resizer"),
    (ANY_READ, _FETCHES, "", "expiry"),
    (ANY_WRITE, _FETCHES, "", "expiry publisher resizer"),
)
GOLDEN = (
    (
        keys.fetch,
        ("cdn.shop.example", datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC), "0ujtsYcg"),
        {"PK": "PICTUREFETCHES", "SK": "cdn.shop.example#2026-06-04T20:28:53Z#0ujtsYcg"},
    ),
    (keys.of_host, ("cdn.shop.example",), "cdn.shop.example#"),
    (keys.after_host, ("cdn.shop.example",), "cdn.shop.example$"),
)


def _order(table: Table, deal: Deal) -> None:
    """A picture waits for its host."""
    fetches.order(table, "cdn.shop.example", deal.deal_id, deal.created_at)


HAPPENS = HAPPENS_TO = (_order,)
NOT_IN_SAMPLE = (keys.FETCH,)
COMMANDS = {
    "Fetch the pictures that deals name": (
        "deals fetch-pictures cdn.shop.example",
        ["GetItem", "Query", "Query", "Query", "Query GSI1"],
    )
}
ELSEWHERE = (
    ("expiry", "sqs", "SendMessageBatch"),
    *(("resizer", "s3", operation) for operation in ("GetObject", "PutObject", "DeleteObject")),
    ("publisher", "s3", "PutObject"),
)


def _send_picture(site: Site, _member: Visitor, _other: Visitor, deal_ids: Sequence[str]) -> None:
    """Give a deal a picture, and take it away."""
    editor, deal_id = site.editor("picturing"), deal_ids[0]
    form = editor.post("/pictures", json={"dealId": deal_id}).json()
    sent = httpx.post(form["url"], data=form["fields"], files={"file": plain_picture()}, trust_env=False)
    assert sent.status_code == 204, sent.text
    assert until(lambda: editor.get(f"/deals/{deal_id}/picture").json()["key"] == form["fields"]["key"])
    assert editor.patch(f"/deals/{deal_id}", json={"picture": None}).json()["picture"] is None


def _fetch_picture(site: Site, _member: Visitor, _other: Visitor, _deal_ids: Sequence[str]) -> None:
    """Name a picture at a private address, which is refused."""
    editor = site.editor("naming")
    deal = editor.post("/deals", json=a_deal(a_brand(editor)) | {"image": "http://localhost/shoe.png"}).json()

    def refused() -> bool:
        Plumbing.of(site).call("Expiry", event("expiry-schedule"))
        return bool(editor.get(f"/deals/{deal['dealId']}/picture").json()["refused"])

    assert until(refused)


USES = (_send_picture, _fetch_picture)

NOT_IN_SAMPLE = (keys.FETCH,)
"""A fetch waits only where a stage allows it, and only for a while."""

PROVEN = {"upload-reaches-the-resizer": ("works", "files made of it: 1")}
