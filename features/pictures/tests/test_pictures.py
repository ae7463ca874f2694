"""Pictures: what becomes of a file that an editor sends, honest or hostile, and how readers get what is made of it."""

from __future__ import annotations

import base64
import io
import json
import os
import struct
import subprocess
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from PIL import Image, features
from PIL.Image import Transpose

from features.isolation.children import Limits
from features.pictures import decoder, resizer
from features.pictures import pictures as page
from features.pictures import sample as drawings
from features.pictures.data import making, uploads
from features.pictures.data.bucket import Bucket, connect
from features.pictures.data.making import LIMITS
from features.pictures.models import TOO_SLOW, UNREADABLE, Picture, Refused
from functions.background import publisher
from local import sample
from shared.data.catalog import deals
from shared.data.catalog.deals import to_item
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import times
from tests.functions.conftest import context, deployed, lines, queue, table  # noqa: F401  # fixtures
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.factories import a_deal
from tests.support.rights import within_rights
from tests.support.surroundings import event, event_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:PIL")  # it warns of odd notes

RED, BLUE, GREEN = (200, 30, 30), (30, 30, 200), (30, 160, 30)
UPLOAD = "uploads/3F2VM8KqLdHD6qBOm7B4Q0YD0Fs"


def encoded(image: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
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
    found = connect("pictures", **FAKE_CREDENTIALS)
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

    kept = deals.get(table, deal.deal_id).own(Picture)
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
    assert (now.own(Picture), held(bucket)) == (None, [])
    assert outcome is not None
    assert outcome.upload == UPLOAD
    assert said in outcome.refused


def test_a_files_format_is_what_its_content_says_whatever_its_sender_says(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext
) -> None:
    send(bucket, deal, encoded(red(), "PNG"), "image/heic", context)

    assert deals.get(table, deal.deal_id).own(Picture) is not None


def test_what_is_transparent_becomes_white_and_what_moves_stands_still() -> None:
    clear = Image.new("RGBA", (40, 30), (0, 0, 0, 0))
    moving = encoded(red(), "GIF", save_all=True, append_images=[Image.new("RGB", (40, 30), BLUE)])

    white = making.make(encoded(clear, "PNG"), "a")
    still = making.make(moving, "a")

    assert white.picture.colour == "ffffff"
    assert getattr(Image.open(io.BytesIO(*still.files.values())), "n_frames", 1) == 1
    assert abs(int(still.picture.colour[:2], 16) - RED[0]) < 10
    assert list(still.files) == list(still.picture.files)


def test_no_two_deals_share_a_picture() -> None:
    same = encoded(red(), "PNG")

    assert making.make(same, "a").picture.hash == making.make(same, "a").picture.hash
    assert making.make(same, "a").picture.hash != making.make(same, "b").picture.hash


def test_a_later_picture_stays_and_the_one_before_is_given_up(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext
) -> None:
    send(bucket, deal, encoded(red(), "PNG"), "image/png", context)
    first = deals.get(table, deal.deal_id)
    shown = first.own(Picture)
    assert shown is not None
    now, sent_at = times.now(), times.to_iso(times.now())
    second = shown._replace(hash="0" * 20)

    assert uploads.record_picture(table, deal.deal_id, f"{UPLOAD}z", f"{sent_at[:3]}9{sent_at[4:]}", second, "", now)
    late = uploads.record_picture(table, deal.deal_id, UPLOAD, sent_at, shown, "", now)

    after = deals.get(table, deal.deal_id)
    assert (late, after.own(Picture), after.version) == (False, second, first.version + 1)
    publish(first, after, context)
    assert tags_of(bucket, first) == [[{"Key": "replaced", "Value": "yes"}]]


def test_a_picture_that_a_deal_has_again_is_kept_however_late_the_stream_is(
    bucket: Bucket, deal: Deal, table: Table, context: LambdaContext
) -> None:
    send(bucket, deal, encoded(red(), "PNG"), "image/png", context)
    first = deals.get(table, deal.deal_id)
    shown = first.own(Picture)
    assert shown is not None
    another, later = shown._replace(hash="0" * 20), times.now().year + 1
    second, third = (
        uploads.record_picture(table, deal.deal_id, UPLOAD, f"{later + year}", picture, "", times.now())
        and deals.get(table, deal.deal_id)
        for year, picture in enumerate((another, shown))
    )
    assert second
    assert third

    publish(first, second, context)
    late = tags_of(bucket, first)
    for name in shown.files:
        bucket.replaced(name)  # as if the record had been worked on just before the deal had it again
    publish(second, third, context)

    assert late == [[]]
    assert tags_of(bucket, third) == [[{"Key": "replaced", "Value": "no"}]]


def publish(old: Deal | None, new: Deal, context: LambdaContext) -> None:
    """Give the publisher the stream's record of a change."""
    images = {
        name: marshal_item(to_item(each, times.now())) for name, each in (("OldImage", old), ("NewImage", new)) if each
    }
    record = {**event("stream-insert")["Records"][0], "eventName": "MODIFY" if old else "INSERT"}
    record["dynamodb"] = {**record["dynamodb"], "ApproximateCreationDateTime": times.now().timestamp(), **images}
    assert publisher.handler({"Records": [record]}, context) == {"batchItemFailures": []}


def tags_of(bucket: Bucket, deal: Deal) -> list[Any]:
    """The tags of each file of a deal's picture."""
    shown = deal.own(Picture)
    assert shown is not None
    return [bucket.client.get_object_tagging(Bucket=bucket.name, Key=name)["TagSet"] for name in shown.files]


def test_a_message_that_names_no_upload_is_nothing(bucket: Bucket, context: LambdaContext) -> None:
    test = event("resizer-upload")
    test["Records"][0]["body"] = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"})

    assert resizer.handler(test, context) == {"batchItemFailures": []}
    assert resizer.handler(event("resizer-upload"), context) == {"batchItemFailures": []}  # the upload is gone


FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF")
MORE = "more than a picture"

each_format = pytest.mark.parametrize("kind", FORMATS)


def plain(colour: Any = RED, mode: str = "RGB", size: tuple[int, int] = (64, 48)) -> Image.Image:
    return Image.new(mode, size, colour)


def scene() -> Image.Image:
    """Wider than high: red, with blue in the upper left corner and green in the upper right one."""
    image = plain(size=(240, 160))
    image.paste(BLUE, (0, 0, 80, 80))
    image.paste(GREEN, (160, 0, 240, 80))
    return image


def made(content: bytes) -> Image.Image:
    """The largest picture that is made of a file."""
    answer = decoder.decode(content)
    assert "refused" not in answer, answer
    image = Image.open(io.BytesIO(base64.b64decode(answer["files"][-1])))
    image.load()
    assert (image.format, list(image.size), dict(image.getexif())) == ("WEBP", list(answer["size"]), {})
    return image.convert("RGB")


def refusal(content: bytes) -> str:
    return str(decoder.decode(content).get("refused", ""))


def looks_like(found: Any, colour: tuple[int, ...]) -> bool:
    return all(abs(one - other) < 25 for one, other in zip(found, colour, strict=True))


def is_red(image: Image.Image) -> bool:
    return looks_like(image.getpixel((image.width // 2, image.height // 2)), RED)


def is_the_scene(image: Image.Image) -> bool:
    places = {(40, 40): BLUE, (200, 40): GREEN, (120, 120): RED}
    return image.size == (240, 160) and all(looks_like(image.getpixel(at), colour) for at, colour in places.items())


# What cameras note in EXIF

HELD = {
    1: None, 2: Transpose.FLIP_LEFT_RIGHT, 3: Transpose.ROTATE_180, 4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE, 6: Transpose.ROTATE_90, 7: Transpose.TRANSVERSE, 8: Transpose.ROTATE_270,
}  # fmt: skip
"""How a camera that is held so sees the scene."""

SHORT, ASCII, LONG, RATIONAL, UNDEFINED = 3, 2, 4, 5, 7
ORIENTATION, SOFTWARE, RESOLUTION, GPS = 0x0112, 0x0131, 0x011A, 0x8825


def exif(*entries: tuple[int, int, int, bytes]) -> bytes:
    """EXIF with these entries: tag, type, count, and four bytes, which are a value or say where it is."""
    packed = b"".join(struct.pack(">HHI", *entry[:3]) + entry[3] for entry in entries)
    return b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">H", len(entries)) + packed + bytes(4)


def orientation_note(orientation: int) -> tuple[int, int, int, bytes]:
    return ORIENTATION, SHORT, 1, struct.pack(">HH", orientation, 0)


@pytest.mark.parametrize("orientation", HELD)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_picture_stands_upright_however_its_camera_was_held(orientation: int, kind: str) -> None:
    turn = HELD[orientation]
    seen = scene() if turn is None else scene().transpose(turn)

    assert is_the_scene(made(encoded(seen, kind, exif=exif(orientation_note(orientation)))))


@pytest.mark.parametrize(
    "entry",
    [
        (SOFTWARE, SHORT, 1, b"\0\x07\0\0"),
        (SOFTWARE, UNDEFINED, 4, b"\xff\xfe\0\x01"),
        (SOFTWARE, ASCII, 4_000_000_000, b"\0\0\0\x20"),
        (SOFTWARE, 99, 1, bytes(4)),
        (RESOLUTION, ASCII, 4, b"72/1"),
        (RESOLUTION, RATIONAL, 1, b"\x7f\xff\xff\xff"),
        (GPS, ASCII, 4, b"here"),
        (GPS, LONG, 1, b"\0\0\0\x08"),
    ],
)
def test_odd_notes_of_a_camera_change_nothing(entry: tuple[int, int, int, bytes]) -> None:
    turned = scene().transpose(Transpose.ROTATE_90)

    assert is_the_scene(made(encoded(turned, exif=exif(orientation_note(6), entry))))


@pytest.mark.parametrize(
    "entry",
    [
        (ORIENTATION, ASCII, 4, b"six\0"),
        (ORIENTATION, UNDEFINED, 4, b"\xff\xff\xff\xff"),
        (ORIENTATION, RATIONAL, 1, b"\x7f\xff\xff\xff"),
        orientation_note(0),
        orientation_note(9),
        orientation_note(65_535),
    ],
)
def test_a_picture_whose_orientation_is_odd_stays_as_it_is(entry: tuple[int, int, int, bytes]) -> None:
    assert is_the_scene(made(encoded(scene(), exif=exif(entry))))


def test_of_two_orientations_the_first_counts() -> None:
    turned = scene().transpose(Transpose.ROTATE_90)

    assert is_the_scene(made(encoded(turned, exif=exif((ORIENTATION, SHORT, 2, struct.pack(">HH", 6, 1))))))


@pytest.mark.parametrize("notes", [b"Exif\0\0", b"Exif\0\0MM\0*\xff\xff\xff\xff", b"Exif\0\0nonsense", exif()[:-5]])
def test_notes_that_are_cut_off_change_nothing(notes: bytes) -> None:
    assert is_the_scene(made(encoded(scene(), exif=notes)))


# Kinds of pictures


def in_two(image: Image.Image) -> bytes:
    """A JPEG with a second picture inside, as phones write them (MPO)."""
    return encoded(image, "MPO", save_all=True, append_images=[plain(BLUE)])


def moving(kind: str) -> bytes:
    return encoded(plain(), kind, save_all=True, append_images=[plain(BLUE)], duration=100)


@pytest.mark.parametrize(
    "content",
    [
        *(encoded(plain(), kind) for kind in FORMATS),
        in_two(plain()),
        *(moving(kind) for kind in FORMATS if kind != "JPEG"),
        encoded(plain(), progressive=True),
        encoded(plain((0, 217, 217, 55), "CMYK")),
        encoded(plain((*RED, 255), "RGBA"), "PNG"),
        encoded(plain().quantize(4), "PNG", transparency=3),
    ],
)
def test_what_cameras_and_programs_write_becomes_a_picture(content: bytes) -> None:
    assert is_red(made(content))


@pytest.mark.parametrize("grey", [0, 30_000, 65_535])
def test_sixteen_bits_of_grey_keep_their_shade(grey: int) -> None:
    found = made(encoded(plain(grey, "I;16"), "PNG")).getpixel((5, 5))

    assert looks_like(found, (grey // 256,) * 3)


@pytest.mark.parametrize("brand", [b"heic", b"heix", b"hevc", b"mif1", b"msf1"])
def test_heic_is_refused_in_words(brand: bytes) -> None:
    content = struct.pack(">I", 24) + b"ftyp" + brand + bytes(4) + b"mif1heic" + bytes(500)

    assert "HEIC" in refusal(content)


def test_avif_is_not_taken_for_heic() -> None:
    content = encoded(plain(), "AVIF").replace(b"ftypavif", b"ftypmif1", 1)

    assert features.check("avif")
    assert "HEIC" not in refusal(content)


@each_format
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_what_is_cut_off_is_refused(kind: str, share: float) -> None:
    noise = Image.effect_noise((300, 200), 90).convert("RGB")
    whole = encoded(noise, kind)

    assert refusal(whole[: int(len(whole) * share)]) in (decoder.BROKEN, UNREADABLE)


# What follows a picture in its file


def in_a_tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("evil.sh"))
    return file.getvalue()


SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(range(256))
APPENDED = {
    "7z": SEVEN_ZIP,
    "tar": in_a_tar(),
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "zip": b"PK\x05\x06" + bytes(18),
    "pdf": b"%PDF-1.7",
    "text": b"x",
}


def a_video() -> bytes:
    """The boxes of a video, as a motion photo has them."""
    boxes = ((b"ftyp", b"mp42" + bytes(4)), (b"free", b""), (b"mdat", bytes(range(256)) * 9))
    return b"".join(struct.pack(">I", 8 + len(body)) + name + body for name, body in boxes)


def of_samsung(block: bytes = b"1718000000000") -> bytes:
    """What Samsung's phones append: a block, and a directory that says where it is."""
    name = b"Image_UTC_Data"
    data = b"\0\0\x01\x0a" + struct.pack("<I", len(name)) + name + block
    directory = b"SEFH" + struct.pack("<II", 107, 1) + b"\0\0\x01\x0a" + struct.pack("<II", len(data), len(data))
    return data + directory + struct.pack("<I", len(directory)) + b"SEFT"


OF_CAMERAS = {
    "nothing": b"",
    "zeros": bytes(100),
    "picture": encoded(plain(BLUE)),
    "pictures": bytes(7) + encoded(plain(BLUE)) + encoded(plain(GREEN), progressive=True),
    "video": a_video(),
    "video after zeros": bytes(9) + a_video(),
    "samsung": of_samsung(),
    "samsung's video": bytes(2) + of_samsung(a_video()),
    "all": encoded(plain(BLUE)) + a_video() + of_samsung(),
}


@each_format
@pytest.mark.parametrize("name", APPENDED)
def test_what_is_appended_to_a_picture_is_refused(kind: str, name: str) -> None:
    assert MORE in refusal(encoded(plain(), kind) + APPENDED[name])


@pytest.mark.parametrize("name", OF_CAMERAS)
def test_what_cameras_append_is_left_out(name: str) -> None:
    assert is_red(made(encoded(plain()) + OF_CAMERAS[name]))


@pytest.mark.parametrize("name", OF_CAMERAS)
@pytest.mark.parametrize("hidden", ["7z", "tar", "svg"])
def test_nothing_hides_behind_what_cameras_append(name: str, hidden: str) -> None:
    assert MORE in refusal(encoded(plain()) + OF_CAMERAS[name] + APPENDED[hidden])


def test_nothing_hides_before_samsungs_notes() -> None:
    assert MORE in refusal(encoded(plain()) + SEVEN_ZIP + of_samsung())


def test_two_pictures_in_one_and_an_archive_are_refused() -> None:
    assert MORE in refusal(in_two(plain()) + SEVEN_ZIP)


# Limits


def with_scans(image: Image.Image, times: int) -> bytes:
    """A progressive JPEG whose last scan comes many times more."""
    content = encoded(image, progressive=True)
    head, last, end = content[: content.rindex(b"\xff\xda")], content[content.rindex(b"\xff\xda") : -2], content[-2:]
    return head + last * (1 + times) + end


def test_thousands_of_scans_are_refused_before_any_is_read() -> None:
    assert refusal(with_scans(plain(), 100_000)) == TOO_SLOW
    assert is_red(made(with_scans(plain(), 50)))


@pytest.mark.parametrize(
    ("content", "limits", "said"),
    [
        (lambda: with_scans(plain(size=(6000, 6000)), 90), replace(LIMITS, processor=1), TOO_SLOW),
        (lambda: encoded(plain()), replace(LIMITS, silence=0.001), TOO_SLOW),
        (
            lambda: encoded(plain((*RED, 99), "RGBA", (6000, 6000)), "PNG"),
            replace(LIMITS, memory=300_000_000),
            "memory",
        ),
    ],
    ids=["processor", "deadline", "memory"],
)
def test_what_takes_too_much_is_refused(content: Callable[[], bytes], limits: Limits, said: str) -> None:
    with pytest.raises(Refused, match=said):
        making.make(content(), "a", limits)


def test_the_largest_picture_is_within_the_limits() -> None:
    largest = encoded(plain((0, 217, 217, 55), "CMYK", (8000, 5000)))

    assert making.make(largest, "a").picture.width == 960


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets a shell's commands run in place of the decoder."""

    def replace(commands: str) -> None:
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{commands}\n")
        program.chmod(0o755)
        monkeypatch.setattr("sys.executable", str(program))

    return replace


@pytest.mark.parametrize(("signal", "said"), [("SEGV", UNREADABLE), ("ABRT", UNREADABLE), ("KILL", TOO_SLOW)])
def test_a_file_that_breaks_the_decoder_is_refused(child: Callable[[str], None], signal: str, said: str) -> None:
    child(f"kill -{signal} $$")

    with pytest.raises(Refused) as refused:
        making.make(encoded(plain()), "a")

    assert str(refused.value) == said


def test_a_decoder_that_cannot_start_is_no_fault_of_the_file(child: Callable[[str], None]) -> None:
    child("exit 1")

    with pytest.raises(subprocess.CalledProcessError):
        making.make(encoded(plain()), "a")


def test_the_decoder_gets_no_credentials(child: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    child("""printf '{"refused": "%s"}\\n' "$(env | cut -d= -f1 | tr '\\n' ' ')" """)

    with pytest.raises(Refused) as refused:
        making.make(encoded(plain()), "a")

    assert "PATH" in str(refused.value)
    assert not [name for name in str(refused.value).split() if name.startswith("AWS")]
    assert "AWS_SECRET_ACCESS_KEY" in os.environ


def test_each_product_of_the_sample_has_a_drawing_which_is_its_deals_picture(bucket: Bucket) -> None:
    now = times.now()

    drawn = [drawings.draw(bucket, deal).own(Picture) for deal in sample.read(now)]

    assert {name for picture in drawn if picture for name in picture.files} == {*held(bucket)}
    assert all(drawn)
