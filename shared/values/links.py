"""Addresses at shops: which of them are one product, and where its picture comes in the size that is shown."""

from __future__ import annotations

import hashlib
from urllib.parse import quote, urlsplit, urlunsplit

_KEPT = "%/:?#[]@!$&'()*+,;=~"
"""Characters that have a meaning in an address, and those of what is encoded already."""

_RESIZING = "cdn.shopify.com"
"""The host of most shops' pictures; its shops' own hosts serve them below ``/cdn/shop/``. Both take a width."""


def host(link: str) -> str:
    """The shop's name as readers know it: the host without ``www.``; empty where there is none."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def encoded(link: str) -> str:
    """An address as headers hold it (RFC 3986): percent-encoded, the host's name in its ASCII form."""
    try:
        parts = urlsplit(link)
        shop = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except ValueError:  # UnicodeError is one
        return quote(link, safe=_KEPT)
    return urlunsplit([parts.scheme, shop, *(quote(part, safe=_KEPT) for part in parts[2:])])


def product(link: str) -> str:
    """The address of a product, without what chooses one of its colours and sizes: no query, no fragment."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return link
    return f"{host(link)}{parts.path.rstrip('/')}"


def product_hash(link: str) -> str:
    """A product's address in 32 hexadecimal digits, for keys."""
    return hashlib.sha256(product(link).encode(errors="replace")).hexdigest()[:32]


def picture(image: str | None, width: int) -> str | None:
    """The address of a picture in about a width, where its host makes one; None for what is not on HTTPS."""
    if image is None or not image.startswith("https://"):
        return None
    try:
        parts = urlsplit(image)
    except ValueError:
        return None
    resizes = parts.hostname == _RESIZING or parts.path.startswith("/cdn/shop/")
    if not resizes or parts.fragment or "width=" in parts.query:
        return image
    return f"{image}{'&' if parts.query else '?'}width={width}"
