"""``btd me``, ``btd messages`` and ``btd sessions``: what belongs to one user."""

from __future__ import annotations

import secrets
from itertools import starmap
from typing import Annotated, TypeVar

import typer

from cli import views
from cli.inputs import Ceiling, Currency, LeastDiscount, PaceOption, Username, from_stdin, limits_of
from cli.work import Cursor, Limit, Work, command, group
from shared.api import documents, member_documents
from shared.data.catalog import deals
from shared.data.members import alerts, feed_keys, follows, messages, sessions, users
from shared.http.parameters import DEFAULT_PAGE
from shared.models.alerts import Pace
from shared.models.members import Session
from shared.values import times, tokens

me_app = group("me", "What a user likes and watches.")
alerts_app = group("alerts", "A user's alerts, on products' prices and on words.")
messages_app = group("messages", "A user's messages.")
sessions_app = group("sessions", "Sessions: with the right to write the table, anyone's can be started.")

T = TypeVar("T")

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The session's token; - reads it from standard input.")]

_ANY_TOKEN = {"ignore_unknown_options": True}
"""For commands that are given a token: one in 64 begins with ``-``, and is no option."""


@command(me_app, views.watches)
def watches(work: Work, username: Username) -> views.Json:
    """List the brands and categories that a user watches."""
    found = _of(work, username, follows.watching(work.table, username))
    return documents.all_of(starmap(member_documents.watched, found.items()))


@command(me_app, views.likes)
def likes(work: Work, username: Username) -> views.Json:
    """List the brands and categories that a user likes."""
    found = _of(work, username, follows.likes(work.table, username))
    return documents.all_of(map(member_documents.followed, found))


@command(alerts_app, views.alerts, "list")
def list_alerts(work: Work, username: Username) -> views.Json:
    """List a user's alerts, on prices and on words."""
    found = _of(work, username, alerts.of(work.table, username))
    return documents.all_of(map(member_documents.alert, found))


@command(alerts_app, name="price")
def alert_on_price(
    work: Work,
    username: Username,
    deal: Annotated[str, typer.Argument(metavar="DEAL", help="The id or number of a deal of the product.")],
    ceiling: Annotated[str, typer.Argument(metavar="PRICE", help="The highest price.")],
    pace: PaceOption = Pace.AT_ONCE,
) -> views.Json:
    """Tell a user of a product's offers at a price or below."""
    of, owner = deals.find(work.table, deal), users.get(work.table, username)
    within = limits_of(ceiling, of.currency, None, None, pace)
    alert = alerts.on_price(work.table, of, username, owner.account_id, within, work.now)
    return member_documents.alert(alert)


@command(alerts_app, name="words")
def alert_on_words(
    work: Work,
    username: Username,
    words: Annotated[str, typer.Argument(help="Words that a deal must have.")],
    ceiling: Ceiling = None,
    currency: Currency = None,
    least_discount: LeastDiscount = None,
    pace: PaceOption = Pace.AT_ONCE,
) -> views.Json:
    """Tell a user of new deals with some words."""
    within = limits_of(ceiling, currency, least_discount, words, pace)
    owner = users.get(work.table, username)
    alert = alerts.on_words(work.table, username, owner.account_id, within, work.now)
    return member_documents.alert(alert)


@command(alerts_app, name="remove")
def remove_alert(
    work: Work, username: Username, alert: Annotated[str, typer.Argument(metavar="ALERT", help="The alert's id.")]
) -> views.Json:
    """Remove an alert of a user's."""
    alerts.remove(work.table, username, alert)
    return {"removed": alert}


@command(messages_app, name="new-feed")
def make_feed(work: Work, username: Username) -> views.Json:
    """Make the key of a user's private feed, in place of the one before, and print it."""
    owner = users.get(work.table, username)
    entropy = secrets.token_bytes(tokens.BYTES)
    key = feed_keys.make(work.table, username, owner.account_id, work.now, entropy)
    return member_documents.feed_key(key, work.now)


@command(messages_app)
def revoke_feed(work: Work, username: Username) -> views.Json:
    """Revoke the key of a user's private feed."""
    feed_keys.revoke(work.table, username)
    return {"revoked": True}


@command(messages_app, views.messages, "list")
def list_messages(
    work: Work,
    username: Username,
    unread: Annotated[bool, typer.Option("--unread", help="Only those not read yet, from GSI1.")] = False,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> views.Json:
    """List a user's messages, newest first; with --unread only those."""
    page = messages.latest(work.table, username, limit=limit, now=work.now, unread=unread, cursor=cursor)
    _of(work, username, page.items)
    return documents.page(page, member_documents.message)


@command(messages_app)
def unread_count(work: Work, username: Username) -> views.Json:
    """Count a user's unread messages."""
    unread = _of(work, username, messages.unread_count(work.table, username, work.now))
    return member_documents.unread_count(unread)


@command(messages_app)
def read(
    work: Work, username: Username, message: Annotated[str, typer.Argument(metavar="MESSAGE", help="The message's id.")]
) -> views.Json:
    """Mark a message read."""
    marked = messages.mark_read(work.table, username, message, work.now)
    return member_documents.message(marked)


@command(messages_app)
def read_all(work: Work, username: Username) -> views.Json:
    """Mark all of a user's messages read."""
    marked = _of(work, username, messages.mark_all_read(work.table, username, work.now))
    return member_documents.marked(marked)


@command(sessions_app)
def start(work: Work, username: Username) -> views.Json:
    """Start a session without a password and print its token."""
    user = users.get(work.table, username, consistent=True)
    token, session = sessions.start(work.table, user, work.now, secrets.token_bytes(tokens.BYTES))
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
