"""The site's own files: style, script, face, mark. Each is served under a name that holds its content's hash.

A changed file has a new name, so browsers and the edge keep each for a year and never ask again. The names are made
once for an execution environment, from the files themselves, so no list of them can be out of date.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
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

_LINES = re.compile(r"^\s*(?://.*\n\s*)*", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
_AROUND = re.compile(r"\s*([{};,>])\s*")


def served_name(name: str) -> str:
    """The name that a file is served by: ``site.css`` is ``site.1f2e3d4c5b.css``. Raises KeyError otherwise."""
    return _names()[name]


def find(served: str) -> tuple[bytes, str] | None:
    """The content and media type of what is served under a name, or None."""
    name = {value: key for key, value in _names().items()}.get(served)
    return None if name is None else (_content(name), MEDIA_TYPES[Path(name).suffix])


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    files = [file for file in FOLDER.iterdir() if file.suffix in MEDIA_TYPES]
    # Style sheets come last: they name the others, and so are other ones where one of those has changed.
    for file in sorted(files, key=lambda file: (file.suffix == ".css", file.name)):
        digest = hashlib.sha256(_named(file.read_bytes(), names)).hexdigest()[:10]
        names[file.name] = f"{file.stem}.{digest}{file.suffix}"
    return names


def _named(content: bytes, names: Mapping[str, str]) -> bytes:
    """A file's content with what it names by plain names under the names that these are served by."""
    for plain, served in names.items():
        content = content.replace(f"url({plain})".encode(), f"url({served})".encode())
    return content


@cache
def _content(name: str) -> bytes:
    """A file as it is sent. In style sheets and scripts, comments and indents are for those who read the source."""
    content = (FOLDER / name).read_bytes()
    if name.endswith(".js"):
        return _LINES.sub("", content.decode()).encode()
    if not name.endswith(".css"):
        return content
    text = _AROUND.sub(r"\1", _SPACE.sub(" ", _COMMENT.sub("", _named(content, _names()).decode())))
    return text.replace(": ", ":").replace(";}", "}").strip().encode()
