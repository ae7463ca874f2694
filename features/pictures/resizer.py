"""Make a deal's picture from each upload in the bucket, or record why it can't be.

A message may be repeated, and two uploads may come in either order: the deal stores when its last upload was sent, and
an earlier one changes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from features.pictures.data import making, uploads
from features.pictures.models import BUCKET, MAX_UPLOAD, MEDIA_TYPES, Refused
from shared.errors import NoSuchDeal
from shared.runtime.batches import each_message
from shared.runtime.environment import bucket, logger, table
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord


def resize(record: SQSRecord) -> None:
    """Process the uploads that an S3 message names. S3's test message names none.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
    """
    for notification in json.loads(record.body).get("Records", []):
        make(unquote_plus(notification["s3"]["object"]["key"]))


handler = each_message(resize)


def make(upload: str) -> None:
    """Make an upload's picture, give it to its deal, and delete the upload."""
    file = bucket(BUCKET).read(upload, MAX_UPLOAD)
    if file is None:
        logger().info("upload gone", upload=upload)
        return
    deal_id, by = file.noted.get(uploads.UPLOADED_FOR, ""), file.noted.get(uploads.UPLOADED_BY)
    account_id = file.noted.get(uploads.UPLOADER)
    try:
        made = making.make(file.content, deal_id)
    except Refused as error:
        picture, refused = None, str(error)
    else:
        picture, refused = made.picture, ""
        for name, content in made.files.items():
            bucket(BUCKET).write(name, content, MEDIA_TYPES[".webp"])
    try:
        kept = uploads.record_picture(
            table(), deal_id, upload, file.at, picture, refused, times.now(), by=by, account_id=account_id
        )
    except NoSuchDeal:
        kept = False
    if picture and not kept and not uploads.is_picture_shown(table(), deal_id, picture):
        for name in picture.files:
            bucket(BUCKET).replaced(name)
    bucket(BUCKET).remove(upload)
    logger().info("picture made" if picture else "picture refused", deal_id=deal_id, upload=upload, reason=refused)
