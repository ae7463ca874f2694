"""Passkeys in sign-ins by the API, which has no second step: it refuses accounts that need one."""

from __future__ import annotations

from features.passkeys.models import editors_need_one, passkeys_of
from shared.models.members import User


def takes_more(user: User) -> bool:
    """Whether an account has a passkey, or is an editor's where editors need one."""
    return passkeys_of(user) > 0 or (user.role == "editor" and editors_need_one())
