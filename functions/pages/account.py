"""Accounts in a browser: signing up, in and out, one's name, address and password, and leaving.

Signing in always begins a new session, whatever cookie the browser brought. Changing the password or the email address
needs the current password, and is counted as an attempt to sign in.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from shared.api.member_bodies import AccountChange, NewPassword, NewUser, PasswordReset
from shared.data.members import accounts, mailing, sessions, users
from shared.data.removal import remove_account
from shared.errors import (
    DealsError,
    EmailTaken,
    SlowDown,
    StillNeeded,
    UsernameTaken,
    WrongCurrentPassword,
    WrongPassword,
)
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes, serve
from shared.html.form_validation import check
from shared.html.forms import Fields, InvalidFields
from shared.html.pages import Answer, Request
from shared.http.requests import Event, address, on_laptop
from shared.models.members import Pace, Session, User
from shared.runtime import metrics
from shared.runtime.clients import is_sent, mail_queue
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import identifiers
from shared.values.naming import counted

HOME = "/my/inbox"
"""Where signing in leads, unless a form came from elsewhere on the site."""

_WORDS = {
    "username": "This must be 1 to 30 letters, digits, dots and hyphens, with a letter or digit at both ends.",
    "email": "This must be an email address.",
}

_LEAVING = "/account/unsubscribe"
_HOURS = {str(hour): f"{hour:02}:00 UTC" for hour in range(24)}

_TROUBLES = {
    "bounce": "A mail to this address came back, so we no longer send mail to it. Change it, or ask us to try again.",
    "complaint": "A mail to this address was marked as spam, so we no longer send mail to it.",
}

routes = Routes()


@routes.get("/account/sign-in")
def sign_in_form(request: Request) -> Answer:
    return _form("sign-in", {"next": _next(request.query)}, notice=request.notice)


@routes.post("/account/sign-in")
def sign_in(request: Request) -> Answer:
    typed, entropy = forms.read(request.event), secrets.token_bytes(identifiers.BYTES)
    username, password = typed.get("username", ""), typed.get("password", "")
    try:
        token, _ = accounts.sign_in(table(), username, password, address(request.event), request.now, entropy)
    except (WrongPassword, SlowDown) as error:
        report(metrics.SIGN_IN_FAILURES)
        return _again(partial(_form, "sign-in", typed), "username", error)
    return _welcomed(request, token, forms.own_path(_next(typed), HOME))


@routes.get("/account/sign-up")
def sign_up_form(request: Request) -> Answer:
    return _form("sign-up", {"next": _next(request.query)})


@routes.post("/account/sign-up")
def sign_up(request: Request) -> Answer:
    typed = forms.read(request.event)
    try:
        new = check(NewUser, {name: typed.get(name, "") for name in ("username", "name", "email", "password")}, _WORDS)
        user = accounts.sign_up(table(), **new.model_dump(), address=address(request.event), now=request.now)
    except (InvalidFields, UsernameTaken, EmailTaken, SlowDown) as error:
        return _again(partial(_form, "sign-up", typed), "username", error)
    accounts.ask_to_verify(mail_queue(), user)
    return _welcomed(request, _begun(request, user), forms.own_path(_next(typed), HOME))


@routes.get("/account/forgot")
def forgot_form(_request: Request) -> Answer:
    return _forgot_page({})


@routes.post("/account/forgot")
def forgot(request: Request) -> Answer:
    """Have a link to a new password mailed. Whether anybody has the address is not looked up here: nobody can tell by
    the answer, nor by how long it takes."""
    typed = forms.read(request.event)
    try:
        email = check(PasswordReset, {"email": typed.get("email", "")}, _WORDS).email
        accounts.ask_for_reset(table(), mail_queue(), email, address(request.event), request.now)
    except (InvalidFields, SlowDown) as error:
        return _again(partial(_forgot_page, typed), "email", error)
    return _forgot_page({}, asked_for=email)


@routes.get("/account/reset")
def reset_form(request: Request) -> Answer:
    """The form for a new password, opened by the link in a mail."""
    token = request.query.get("token", "")
    user = mailing.token_owner(table(), token, "reset", request.now)
    return _reset_page(token, user.username)


@routes.post("/account/reset")
def reset(request: Request) -> Answer:
    """Change the password by the link in a mail. It leads to signing in: a finder of the link stays outside
    of other browsers' sessions, and the owner sees that the new password works."""
    typed = forms.read(request.event)
    token = typed.get("token", "")
    try:
        password = check(NewPassword, {"token": token, "password": typed.get("password", "")}).password
    except InvalidFields as error:
        user = mailing.token_owner(table(), token, "reset", request.now)
        return _reset_page(token, user.username, error.errors)
    accounts.reset_password(table(), token, password, request.now, mail_queue())
    return pages.redirect("/account/sign-in", notice="reset")


