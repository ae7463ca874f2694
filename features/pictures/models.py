"""Deal pictures: how the table stores one, and its files' names."""

from __future__ import annotations

import re
from typing import NamedTuple

WIDTHS = (240, 480, 960)
"""The widths of a picture in pixels: a card on a phone, a card on a sharp screen, a deal page."""

BUCKET = "PICTURES_BUCKET"
"""The environment variable that names the bucket."""

QUEUE = "UPLOADS_QUEUE_URL"
"""The variable with the address of the queue of uploads, of a function that orders fetches."""

UPLOADS, PICTURES = "uploads/", "pictures/"
"""The bucket's folders: uploads of editors, and the pictures made of them."""

MAX_UPLOAD = 10_000_000
"""Bytes of an upload."""

MEDIA_TYPES_SENT = ("image/jpeg", "image/png", "image/webp", "image/gif", "image/avif")
"""The types that editors may upload. A form without script doesn't know the type, and sends ``ANY_TYPE``."""

ANY_TYPE = "image/*"

MEDIA_TYPES = {".webp": "image/webp", ".svg": "image/svg+xml"}

LOOKS = 60
"""How often a page looks for a picture, a second apart; making one takes one or two seconds."""

UNREADABLE = "It can't be read as a picture. Send JPEG, PNG, WebP, GIF or AVIF."
TOO_SLOW = "It takes too long to read. Export it again as a plain JPEG or PNG."

_TEXT = r"([0-9a-f]{20}) ([0-9]{1,4})x([0-9]{1,4}) ([0-9a-f]{6})( svg)?"


class Refused(Exception):
    """An upload that can't become a picture; its text is for the editor who sent it."""


class Picture(NamedTuple):
    """A deal's picture: its content's hash, its largest file's size in pixels, and its dominant colour (RGB).

    A ``drawn`` one is a single SVG file, as in the sample; all others are WebP in some ``WIDTHS``.
    """

    hash: str
    width: int
    height: int
    colour: str
    drawn: bool = False

    @classmethod
    def parse(cls, text: str) -> Picture:
        """Parse a stored picture. Raises ValueError."""
        found = re.fullmatch(_TEXT, text)
        if found is None:
            raise ValueError(f"{text!r} is no picture")
        return cls(found[1], int(found[2]), int(found[3]), found[4], drawn=found[5] is not None)

    def __str__(self) -> str:
        return f"{self.hash} {self.width}x{self.height} {self.colour}{' svg' if self.drawn else ''}"

    @property
    def files(self) -> dict[str, int]:
        """Its files' names in the bucket and their widths, the smallest first."""
        if self.drawn:
            return {f"{PICTURES}{self.hash}/drawing.svg": self.width}
        return {f"{PICTURES}{self.hash}/{width}.webp": min(width, self.width) for width in widths(self.width)}


def widths(width: int) -> list[int]:
    """The widths to make of a picture: up to the first that holds all of it."""
    return [each for number, each in enumerate(WIDTHS) if number == 0 or WIDTHS[number - 1] < width]
