"""Addresses of the site: every link is made here, with the prefix that the site is below."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
