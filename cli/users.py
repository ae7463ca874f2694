"""``btd users``: accounts, and who is an editor."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from cli import views
from cli.inputs import Username, checked, from_stdin
from cli.watching import AsJson, at_work
from shared.api import documents, member_documents
from shared.api.member_bodies import NewUser
from shared.data import removal
from shared.data.members import digests, email_tokens, sessions, users
from shared.models.alerts import Pace
from shared.models.members import Role, User
from shared.values import times
from shared.values.passwords import hash_password

app = typer.Typer(help="Accounts, and who is an editor.", no_args_is_help=True)


@app.command()
def add(
    username: Annotated[str, typer.Argument(help="The new user's name.")],
    email: Annotated[str, typer.Option(help="An address that no other account has.")],
    name: Annotated[str, typer.Option(help="The name the account shows.")],
    editor: Annotated[bool, typer.Option("--editor", help="Make an editor, not a member.")] = False,
    password: Annotated[str | None, typer.Option(help="Others may see it in the list of processes.")] = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read it from standard input.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create an account; its password is asked for unless it is given."""
    if password is None:
        password = from_stdin("password") if password_stdin else _asked_password()
    new = checked(NewUser, {"username": username, "email": email, "name": name, "password": password})
    user = User(
        username=new.username,
        email=new.email,
        name=new.name,
        password_hash=hash_password(new.password),
        role="editor" if editor else "member",
        created_at=times.now(),
    )
    with at_work(as_json) as work:
        users.create(work.table, user)
        work.answer(member_documents.user(user), views.fields)


@app.command()
def grant_editor(username: Username, as_json: AsJson = False) -> None:
    """Make a user an editor, in running sessions too."""
    _set_role(username, "editor", as_json)


@app.command()
def revoke_editor(username: Username, as_json: AsJson = False) -> None:
    """Make an editor a member again, in running sessions too."""
    _set_role(username, "member", as_json)


@app.command("list")
def all_users(as_json: AsJson = False) -> None:
    """List all users: the whole of UserIndex, in no order."""
    with at_work(as_json) as work:
        work.answer(documents.all_of(map(member_documents.user, users.everyone(work.table))), views.users)


@app.command()
def show(username: Username, as_json: AsJson = False) -> None:
    """Show one account."""
    with at_work(as_json) as work:
        work.answer(member_documents.user(users.get(work.table, username)), views.fields)


@app.command()
def reset_link(username: Username, as_json: AsJson = False) -> None:
    """Make a link to a new password, for a user whom no mail reaches; it works once, for an hour."""
    with at_work(as_json) as work:
        user = users.get(work.table, username, consistent=True)
        entropy = secrets.token_bytes(sessions.TOKEN_BYTES)
        token = email_tokens.issue(work.table, user, "reset", times.now(), entropy)
        work.answer({"path": f"/account/reset?token={token}"}, views.fields)


@app.command()
def mail_digest(
    username: Username,
    hour: Annotated[int | None, typer.Option(min=0, max=23, help="The hour, in UTC; never if none is given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Mail a user the unread messages once a day, at an hour."""
    with at_work(as_json) as work:
        user = users.get(work.table, username, consistent=True)
        digests.choose_hour(work.table, user, hour, secrets.token_bytes(digests.KEY_BYTES))
        work.answer({"username": username, "digestHour": hour}, views.fields)


@app.command()
def tell_of_hot(
    username: Username,
    pace: Annotated[Pace, typer.Argument(help="At once, once a day (at seven in UTC), or never.")],
    as_json: AsJson = False,
) -> None:
    """Choose when a user is told of hot deals."""
    with at_work(as_json) as work:
        users.tell_of_hot(work.table, username, pace)
        work.answer({"username": username, "hotPace": pace}, views.fields)


@app.command()
def resume_mail(username: Username, as_json: AsJson = False) -> None:
    """Mail to a user again after a bounce or a complaint, once the mailbox works."""
    with at_work(as_json) as work:
        digests.resume(work.table, username)
        work.answer(member_documents.user(users.get(work.table, username, consistent=True)), views.fields)


@app.command()
def remove(
    username: Username,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove an account and all that is its owner's. Refused while an order of it is not sent."""
    if not yes:
        typer.confirm(
            f"Remove {username} with all likes, watches, messages, orders and sessions?", abort=True, err=True
        )
    with at_work(as_json) as work:
        user = users.get(work.table, username, consistent=True)
        removal.remove_account(work.table, user, times.now())
        while not removal.go_on(work.table, username, most=removal.IN_A_RUN):
            pass
        work.answer({"removed": username}, views.fields)


def _asked_password() -> str:
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _set_role(username: str, role: Role, as_json: bool) -> None:
    with at_work(as_json) as work:
        users.set_role(work.table, username, role)
        work.answer(member_documents.user(users.get(work.table, username, consistent=True)), views.fields)
