"""Usernames and email addresses in the one form in which they are compared and stored."""

from __future__ import annotations

import re
import unicodedata

USERNAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,28}[a-z0-9])?")
"""A normalised username: 1 to 30 ASCII letters, digits and ``._-``, with a letter or digit at both ends."""

EMAIL = re.compile(r"[a-z0-9.!$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")
"""The shape of an email address: only a mail sent to it could tell more."""


def normalise_username(text: str) -> str:
    """A username in lower case. Raises ValueError for what cannot be one."""
    name = unicodedata.normalize("NFKC", text.strip()).casefold()
    if not USERNAME.fullmatch(name):
        raise ValueError("must be 1 to 30 of a-z, 0-9, '.', '_' and '-', and start and end with a letter or digit")
    return name


def normalise_email(text: str) -> str:
    """An email address in lower case. Raises ValueError for what cannot be one."""
    address = unicodedata.normalize("NFC", text.strip()).lower()
    if len(address) > 254 or not EMAIL.fullmatch(address):
        raise ValueError("must be an email address")
    return address
