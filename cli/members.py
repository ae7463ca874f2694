"""``btd me``, ``btd messages`` and ``btd sessions``: what belongs to one user."""

from __future__ import annotations

import secrets
from typing import Annotated, TypeVar

import typer

from cli import views
from cli.inputs import Username, from_stdin
from cli.routes import Row, offer
from cli.work import Work, command, group
from shared.api import documents, member_documents
from shared.data.members import follows, sessions, users
from shared.models.members import Session
from shared.values import identifiers, times

me_app = group("me", "What a user likes and watches.")
alerts_app = group("alerts", "A user's alerts, on products' prices and on words.")
messages_app = group("messages", "A user's messages.")
sessions_app = group("sessions", "Sessions: with the right to write the table, anyone's can be started.")

T = TypeVar("T")

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The session's token; - reads it from standard input.")]

_ANY_TOKEN = {"ignore_unknown_options": True}
"""For commands that are given a token: one in 64 begins with ``-``, and is no option."""


offer(
    me_app,
    Row("watches username", "GET /me/watches", "List the brands and categories that a user watches.", views.watches),
)
offer(
    alerts_app,
    Row("list username", "GET /me/alerts", "List a user's alerts, on prices and on words.", views.alerts),
    Row(
        "price username dealId ceiling --pace",
        "PUT /me/alerts/deals/{dealId}",
        "Tell a user of a product's offers at a price or below.",
        signed_in=True,
    ),
    Row(
        "words username words --ceiling --currency --leastDiscount --pace",
        "POST /me/alerts",
        "Tell a user of new deals with some words.",
        signed_in=True,
    ),
    Row(
        "remove username alertId",
        "DELETE /me/alerts/{alertId}",
        "Remove an alert of a user's.",
        says={"removed": "alertId"},
    ),
)
offer(
    messages_app,
    Row(
        "new-feed username",
        "POST /me/feed",
        "Make the key of a user's private feed, in place of the one before, and print it.",
        signed_in=True,
    ),
    Row("revoke-feed username", "DELETE /me/feed", "Revoke the key of a user's private feed.", says={"revoked": True}),
    Row(
        "list username --unread --limit --cursor",
        "GET /messages",
        "List a user's messages, newest first; with --unread only those not read yet, from GSI1.",
        views.messages,
    ),
    Row("unread-count username", "GET /messages/unread-count", "Count a user's unread messages."),
    Row("read username messageId", "PUT /messages/{messageId}/read", "Mark a message read."),
    Row("read-all username", "POST /messages/read-all", "Mark all of a user's messages read."),
)


@command(me_app, views.likes)
def likes(work: Work, username: Username) -> views.Json:
    """List the brands and categories that a user likes."""
    found = _of(work, username, follows.likes(work.table, username))
    return documents.all_of(map(member_documents.followed, found))


@command(sessions_app)
def start(work: Work, username: Username) -> views.Json:
    """Start a session without a password and print its token."""
    user = users.get(work.table, username, consistent=True)
    token, session = sessions.start(work.table, user, work.now, secrets.token_bytes(identifiers.BYTES))
    return member_documents.session_token(token, session)


@command(sessions_app, name="show", context_settings=_ANY_TOKEN)
def show_session(work: Work, token: Token) -> views.Json:
    """Show whose session a token is."""
    token = _token(token)
    return _session(sessions.authenticate(work.table, token, work.now))


@command(sessions_app, context_settings=_ANY_TOKEN)
def end(work: Work, token: Token) -> views.Json:
    """End a session: sign out."""
    token = _token(token)
    sessions.end(work.table, token)
    return {"signedOut": True}


@command(sessions_app)
def end_all(work: Work, username: Username) -> views.Json:
    """End all of a user's sessions: sign out everywhere."""
    ended = _of(work, username, sessions.running(work.table, username))
    sessions.end_all(work.table, username)
    return {"ended": ended}


def _of(work: Work, username: str, found: T) -> T:
    """Items of a user; if there are none, check that the user exists. Raises NoSuchUser."""
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
