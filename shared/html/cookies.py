"""The two cookies of a signed-in user: the session's token, and a hint for the script that there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from shared import settings
from shared.data.members import messages, sessions
from shared.data.orders import carts
from shared.dynamodb.table import Table
from shared.errors import Forbidden, NotSignedIn
from shared.html import pages
from shared.html.pages import Request, SignInFirst
from shared.http.requests import MAX_TOKEN, attributes, brought, is_plain, name, on_laptop
from shared.models.members import Session
from shared.runtime.environment import table

SESSION = "__Host-btd"
"""The name of the session's cookie, on all stages but the laptop's."""
HINT = "btd-in"
"""Not a secret, and readable by the script: only where it is set does the script ask for the user's own state."""

MAX_AGE = int(settings.SESSION_LIFETIME.total_seconds())


def signed_in(token: str) -> list[str]:
    """The values of ``Set-Cookie`` for a user who has just signed in."""
    return [
        f"{name('btd')}={token}; {attributes()}; HttpOnly; Max-Age={MAX_AGE}",
        f"{HINT}=1; {attributes()}; Max-Age={MAX_AGE}",
    ]


def signed_out() -> list[str]:
    """The values of ``Set-Cookie`` that end both cookies."""
    return [f"{name('btd')}=; {attributes()}; HttpOnly; Max-Age=0", f"{HINT}=; {attributes()}; Max-Age=0"]


def token_of(event: Mapping[str, Any]) -> str | None:
    """The token that a request brings, or None. Two of them count as none: a browser holds one cookie of this name."""
    own = name("btd")
    tokens = {value for each, value in brought(event) if each == own}
    token = tokens.pop() if len(tokens) == 1 else ""
    return token if is_plain(token, MAX_TOKEN) else None


def session_of(table: Table, request: Request) -> Session | None:
    """The session that a request belongs to, or None for one that was guessed, has expired or was ended.

    One consistent read where the request brings a token, none where it does not. The request then says who asks.
    """
    token = token_of(request.event)
    if token is None:
        return None
    try:
        session = sessions.authenticate(table, token, request.now)
    except NotSignedIn:
        return None
    request.belongs_to(session)
    return session


def member_of(request: Request) -> Session:
    """The session of the user who asks. Raises NotSignedIn, which leads to the sign-in page and back."""
    session = session_of(table(), request)
    if session is None:
        raise NotSignedIn
    return session


def sender_of(request: Request, place: str) -> Session:
    """The session of the user who pressed a button. Raises SignInFirst, which leads to signing in and on to a place.

    Forms with text fields call ``member_of``, which keeps their values.
    """
    session = session_of(table(), request)
    if session is None:
        raise SignInFirst(pages.redirect("/account/sign-in", next=place))
    return session


def editor_of(request: Request, refusal: str = "The desk is for editors.") -> Session:
    """The session of the editor who asks. Raises NotSignedIn; Forbidden, which says ``refusal``, for anyone else."""
    session = member_of(request)
    if session.role != "editor":
        raise Forbidden(refusal)
    return session


def require_laptop_or_editor(request: Request) -> None:
    """Admit everybody on the laptop, elsewhere editors, to what shows the workings. Raises NotSignedIn, Forbidden."""
    if not on_laptop():
        editor_of(request, "The table is for editors.")


def beside_head(request: Request, *reads: Callable[[], Any]) -> tuple[list[Any], dict[str, Any]]:
    """Read a member's page, and in the same round trip the header's values: the member and two counts.

    More than 99 unread messages are "99+", which nobody counts.
    """
    username, most = request.username, settings.UNREAD_SHOWN
    if username is None:
        return table().gather(reads), {}
    asked: list[Callable[[], Any]] = [
        *reads,
        partial(messages.unread_count, table(), username, request.now, most=most + 1),
        partial(carts.pieces, table(), username, request.now),
    ]
    *found, unread, pieces = table().gather(asked)
    return found, {"who": request.role, "unread": unread if unread <= most else f"{most}+", "cart": pieces}
