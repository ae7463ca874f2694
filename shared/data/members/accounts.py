"""Signing up, signing in, and proving that an account is one's own.

The API and the site's pages both use this. Attempts are counted before a password is checked, by user and by
``address``, which is where the request comes from.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from shared import settings
from shared.data.members import rate_limits, sessions, users
from shared.dynamodb.table import Table
from shared.errors import (
    AccountChanged,
    EmailTaken,
    Forbidden,
    NoSuchUser,
    NotSignedIn,
    Unavailable,
    UsernameTaken,
    WrongCurrentPassword,
    WrongPassword,
)
from shared.models.members import Session, User
from shared.values.naming import normalise_username
from shared.values.passwords import hash_password, is_outdated, verify_password


def sign_up(table: Table, *, username: str, email: str, name: str, password: str, address: str, now: datetime) -> User:
    """Make a member's account, of names in their normal form. Raises UsernameTaken, EmailTaken, SlowDown.

    A repeat of a request whose answer was lost gets the account that it made.
    """
    rate_limits.sign_up(table, address, now)
    asked = rate_limits.ask(table, address, now)
    try:
        user = users.create(table, User(username, email, name, hash_password(password), "member", now))
    except (UsernameTaken, EmailTaken):
        made = _just_made(table, username, email, password, address, now)
        if made is None:
            raise
        user = made
    with suppress(Unavailable):  # the account is made, and one attempt of fifty is a small loss
        rate_limits.succeed(table, asked)
    return user


def _just_made(table: Table, username: str, email: str, password: str, address: str, now: datetime) -> User | None:
    """The new account that has a name, an address and a password, or None. A guess counts as one at signing in."""
    with suppress(NoSuchUser, WrongCurrentPassword):
        user = users.get(table, username, consistent=True)
        if user.email == email and now - user.created_at < settings.SIGN_IN_WINDOW:
            return prove(table, user, password, address, now)
    return None


def sign_in(
    table: Table, username: str, password: str, address: str, now: datetime, entropy: bytes
) -> tuple[str, Session]:
    """Begin a session for a name, as it was typed, and its password. Raises WrongPassword, SlowDown."""
    try:
        name = normalise_username(username)
    except ValueError as error:
        raise WrongPassword from error
    attempt = rate_limits.begin(table, name, address, now)

    def once() -> tuple[str, Session]:
        user = _known(table, name)  # for an unknown name it takes just as long
        if not verify_password(user.password_hash if user else None, password) or user is None:
            raise WrongPassword
        rate_limits.signed_in(table, name, now)
        if user.password_hash is not None and is_outdated(user.password_hash):
            user = users.rehash(table, user, hash_password(password))
        return sessions.start(table, user, now, entropy)

    begun = table.retry(once, when=AccountChanged)  # an account that changes meanwhile is looked at once more
    rate_limits.succeed(table, attempt)
    rate_limits.remember(table, name, address, now)
    return begun


def prove(table: Table, user: User, password: str, address: str, now: datetime) -> User:
    """Check an account's password; returns it with its hash. Raises WrongCurrentPassword, SlowDown, AccountChanged."""
    # Counted, too: a stolen session guesses no faster than anyone.
    attempt = rate_limits.begin(table, user.username, address, now, signed_in=True)
    user = sessions.with_password(table, user)
    if not verify_password(user.password_hash, password):
        raise WrongCurrentPassword
    rate_limits.succeed(table, attempt)
    return user


def own(table: Table, username: str, account_id: str) -> User:
    """The account of a session. Raises NotSignedIn where it is gone, also after its name has a new owner."""
    try:
        user = users.get(table, username, consistent=True)
    except NoSuchUser as error:
        raise NotSignedIn from error
    if user.account_id != account_id:
        raise NotSignedIn
    return user


def change_password(table: Table, user: User, password: str) -> User:
    """Give an account whose password was checked a new one, and end its sessions. Raises NoSuchUser, AccountChanged."""
    hashed = hash_password(password)
    users.change_password(table, user.username, hashed, proved=user.password_hash)
    # What it is now is known: a read that failed would say that the password is still the old one.
    sign_outs = int(user.generation.rpartition(".")[2] or 0)
    generation = sessions.generation_of({"Generation": sessions.first_generation(hashed), "SignOuts": sign_outs})
    return replace(user, password_hash=hashed, generation=generation)


def change_email(table: Table, user: User, email: str, address: str, now: datetime) -> User:
    """Change an account's email address, once its password is proved. Raises EmailTaken, NoSuchUser, SlowDown."""
    if email == user.email:
        return user
    rate_limits.change_email(table, user.username, now)
    asked = rate_limits.ask(table, address, now)
    changed = users.change_email(table, user, email)
    with suppress(Unavailable):
        rate_limits.succeed(table, asked)
    return changed


def require_recent(session: Session, now: datetime) -> None:
    """Require that a session began recently enough to remove its account. Raises Forbidden."""
    if now - session.created_at > settings.RECENT_SIGN_IN:
        raise Forbidden("Sign in again to remove the account: this session is too old for that.")


def _known(table: Table, name: str) -> User | None:
    """The account of a name with its password's hash, or None. An unknown name takes the same requests."""
    try:
        user = users.get(table, name, consistent=True)
    except NoSuchUser:
        sessions.password_hash(table, name)
        return None
    return sessions.with_password(table, user)
