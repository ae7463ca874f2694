"""``btd users``, ``btd me``, ``btd messages`` and ``btd sessions``: accounts and what belongs to them."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Annotated, TypeVar

import typer

from cli import output
from cli.commands import Row, Username, Work, command, from_stdin, group, offer
from shared.api import documents, member_documents
from shared.api.fields import checked
from shared.api.member_bodies import NewUser
from shared.data import removal
from shared.data.members import follows, sessions, users
from shared.dynamodb.table import Table
from shared.models.members import Pace, Role, Session, User
from shared.values import identifiers, times
from shared.values.passwords import hash_password

users_app = group("users", "Accounts and editor rights.")


@command(users_app)
def add(
    work: Work,
    username: Annotated[str, typer.Argument(help="The new user's name.")],
    email: Annotated[str, typer.Option(help="An email address that no other account has.")],
    name: Annotated[str, typer.Option(help="The display name.")],
    editor: Annotated[bool, typer.Option("--editor", help="Create an editor instead of a member.")] = False,
    password: Annotated[str | None, typer.Option(help="The process list may show it to others.")] = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read it from standard input.")] = False,
) -> output.Json:
    """Create an account. It prompts for the password unless you give one."""
    if password is None:
        ask = partial(typer.prompt, "Password", hide_input=True, confirmation_prompt=True, err=True)
        password = from_stdin("password") if password_stdin else ask()
    new = checked(NewUser, {"username": username, "email": email, "name": name, "password": password})
    role: Role = "editor" if editor else "member"
    user = User(new.username, new.email, new.name, hash_password(new.password), role, times.now())
    users.create(work.table, user)
    return member_documents.user(user)


@command(users_app)
def grant_editor(work: Work, username: Username) -> output.Json:
    """Make a user an editor, and end the user's sessions."""
    return _with_role(work, username, "editor")


@command(users_app)
def revoke_editor(work: Work, username: Username) -> output.Json:
    """Make an editor a member again, and end the user's sessions."""
    return _with_role(work, username, "member")


@command(users_app, output.users, "list")
def all_users(work: Work) -> output.Json:
    """List all users: the whole of UserIndex, in no order."""
    return documents.all_of(map(member_documents.user, users.everyone(work.table)))


@command(users_app)
def show(work: Work, username: Username) -> output.Json:
    """Show one account, with its id in the audit log."""
    user = users.get(work.table, username)
    return {**member_documents.user(user), "accountId": user.account_id}


@command(users_app)
def tell_of_hot(
    work: Work,
    username: Username,
    pace: Annotated[Pace, typer.Argument(help="At once, once a day (at 07:00 UTC), or never.")],
) -> output.Json:
    """Choose when a user is notified of hot deals."""
    users.set_hot_notifications(work.table, username, pace)
    return {"username": username, "hotPace": pace}


@command(users_app)
def remove(
    work: Work, username: Username, yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False
) -> output.Json:
    """Remove an account and all its data. This is refused while the account has open work."""
    if not yes:
        typer.confirm(f"Remove {username} with all likes, watches, messages and sessions?", abort=True, err=True)
    removed(work.table, username)
    return {"removed": username}


def removed(table: Table, username: str) -> None:
    """Remove an account, and wait until all of it is gone. Raises NoSuchUser, StillNeeded."""
    removal.remove_account(table, users.get(table, username, consistent=True), times.now())
    while not removal.go_on(table, username, most=removal.IN_A_RUN):
        pass


def _with_role(work: Work, username: str, role: Role) -> output.Json:
    users.set_role(work.table, username, role)
    return member_documents.user(users.get(work.table, username, consistent=True))


me_app = group("me", "A user's likes and watches.")
alerts_app = group("alerts", "A user's alerts, on product prices and on words.")
messages_app = group("messages", "A user's messages.")
sessions_app = group("sessions", "Sessions: with the right to write the table, you can start one for any user.")

T = TypeVar("T")

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The session's token; - reads it from standard input.")]

_ANY_TOKEN = {"ignore_unknown_options": True}
"""For commands that take a token: one in 64 begins with ``-``, and isn't an option."""


offer(
    me_app,
    Row("watches username", "GET /me/watches", "List the brands and categories that a user watches.", output.watches),
)
offer(
    alerts_app,
    Row("list username", "GET /me/alerts", "List a user's alerts, on prices and on words.", output.alerts),
    Row(
        "price username dealId ceiling --pace",
        "PUT /me/alerts/deals/{dealId}",
        "Notify a user of a product's offers at a price or below.",
        signed_in=True,
    ),
    Row(
        "words username words --ceiling --currency --leastDiscount --pace",
        "POST /me/alerts",
        "Notify a user of new deals with some words.",
        signed_in=True,
    ),
    Row(
        "remove username alertId",
        "DELETE /me/alerts/{alertId}",
        "Remove a user's alert.",
        says={"removed": "alertId"},
    ),
)
offer(
    messages_app,
    Row(
        "list username --unread --limit --cursor",
        "GET /messages",
        "List a user's messages, newest first; with --unread only unread ones, from GSI1.",
        output.messages,
    ),
    Row("unread-count username", "GET /messages/unread-count", "Count a user's unread messages."),
    Row("read username messageId", "PUT /messages/{messageId}/read", "Mark a message read."),
    Row("read-all username", "POST /messages/read-all", "Mark all of a user's messages read."),
)


@command(me_app, output.likes)
def likes(work: Work, username: Username) -> output.Json:
    """List the brands and categories that a user likes."""
    found = _of(work, username, follows.likes(work.table, username))
    return documents.all_of(map(member_documents.followed, found))


@command(sessions_app)
def start(work: Work, username: Username) -> output.Json:
    """Start a session without a password and print its token."""
    user = users.get(work.table, username, consistent=True)
    token, session = sessions.start(work.table, user, work.now, secrets.token_bytes(identifiers.BYTES))
    return member_documents.session_token(token, session)


@command(sessions_app, name="show", context_settings=_ANY_TOKEN)
def show_session(work: Work, token: Token) -> output.Json:
    """Show whose session a token is."""
    token = _token(token)
    return _session(sessions.authenticate(work.table, token, work.now))


@command(sessions_app, context_settings=_ANY_TOKEN)
def end(work: Work, token: Token) -> output.Json:
    """End a session: sign out."""
    token = _token(token)
    sessions.end(work.table, token)
    return {"signedOut": True}


@command(sessions_app)
def end_all(work: Work, username: Username) -> output.Json:
    """End all of a user's sessions: sign out everywhere."""
    ended = _of(work, username, sessions.running(work.table, username))
    sessions.end_all(work.table, username)
    return {"ended": ended}


def _of(work: Work, username: str, found: T) -> T:
    """A user's items; if there are none, check that the user exists. Raises NoSuchUser."""
    if not found:
        users.get(work.table, username)
    return found


def _session(session: Session) -> documents.Json:
    return {
        "username": session.username,
        "role": session.role,
        "createdAt": times.to_iso(session.created_at),
        "expiresAt": times.to_iso(session.expires_at),
    }


def _token(text: str) -> str:
    return from_stdin("token") if text == "-" else text
