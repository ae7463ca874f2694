"""Account pages: sign-up, sign-in and sign-out; name, address and password; removal.

Signing in always starts a new session, whatever cookie the browser sent. Changing password or email address needs the
current password, and counts as an attempt to sign in.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Literal

from shared import features, hooks
from shared.api.member_bodies import AccountChange, NewUser
from shared.data.members import accounts, sessions, users
from shared.errors import (
    DealsError,
    EmailTaken,
    SecondStep,
    SlowDown,
    StillNeeded,
    UsernameTaken,
    WrongCurrentPassword,
    WrongPassword,
)
from shared.html import cookies, forms, pages, views
from shared.html.forms import Fields, InvalidFields, check
from shared.html.pages import Answer, Request, Routes, serve
from shared.http.requests import address, browser
from shared.models.members import Pace, Session, User
from shared.runtime import audit, metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import identifiers
from shared.values.naming import counted

HOME = "/my/inbox"
"""The page after signing in, unless a form came from elsewhere on the site."""

WORDS = {
    "username": "This must be 1 to 30 letters, digits, dots and hyphens, with a letter or digit at both ends.",
    "email": "This must be an email address.",
}

routes = Routes()


@routes.get("/account/sign-in")
def sign_in_form(request: Request) -> Answer:
    return visitor_form("sign-in", {"next": request.query.get("next", "")}, notice=request.notice)


@routes.post("/account/sign-in")
def sign_in(request: Request) -> Answer:
    typed, entropy = forms.read(request.event), secrets.token_bytes(identifiers.BYTES)
    username, password = typed.get("username", ""), typed.get("password", "")
    place = forms.own_path(typed.get("next"), HOME)
    try:
        token, session = accounts.sign_in(
            table(),
            username,
            password,
            address(request.event),
            request.now,
            entropy,
            browser=browser(request.event),
            takes_more=_takes_more,
        )
    except SecondStep as step:
        return _go_on(request, step.user, place)
    except (WrongPassword, SlowDown) as error:
        report(metrics.SIGN_IN_FAILURES)
        audit.sign_in_failed(error)
        return again(partial(visitor_form, "sign-in", typed), "username", error)
    audit.signed_in(session, "password")
    return _welcomed(request, token, place)


def _takes_more(user: User) -> bool:
    return any(each.takes_more(user) for each in features.roles(hooks.Accounts))


def _go_on(request: Request, user: User, place: str) -> Answer:
    """Lead a user whose password is right to the second step of a feature."""
    audit.record("password-accepted", user.account_id)
    answers = (each.go_on(request, user, place) for each in features.roles(hooks.Account))
    return next(filter(None, answers))


@routes.get("/account/sign-up")
def sign_up_form(request: Request) -> Answer:
    return visitor_form("sign-up", {"next": request.query.get("next", "")})


@routes.post("/account/sign-up")
def sign_up(request: Request) -> Answer:
    typed = forms.read(request.event)
    try:
        new = check(NewUser, {name: typed.get(name, "") for name in ("username", "name", "email", "password")}, WORDS)
        user = accounts.sign_up(table(), **new.model_dump(), address=address(request.event), now=request.now)
    except (InvalidFields, UsernameTaken, EmailTaken, SlowDown) as error:
        return again(partial(visitor_form, "sign-up", typed), "username", error)
    notice = _changed("made", user, user) or "signed-up"
    token = cookies.begin(table(), request, user, "sign-up")
    return _welcomed(request, token, forms.own_path(typed.get("next"), HOME), notice=notice)


def _changed(what: Literal["made", "email", "password"], before: User, after: User) -> str | None:
    """Have features do what follows from a change of an account; returns a notice that one of them has for it."""
    said = [each.on_account(what, before, after) for each in features.roles(hooks.Accounts)]
    return next(filter(None, said), None)


@routes.post("/account/sign-out", form_page="/account")
def sign_out(request: Request) -> Answer:
    token, session = cookies.token_of(request.event), cookies.session_of(table(), request)
    if token is not None:
        sessions.end(table(), token)
    if session is not None:
        audit.record("sign-out", session.account_id, session_id=session.session_id)
    return _left("signed-out")


@routes.post("/account/sign-out-everywhere", form_page="/account")
def sign_out_everywhere(request: Request) -> Answer:
    session = cookies.member_of(request)
    sessions.end_all(table(), session.username, session.account_id)
    return _left("signed-out-everywhere")


@routes.post("/account/sessions/end", form_page="/account")
def end_session(request: Request) -> Answer:
    session, session_id = cookies.member_of(request), forms.read(request.event).get("session", "")
    sessions.end_one(table(), session.username, session_id)
    audit.record("session-ended", session.account_id, session_id=session_id)
    return pages.redirect("/account", notice="session-ended", fragment="sessions")


@routes.get("/account")
def account(request: Request) -> Answer:
    return account_page(request, cookies.member_of(request))


@routes.post("/account/name", form_page="/account")
def change_name(request: Request) -> Answer:
    user, typed = me(request), forms.read(request.event)
    try:
        name = check(AccountChange, {"name": typed.get("name", "")}).name or ""
    except InvalidFields as error:
        return account_page(request, user, typed, error.errors)
    users.rename(table(), user.username, name, user.account_id)
    return pages.redirect("/account", notice="renamed")


@routes.post("/account/hot", form_page="/my/watches")
def set_hot_notifications(request: Request) -> Answer:
    """Set the member's pace of hot-deal notifications; the form is on the page of watches and alerts."""
    user, typed = me(request), forms.read(request.event)
    pace = check(AccountChange, {"hotPace": typed.get("pace", "")}).hot_pace
    users.set_hot_notifications(table(), user.username, pace or Pace.AT_ONCE, user.account_id)
    return pages.redirect("/my/watches", notice="limits")