@routes.post("/account/sign-out", form_page="/account")
def sign_out(request: Request) -> Answer:
    token = cookies.token_of(request.event)
    if token is not None:
        sessions.end(table(), token)
    return _left("signed-out")


@routes.post("/account/sign-out-everywhere", form_page="/account")
def sign_out_everywhere(request: Request) -> Answer:
    session = cookies.member_of(request)
    sessions.end_all(table(), session.username, session.account_id)
    return _left("signed-out-everywhere")


@routes.get("/account")
def account(request: Request) -> Answer:
    return _account_page(request, cookies.member_of(request))


@routes.post("/account/name", form_page="/account")
def change_name(request: Request) -> Answer:
    user, typed = _me(request), forms.read(request.event)
    try:
        name = check(AccountChange, {"name": typed.get("name", "")}).name or ""
    except InvalidFields as error:
        return _account_page(request, user, typed, error.errors)
    users.rename(table(), user.username, name, user.account_id)
    return pages.redirect("/account", notice="renamed")


@routes.post("/account/hot", form_page="/my/watches")
def tell_of_hot(request: Request) -> Answer:
    """Set when the member is notified of hot deals; the form is on the page of watches and alerts."""
    user, typed = _me(request), forms.read(request.event)
    pace = check(AccountChange, {"hotPace": typed.get("pace", "")}).hot_pace
    users.tell_of_hot(table(), user.username, pace or Pace.AT_ONCE, user.account_id)
    return pages.redirect("/my/watches", notice="limits")


@routes.post("/account/email", form_page="/account")
def change_email(request: Request) -> Answer:
    user, typed = _me(request), forms.read(request.event)
    try:
        email = _checked(typed, "email", "email-password").email or ""
        _prove(request, user, typed, "email-password")
        changed = accounts.change_email(table(), user, email, address(request.event), request.now, mail_queue())
    except (InvalidFields, EmailTaken, SlowDown) as error:
        return _again(partial(_account_page, request, user, typed), "email", error)
    accounts.ask_to_verify(mail_queue(), changed)
    return pages.redirect("/account", notice="email")


@routes.post("/account/email/verify", form_page="/account")
def ask_to_verify(request: Request) -> Answer:
    user = _me(request)
    try:
        accounts.ask_again_to_verify(table(), mail_queue(), user, request.now)
    except SlowDown as error:
        return _again(partial(_account_page, request, user, {}), "verify", error)
    return pages.redirect("/account", notice="verification")


@routes.get("/account/verify")
def verification(request: Request) -> Answer:
    """The button that verifies an address: programs that look into mails follow links, and press no buttons."""
    token = request.query.get("token", "")
    user = mailing.token_owner(table(), token, "verify", request.now)
    return _confirmation("/account/verify", token, "Is this your address?", f"{user.email}, of the account", user)


@routes.post("/account/verify")
def verify(request: Request) -> Answer:
    accounts.verify_email(table(), forms.read(request.event).get("token", ""), request.now)
    return pages.page(
        "account/confirmed.html", title="Your email address is confirmed", detail="We can now send mail to it."
    )


