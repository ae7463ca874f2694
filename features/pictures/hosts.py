"""The hosts that a stage fetches pictures from, and the addresses that are theirs."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

HOSTS = "PICTURE_HOSTS"
"""The environment variable with the hosts, separated by spaces; none without it."""

EVERY_HOST = "*"

LONGEST = 253
"""Characters of a host's name (RFC 1035), which is in a key of the table."""

PORTS = {"https": 443, "http": 80}


def of_stage() -> tuple[str, ...]:
    """The hosts of this stage: names, names of which the first part is ``*``, or ``EVERY_HOST``."""
    return tuple(os.environ.get(HOSTS, "").split())


def host_of(address: str) -> str | None:
    """The host of a web address, in lower case and ASCII; None for one with a port or a user, and for anything else."""
    try:
        parts = urlsplit(address)
        usual = parts.port in (None, PORTS.get(parts.scheme))
        host = (parts.hostname or "").encode("idna").decode().lower()
    except ValueError:  # UnicodeError is one
        return None
    usual = usual and len(host) <= LONGEST
    return host if host and usual and parts.scheme in PORTS and "@" not in parts.netloc else None


def allowed(address: str, hosts: tuple[str, ...]) -> str | None:
    """An address's host if pictures are fetched from it, else None."""
    host = host_of(address)
    if host is None:
        return None
    wild = any(each.startswith("*.") and host.endswith(each[1:]) for each in hosts)
    return host if EVERY_HOST in hosts or host in hosts or wild else None
