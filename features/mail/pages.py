"""Account pages that send mail or follow from one: password reset, verification, and digests."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

from features.mail.api import NewPassword, PasswordReset
from features.mail.data import digests, mailing
from features.mail.models import is_stopped, is_verified, settings_of
from features.mail.sending import is_sent, mail_queue
from functions.pages.account import WORDS, account_page, again, me, visitor_form
from shared.errors import SlowDown
from shared.html import forms, pages
from shared.html.forms import InvalidFields, check
from shared.html.pages import Answer, Request, Routes
from shared.http.requests import address, on_laptop
from shared.models.members import User
from shared.runtime.environment import table

_LEAVING = "/account/unsubscribe"
_HOURS = {str(hour): f"{hour:02}:00 UTC" for hour in range(24)}

_TROUBLES = {
    "bounce": "A mail to this address came back, so we no longer send mail to it. Change it, or ask us to try again.",
    "complaint": "A mail to this address was marked as spam, so we no longer send mail to it.",
}

routes = Routes()


@routes.get("/account/forgot")
def forgot_form(_request: Request) -> Answer:
    return _forgot_page({})


@routes.post("/account/forgot")
def forgot(request: Request) -> Answer:
    """Request a password reset. The address isn't looked up here, so neither the answer nor its time shows whether it
    has an account."""
    typed = forms.read(request.event)
    try:
        email = check(PasswordReset, {"email": typed.get("email", "")}, WORDS).email
        mailing.ask_for_reset(table(), mail_queue(), email, address(request.event), request.now)
    except (InvalidFields, SlowDown) as error:
        return again(partial(_forgot_page, typed), "email", error)
    return _forgot_page({}, asked_for=email)


@routes.get("/account/reset")
def reset_form(request: Request) -> Answer:
    """The form for a new password, opened by a mailed link."""
    token = request.query.get("token", "")
    user = mailing.token_owner(table(), token, "reset", request.now)
    return _reset_page(token, user.username)


@routes.post("/account/reset")
def reset(request: Request) -> Answer:
    """Reset the password by a mailed link, then ask to sign in, so that another finder of the link gets no session
    and the owner sees that the new password works."""
    typed = forms.read(request.event)
    token = typed.get("token", "")
    try:
        password = check(NewPassword, {"token": token, "password": typed.get("password", "")}).password
    except InvalidFields as error:
        user = mailing.token_owner(table(), token, "reset", request.now)
        return _reset_page(token, user.username, error.errors)
    mailing.reset_password(table(), token, password, request.now, mail_queue())
    return pages.redirect("/account/sign-in", notice="reset")


@routes.post("/account/email/verify", form_page="/account")
def ask_to_verify(request: Request) -> Answer:
    user = me(request)
    try:
        mailing.ask_again_to_verify(table(), mail_queue(), user, request.now)
    except SlowDown as error:
        return again(partial(account_page, request, user, {}), "verify", error)
    return pages.redirect("/account", notice="verification")


@routes.get("/account/verify")
def verification(request: Request) -> Answer:
    """A button that verifies an address: programs that scan mails follow links, but press no buttons."""
    token = request.query.get("token", "")
    user = mailing.token_owner(table(), token, "verify", request.now)
    return _confirmation("/account/verify", token, "Is this your address?", f"{user.email}, of the account", user)


@routes.post("/account/verify")
def verify(request: Request) -> Answer:
    mailing.verify_email(table(), forms.read(request.event).get("token", ""), request.now)
    return pages.page(
        "mail/templates/confirmed.html", title="Your email address is confirmed", detail="We can now send mail to it."
    )


@routes.post("/account/digest", form_page="/account")
def choose_digest(request: Request) -> Answer:
    """Set the hour of the digest, or turn it off."""
    user, chosen = me(request), forms.read(request.event).get("hour", "")
    if chosen and chosen not in _HOURS:
        return account_page(request, user, {}, {"hour": "Choose an hour from the list."})
    hour = int(chosen) if chosen else None
    digests.choose_hour(table(), user, hour, secrets.token_bytes(digests.KEY_BYTES), request.now)
    return pages.redirect("/account", notice="digest" if chosen else "no-digest")


@routes.get(_LEAVING)
def leaving(request: Request) -> Answer:
    token = request.query.get("token", "")
    user = digests.subscriber(table(), token)
    return _confirmation(_LEAVING, token, "Stop the daily mails?", "Messages still come to the inbox of", user)


@routes.post(_LEAVING)
def leave_digests(request: Request) -> Answer:
    """Turn the digest off, for a reader's button and for mail programs' one-click requests.

    https://www.rfc-editor.org/rfc/rfc8058
    """
    user = digests.subscriber(table(), request.query.get("token", ""))
    digests.choose_hour(table(), user, None, b"", request.now)
    said = "Messages still come to your inbox."
    return pages.page("mail/templates/confirmed.html", title="You are unsubscribed from daily mails", detail=said)


def on_account_page(user: User) -> dict[str, Any]:
    """Mail's values for an account's page."""
    own = settings_of(user)
    return {
        "mail": is_sent(),
        "verified": is_verified(user),
        "trouble": _TROUBLES[own.stopped_because or "bounce"] if is_stopped(user) else None,
        "hours": {"": "Never", **_HOURS},
        "hour": "" if own.digest_hour is None else str(own.digest_hour),
    }


def _confirmation(path: str, token: str, title: str, detail: str, user: User) -> Answer:
    """A page with one button, which carries out a mailed link."""
    return pages.page(
        "mail/templates/confirm.html", path=path, token=token, title=title, detail=detail, username=user.username
    )


def _forgot_page(typed: Mapping[str, str], errors: Mapping[str, str] | None = None, asked_for: str = "") -> Answer:
    """The form for a forgotten password; ``asked_for`` is the address that a link was sent to, if it has an account."""
    return visitor_form(
        "forgot", typed, errors, folder="mail/templates", asked_for=asked_for, mail=is_sent(), on_laptop=on_laptop()
    )


def _reset_page(token: str, username: str, errors: Mapping[str, str] | None = None) -> Answer:
    return pages.page("mail/templates/new-password.html", token=token, username=username, errors=errors)
