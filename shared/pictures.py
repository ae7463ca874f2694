"""Making pictures of what editors send: checked, upright, without metadata, in three widths.

What is served is only ever made here, of pixels: no byte of an upload reaches a reader. Pillow is asked for
``FORMATS`` alone, so none of its other readers sees a file of somebody else's.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image, ImageOps

from shared.values.pictures import ANY_TYPE, MAX_UPLOAD, MEDIA_TYPES_SENT, WIDTHS, Picture, widths

FORMATS = dict(zip(("JPEG", "PNG", "WEBP", "GIF", "AVIF"), MEDIA_TYPES_SENT, strict=True))

MOST_PIXELS = 40_000_000
"""A picture takes some ten bytes for each of its pixels while it is made. Phones send 12 megapixels, unless told
otherwise."""

TALLEST = 4
"""How many times as high as wide a picture may be, and the reverse: a card cuts it to its own shape."""

ENOUGH = 4 * WIDTHS[-1]
"""Pixels of the longer side that the widest file of the tallest picture needs; what has more is made smaller first."""

QUALITY = 80

_OTHERS = re.compile(rb"<script|<html|<!doctype|<\?php|%PDF-", re.IGNORECASE)
"""The beginnings of documents and programs. A file that is one of these too, a polyglot, was not made by a camera."""

_END_OF_ARCHIVE, _ITS_PLACE = b"PK\x05\x06", 65_557
"""The end of a ZIP archive, and how far from a file's end it is at most: readers look for it from there."""

_TOO_LARGE = f"It has more than {MOST_PIXELS // 1_000_000} megapixels."
_UNREADABLE = "It is no picture that can be read: JPEG, PNG, WebP, GIF and AVIF can."


class Refused(Exception):
    """An upload of which no picture is made; its text is for the editor who sent it."""


@dataclass(frozen=True, slots=True)
class Made:
    """A picture, and its files in the bucket by name."""

    picture: Picture
    files: Mapping[str, bytes]


def make(content: bytes, media_type: str, deal_id: str) -> Made:
    """The picture that is made of a file. Raises Refused.

    A deal's id is part of the hash, so that no two deals share files and what one no longer names may be removed.
    """
    image = _upright(_opened(content, media_type))
    made = {width: _webp(image, width) for width in widths(image.width)}
    digest = hashlib.sha256(deal_id.encode() + b"".join(made.values())).hexdigest()[:20]
    largest = max(made)
    width = min(largest, image.width)
    picture = Picture(digest, width, max(1, round(image.height * width / image.width)), _dominant(image))
    return Made(picture, dict(zip(picture.files, made.values(), strict=True)))


def _opened(content: bytes, media_type: str) -> Image.Image:
    """The first frame of a file, read whole, after all checks that its first bytes allow."""
    if len(content) > MAX_UPLOAD:
        raise Refused(f"It has more than {MAX_UPLOAD // 1_000_000} MB.")
    if _OTHERS.search(content) or _END_OF_ARCHIVE in content[-_ITS_PLACE:]:
        raise Refused("It is more than a picture: a document, a program or an archive is in it, too.")
    try:
        image = Image.open(io.BytesIO(content), formats=list(FORMATS))
    except Image.DecompressionBombError as error:
        raise Refused(_TOO_LARGE) from error
    except Exception as error:  # Pillow raises errors of many kinds for what is broken
        raise Refused(_UNREADABLE) from error
    _check(image, media_type)
    try:
        image.draft("RGB", (ENOUGH, ENOUGH))  # a JPEG is read at a fraction of its size, in a fraction of the memory
        image.load()
    except Exception as error:  # the same
        raise Refused(_UNREADABLE) from error
    return image


def _check(image: Image.Image, media_type: str) -> None:
    """Refuse an image by what its first bytes say, before its pixels are read. Raises Refused."""
    if image.width * image.height > MOST_PIXELS:
        raise Refused(_TOO_LARGE)
    if media_type not in (ANY_TYPE, FORMATS[image.format or ""]):
        raise Refused(f"It is said to be {media_type}, and is not.")
    if max(image.size) > TALLEST * min(image.size):
        raise Refused(f"It is {image.width} by {image.height} pixels: too narrow to be shown.")


def _upright(image: Image.Image) -> Image.Image:
    """An image as it is looked at: turned as its camera noted, on white where it is transparent, in plain RGB."""
    whole = image if image.mode in ("RGB", "RGBA") else image.convert("RGBA")
    whole.thumbnail((ENOUGH, ENOUGH))
    turned = ImageOps.exif_transpose(whole).convert("RGBA")
    ground = Image.new("RGBA", turned.size, "white")
    ground.alpha_composite(turned)
    return ground.convert("RGB")


def _webp(image: Image.Image, width: int) -> bytes:
    """An image in a width, or its own where that is less, with no metadata."""
    smaller = min(width, image.width)
    size = smaller, max(1, round(image.height * smaller / image.width))
    file = io.BytesIO()
    image.resize(size, Image.Resampling.LANCZOS).save(file, "WEBP", quality=QUALITY, method=4)
    return file.getvalue()


def _dominant(image: Image.Image) -> str:
    """The colour that most of an image has, of eight."""
    few = image.resize((64, 64)).quantize(8)
    _, index = max(few.getcolors() or [(0, 0)])
    palette = few.getpalette() or [255, 255, 255]
    return bytes(palette[3 * int(str(index)) :][:3]).hex()
