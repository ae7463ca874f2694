"""The functions of pictures, with their rights to the table and to the bucket's files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from features.pictures.hosts import EVERY_HOST
from features.pictures.keys import FETCH
from features.pictures.models import PICTURES, UPLOADS
from infra.rights import Access, Right
from infra.rows import Caller, Function
from infra.stage import Option
from shared.data import partitions as p

PILLOW = "pictures"
"""An artifact: what ``lean`` has, with Pillow."""

_HOST = re.compile(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPictures(Option):
    """Fetch the pictures that deals name from these hosts: names such as ``cdn.shop.example``, ``*.shop.example`` for
    all below one, or ``*`` for every host. Read *Pictures of others* in ``features/pictures/README.md`` first."""

    hosts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.hosts or not all(each == EVERY_HOST or _HOST.fullmatch(each) for each in self.hosts):
            raise ValueError("hosts must be names in lower case (cdn.shop.example), *.shop.example, or * for all.")


STAGES: Mapping[str, tuple[FetchedPictures, ...]] = {"local": (FetchedPictures(hosts=("localhost",)),)}
"""On the laptop only from itself, which is a private address and refused: it asks no other host for anything."""

_FETCHES = p.of(FETCH)

RESIZER: Access = (
    Right("GetItem", (p.DEAL,)),
    Right("UpdateItem", (p.DEAL,), attributes=("Upload", "Picture", "Version", "UpdatedAt", "EditedBy")),
    # Whether the sender is still an editor.
    Right("ConditionCheckItem", (p.USER,), attributes=("AccountId", "Role")),
    Right("BatchGetItem", (p.DEAL,)),
    Right("DeleteItem", (_FETCHES,)),
)
"""It sets a deal's picture, with who did that when, and removes fetches that are done: no price, link, index key or
other item."""

FUNCTIONS = (
    Function(name="pictures", access=(), pages="/pictures", never_changes=True),
    Function(
        name="resizer",
        access=RESIZER,
        caller=Caller.EVENTS,
        artifact=PILLOW,
        timeout=60,
        memory=1769,
        because="A picture of 40 megapixels takes 500 MB, and a whole processor for two seconds.",
    ),
)

MORE: Mapping[str, Access] = {
    # Whether a deal has a picture again that a record says was replaced.
    "publisher": (Right("GetItem", (p.DEAL,), attributes=("Picture",)), Right("PutItem", (_FETCHES,))),
    "expiry": (Right("Query", (_FETCHES,)), Right("PutItem", (_FETCHES,)), Right("DeleteItem", (_FETCHES,))),
}
"""The rights of other functions for pictures, by name."""

ROUTES = (("editors", "signed in", "GET /deals/{dealId}/picture", "POST /pictures"),)
"""The API's routes: the function, who may call, then methods and paths (``infra/functions.py``)."""

SENDS = (("s3:PutObject", UPLOADS),)
"""The right of the signer of an upload form."""

FILES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "editors": SENDS,
    "desk": SENDS,
    "pictures": (("s3:GetObject", PICTURES),),
    # It tags unused pictures. No function may delete one: the bucket does, some time later.
    "publisher": (("s3:PutObjectTagging", PICTURES),),
    "resizer": (
        *(("s3:GetObject", UPLOADS), ("s3:DeleteObject", UPLOADS)),
        *(("s3:PutObject", PICTURES), ("s3:PutObjectTagging", PICTURES)),
    ),
}
"""Rights to the bucket, by function: S3 operations, each on one folder."""

WORST = {f"{FETCH}.Type": "have pictures fetched that deals name"}
"""What someone who may write these could do at worst."""

QUEUES = {"uploads": "UploadsUrl"}
"""The queue of uploads, with the stack's output that has its address."""
