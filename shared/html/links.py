"""Addresses of the site: every link is made here, with the prefix that the site is below, and every file's name.

The site's own files are style, script, face and mark. Each is served under a name that holds its content's hash. A
changed file has a new name, so browsers and the edge keep each for a year and never ask again. The names are made once
for an execution environment, from the files themselves, so no list of them can be out of date.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode


def base() -> str:
    """The prefix of all paths of the site: nothing behind a domain, ``/web`` at the gateway's own address."""
    return os.environ.get("SITE_BASE", "")


def origin() -> str:
    """The site's own origin, such as ``https://deals.example``; empty where none is configured."""
    return os.environ.get("SITE_ORIGIN", "").rstrip("/")


def link(path: str, /, **query: str | int | None) -> str:
    """The address of a path of this site (``/deals/12``), with a query of those values that are not None."""
    return base() + below(path, query)


def absolute(path: str, /, **query: str | int | None) -> str:
    """A path's address with the site's origin, for readers outside the site; without it if the origin is unknown."""
    return origin() + link(path, **query)


def below(path: str, query: Mapping[str, str | int | None]) -> str:
    """A path with its query, below the site's prefix."""
    asked = urlencode({name: value for name, value in query.items() if value is not None})
    return f"{quote(path, safe='/%-._~')}{'?' if asked else ''}{asked}"


ASSETS = Path(__file__).resolve().parents[2] / "web" / "assets"

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


def asset(served: str) -> tuple[bytes, str] | None:
    """The content and media type of what is served under a name, or None."""
    name = {value: key for key, value in _names().items()}.get(served)
    return None if name is None else (_content(name), MEDIA_TYPES[Path(name).suffix])


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    files = [file for file in ASSETS.iterdir() if file.suffix in MEDIA_TYPES]
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
    content = (ASSETS / name).read_bytes()
    if name.endswith(".js"):
        return _LINES.sub("", content.decode()).encode()
    if not name.endswith(".css"):
        return content
    text = _AROUND.sub(r"\1", _SPACE.sub(" ", _COMMENT.sub("", _named(content, _names()).decode())))
    return text.replace(": ", ":").replace(";}", "}").strip().encode()
