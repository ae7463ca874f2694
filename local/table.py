"""The table on the local cloud: what CloudFormation left out, and the demo's editor."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass

from local.settings import KEY, REGION, Home, endpoint
from shared.data.members import users
from shared.dynamodb import provision
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.errors import NoSuchUser
from shared.models import User
from shared.values import times
from shared.values.passwords import hash_password, verify_password

EDITOR = "editor"


@dataclass(frozen=True, slots=True)
class Login:
    """What the demo's editor signs in with."""

    username: str
    password: str


def open_table(port: int, name: str) -> Table:
    """The table on the local cloud."""
    return connect(
        name,
        endpoint_url=endpoint(port),
        region_name=REGION,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
    )


def complete(table: Table) -> None:
    """Enable TTL, which MiniStack's CloudFormation leaves off."""
    provision.enable_ttl(table.client, table.name)


def ensure_editor(home: Home, table: Table) -> Login:
    """The demo's editor, created at the first start with a password that is made up once and kept in ``.local/``."""
    login = _kept(home) or Login(EDITOR, secrets.token_urlsafe(12))
    try:
        user = users.get(table, login.username)
    except NoSuchUser:
        users.create(
            table,
            User(
                username=login.username,
                email="editor@example.com",
                name="Editor",
                password_hash=hash_password(login.password),
                role="editor",
                created_at=times.now(),
            ),
        )
    else:
        if not verify_password(user.password_hash, login.password):
            users.change_password(table, login.username, hash_password(login.password))
    home.editor.touch(mode=0o600)
    home.editor.write_text(json.dumps({"username": login.username, "password": login.password}))
    return login


def _kept(home: Home) -> Login | None:
    try:
        return Login(**json.loads(home.editor.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
