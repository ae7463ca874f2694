"""``btd me``, ``btd messages`` and ``btd sessions``: what belongs to one user."""

from __future__ import annotations

import secrets
from itertools import starmap
from typing import Annotated, TypeVar

import typer

from cli import views
from cli.inputs import Username, from_stdin
from cli.watching import AsJson, Cursor, Limit, Work, at_work
from shared.api import documents, member_documents
from shared.data.members import follows, messages, sessions, users
from shared.http.parameters import DEFAULT_PAGE
from shared.models.catalog import Topic
from shared.models.members import Session
from shared.values import times

me_app = typer.Typer(help="What a user likes and watches.", no_args_is_help=True)
messages_app = typer.Typer(help="A user's messages.", no_args_is_help=True)
sessions_app = typer.Typer(
    help="Sessions: with the right to write the table, anyone's can be started.", no_args_is_help=True
)

T = TypeVar("T")

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The session's token; - reads it from standard input.")]


@me_app.command()
def watches(username: Username, as_json: AsJson = False) -> None:
    """List the brands and categories that a user watches."""
    with at_work(as_json) as work:
        found = _of(work, username, follows.watching(work.table, username))
        work.answer(documents.all_of(starmap(member_documents.watched, found.items())), views.watches)


@me_app.command()
def likes(username: Username, as_json: AsJson = False) -> None:
    """List the brands and categories that a user likes."""
    with at_work(as_json) as work:
        work.answer(_topics(_of(work, username, follows.likes(work.table, username))), views.topics)


@messages_app.command("list")
def list_messages(
    username: Username,
    unread: Annotated[bool, typer.Option("--unread", help="Only those not read yet, from GSI1.")] = False,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List a user's messages, newest first; with --unread only those."""
    with at_work(as_json) as work:
        page = messages.latest(work.table, username, limit=limit, now=work.now, unread=unread, cursor=cursor)
        _of(work, username, page.items)
        work.answer(documents.page(page, member_documents.message), views.messages)


@messages_app.command("unread-count")
def unread_count(username: Username, as_json: AsJson = False) -> None:
    """Count a user's unread messages."""
    with at_work(as_json) as work:
        unread = _of(work, username, messages.unread_count(work.table, username, work.now))
        work.answer(member_documents.unread_count(unread), views.fields)


@messages_app.command()
def read(
    username: Username,
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="The message's id.")],
    as_json: AsJson = False,
) -> None:
    """Mark a message read."""
    with at_work(as_json) as work:
        marked = messages.mark_read(work.table, username, message, work.now)
        work.answer(member_documents.message(marked), views.fields)


@messages_app.command("read-all")
def read_all(username: Username, as_json: AsJson = False) -> None:
    """Mark all of a user's messages read."""
    with at_work(as_json) as work:
        marked = _of(work, username, messages.mark_all_read(work.table, username, work.now))
        work.answer(member_documents.marked(marked), views.fields)


@sessions_app.command()
def start(username: Username, as_json: AsJson = False) -> None:
    """Start a session without a password and print its token."""
    with at_work(as_json) as work:
        user = users.get(work.table, username, consistent=True)
        token, session = sessions.start(work.table, user, work.now, secrets.token_bytes(sessions.TOKEN_BYTES))
        work.answer(member_documents.session_token(token, session), views.fields)


@sessions_app.command("show")
def show_session(token: Token, as_json: AsJson = False) -> None:
    """Show whose session a token is."""
    token = _token(token)
    with at_work(as_json) as work:
        work.answer(_session(sessions.authenticate(work.table, token, work.now)), views.fields)


@sessions_app.command()
def end(token: Token, as_json: AsJson = False) -> None:
    """End a session: sign out."""
    token = _token(token)
    with at_work(as_json) as work:
        sessions.end(work.table, token)
        work.answer({"signedOut": True}, views.fields)


@sessions_app.command("end-all")
def end_all(username: Username, as_json: AsJson = False) -> None:
    """End all of a user's sessions: sign out everywhere."""
    with at_work(as_json) as work:
        ended = _of(work, username, sessions.running(work.table, username))
        sessions.end_all(work.table, username)
        work.answer({"ended": ended}, views.fields)


def _of(work: Work, username: str, found: T) -> T:
    """Items of a user; if there are none, check that the user exists. Raises NoSuchUser."""
    if not found:
        users.get(work.table, username)
    return found


def _topics(found: list[Topic]) -> documents.Json:
    return documents.all_of(map(member_documents.followed, found))


def _session(session: Session) -> documents.Json:
    return {
        "username": session.username,
        "role": session.role,
        "createdAt": times.to_iso(session.created_at),
        "expiresAt": times.to_iso(session.expires_at),
    }


def _token(text: str) -> str:
    return from_stdin("token") if text == "-" else text
