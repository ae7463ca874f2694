"""The demo's accounts on the local cloud."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from local.settings import write_private
from shared.data.members import credentials, users
from shared.dynamodb.table import Table
from shared.errors import NoSuchUser
from shared.models.members import Role, User
from shared.values import times
from shared.values.passwords import hash_password, verify_password


@dataclass(frozen=True, slots=True)
class Login:
    """The username and password of one of the demo's accounts."""

    username: str
    password: str


def ensure_account(file: Path, table: Table, role: Role) -> Login:
    """The demo's account of a role, created at the first start; its password is made up once and kept in a file."""
    login = _kept(file) or Login(role, secrets.token_urlsafe(12))
    name = login.username
    try:
        user = users.get(table, name)
    except NoSuchUser:
        password_hash, now = hash_password(login.password), times.now()
        users.create(table, User(name, f"{name}@example.com", name.title(), password_hash, role, now))
    else:
        if not verify_password(credentials.known(table, user).password_hash, login.password):
            users.change_password(table, name, hash_password(login.password))
    write_private(file, json.dumps(asdict(login)))
    return login


def _kept(file: Path) -> Login | None:
    try:
        return Login(**json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
