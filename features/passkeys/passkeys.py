"""The pages of passkeys: the second step of signing in, and a user's passkeys and recovery codes.

A function of its own, because its libraries are large and no reader of deals waits for them. Who changes passkeys has
signed in within the last ten minutes, so a stolen session can't add one.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Any

from features.passkeys import cookie, data
from features.passkeys.models import Passkey, editors_need_one, passkeys_of
from features.passkeys.pages import rows
from shared import settings
from shared.data.members import sessions, users
from shared.errors import NotSignedIn
from shared.html import cookies, forms, pages, views
from shared.html.links import base, origin
from shared.html.pages import Answer, Request, Routes, serve
from shared.http.requests import browser
from shared.models.members import Session, User
from shared.runtime import audit
from shared.runtime.environment import table
from shared.values import identifiers

HOME = "/my/inbox"
LONGEST_NAME = 50
_REFUSED = (data.NotProved, data.WrongCode, data.TooManyPasskeys)

routes = Routes()


@routes.get("/passkeys")
def own_passkeys(request: Request) -> Answer:
    session = cookies.member_of(request)
    return _own_page(request, session, _account_of(session))


@routes.post("/passkeys")
def add(request: Request) -> Answer:
    """Register another passkey of a user who has just signed in."""
    session = cookies.member_of(request)
    user = _recent(request, session)
    try:
        return _register(request, user, session.session_id, "/passkeys")
    except _REFUSED as error:
        return _own_page(request, session, user, str(error))


@routes.post("/passkeys/remove", form_page="/passkeys")
def remove(request: Request) -> Answer:
    user = _recent(request, cookies.member_of(request))
    user = data.remove(table(), user, forms.read(request.event).get("passkey", ""))
    audit.record("factor-removed", user.account_id)
    begun = _begin(request, user, "a removed passkey")
    return pages.redirect("/passkeys", cookies=begun, notice="passkey-removed")


@routes.post("/passkeys/codes", form_page="/passkeys")
def replace_codes(request: Request) -> Answer:
    user = _recent(request, cookies.member_of(request))
    if not passkeys_of(user):
        return pages.redirect("/passkeys")
    return _codes_page(request, user, "/passkeys")


@routes.post("/passkeys/token", form_page="/passkeys")
def make_token(request: Request) -> Answer:
    """Make a token with which a program calls the API, and show it this once."""
    user = _recent(request, cookies.member_of(request))
    if not passkeys_of(user):
        return pages.redirect("/passkeys")
    entropy = secrets.token_bytes(identifiers.BYTES)
    program = _name(forms.read(request.event).get("program", "")) or "No name"
    token, session = sessions.start(table(), user, request.now, entropy, program=program)
    audit.signed_in(session, "a token for a program")
    return pages.page(
        "passkeys/templates/token.html",
        here="/passkeys/token",
        who=user.role,
        token=token,
        program=program,
        ends=views.moment(session.expires_at),
        idle=settings.SESSION_IDLE.days,
    )


@routes.get("/passkeys/sign-in")
def second_step(request: Request) -> Answer:
    half = data.half_of(table(), cookie.token_of(request.event), request.now)
    return _step_page(request, half, forms.own_path(request.query.get("next"), HOME))


@routes.post("/passkeys/sign-in")
def prove(request: Request) -> Answer:
    """Sign in by a passkey or a recovery code, after the password."""
    typed = forms.read(request.event)
    place = forms.own_path(typed.get("next"), HOME)
    half = data.half_of(table(), cookie.token_of(request.event), request.now)
    data.count_try(table(), half)
    by_code = bool(typed.get("code"))
    try:
        if by_code:
            data.spend_code(table(), half.user, typed["code"])
        else:
            _prove(request, half, typed.get("credential", ""))
    except _REFUSED as error:
        audit.record("factor-failed", half.user.account_id, by="recovery code" if by_code else "passkey")
        return _step_page(request, half, place, str(error), code=by_code)
    data.finish(table(), half)
    begun = _begin(request, half.user, "password and recovery code" if by_code else "password and passkey")
    if by_code:
        return pages.redirect("/passkeys", cookies=begun, notice="code-used")
    return pages.lead_to(place, cookies=begun)


@routes.post("/passkeys/first", form_page="/passkeys/sign-in")
def register_first(request: Request) -> Answer:
    """Register the first passkey of an editor whose password is right, and sign in."""
    place = forms.own_path(forms.read(request.event).get("next"), HOME)
    half = data.half_of(table(), cookie.token_of(request.event), request.now)
    data.count_try(table(), half)
    try:
        return _register(request, half.user, half.half_id, place, half)
    except _REFUSED as error:
        return _step_page(request, half, place, str(error))


def _prove(request: Request, half: data.Half, answer: str) -> None:
    """Check a passkey's answer to a challenge of this half-session. Raises NotProved."""
    from features.passkeys import ceremonies  # noqa: PLC0415  # the demo in a browser's tab has no such libraries

    challenge = ceremonies.challenge_of(answer)
    data.spend_challenge(table(), challenge, "sign in", half.half_id, request.now)
    passkey = data.get(table(), half.user.username, ceremonies.credential_of(answer))
    count = ceremonies.proved(answer, challenge, passkey, half.user, _origin(request))
    data.used(table(), half.user.username, passkey, count, request.now)


