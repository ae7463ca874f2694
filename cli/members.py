"""``btd me``, ``btd messages`` and ``btd sessions``: what belongs to one user."""

from __future__ import annotations

import secrets
from itertools import starmap
from typing import Annotated, TypeVar

import typer

from cli import views
from cli.inputs import Ceiling, Currency, LeastDiscount, PaceOption, Username, from_stdin, limits_of
from cli.watching import AsJson, Cursor, Limit, Work, at_work
from shared.api import documents, member_documents
from shared.data.catalog import deals
from shared.data.members import alerts, feed_keys, follows, messages, sessions, users
from shared.http.parameters import DEFAULT_PAGE
from shared.models.alerts import Pace
from shared.models.members import Session
from shared.values import times

me_app = typer.Typer(help="What a user likes and watches.", no_args_is_help=True)
alerts_app = typer.Typer(help="A user's alerts, on products' prices and on words.", no_args_is_help=True)
messages_app = typer.Typer(help="A user's messages.", no_args_is_help=True)
sessions_app = typer.Typer(
    help="Sessions: with the right to write the table, anyone's can be started.", no_args_is_help=True
)

T = TypeVar("T")

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The session's token; - reads it from standard input.")]

_ANY_TOKEN = {"ignore_unknown_options": True}
"""For commands that are given a token: one in 64 begins with ``-``, and is no option."""


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
        found = _of(work, username, follows.likes(work.table, username))
        work.answer(documents.all_of(map(member_documents.followed, found)), views.topics)


@alerts_app.command("list")
def list_alerts(username: Username, as_json: AsJson = False) -> None:
    """List a user's alerts, on prices and on words."""
    with at_work(as_json) as work:
        found = _of(work, username, alerts.of(work.table, username))
        work.answer(documents.all_of(map(member_documents.alert, found)), views.alerts)


@alerts_app.command("price")
def alert_on_price(
    username: Username,
    deal: Annotated[str, typer.Argument(metavar="DEAL", help="The id or number of a deal of the product.")],
    ceiling: Annotated[str, typer.Argument(metavar="PRICE", help="The highest price.")],
    pace: PaceOption = Pace.AT_ONCE,
    as_json: AsJson = False,
) -> None:
    """Tell a user of a product's offers at a price or below."""
    with at_work(as_json) as work:
        of, owner = deals.find(work.table, deal), users.get(work.table, username)
        within = limits_of(ceiling, of.currency, None, None, pace)
        alert = alerts.on_price(work.table, of, username, owner.account_id, within, work.now)
        work.answer(member_documents.alert(alert), views.fields)


@alerts_app.command("words")
def alert_on_words(
    username: Username,
    words: Annotated[str, typer.Argument(help="Words that a deal must have.")],
    ceiling: Ceiling = None,
    currency: Currency = None,
    least_discount: LeastDiscount = None,
    pace: PaceOption = Pace.AT_ONCE,
    as_json: AsJson = False,
) -> None:
    """Tell a user of new deals with some words."""
    within = limits_of(ceiling, currency, least_discount, words, pace)
    with at_work(as_json) as work:
        owner = users.get(work.table, username)
        alert = alerts.on_words(work.table, username, owner.account_id, within, work.now)
        work.answer(member_documents.alert(alert), views.fields)


@alerts_app.command("remove")
def remove_alert(
    username: Username,
    alert: Annotated[str, typer.Argument(metavar="ALERT", help="The alert's id.")],
    as_json: AsJson = False,
) -> None:
    """Remove an alert of a user's."""
    with at_work(as_json) as work:
        alerts.remove(work.table, username, alert)
        work.answer({"removed": alert}, views.fields)


@messages_app.command("new-feed")
def make_feed(username: Username, as_json: AsJson = False) -> None:
    """Make the key of a user's private feed, in place of the one before, and print it."""
    with at_work(as_json) as work:
        owner = users.get(work.table, username)
        entropy = secrets.token_bytes(feed_keys.KEY_BYTES)
        key = feed_keys.make(work.table, username, owner.account_id, work.now, entropy)
        work.answer(member_documents.feed_key(key, work.now), views.fields)


@messages_app.command("revoke-feed")
def revoke_feed(username: Username, as_json: AsJson = False) -> None:
    """Revoke the key of a user's private feed."""
    with at_work(as_json) as work:
        feed_keys.revoke(work.table, username)
        work.answer({"revoked": True}, views.fields)


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


@sessions_app.command("show", context_settings=_ANY_TOKEN)
def show_session(token: Token, as_json: AsJson = False) -> None:
    """Show whose session a token is."""
    token = _token(token)
    with at_work(as_json) as work:
        work.answer(_session(sessions.authenticate(work.table, token, work.now)), views.fields)


@sessions_app.command(context_settings=_ANY_TOKEN)
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


def _session(session: Session) -> documents.Json:
    return {
        "username": session.username,
        "role": session.role,
        "createdAt": times.to_iso(session.created_at),
        "expiresAt": times.to_iso(session.expires_at),
    }


def _token(text: str) -> str:
    return from_stdin("token") if text == "-" else text
