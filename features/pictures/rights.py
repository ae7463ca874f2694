"""The functions of pictures, with their rights to the table and to the bucket's files."""

from __future__ import annotations

from collections.abc import Mapping

from features.pictures.models import PICTURES, UPLOADS
from infra.rights import Access, Right
from infra.rows import Caller, Function
from shared.data import partitions as p

PILLOW = "pictures"
"""An artifact: what ``lean`` has, with Pillow."""

RESIZER: Access = (
    Right("GetItem", (p.DEAL,)),
    Right("UpdateItem", (p.DEAL,), attributes=("Upload", "Picture", "Version", "UpdatedAt", "EditedBy")),
    # Whether the sender is still an editor.
    Right("ConditionCheckItem", (p.USER,), attributes=("AccountId", "Role")),
)
"""It sets a deal's picture, with who did that when: no price, link, index key or other item."""

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
    "publisher": (Right("GetItem", (p.DEAL,), attributes=("Picture",)),)
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

QUEUES = {"uploads": "UploadsUrl"}
"""The queue of uploads, with the stack's output that has its address."""