def _register(request: Request, user: User, owner: str, place: str, half: data.Half | None = None) -> Answer:
    """Add the passkey of an answer, which ends all other sessions. With the first one, recovery codes are shown."""
    from features.passkeys import ceremonies  # noqa: PLC0415  # the demo in a browser's tab has no such libraries

    typed, is_first = forms.read(request.event), passkeys_of(user) == 0
    answer, name = typed.get("credential", ""), _name(typed.get("name", ""))
    challenge = ceremonies.challenge_of(answer)
    data.spend_challenge(table(), challenge, "register", owner, request.now)
    made = ceremonies.registered(answer, challenge, _origin(request))
    passkey = Passkey(
        passkey_id=data.passkey_id(made.credential_id),
        name=name or browser(request.event) or "Passkey",
        credential_id=made.credential_id,
        public_key=made.public_key,
        sign_count=made.sign_count,
        created_at=request.now,
    )
    user = data.add(table(), user, passkey, first=half is not None)
    audit.record("factor-added", user.account_id)
    if half is not None:
        data.finish(table(), half)
    begun = _begin(request, user, "a new passkey")
    if is_first:
        return _codes_page(request, user, place, begun)
    return pages.redirect("/passkeys", cookies=begun, notice="passkey-added")


def _name(typed: str) -> str:
    """The name of a passkey or a program as it was typed, without invisible characters: some turn a line around."""
    visible = "".join(each for each in typed if each.isprintable() or each.isspace())
    return " ".join(visible.split())[:LONGEST_NAME]


def _begin(request: Request, user: User, by: str) -> tuple[str, ...]:
    """Start a session of a user who has proved enough, in place of the browser's old one; returns its cookies.

    Raises AccountChanged if the account's sessions were ended since the user was read: what was proved before counts no
    more.
    """
    token = cookies.begin(table(), request, user, by)
    return (*cookies.signed_in(token), cookie.removed())


def _account_of(session: Session) -> User:
    """A session's account. Raises NotSignedIn if all of its sessions were ended since this one was read."""
    user = users.get(table(), session.username, consistent=True)
    if (user.account_id, user.generation) != (session.account_id, session.generation):
        raise NotSignedIn
    return user


def _is_recent(request: Request, session: Session) -> bool:
    return request.now - session.created_at <= settings.RECENT_SIGN_IN


def _recent(request: Request, session: Session) -> User:
    """The account of a session that has just begun. Raises StepExpired for an older one."""
    if not _is_recent(request, session):
        raise data.StepExpired
    return _account_of(session)


def _own_page(request: Request, session: Session, user: User, error: str = "") -> Answer:
    """The page of a user's passkeys. The form for another is there for ten minutes after signing in."""
    known = data.of_user(table(), user.username) if passkeys_of(user) else []
    is_recent = _is_recent(request, session)
    values: dict[str, Any] = {"options": ""}
    if is_recent and len(known) < data.MOST:
        values["options"] = _creation(request, user, known, session.session_id)
    return pages.page(
        "passkeys/templates/passkeys.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if error else None,
        here="/passkeys",
        notice=request.notice,
        who=user.role,
        passkeys=rows(known),
        codes=data.codes_left(table(), user.username) if known else 0,
        recent=is_recent,
        needed=user.role == "editor" and editors_need_one(),
        error=error,
        **values,
    )


def _step_page(request: Request, half: data.Half, place: str, error: str = "", *, code: bool = False) -> Answer:
    """The page of the second step: a passkey or a recovery code; or the first passkey of an account without any."""
    known = data.of_user(table(), half.user.username)
    if known:
        from features.passkeys import ceremonies  # noqa: PLC0415  # the demo has no such libraries

        options, challenge = ceremonies.request(known, _origin(request))
        data.keep_challenge(table(), challenge, "sign in", half.half_id, request.now)
    else:
        options = _creation(request, half.user, known, half.half_id)
    return pages.page(
        "passkeys/templates/sign-in.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if error else None,
        here="/passkeys/sign-in",
        options=options,
        known=bool(known),
        next=place,
        error=error,
        by_code=code,
    )


def _creation(request: Request, user: User, known: list[Passkey], owner: str) -> str:
    """The options for a new passkey, whose challenge is kept for their owner."""
    from features.passkeys import ceremonies  # noqa: PLC0415  # the demo in a browser's tab has no such libraries

    options, challenge = ceremonies.creation(user, known, _origin(request))
    data.keep_challenge(table(), challenge, "register", owner, request.now)
    return options


def _codes_page(request: Request, user: User, place: str, begun: tuple[str, ...] = ()) -> Answer:
    """Make recovery codes, and show them this once."""
    entropy = secrets.token_bytes(data.CODE_BYTES * data.CODES)
    codes = data.new_codes(table(), user, request.now, entropy)
    audit.record("recovery-codes", user.account_id)
    return pages.page(
        "passkeys/templates/codes.html",
        here="/passkeys/codes",
        who=user.role,
        codes=codes,
        next=f"{base()}{place}",
        cookies=begun,
    )


def _origin(request: Request) -> str:
    """The site's origin: the configured one, or that of the gateway's own address."""
    return origin() or f"https://{request.event['requestContext'].get('domainName', '')}"


handler = serve(routes, guards=[forms.ours_only])
