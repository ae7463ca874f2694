"""Pictures: what becomes of a file that an editor sends, and how readers get the files made from it."""

from __future__ import annotations

import base64
import io
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from PIL import Image

from functions.background import publisher, resizer
from functions.pages import pictures as page
from shared import services
from shared.data.catalog import deals, uploads
from shared.data.catalog.deals import to_item
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.services import Bucket
from shared.values import times
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.factories import a_deal
from tests.support.rights import within_rights
from tests.support.surroundings import event, event_of

RED, BLUE = (200, 30, 30), (30, 30, 200)
UPLOAD = "uploads/3F2VM8KqLdHD6qBOm7B4Q0YD0Fs"


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def red(width: int = 40, height: int = 30) -> Image.Image:
    return Image.new("RGB", (width, height), RED)


def from_a_phone() -> bytes:
    """1,600 by 1,200 pixels, red on the left; its camera was held upright, and noted that and where it was."""
    image = red(1600, 1200)
    image.paste(BLUE, (400, 0, 1600, 1200))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned to the right
    exif.get_ifd(0x8825)[1] = "N"
    return encoded(image, "JPEG", exif=exif)


def said_to_be(width: int, height: int) -> bytes:
    """A PNG of a hundred bytes whose header says how large it is."""
    content = bytearray(encoded(red(), "PNG"))
    content[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    return bytes(content)


@pytest.fixture
def bucket(deployed: Table) -> Bucket:
    found = services.connect_bucket("pictures", **FAKE_CREDENTIALS)
    found.client.create_bucket(Bucket=found.name)
    return found


@pytest.fixture
def deal(table: Table) -> Deal:
    return deals.create(table, a_deal(times.now(), brand="g-fore", brand_name="G/Fore"), times.now())


def send(bucket: Bucket, deal: Deal, content: bytes, media_type: str, context: LambdaContext) -> None:
    """Put a file as a form does, and tell the function of it as S3 does."""
    bucket.write(UPLOAD, content, media_type, **{uploads.UPLOADED_FOR: deal.deal_id})
    assert within_rights(resizer)(event("resizer-upload"), context) == {"batchItemFailures": []}


def held(bucket: Bucket) -> list[str]:
    return [each["Key"] for each in bucket.client.list_objects_v2(Bucket=bucket.name).get("Contents", [])]


def test_a_photo_of_a_phone_is_upright_and_says_nothing_of_where_it_was_taken(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext
) -> None:
    send(bucket, deal, from_a_phone(), "image/jpeg", context)

    kept = deals.get(table, deal.deal_id).picture
    assert kept is not None
    assert (kept.width, kept.height, kept.colour[:1]) == (960, 1280, "1")  # three quarters are blue
    assert sorted(held(bucket)) == sorted(kept.files)
    *_, largest = kept.files
    answer = page.handler(event_of(f"/{largest}", headers={"Accept": "image/webp,*/*"}), context)
    made = Image.open(io.BytesIO(base64.b64decode(answer["body"])))
    assert (made.format, made.size, dict(made.getexif()), made.info.get("exif")) == ("WEBP", (960, 1280), {}, None)
    assert made.getpixel((480, 100))[0] > 150 > made.getpixel((480, 1200))[0]  # type: ignore[index]  # it is RGB
    assert answer["multiValueHeaders"]["Cache-Control"] == ["public, max-age=31536000, immutable"]


@pytest.mark.parametrize(
    ("content", "media_type", "said"),
    [
        (said_to_be(20_000, 10_000), "image/png", "more than 40 megapixels"),
        (
            b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
            "image/svg+xml",
            "more than a pict",
        ),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>', "image/svg+xml", "can't be read as a pict"),
        (encoded(red(), "GIF") + b"PK\x05\x06" + bytes(18), "image/gif", "more than a picture"),
        (encoded(red(), "GIF", comment=b"<ScRiPt>alert(1)</script>"), "image/gif", "more than a picture"),
        (encoded(red(), "PNG")[:60], "image/png", "cut off or damaged"),
        (encoded(red(), "TIFF"), "image/tiff", "can't be read as a picture"),
        (bytes(10_000_001), "image/png", "more than 10 MB"),
        (encoded(red(500, 20), "PNG"), "image/png", "too narrow"),
    ],
    ids=["bomb", "script", "svg", "archive", "comment", "broken", "tiff", "large", "narrow"],
)
def test_what_is_no_plain_picture_is_refused_with_its_reason_and_not_kept(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext, content: bytes, media_type: str, said: str
) -> None:
    send(bucket, deal, content, media_type, context)

    now = deals.get(table, deal.deal_id)
    outcome = uploads.outcome_of(now)
    assert (now.picture, held(bucket)) == (None, [])
    assert outcome is not None
    assert outcome.upload == UPLOAD
    assert said in outcome.refused


def test_a_files_format_is_what_its_content_says_whatever_its_sender_says(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext
) -> None:
    send(bucket, deal, encoded(red(), "PNG"), "image/heic", context)

    assert deals.get(table, deal.deal_id).picture is not None


def test_what_is_transparent_becomes_white_and_what_moves_stands_still() -> None:
    clear = Image.new("RGBA", (40, 30), (0, 0, 0, 0))
    moving = encoded(red(), "GIF", save_all=True, append_images=[Image.new("RGB", (40, 30), BLUE)])

    white = uploads.make(encoded(clear, "PNG"), "a")
    still = uploads.make(moving, "a")

    assert white.picture.colour == "ffffff"
    assert getattr(Image.open(io.BytesIO(*still.files.values())), "n_frames", 1) == 1
    assert abs(int(still.picture.colour[:2], 16) - RED[0]) < 10
    assert list(still.files) == list(still.picture.files)


def test_no_two_deals_share_a_picture() -> None:
    same = encoded(red(), "PNG")

    assert uploads.make(same, "a").picture.hash == uploads.make(same, "a").picture.hash
    assert uploads.make(same, "a").picture.hash != uploads.make(same, "b").picture.hash


def test_a_later_picture_stays_and_the_one_before_is_given_up(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext
) -> None:
    send(bucket, deal, encoded(red(), "PNG"), "image/png", context)
    first = deals.get(table, deal.deal_id)
    assert first.picture is not None
    now, sent_at = times.now(), times.to_iso(times.now())
    second = replace(first.picture, hash="0" * 20)

    assert uploads.record_picture(table, deal.deal_id, f"{UPLOAD}z", f"{sent_at[:3]}9{sent_at[4:]}", second, "", now)
    late = uploads.record_picture(table, deal.deal_id, UPLOAD, sent_at, first.picture, "", now)

    after = deals.get(table, deal.deal_id)
    assert (late, after.picture, after.version) == (False, second, first.version + 1)
    publish(first, after, context)
    assert tags_of(bucket, first) == [[{"Key": "replaced", "Value": "yes"}]]


def test_a_picture_that_a_deal_has_again_is_kept_however_late_the_stream_is(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext
) -> None:
    send(bucket, deal, encoded(red(), "PNG"), "image/png", context)
    first = deals.get(table, deal.deal_id)
    assert first.picture is not None
    another, later = replace(first.picture, hash="0" * 20), times.now().year + 1
    second, third = (
        uploads.record_picture(table, deal.deal_id, UPLOAD, f"{later + year}", picture, "", times.now())
        and deals.get(table, deal.deal_id)
        for year, picture in enumerate((another, first.picture))
    )
    assert second
    assert third

    publish(first, second, context)
    late = tags_of(bucket, first)
    for name in first.picture.files:
        bucket.replaced(name)  # as if the record had been worked on just before the deal had it again
    publish(second, third, context)

    assert late == [[]]
    assert tags_of(bucket, third) == [[{"Key": "replaced", "Value": "no"}]]


def publish(old: Deal, new: Deal, context: LambdaContext) -> None:
    """Give the publisher the stream's record of a change."""
    images = (marshal_item(to_item(each, times.now())) for each in (old, new))
    record = {**event("stream-insert")["Records"][0], "eventName": "MODIFY"}
    record["dynamodb"] = {**record["dynamodb"], **dict(zip(("OldImage", "NewImage"), images, strict=True))}
    assert publisher.handler({"Records": [record]}, context) == {"batchItemFailures": []}


def tags_of(bucket: Bucket, deal: Deal) -> list[Any]:
    """The tags of each file of a deal's picture."""
    assert deal.picture is not None
    return [bucket.client.get_object_tagging(Bucket=bucket.name, Key=name)["TagSet"] for name in deal.picture.files]


def test_a_message_that_names_no_upload_is_nothing(bucket: Bucket, context: LambdaContext) -> None:
    test = event("resizer-upload")
    test["Records"][0]["body"] = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"})

    assert resizer.handler(test, context) == {"batchItemFailures": []}
    assert resizer.handler(event("resizer-upload"), context) == {"batchItemFailures": []}  # the upload is gone
