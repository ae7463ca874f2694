"""``btd users``: accounts, and who is an editor."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Annotated

import typer

from cli import views
from cli.inputs import Username, from_stdin
from cli.work import Work, command, group
from shared.api import documents, member_documents
from shared.api.member_bodies import NewUser
from shared.api.validation import checked
from shared.data import removal
from shared.data.members import digests, email_tokens, users
from shared.dynamodb.table import Table
from shared.models.alerts import Pace
from shared.models.members import Role, User
from shared.values import identifiers, times
from shared.values.passwords import hash_password

app = group("users", "Accounts, and who is an editor.")


@command(app)
def add(
    work: Work,
    username: Annotated[str, typer.Argument(help="The new user's name.")],
    email: Annotated[str, typer.Option(help="An address that no other account has.")],
    name: Annotated[str, typer.Option(help="The name the account shows.")],
    editor: Annotated[bool, typer.Option("--editor", help="Make an editor, not a member.")] = False,
    password: Annotated[str | None, typer.Option(help="Others may see it in the list of processes.")] = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read it from standard input.")] = False,
) -> views.Json:
    """Create an account; its password is asked for unless it is given."""
    if password is None:
        ask = partial(typer.prompt, "Password", hide_input=True, confirmation_prompt=True, err=True)
        password = from_stdin("password") if password_stdin else ask()
    new = checked(NewUser, {"username": username, "email": email, "name": name, "password": password})
    role: Role = "editor" if editor else "member"
    user = User(new.username, new.email, new.name, hash_password(new.password), role, times.now())
    users.create(work.table, user)
    return member_documents.user(user)


@command(app)
def grant_editor(work: Work, username: Username) -> views.Json:
    """Make a user an editor, in running sessions too."""
    return _with_role(work, username, "editor")


@command(app)
def revoke_editor(work: Work, username: Username) -> views.Json:
    """Make an editor a member again, in running sessions too."""
    return _with_role(work, username, "member")


@command(app, views.users, "list")
def all_users(work: Work) -> views.Json:
    """List all users: the whole of UserIndex, in no order."""
    return documents.all_of(map(member_documents.user, users.everyone(work.table)))


@command(app)
def show(work: Work, username: Username) -> views.Json:
    """Show one account."""
    return member_documents.user(users.get(work.table, username))


@command(app)
def reset_link(work: Work, username: Username) -> views.Json:
    """Make a link to a new password, for a user whom no mail reaches; it works once, for an hour."""
    user = users.get(work.table, username, consistent=True)
    entropy = secrets.token_bytes(identifiers.BYTES)
    token = email_tokens.issue(work.table, user, "reset", times.now(), entropy)
    return {"path": f"/account/reset?token={token}"}


@command(app)
def mail_digest(
    work: Work,
    username: Username,
    hour: Annotated[int | None, typer.Option(min=0, max=23, help="The hour, in UTC; never if none is given.")] = None,
) -> views.Json:
    """Mail a user the unread messages once a day, at an hour."""
    user = users.get(work.table, username, consistent=True)
    digests.choose_hour(work.table, user, hour, secrets.token_bytes(digests.KEY_BYTES), work.now)
    return {"username": username, "digestHour": hour}


@command(app)
def tell_of_hot(
    work: Work,
    username: Username,
    pace: Annotated[Pace, typer.Argument(help="At once, once a day (at seven in UTC), or never.")],
) -> views.Json:
    """Choose when a user is told of hot deals."""
    users.tell_of_hot(work.table, username, pace)
    return {"username": username, "hotPace": pace}


@command(app)
def resume_mail(work: Work, username: Username) -> views.Json:
    """Mail to a user again after a bounce or a complaint, once the mailbox works."""
    digests.resume(work.table, username)
    return member_documents.user(users.get(work.table, username, consistent=True))


@command(app)
def remove(
    work: Work, username: Username, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> views.Json:
    """Remove an account and all that is its owner's. Refused while an order of it is not sent."""
    if not yes:
        typer.confirm(
            f"Remove {username} with all likes, watches, messages, orders and sessions?", abort=True, err=True
        )
    removed(work.table, username)
    return {"removed": username}


def removed(table: Table, username: str) -> None:
    """Remove an account, and wait until all of it is gone. Raises NoSuchUser, OrdersRemain."""
    removal.remove_account(table, users.get(table, username, consistent=True), times.now())
    while not removal.go_on(table, username, most=removal.IN_A_RUN):
        pass


def _with_role(work: Work, username: str, role: Role) -> views.Json:
    users.set_role(work.table, username, role)
    return member_documents.user(users.get(work.table, username, consistent=True))
