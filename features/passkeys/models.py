"""Passkeys, and what an account's item says of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime

from shared.models.members import User
from shared.values.stored import stored


@dataclass(frozen=True, slots=True)
class Factors:
    """What an account's item says of its second factor: how many passkeys it has."""

    passkeys: int | None = field(default=None, metadata=stored("Passkeys", int))


@dataclass(frozen=True, slots=True)
class Passkey:
    """A registered passkey. Its id is a hash of the authenticator's ``credential_id``, which may be too long for a key.

    ``public_key`` is a COSE key; it and the credential's id are written in base64url. ``sign_count`` is what the
    authenticator said last: most say 0 for ever.
    """

    passkey_id: str
    name: str = field(metadata=stored("Name"))
    credential_id: str = field(metadata=stored("CredentialId"))
    public_key: str = field(metadata=stored("PublicKey"))
    sign_count: int = field(metadata=stored("SignCount", int))
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    used_at: datetime | None = field(default=None, metadata=stored("UsedAt", datetime))


def passkeys_of(user: User) -> int:
    """How many passkeys an account has."""
    factors = user.own(Factors)
    return (factors.passkeys or 0) if factors else 0


def editors_need_one() -> bool:
    """Whether editors can't sign in without a passkey on this stage (``rights.py``)."""
    return os.environ.get("EDITORS_NEED_PASSKEYS") == "true"
