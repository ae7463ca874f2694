"""The site's addresses: every link, with the site's prefix, and every file's served name.

The site's files (style, script, face and mark) are served under names with their content's hash, so browsers and the
edge keep them for a year. The names are computed from the files, once for an execution environment.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode

from shared import features


def base() -> str:
    """The prefix of all paths: nothing behind a domain, ``/web`` at the gateway's own address."""
    return os.environ.get("SITE_BASE", "")


def origin() -> str:
    """The site's origin, such as ``https://deals.example``; empty if none is configured."""
    return os.environ.get("SITE_ORIGIN", "").rstrip("/")


def link(path: str, /, **query: str | int | None) -> str:
    """The address of a path of this site (``/deals/12``), with a query of the values that aren't None."""
    return base() + below(path, query)


def absolute(path: str, /, **query: str | int | None) -> str:
    """A path's address with the site's origin, for readers outside the site; without it if it is unknown."""
    return origin() + link(path, **query)


def below(path: str, query: Mapping[str, str | int | None]) -> str:
    """A path with its query, without the site's prefix."""
    asked = urlencode({name: value for name, value in query.items() if value is not None})
    return f"{quote(path, safe='/%-._~')}{'?' if asked else ''}{asked}"


ASSETS = Path(__file__).resolve().parents[2] / "web" / "assets"
"""The core's files; those of a feature are in its own folder ``assets``."""

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}

_LINES = r"(?m)^\s*(?://.*\n\s*)*"
_COMMENT = r"(?s)/\*.*?\*/"
_SPACE = r"\s+"
_AROUND = r"\s*([{};,>])\s*"


def served_name(name: str) -> str:
    """The name that a file is served under: ``site.css`` is ``site.1f2e3d4c5b.css``. Raises KeyError otherwise."""
    return _names()[name]


def asset(served: str) -> tuple[bytes, str] | None:
    """The content and media type of a served name, or None."""
    name = {value: key for key, value in _names().items()}.get(served)
    return None if name is None else (_content(name), MEDIA_TYPES[Path(name).suffix])


@cache
def files() -> Mapping[str, Path]:
    """The site's files by name, the core's and the features'."""
    folders = (ASSETS, *features.FOLDER.glob("*/assets"))
    return {file.name: file for folder in folders for file in folder.iterdir() if file.suffix in MEDIA_TYPES}


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    # Style sheets come last: they name the others, so their hashes change with those.
    for file in sorted(files().values(), key=lambda file: (file.suffix == ".css", file.name)):
        digest = hashlib.sha256(_named(file.read_bytes(), names)).hexdigest()[:10]
        names[file.name] = f"{file.stem}.{digest}{file.suffix}"
    return names


def _named(content: bytes, names: Mapping[str, str]) -> bytes:
    """A file's content with the names of other files replaced by their served names."""
    for plain, served in names.items():
        content = content.replace(f"url({plain})".encode(), f"url({served})".encode())
    return content


@cache
def _content(name: str) -> bytes:
    """A file as it is sent; style sheets and scripts without comments and indentation."""
    content = files()[name].read_bytes()
    if name.endswith(".js"):
        return re.sub(_LINES, "", content.decode()).encode()
    if not name.endswith(".css"):
        return content
    text = re.sub(_AROUND, r"\1", re.sub(_SPACE, " ", re.sub(_COMMENT, "", _named(content, _names()).decode())))
    return text.replace(": ", ":").replace(";}", "}").strip().encode()
