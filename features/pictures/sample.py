"""Drawings of the sample's products, used as its deals' pictures."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from features.pictures.data import bucket
from features.pictures.data.bucket import Bucket
from features.pictures.models import MEDIA_TYPES, Picture
from shared.html import links
from shared.models.catalog import Deal

DRAWINGS = Path(__file__).with_name("sample-drawings")
"""A drawing of each product in dark shapes; class ``m`` is half as dark, ``g`` the ground's colour; ``s``, ``n`` and
``t`` are lines in these three."""


def draw(files: Bucket, deal: Deal) -> Deal:
    """Store the drawing of a deal's product, in its category's colours; returns the deal with it."""
    product = str(deal.source_id).split(":")[2]
    content = drawing(product, deal.category).encode()
    digest = hashlib.sha256(str(deal.source_id).encode() + content).hexdigest()[:20]
    picture = Picture(digest, 480, 360, _colours(deal.category)[0][1:], drawn=True)
    for name in picture.files:
        files.write(name, content, MEDIA_TYPES[".svg"])
    return deal.with_own(picture)


def drawing(product: str, category: str) -> str:
    """A product's drawing in the colours of its category's tile, light or dark like the page."""
    ground, dark_ground, letters, dark_letters = _colours(category)
    shapes = (DRAWINGS / f"{product}.svg").read_text(encoding="utf-8")
    start, end, body = shapes.partition(">\n")
    light, dark = f"--g:{ground};--l:{letters}", f"--g:{dark_ground};--l:{dark_letters}"
    style = _STYLE.replace("LIGHT", light).replace("DARK", dark)
    return f'{start}{end}<style>{style}</style>\n<rect class="g" width="120" height="90"/>\n{body}'


_STYLE = (
    ":root{LIGHT;--m:color-mix(in oklab,var(--l) 55%,var(--g));fill:var(--l);stroke-width:3}"
    "@media(prefers-color-scheme:dark){:root{DARK}}"
    ".m{fill:var(--m)}.g{fill:var(--g)}"
    ".s,.n,.t{fill:none;stroke:var(--l);stroke-linecap:round;stroke-linejoin:round}"
    ".n{stroke:var(--m)}.t{stroke:var(--g)}.t:not([stroke-width]){stroke-width:1.5}"
)


DRAWS = {"PicturesBucket": (bucket.connect, draw)}


@cache
def _colours(category: str) -> tuple[str, ...]:
    """The colours of a category's tile from the style sheet: its ground, light and dark, and its letters."""
    style = (links.ASSETS / "site.css").read_text(encoding="utf-8")
    found = re.search(rf"\.t-{category} {{.*?ground: light-dark\((#\w+), (#\w+)\).*?\((#\w+), (#\w+)\)", style)
    assert found, category  # noqa: S101  # each of the eight has its colours there
    return found.groups()
