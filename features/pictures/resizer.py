"""Make a deal's picture from each upload in the bucket and from each address to fetch, or record why it can't be.

A message may be repeated, and two uploads may come in either order: the deal stores when its last upload was sent, and
an earlier one changes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from features.pictures import fetching, hosts
from features.pictures.data import fetches, making, uploads
from features.pictures.data.fetches import Fetch
from features.pictures.environment import bucket
from features.pictures.fetching import NotNow
from features.pictures.fields import FETCHED
from features.pictures.models import MAX_UPLOAD, MEDIA_TYPES, UPLOADS, Picture, Refused
from shared.data.catalog import deals
from shared.errors import NoSuchDeal
from shared.runtime.batches import each_message
from shared.runtime.environment import logger, table
from shared.values import times
from shared.values.times import to_iso

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord


def resize(record: SQSRecord) -> None:
    """Process the uploads that an S3 message names, or a fetch. S3's test message names none.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
    """
    message = json.loads(record.body)
    if "fetch" in message:
        fetch(Fetch.from_json(record.body))
    for notification in message.get("Records", []):
        make(unquote_plus(notification["s3"]["object"]["key"]))


handler = each_message(resize)


def make(upload: str) -> None:
    """Make an upload's picture, give it to its deal, and delete the upload."""
    file = bucket().read(upload, MAX_UPLOAD)
    if file is None:
        logger().info("upload gone", upload=upload)
        return
    deal_id, by = file.noted.get(uploads.UPLOADED_FOR, ""), file.noted.get(uploads.UPLOADED_BY)
    account_id = file.noted.get(uploads.UPLOADER)
    picture, refused = _made(file.content, deal_id)
    _record(deal_id, upload, file.at, picture, refused, by=by, account_id=account_id)
    bucket().remove(upload)
    logger().info("picture made" if picture else "picture refused", deal_id=deal_id, upload=upload, reason=refused)


def fetch(asked: Fetch) -> None:
    """Fetch the picture that a deal names, and give it to the deal. What may succeed later is left for the clock."""
    found = deals.get_many(table(), [asked.deal_id], consistent=True)
    deal = next((each for each in found if fetches.is_wanted(each, times.now())), None)
    if deal is None or deal.image is None or hosts.host_of(deal.image) != asked.host:
        fetches.done(table(), asked)
        return
    picture: Picture | None = None
    try:
        content = fetching.fetch(deal.image, hosts.of_stage())
    except Refused as error:
        refused = str(error)
    except NotNow as error:
        if not asked.is_last:
            logger().info("picture not fetched yet", deal_id=deal.deal_id, attempt=asked.attempts, reason=str(error))
            return
        refused = str(error)
    else:
        picture, refused = _made(content, deal.deal_id)
    _record(deal.deal_id, f"{UPLOADS}{FETCHED}", to_iso(asked.ordered_at), picture, refused)
    fetches.done(table(), asked)
    logger().info("picture fetched" if picture else "picture refused", deal_id=deal.deal_id, reason=refused)


def _made(content: bytes, deal_id: str) -> tuple[Picture | None, str]:
    """A picture made of a file, with its files in the bucket; or None, and the reason."""
    try:
        made = making.make(content, deal_id)
    except Refused as error:
        return None, str(error)
    for name, file in made.files.items():
        bucket().write(name, file, MEDIA_TYPES[".webp"])
    return made.picture, ""


def _record(deal_id: str, upload: str, sent_at: str, picture: Picture | None, refused: str, **sender: Any) -> None:
    """Give a deal its picture or the reason; files that it doesn't take are deleted."""
    try:
        kept = uploads.record_picture(table(), deal_id, upload, sent_at, picture, refused, times.now(), **sender)
    except NoSuchDeal:
        kept = False
    if picture and not kept and not uploads.is_picture_shown(table(), deal_id, picture):
        for name in picture.files:
            bucket().replaced(name)
