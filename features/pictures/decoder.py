"""The child process that makes a picture of an upload: checked, upright, without metadata, in three widths.

``python -m features.pictures.decoder`` reads a file, and writes the picture's parts as JSON (for
``features/pictures/data/making.py``). An upload is hostile: this process has limits of processor time and memory, no
credentials, can open nothing, and can break without harm.
"""

from __future__ import annotations

import base64
import io
import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from PIL import Image, UnidentifiedImageError
from PIL.Image import Transpose

from features.isolation.confinement import confine
from features.pictures.models import TOO_SLOW, UNREADABLE, WIDTHS, Refused, widths

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF")
"""The only Pillow decoders that see an upload. JPEG's also takes a file with several pictures (MPO)."""

NEEDED = (
    "PIL.AvifImagePlugin", "PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.MpoImagePlugin", "PIL.PngImagePlugin",
    "PIL.TiffImagePlugin", "PIL.WebPImagePlugin", "copy",
)  # fmt: skip
"""Modules that Pillow would import when it needs them, which is too late. Tiff reads EXIF, and GIF copies."""

MOST_PIXELS = 40_000_000
"""Making a picture takes about ten bytes a pixel. Phones send 12 megapixels by default."""

MOST_SCANS = 100
"""Passes over a progressive JPEG. Encoders make about ten; each takes as long as a whole picture."""

TALLEST = 4
"""The highest ratio of a picture's sides: a card cuts it to its own shape."""

ENOUGH = 4 * WIDTHS[-1]
"""Pixels of the longer side that the widest file of the tallest picture needs; larger pictures are reduced first."""

QUALITY = 80

_ORIENTATION = 0x0112
_TURNS = {
    2: Transpose.FLIP_LEFT_RIGHT, 3: Transpose.ROTATE_180, 4: Transpose.FLIP_TOP_BOTTOM, 5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270, 7: Transpose.TRANSVERSE, 8: Transpose.ROTATE_90,
}  # fmt: skip
"""How to turn a picture upright, by its camera's note in EXIF."""

_OTHERS = re.compile(rb"<script|<html|<!doctype|<\?php|%PDF-", re.IGNORECASE)
"""The beginnings of documents and programs. A file that is also one of these, a polyglot, isn't from a camera."""

_END_OF_ARCHIVE, _ITS_PLACE = b"PK\x05\x06", 65_557
"""The end record of a ZIP archive, and its maximum distance from a file's end, where readers look for it."""

_START_OF_JPEG, _END_OF_JPEG, _SCAN = b"\xff\xd8\xff", b"\xd9", b"\xda"
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
"""A marker of a JPEG file outside its compressed data."""

_HEIC = re.compile(rb".{4}ftyp(hei[cxms]|hev[cxms]|mif[12]|msf1)(?!.{,48}avif)", re.DOTALL)


_TOO_MUCH_MEMORY = "It takes too much memory to read. Make it smaller."
_TOO_LARGE = f"It has more than {MOST_PIXELS // 1_000_000} megapixels."
BROKEN = "It is cut off or damaged: not all of it can be read."
_MORE = "It is more than a picture: a document, a program, an archive or something else is in the file, too."
_PHONES = "It is HEIC, which most browsers can't show. Send it as JPEG: an iPhone calls that “Most Compatible”."


def main() -> None:
    """Make a picture of the file on standard input."""
    for name in NEEDED:
        import_module(name)
    Image.preinit()
    confine()
    print(json.dumps(decode(sys.stdin.buffer.read())))


def decode(content: bytes) -> dict[str, Any]:
    """A picture's size, dominant colour and files, or the reason why it is refused."""
    try:
        return _made(content)
    except Refused as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": _TOO_MUCH_MEMORY}
    except Exception:  # noqa: BLE001  # Pillow raises errors of many kinds for what is broken
        return {"refused": UNREADABLE}


def _made(content: bytes) -> dict[str, Any]:
    image = _upright(_open_image(content))
    made = {width: _webp(image, width) for width in widths(image.width)}
    largest = max(made)
    width = min(largest, image.width)
    return {
        "size": (width, max(1, round(image.height * width / image.width))),
        "colour": _dominant(image),
        "files": [base64.b64encode(each).decode() for each in made.values()],
    }


