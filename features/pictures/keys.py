"""The keys of pictures that are to be fetched."""

from __future__ import annotations

from datetime import datetime

from shared.data.keys import Item, Text

FETCH = "PictureFetch"
"""A note that a deal's picture is to be fetched from another host."""

fetch = Item[str, datetime, str](PK="PICTUREFETCHES", SK="{host}#{due_at}#{deal_id}")
"""A host's name has no ``#``; the id ``~`` makes an upper bound."""
of_host = Text[str]("{host}#")
"""The beginning of a host's sort keys."""
after_host = Text[str]("{host}$")
"""What follows all sort keys of a host, and precedes those of the next one."""


def host_in(sort_key: str) -> str:
    """The host in a sort key."""
    return sort_key.partition("#")[0]
