"""The cookies of a signed-in user (the session's token, a hint for the script), and POSTs replayed after signing in.

A third cookie keeps a POST's form until its sender has signed in. Only harmless buttons are kept (such as watch and
like), because another person may sign in. Forms of our own pages set the cookie, and ``__Host-`` keeps other sites
from setting it, so its content was requested here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from shared import features, hooks, settings
from shared.data.members import messages, sessions
from shared.dynamodb.table import Table
from shared.errors import Forbidden, NotSignedIn
from shared.html import forms, pages
from shared.html.pages import Answer, Page, Request, Routes, SignInFirst
from shared.http import requests
from shared.http.requests import MAX_TOKEN, attributes, brought, is_plain, name
from shared.models.members import Session, User
from shared.runtime import audit
from shared.runtime.environment import table
from shared.values import identifiers

SESSION = "__Host-btd"
"""The session cookie's name, except on the laptop."""
HINT = "__Host-btd-in"
"""The name, except on the laptop, of a cookie that isn't secret. Scripts read it, and ask for the user's own state only
if it is set."""

MAX_AGE = int(settings.SESSION_LIFETIME.total_seconds())


def begin(table: Table, request: Request, user: User, by: str) -> str:
    """Start a session for a user who has just proved who it is; returns its token.

    ``by`` says in the audit what was proved.
    """
    entropy, origin = secrets.token_bytes(identifiers.BYTES), requests.address(request.event)
    kind = requests.browser(request.event)
    token, session = sessions.start(table, user, request.now, entropy, address=origin, browser=kind)
    audit.signed_in(session, by)
    return token


def signed_in(token: str) -> list[str]:
    """The ``Set-Cookie`` values that sign a user in."""
    return [
        f"{name('btd')}={token}; {attributes()}; HttpOnly; Max-Age={MAX_AGE}",
        f"{name('btd-in')}=1; {attributes()}; Max-Age={MAX_AGE}",
    ]


def signed_out() -> list[str]:
    """The ``Set-Cookie`` values that delete both cookies."""
    return [f"{name('btd')}=; {attributes()}; HttpOnly; Max-Age=0", f"{name('btd-in')}=; {attributes()}; Max-Age=0"]


def token_of(event: Mapping[str, Any]) -> str | None:
    """The token in a request's cookie, or None. Two count as none: a browser holds one cookie of this name."""
    own = name("btd")
    tokens = {value for each, value in brought(event) if each == own}
    token = tokens.pop() if len(tokens) == 1 else ""
    return token if is_plain(token, MAX_TOKEN) else None


def session_of(table: Table, request: Request, *, notes_use: bool = True) -> Session | None:
    """The session of a request; None if its token is unknown, has expired or was ended, or is a program's.

    Two consistent reads if the request has a token, none otherwise; and once an hour a write that notes the session's
    use. The request then knows its user.
    """
    token = token_of(request.event)
    if token is None:
        return None
    try:
        session = (sessions.authenticate if notes_use else sessions.find)(table, token, request.now)
    except NotSignedIn:
        return None
    if session.program:
        return None
    request.belongs_to(session)
    return session


def member_of(request: Request, *, notes_use: bool = True) -> Session:
    """The session of a signed-in user. Raises NotSignedIn, which leads to the sign-in page and back."""
    session = session_of(table(), request, notes_use=notes_use)
    if session is None:
        raise NotSignedIn
    return session


def sender_of(request: Request, place: str) -> Session:
    """The session of the user who pressed a button. Raises SignInFirst, which leads to signing in, then to ``place``.

    Forms with text fields use ``member_of``, which keeps their values.
    """
    session = session_of(table(), request)
    if session is None:
        raise SignInFirst(pages.redirect("/account/sign-in", next=place))
    return session


def editor_of(request: Request, refusal: str, *, notes_use: bool = True) -> Session:
    """The session of an editor. Raises NotSignedIn; Forbidden with ``refusal`` for anyone else."""
    session = member_of(request, notes_use=notes_use)
    if session.role != "editor":
        raise Forbidden(refusal)
    return session


_COUNTS = features.merged(hooks.Head, lambda each: each.COUNTS)
"""Features' counts in the header of a member's pages."""


def beside_head(request: Request, *reads: Callable[[], Any]) -> tuple[list[Any], dict[str, Any]]:
    """Read a member's page and, in the same round trip, the header's values: the member and counts.

    Of more than 99 unread messages, the newest are counted: "99+", or fewer where some are about one product.
    """
    username, most = request.username, settings.UNREAD_SHOWN
    if username is None:
        return table().gather(reads), {}
    asked: list[Callable[[], Any]] = [
        *reads,
        partial(messages.unread_rows, table(), username, request.now, most=most),
        *(partial(count, table(), username, request.now) for count in _COUNTS.values()),
    ]
    answers = table().gather(asked)
    found, ((unread, is_all), *others) = answers[: len(reads)], answers[len(reads) :]
    counts = dict(zip(_COUNTS, others, strict=True))
    return found, {"who": request.role, "unread": unread if is_all else f"{unread}+", **counts}


COOKIE = "btd-wish"
"""The cookie's name, without its prefix."""

MOST = 1000
"""Characters of a form that is kept: these buttons have few fields."""


def sender_with_replay(request: Request, place: str) -> Session:
    """As ``sender_of``, but the button's form is kept, and sent after signing in, on the way to ``place``."""
    try:
        return sender_of(request, place)
    except SignInFirst as error:
        wish = f"{quote(request.path)}?{urlencode(forms.read(request.event))}"
        if len(wish) > MOST:
            raise
        # Half an hour is enough to create an account.
        kept = f"{requests.name(COOKIE)}={wish}; {requests.attributes()}; HttpOnly; Max-Age=1800"
        prefix = request.path.split("/")[1]
        way_back = f"/{prefix}/wish?{urlencode({'next': place})}"
        raise SignInFirst(pages.redirect("/account/sign-in", cookies=(kept,), next=way_back)) from error


def replay_after_sign_in(routes: Routes, prefix: str, *buttons: Page) -> None:
    """Register the page below ``prefix`` that sends a kept form to one of ``buttons``, and deletes it."""

    @routes.get(f"{prefix}/wish")
    def wish(request: Request) -> Answer:
        form = _kept(request)
        button = routes.button(form.path) if form and request.opens_page else None
        if form and button and button.func in buttons:
            answer = button(form)
        else:
            answer = pages.lead_to(forms.own_path(request.query.get("next"), "/"))
        own = requests.name(COOKIE)
        lines = list(answer.headers.get("Set-Cookie", []))
        if not any(line.startswith(f"{own}=") for line in lines):  # otherwise it would be kept again
            answer.headers["Set-Cookie"] = [*lines, f"{own}=; {requests.attributes()}; HttpOnly; Max-Age=0"]
        return answer


def _kept(request: Request) -> Request | None:
    """The form in a request's cookie."""
    own = requests.name(COOKIE)
    found = [value for name, value in requests.brought(request.event) if name == own]
    if len(found) != 1:
        return None
    path, _, body = found[0].partition("?")
    headers = {**request.event["headers"], "content-type": forms.MEDIA_TYPE}
    return Request({**request.event, "httpMethod": "POST", "body": body, "headers": headers}, path, {}, request.now)