def _open_image(content: bytes) -> Image.Image:
    """Check a file's first bytes, then read its first frame whole. Raises Refused."""
    if _HEIC.match(content):
        raise Refused(_PHONES)
    if _OTHERS.search(content) or _END_OF_ARCHIVE in content[-_ITS_PLACE:]:
        raise Refused(_MORE)
    try:
        image = Image.open(io.BytesIO(content), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise Refused(_TOO_LARGE) from error
    except UnidentifiedImageError as error:
        raise Refused(UNREADABLE) from error
    if image.width * image.height > MOST_PIXELS:
        raise Refused(_TOO_LARGE)
    if max(image.size) > TALLEST * min(image.size):
        raise Refused(f"It is {image.width} by {image.height} pixels: too narrow to be shown.")
    try:
        end = _ENDS[image.format or ""](content)
        image.draft("RGB", (ENOUGH, ENOUGH))  # decode a JPEG at a fraction of its size, in a fraction of the memory
        image.load()
    except (OSError, SyntaxError, ValueError, IndexError, RuntimeError) as error:
        raise Refused(BROKEN) from error
    if not (_is_cameras if image.format in ("JPEG", "MPO") else _is_empty)(content[end:]):
        raise Refused(_MORE)
    return image


def _end_of_jpeg(content: bytes) -> int:
    """The position after a JPEG file's first picture. Raises Refused for one with very many scans."""
    place, scans = len(_START_OF_JPEG) - 1, 0
    while found := _MARKER.search(content, place):
        place, scans = found.end(), scans + (found[1] == _SCAN)
        if found[1] == _END_OF_JPEG:
            return place
        if scans > MOST_SCANS:
            raise Refused(TOO_SLOW)
        place += int.from_bytes(content[place : place + 2])
    return len(content)


def _end_of_png(content: bytes) -> int:
    """The position after the chunk IEND."""
    place, kind = 8, b""
    while place < len(content) and kind != b"IEND":
        kind = content[place + 4 : place + 8]
        place += 12 + int.from_bytes(content[place : place + 4])
    return place


def _end_of_gif(content: bytes) -> int:
    """The position after the trailer. Raises IndexError without one."""
    place = 13 + _colours(content[10])
    while content[place] in b"!,":
        place += 2 if content[place] == ord("!") else 11 + _colours(content[place + 9])
        while content[place]:
            place += content[place] + 1
        place += 1
    return place + 1


def _colours(flags: int) -> int:
    """Bytes of a GIF's colour table."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _end_of_webp(content: bytes) -> int:
    return 8 + int.from_bytes(content[4:8], "little")


def _end_of_boxes(content: bytes) -> int:
    """The position after the last whole box of an ISO media file: AVIF, and the video that some phones append."""
    place = 0
    while content[place + 4 : place + 8].isalnum():
        size = int.from_bytes(content[place : place + 4])
        if size == 1:
            size = int.from_bytes(content[place + 8 : place + 16])
        if not 8 <= size <= len(content) - place:
            break
        place += size
    return place


_ENDS: dict[str, Callable[[bytes], int]] = {
    "JPEG": _end_of_jpeg, "MPO": _end_of_jpeg, "PNG": _end_of_png, "WEBP": _end_of_webp, "GIF": _end_of_gif,
    "AVIF": _end_of_boxes,
}  # fmt: skip


def _is_empty(rest: bytes) -> bool:
    return not rest.strip(b"\0")


def _is_cameras(rest: bytes) -> bool:
    """Whether cameras append this to a JPEG: more pictures (MPO), a video, Samsung's notes, zeros, or nothing.

    https://developer.android.com/media/platform/motion-photo-format
    """
    while content := rest.lstrip(b"\0"):
        zeros = len(rest) - len(content)
        if content.startswith(_START_OF_JPEG):
            rest = content[_end_of_jpeg(content) :]
        elif (at := rest.find(b"ftyp", 4, zeros + 8)) > 0 and (end := _end_of_boxes(rest[at - 4 :])):
            rest = rest[at - 4 + end :]
        else:
            return 0 <= _samsungs(rest) <= zeros
    return True


def _samsungs(rest: bytes) -> int:
    """The start of Samsung's blocks, according to the directory at their end; -1 if there is none."""
    length = int.from_bytes(rest[-8:-4], "little")
    directory = rest[-8 - length : -8]
    places = [int.from_bytes(directory[at + 4 : at + 8], "little") for at in range(12, len(directory) - 11, 12)]
    if not (rest.endswith(b"SEFT") and directory.startswith(b"SEFH") and places):
        return -1
    return len(rest) - 8 - length - max(places)


def _upright(image: Image.Image) -> Image.Image:
    """An image for display: turned as its camera noted, on white if it is transparent, in plain RGB."""
    turn: Transpose | None = None
    with suppress(Exception):  # EXIF is broken in more ways than Pillow knows
        turn = _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    if image.mode.startswith("I"):  # 16 bits of grey, of which Pillow takes all above 255 for white
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    whole = image if image.mode in ("RGB", "RGBA") else image.convert("RGBA")
    whole.thumbnail((ENOUGH, ENOUGH))
    turned = (whole if turn is None else whole.transpose(turn)).convert("RGBA")
    ground = Image.new("RGBA", turned.size, "white")
    ground.alpha_composite(turned)
    return ground.convert("RGB")


def _webp(image: Image.Image, width: int) -> bytes:
    """An image at a width, or its own if that is less, without metadata."""
    smaller = min(width, image.width)
    size = smaller, max(1, round(image.height * smaller / image.width))
    file = io.BytesIO()
    image.resize(size, Image.Resampling.LANCZOS).save(file, "WEBP", quality=QUALITY, method=4)
    return file.getvalue()


def _dominant(image: Image.Image) -> str:
    """The most frequent of eight colours."""
    few = image.resize((64, 64)).quantize(8)
    _, index = max(few.getcolors() or [(0, 0)])
    palette = few.getpalette() or [255, 255, 255]
    return bytes(palette[3 * int(str(index)) :][:3]).hex()


if __name__ == "__main__":
    main()