@routes.post("/account/digest", form_page="/account")
def choose_digest(request: Request) -> Answer:
    """Choose at what hour the day's messages are mailed, or that they are not."""
    user, chosen = _me(request), forms.read(request.event).get("hour", "")
    if chosen and chosen not in _HOURS:
        return _account_page(request, user, {}, {"hour": "This must be an hour of the list."})
    hour = int(chosen) if chosen else None
    mailing.choose_hour(table(), user, hour, secrets.token_bytes(mailing.KEY_BYTES), request.now)
    return pages.redirect("/account", notice="digest" if chosen else "no-digest")


@routes.get(_LEAVING)
def leaving(request: Request) -> Answer:
    token = request.query.get("token", "")
    user = mailing.subscriber(table(), token)
    return _confirmation(_LEAVING, token, "Stop the daily mails?", "Messages still come to the inbox of", user)


@routes.post(_LEAVING)
def leave_digests(request: Request) -> Answer:
    """End the daily mails: for a reader's button, and for mail programs, which send nothing but their one click.

    https://www.rfc-editor.org/rfc/rfc8058
    """
    user = mailing.subscriber(table(), request.query.get("token", ""))
    mailing.choose_hour(table(), user, None, b"", request.now)
    said = "Messages still come to your inbox."
    return pages.page("account/confirmed.html", title="You are unsubscribed from daily mails", detail=said)


@routes.post("/account/password", form_page="/account")
def change_password(request: Request) -> Answer:
    """Change the password. That ends all sessions; this browser gets a new one."""
    user, typed = _me(request), forms.read(request.event)
    try:
        password = _checked(typed, "password", "current-password").password or ""
        user = _prove(request, user, typed, "current-password")
    except (InvalidFields, SlowDown) as error:
        return _again(partial(_account_page, request, user, typed), "current-password", error)
    changed = accounts.change_password(table(), user, password, mail_queue())
    return _welcomed(request, _begun(request, changed), "/account", notice="password")


@routes.get("/account/remove")
def removal(request: Request) -> Answer:
    return _removal_page(request, cookies.member_of(request))


@routes.post("/account/remove")
def remove(request: Request) -> Answer:
    user, typed = _me(request), forms.read(request.event)
    try:
        _prove(request, user, typed, "password")
        remove_account(table(), user, request.now)
    except (InvalidFields, SlowDown) as error:
        return _again(partial(_removal_page, request, user), "password", error)
    except StillNeeded:
        return _removal_page(request, user, held=True)
    return _left("removed")


def _me(request: Request) -> User:
    """The account of the user who asks. Raises NotSignedIn."""
    return _account_of(cookies.member_of(request))


def _account_of(whose: Session | User) -> User:
    """The account of a session's user, as it is now. Raises NotSignedIn, for one that was removed meanwhile."""
    return accounts.own(table(), whose.username, whose.account_id)


def _checked(typed: Fields, name: str, current: str) -> AccountChange:
    """A change of one field beside the password that holds now, typed as ``current``. Raises InvalidFields."""
    change = check(AccountChange, {name: typed.get(name, ""), "currentPassword": typed.get(current) or " "}, _WORDS)
    if not typed.get(current):
        raise InvalidFields({current: "This must be filled in."})
    return change


def _prove(request: Request, user: User, typed: Fields, name: str) -> User:
    """Hold a typed password against the account's; returns it with its hash.

    A stolen session guesses no faster than anyone. Raises InvalidFields, SlowDown.
    """
    try:
        return accounts.prove(table(), user, typed.get(name, ""), address(request.event), request.now)
    except WrongCurrentPassword as error:
        raise InvalidFields({name: "This is not the password."}) from error


def _begun(request: Request, user: User) -> str:
    """The token of a new session of a user who has just given a password."""
    token, _ = sessions.start(table(), user, request.now, secrets.token_bytes(identifiers.BYTES))
    return token


def _welcomed(request: Request, token: str, place: str, **query: str) -> Answer:
    """On to a place with a new session's cookies. The session that the browser brought, if any, ends."""
    brought = cookies.token_of(request.event)
    if brought is not None:
        sessions.end(table(), brought)
    return forms.lead_to(place, cookies=tuple(cookies.signed_in(token)), **query)