@routes.post("/account/email", form_page="/account")
def change_email(request: Request) -> Answer:
    user, typed = me(request), forms.read(request.event)
    try:
        email = _checked(typed, "email", "email-password").email or ""
        _prove(request, user, typed, "email-password")
        changed = accounts.change_email(table(), user, email, address(request.event), request.now)
    except (InvalidFields, EmailTaken, SlowDown) as error:
        return again(partial(account_page, request, user, typed), "email", error)
    _changed("email", user, changed)
    return pages.redirect("/account", notice="email")


@routes.post("/account/password", form_page="/account")
def change_password(request: Request) -> Answer:
    """Change the password, which ends all sessions. This browser gets a new one, after the second step if there is one:
    a new session may change what signs the user in."""
    user, typed = me(request), forms.read(request.event)
    try:
        password = _checked(typed, "password", "current-password").password or ""
        user = _prove(request, user, typed, "current-password")
    except (InvalidFields, SlowDown) as error:
        return again(partial(account_page, request, user, typed), "current-password", error)
    changed = accounts.change_password(table(), user, password)
    _changed("password", user, changed)
    if _takes_more(changed):
        return _go_on(request, changed, "/account?notice=password")
    token = cookies.begin(table(), request, changed, "new password")
    return _welcomed(request, token, "/account", notice="password")


@routes.get("/account/remove")
def removal_form(request: Request) -> Answer:
    return _removal_page(request, cookies.member_of(request))


@routes.post("/account/remove")
def remove(request: Request) -> Answer:
    from shared.data import removal  # noqa: PLC0415  # all that an account may have, which nothing else here needs

    user, typed = me(request), forms.read(request.event)
    try:
        _prove(request, user, typed, "password")
        removal.remove_account(table(), user, request.now)
    except (InvalidFields, SlowDown) as error:
        return again(partial(_removal_page, request, user), "password", error)
    except StillNeeded:
        return _removal_page(request, user, held=True)
    return _left("removed")


def me(request: Request) -> User:
    """The signed-in user's account. Raises NotSignedIn."""
    return account_of(cookies.member_of(request))


def account_of(whose: Session | User) -> User:
    """A session's account as it is now. Raises NotSignedIn if it was removed meanwhile."""
    return accounts.own(table(), whose.username, whose.account_id)


def again(form: Callable[[Mapping[str, str]], Answer], field: str, error: DealsError) -> Answer:
    """The form again, with errors and all values but passwords; ``field`` takes an error without a field."""
    match error:
        case InvalidFields(errors=errors):
            return form(errors)
        case WrongPassword():
            return form({field: str(error)})
        case UsernameTaken():
            return form({"username": "That username is taken. Choose another."})
        case EmailTaken():
            return form({"email": "An account with this address already exists."})
        case SlowDown(retry_after=seconds):
            answer = form({field: f"Too many attempts. Try again in {counted(math.ceil(seconds / 60), 'minute')}."})
            answer.status_code = HTTPStatus.TOO_MANY_REQUESTS
            answer.headers["Retry-After"] = str(seconds)
            return answer
    raise error


