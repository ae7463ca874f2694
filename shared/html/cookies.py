"""The two cookies of a signed-in user (the session's token, a hint for the script), and a POST kept until one is.

A POST is replayed after signing in: a third cookie keeps its form. Only harmless buttons are kept, as another person
may sign in: save, vote, watch and like. The cookie is set in answer to a form of our own pages, and ``__Host-``
keeps other sites from setting it: what it asks was asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from shared import features, settings
from shared.data.members import messages, sessions
from shared.dynamodb.table import Table
from shared.errors import Forbidden, NotSignedIn
from shared.html import forms, pages
from shared.html.pages import Answer, Page, Request, Routes, SignInFirst
from shared.http import requests
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
    """Admit everyone on the laptop, elsewhere editors, to what shows the workings. Raises NotSignedIn, Forbidden."""
    if not on_laptop():
        editor_of(request, "The table is for editors.")


_COUNTS = {name: features.imported(count) for name, count in features.merged("head_counts").items()}
"""The features' counts for the header of a member's pages."""


def beside_head(request: Request, *reads: Callable[[], Any]) -> tuple[list[Any], dict[str, Any]]:
    """Read a member's page, and in the same round trip the header's values: the member and counts.

    More than 99 unread messages are "99+": no more are counted.
    """
    username, most = request.username, settings.UNREAD_SHOWN
    if username is None:
        return table().gather(reads), {}
    asked: list[Callable[[], Any]] = [
        *reads,
        partial(messages.unread_count, table(), username, request.now, most=most + 1),
        *(partial(count, table(), username, request.now) for count in _COUNTS.values()),
    ]
    answers = table().gather(asked)
    found, (unread, *others) = answers[: len(reads)], answers[len(reads) :]
    counts = dict(zip(_COUNTS, others, strict=True))
    return found, {"who": request.role, "unread": unread if unread <= most else f"{most}+", **counts}


COOKIE = "btd-wish"
"""The end of the cookie's name."""

MOST = 1000
"""Characters of a form that is kept: such a button's has few fields."""


def sender_with_replay(request: Request, place: str) -> Session:
    """As ``cookies.sender_of``, but what the button asks for is kept, and done on the way back to its place."""
    try:
        return sender_of(request, place)
    except SignInFirst as error:
        wish = f"{quote(request.path)}?{urlencode(forms.read(request.event))}"
        if len(wish) > MOST:
            raise
        # Half an hour is enough to make an account.
        kept = f"{requests.name(COOKIE)}={wish}; {requests.attributes()}; HttpOnly; Max-Age=1800"
        prefix = request.path.split("/")[1]
        way_back = f"/{prefix}/wish?{urlencode({'next': place})}"
        raise SignInFirst(pages.redirect("/account/sign-in", cookies=(kept,), next=way_back)) from error


def replay_after_sign_in(routes: Routes, prefix: str, *buttons: Page) -> None:
    """Register the page below a prefix that sends the form that was kept, of one of some buttons, and forgets it."""

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
        if not any(line.startswith(f"{own}=") for line in lines):  # else it is kept once more
            answer.headers["Set-Cookie"] = [*lines, f"{own}=; {requests.attributes()}; HttpOnly; Max-Age=0"]
        return answer


def _kept(request: Request) -> Request | None:
    """The form that the cookie of a request keeps."""
    own = requests.name(COOKIE)
    found = [value for name, value in requests.brought(request.event) if name == own]
    if len(found) != 1:
        return None
    path, _, body = found[0].partition("?")
    headers = {**request.event["headers"], "content-type": forms.MEDIA_TYPE}
    return Request({**request.event, "httpMethod": "POST", "body": body, "headers": headers}, path, {}, request.now)
