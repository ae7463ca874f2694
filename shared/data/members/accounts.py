"""Sign-up, sign-in, and proof of ownership of an account, for the API and the pages.

Attempts are counted by what was typed and by ``address`` (the request's) before a password is checked. A username and
the email address of its account are counted apart: one count for both would show who has an address.
"""

from __future__ import annotations

from collections.abc import Callable
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
    SecondStep,
    Unavailable,
    UsernameTaken,
    WrongCurrentPassword,
    WrongPassword,
)
from shared.models.members import Session, User
from shared.values.naming import normalise_email, normalise_username
from shared.values.passwords import hash_password, is_outdated, verify_password


def sign_up(table: Table, *, username: str, email: str, name: str, password: str, address: str, now: datetime) -> User:
    """Create a member's account from normalised names. Raises UsernameTaken, EmailTaken, SlowDown.

    A retry after a lost answer gets the account that the first attempt made.
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
    with suppress(Unavailable):  # the account exists, and one attempt in fifty is a small loss
        rate_limits.succeed(table, asked)
    return user


def _just_made(table: Table, username: str, email: str, password: str, address: str, now: datetime) -> User | None:
    """The new account with this name, address and password, or None. A wrong password counts as a failed sign-in."""
    with suppress(NoSuchUser, WrongCurrentPassword):
        user = users.get(table, username, consistent=True)
        if user.email == email and now - user.created_at < settings.SIGN_IN_WINDOW:
            return prove(table, user, password, address, now)
    return None


def sign_in(
    table: Table,
    username: str,
    password: str,
    address: str,
    now: datetime,
    entropy: bytes,
    *,
    browser: str | None = None,
    takes_more: Callable[[User], bool] = lambda _: False,
) -> tuple[str, Session]:
    """Start a session for a typed username or email address, and a password. Raises WrongPassword, SlowDown.

    Raises SecondStep instead of starting one for an account to which signing in ``takes_more`` than its password.
    """
    try:
        name = normalise_email(username) if "@" in username else normalise_username(username)
    except ValueError as error:
        raise WrongPassword from error
    attempt = rate_limits.begin(table, name, address, now)

    def once() -> tuple[str, Session]:
        user = _known(table, name)  # takes as long for an unknown name
        if not verify_password(user.password_hash if user else None, password) or user is None:
            raise WrongPassword(user.account_id if user else None)
        rate_limits.signed_in(table, user.username, now)
        if takes_more(user):
            raise SecondStep(user)
        if user.password_hash is not None and is_outdated(user.password_hash):
            user = users.rehash(table, user, hash_password(password))
        return sessions.start(table, user, now, entropy, address=address, browser=browser)

    try:
        begun = table.retry(once, when=AccountChanged)  # read an account again that changes meanwhile
    except SecondStep:
        rate_limits.succeed(table, attempt)
        raise
    rate_limits.succeed(table, attempt)
    rate_limits.remember(table, name, address, now)
    return begun


def prove(table: Table, user: User, password: str, address: str, now: datetime) -> User:
    """Check an account's password; returns it with its hash. Raises WrongCurrentPassword, SlowDown, AccountChanged."""
    # Counted, too: a stolen session must not guess faster.
    attempt = rate_limits.begin(table, user.username, address, now, signed_in=True)
    user = sessions.with_password(table, user)
    if not verify_password(user.password_hash, password):
        raise WrongCurrentPassword
    rate_limits.succeed(table, attempt)
    return user


def own(table: Table, username: str, account_id: str) -> User:
    """A session's account. Raises NotSignedIn if it is gone, even if its name has a new owner."""
    try:
        user = users.get(table, username, consistent=True)
    except NoSuchUser as error:
        raise NotSignedIn from error
    if user.account_id != account_id:
        raise NotSignedIn
    return user


def change_password(table: Table, user: User, password: str) -> User:
    """Set a new password after the old one was checked, and end all sessions. Raises NoSuchUser, AccountChanged."""
    hashed = hash_password(password)
    users.change_password(table, user.username, hashed, proved=user.password_hash)
    # The result is computed: a failing read would suggest that the password is still the old one.
    sign_outs = int(user.generation.rpartition(".")[2] or 0)
    generation = sessions.generation_of({"Generation": sessions.first_generation(hashed), "SignOuts": sign_outs})
    return replace(user, password_hash=hashed, generation=generation)


def change_email(table: Table, user: User, email: str, address: str, now: datetime) -> User:
    """Change an account's email address after its password was proved. Raises EmailTaken, NoSuchUser, SlowDown."""
    if email == user.email:
        return user
    rate_limits.change_email(table, user.username, now)
    asked = rate_limits.ask(table, address, now)
    changed = users.change_email(table, user, email)
    with suppress(Unavailable):
        rate_limits.succeed(table, asked)
    return changed


def require_recent(session: Session, now: datetime) -> None:
    """Require that a session is recent enough to remove its account, and somebody's, not a program's. Raises
    Forbidden."""
    if session.program or now - session.created_at > settings.RECENT_SIGN_IN:
        raise Forbidden("Sign in again to remove the account: this session is too old for that.")


def _known(table: Table, name: str) -> User | None:
    """The account of a username or email address, with its password hash, or None. An unknown one takes the same
    requests."""
    username = users.owner_of(table, name) if "@" in name else name
    user = None
    with suppress(NoSuchUser):
        user = users.get(table, username or name, consistent=True)
    if user is None or name not in (user.username, user.email):  # the address may have changed meanwhile
        sessions.password_hash(table, name)
        return None
    return sessions.with_password(table, user)
