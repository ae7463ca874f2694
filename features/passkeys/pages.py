"""Passkeys on the account's pages: their list, and the way from a right password to the second step."""

from __future__ import annotations

import secrets
from typing import Any

from features.passkeys import cookie, data
from features.passkeys.models import Passkey, editors_need_one, passkeys_of
from shared.html import pages, views
from shared.html.pages import Answer, Request
from shared.models.members import User
from shared.runtime.environment import table
from shared.values import identifiers


def on_account_page(user: User) -> dict[str, Any]:
    """The rows of the account's passkeys."""
    found = data.of_user(table(), user.username) if passkeys_of(user) else []
    return {"passkeys": rows(found), "needs_passkey": user.role == "editor" and editors_need_one()}


def rows(found: list[Passkey]) -> list[dict[str, Any]]:
    """What pages show of passkeys, the oldest first."""
    return [
        {
            "id": each.passkey_id,
            "name": each.name,
            "created": f"{views.day(each.created_at)} {each.created_at.year}",
            "used": views.moment(each.used_at) if each.used_at else None,
        }
        for each in sorted(found, key=lambda each: each.created_at)
    ]


def go_on(request: Request, user: User, place: str) -> Answer:
    """Start a half-session, and lead to the page of the second step."""
    token = data.begin(table(), user, request.now, secrets.token_bytes(identifiers.BYTES))
    return pages.redirect("/passkeys/sign-in", cookies=(cookie.of_half(token),), next=place)
