"""The site's own files: style, script, face, mark. Each is served under a name that holds its content's hash.

A changed file has a new name, so browsers and the edge keep each for a year and never ask again. The names are made
once for an execution environment, from the files themselves, so no list of them can be out of date.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "web" / "assets"

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
_AROUND = re.compile(r"\s*([{};,>])\s*")


def served_name(name: str) -> str:
    """The name that a file is served by: ``site.css`` is ``site.1f2e3d4c5b.css``. Raises KeyError for none of ours."""
    return _names()[name]


def find(served: str) -> tuple[bytes, str] | None:
    """The content and media type of what is served under a name, or None."""
    name = {value: key for key, value in _names().items()}.get(served)
    return None if name is None else (_content(name), MEDIA_TYPES[Path(name).suffix])


@cache
def _names() -> dict[str, str]:
    names = {}
    for file in sorted(FOLDER.iterdir()):
        if file.suffix in MEDIA_TYPES:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:10]
            names[file.name] = f"{file.stem}.{digest}{file.suffix}"
    return names


@cache
def _content(name: str) -> bytes:
    """A file as it is sent. In a style sheet, comments and spaces are for those who read its source."""
    content = (FOLDER / name).read_bytes()
    if not name.endswith(".css"):
        return content
    text = _AROUND.sub(r"\1", _SPACE.sub(" ", _COMMENT.sub("", content.decode())))
    # A style sheet names the face by its plain name; it is served beside it, under its served name.
    for plain, served in _names().items():
        text = text.replace(f"url({plain})", f"url({served})")
    return text.replace(";}", "}").strip().encode()