def visitor_form(
    name: str, typed: Mapping[str, str], errors: Mapping[str, str] | None = None, folder: str = "account", **values: Any
) -> Answer:
    """A form for visitors, with all values but passwords; ``folder`` has its template."""
    shown = {each: typed.get(each, "") for each in ("username", "name", "email")}
    place, onward = f"/account/{name}", forms.own_path(typed.get("next"), "")
    return pages.page(f"{folder}/{name}.html", here=place, typed=shown, errors=errors, next=onward, **values)


def account_page(
    request: Request,
    whose: Session | User,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Answer:
    asked = (partial(account_of, whose), partial(sessions.of_user, table(), whose, request.now))
    (user, begun), head = cookies.beside_head(request, *asked)
    return pages.page(
        "account/account.html",
        here="/account",
        notice=request.notice,
        user={name: getattr(user, name) for name in ("username", "name", "email", "role")},
        since=f"{views.day(user.created_at)} {user.created_at.year}",
        typed={name: (typed or {}).get(name, "") for name in ("name", "email")},
        errors=errors,
        sessions=_sessions(request, user, begun),
        **features.merged(hooks.Account, lambda each: each.on_account_page(user)),
        **head,
    )


def _sessions(request: Request, user: User, begun: list[Session]) -> list[dict[str, Any]]:
    """The rows of the account's sessions."""
    token, here = cookies.token_of(request.event), sessions.network_of(address(request.event), user.account_id)
    own = sessions.id_of(token) if token else ""
    return [
        {
            "id": each.session_id,
            "browser": f"Program: {each.program}" if each.program else each.browser or "Unknown browser",
            "current": each.session_id == own,
            "network": each.network and ("This network" if each.network == here else "Another network"),
            "began": views.short_moment(each.created_at, request.now),
            "used": views.short_moment(each.used_at, request.now) if each.used_at else None,
        }
        for each in begun
    ]


def _checked(typed: Fields, name: str, current: str) -> AccountChange:
    """A change of one field, with the current password typed as ``current``. Raises InvalidFields."""
    change = check(AccountChange, {name: typed.get(name, ""), "currentPassword": typed.get(current) or " "}, WORDS)
    if not typed.get(current):
        raise InvalidFields({current: "This must be filled in."})
    return change


def _prove(request: Request, user: User, typed: Fields, name: str) -> User:
    """Check a typed password against the account's; returns the account with its hash.

    It is rate-limited, so a stolen session guesses no faster. Raises InvalidFields, SlowDown.
    """
    try:
        return accounts.prove(table(), user, typed.get(name, ""), address(request.event), request.now)
    except WrongCurrentPassword as error:
        raise InvalidFields({name: "This password is wrong."}) from error


def _welcomed(request: Request, token: str, place: str, **query: str) -> Answer:
    """Redirect with a new session's cookies, and end the browser's old session."""
    brought = cookies.token_of(request.event)
    if brought is not None:
        sessions.end(table(), brought)
    return pages.lead_to(place, cookies=tuple(cookies.signed_in(token)), **query)


def _left(notice: str) -> Answer:
    """Redirect to the front page, signed out and with the browser's cache cleared.

    https://developer.mozilla.org/docs/Web/HTTP/Headers/Clear-Site-Data
    """
    answer = pages.redirect("/", cookies=tuple(cookies.signed_out()), notice=notice)
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


def _removal_page(
    request: Request, whose: Session | User, errors: Mapping[str, str] | None = None, *, held: bool = False
) -> Answer:
    """The page that says what removing the account removes, with the form for it."""
    (user,), head = cookies.beside_head(request, partial(account_of, whose))
    return pages.page(
        "account/remove.html",
        here="/account/remove",
        status=HTTPStatus.CONFLICT if held else None,
        user={"username": user.username},
        errors=errors,
        held=held,
        **head,
    )


handler = serve(routes, *pages.routes_of(features.roles(hooks.Account)), guards=[forms.ours_only])
