"""Account mail in the API: reset and verification links, the hour of digests, and mail about changes."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import Field

from features.mail.api_fields import DigestChange
from features.mail.data import digests, mailing
from features.mail.models import is_stopped, is_verified, settings_of
from features.mail.sending import is_sent, mail_queue
from shared.api.app import calling, describe, of_members
from shared.api.documents import Json
from shared.api.fields import Body
from shared.api.member_bodies import AccountChange, Email, Password
from shared.data.members import accounts
from shared.dynamodb.table import Table
from shared.http.answers import nothing
from shared.http.requests import address
from shared.models.members import User
from shared.runtime.environment import table
from shared.values import times


class PasswordReset(Body):
    """Request an email with a link to reset an account's password."""

    email: Email


class MailedToken(Body):
    """The token of a mailed link, which can be used once."""

    token: Annotated[str, Field(min_length=1, max_length=200)]


class NewPassword(MailedToken):
    """Set an account's new password with the token of a mailed link."""

    password: Password


router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


@router.post("/password-resets", **describe("Request an email to reset a password", None, status=204, errors=[404]))
def ask_for_reset(reset: PasswordReset) -> Response[Any]:
    origin = address(router.current_event.raw_event)
    mailing.ask_for_reset(table(), mail_queue(), reset.email, origin, times.now())
    return nothing()


@router.post("/passwords", **describe("Set a new password with a mailed token", None, status=204, errors=[404]))
def reset_password(new: NewPassword) -> Response[Any]:
    mailing.reset_password(table(), new.token, new.password, times.now(), mail_queue())
    return nothing()


@router.post(
    "/me/email-verifications",
    **of_members("Request an email to verify your address", None, status=204, errors=[404]),
)
def ask_to_verify() -> Response[Any]:
    own = calling(router)
    mailing.ask_again_to_verify(table(), mail_queue(), accounts.own(table(), own.username, own.account_id), times.now())
    return nothing()


@router.post(
    "/email-verifications", **describe("Verify an email address with a mailed token", None, status=204, errors=[404])
)
def verify_email(mailed: MailedToken) -> Response[Any]:
    mailing.verify_email(table(), mailed.token, times.now())
    return nothing()


def change(user: User, asked: AccountChange) -> None:
    """Set the hour of an account's digest, if the body has one."""
    if isinstance(asked, DigestChange) and "digest_hour" in asked.model_fields_set:
        digests.choose_hour(table(), user, asked.digest_hour, secrets.token_bytes(digests.KEY_BYTES), times.now())


def on_account(what: Literal["made", "email", "password"], before: User, after: User) -> str | None:
    """Mail a notice of a change to the account's old address, and a verification link to an unverified one.

    Where the stage sends mail, the notice of a new account says so.
    """
    if what == "password" or before.email != after.email:
        mailing.notify(mail_queue(), "password" if what == "password" else "email", before)
    if what != "password":
        mailing.ask_to_verify(mail_queue(), after)
    return "signed-up-mailed" if what == "made" and is_sent() else None


def of_account(_table: Table, user: User) -> Json:
    """Mail's fields of the caller's account."""
    own = settings_of(user)
    return {
        "emailVerified": is_verified(user),
        "mailStopped": own.stopped_because if is_stopped(user) else None,
        "digestHour": own.digest_hour,
    }
