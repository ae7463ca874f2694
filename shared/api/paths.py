"""Addresses of the API: its version, which is the first part of every path, and the paths that code must name."""

from __future__ import annotations

VERSION = "v1"
"""The name of the API's stage, so that ``/v1/...`` is the whole path on every host."""

ROOT = f"/{VERSION}"

PASSWORD_PATHS = ("/users", "/sessions", "/passwords", "/password-resets")
"""POSTs that hash a password, which takes a whole processor for a moment, or send a mail: they are limited by
themselves."""


def deal(deal_id: str) -> str:
    """The address of a deal."""
    return f"{ROOT}/deals/{deal_id}"


def order(order_id: str) -> str:
    """The address of an order."""
    return f"{ROOT}/orders/{order_id}"


def brand(slug: str) -> str:
    """The address of a brand."""
    return f"{ROOT}/brands/{slug}"