def _left(notice: str) -> Answer:
    """To the front page, signed out, with nothing private left in the browser's cache.

    https://developer.mozilla.org/docs/Web/HTTP/Headers/Clear-Site-Data
    """
    answer = pages.redirect("/", cookies=tuple(cookies.signed_out()), notice=notice)
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


def _next(given: Mapping[str, str]) -> str:
    """The path of ours that signing in was asked to lead on to, or nothing."""
    return forms.own_path(given.get("next"), "")


def _again(form: Callable[[Mapping[str, str]], Answer], field: str, error: DealsError) -> Answer:
    """The form again, with its values except passwords, and its errors; ``field`` takes an error without a field."""
    match error:
        case InvalidFields(errors=errors):
            return form(errors)
        case WrongPassword():
            return form({field: str(error)})
        case UsernameTaken():
            return form({"username": "That username is taken. Choose another."})
        case EmailTaken():
            return form({"email": "An account with this address exists already."})
        case SlowDown(retry_after=seconds):
            answer = form({field: f"Too many attempts. Try again in {counted(math.ceil(seconds / 60), 'minute')}."})
            answer.status_code = HTTPStatus.TOO_MANY_REQUESTS
            answer.headers["Retry-After"] = str(seconds)
            return answer
    raise error


def _form(name: str, typed: Mapping[str, str], errors: Mapping[str, str] | None = None, **values: Any) -> Answer:
    """A form for visitors who are not signed in, with its values except passwords."""
    shown = {each: typed.get(each, "") for each in ("username", "name", "email")}
    place, onward = f"/account/{name}", _next(typed)
    return pages.page(f"account/{name}.html", here=place, typed=shown, errors=errors, next=onward, **values)


def _confirmation(path: str, token: str, title: str, detail: str, user: User) -> Answer:
    """A page with the one button that does what a mailed link is for."""
    return pages.page(
        "account/confirm.html", path=path, token=token, title=title, detail=detail, username=user.username
    )


def _from_our_pages(event: Event) -> None:
    """Guard: forms come from our own pages. Only mail programs may end the daily mails, by a link that is signed."""
    if event["path"] != _LEAVING:
        forms.ours_only(event)


def _forgot_page(typed: Mapping[str, str], errors: Mapping[str, str] | None = None, asked_for: str = "") -> Answer:
    """The form for a forgotten password; ``asked_for`` is the address that a link is on its way to, if it has one."""
    return _form("forgot", typed, errors, asked_for=asked_for, mail=is_sent(), on_laptop=on_laptop())


def _reset_page(token: str, username: str, errors: Mapping[str, str] | None = None) -> Answer:
    return pages.page("account/reset.html", token=token, username=username, errors=errors)


def _account_page(
    request: Request,
    whose: Session | User,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Answer:
    (user,), head = cookies.beside_head(request, partial(_account_of, whose))
    return pages.page(
        "account/account.html",
        here="/account",
        notice=request.notice,
        user={name: getattr(user, name) for name in ("username", "name", "email", "role")},
        since=f"{views.day(user.created_at)} {user.created_at.year}",
        typed={name: (typed or {}).get(name, "") for name in ("name", "email")},
        errors=errors,
        mail=is_sent(),
        verified=user.is_verified,
        trouble=_TROUBLES[user.stopped_because or "bounce"] if user.mail_is_stopped else None,
        hours={"": "Never", **_HOURS},
        hour="" if user.digest_hour is None else str(user.digest_hour),
        **head,
    )


def _removal_page(
    request: Request, whose: Session | User, errors: Mapping[str, str] | None = None, *, held: bool = False
) -> Answer:
    """Say what removing the account removes, with the form that does it."""
    (user,), head = cookies.beside_head(request, partial(_account_of, whose))
    return pages.page(
        "account/remove.html",
        here="/account/remove",
        status=HTTPStatus.CONFLICT if held else None,
        user={"username": user.username},
        errors=errors,
        held=held,
        **head,
    )


handler = serve(routes, guards=[_from_our_pages])
