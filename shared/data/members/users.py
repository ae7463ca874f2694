"""Accounts: create, read and change them. ``shared.data.removal`` removes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from shared import features, hooks
from shared.data import account_checks, keys
from shared.data.members import sessions
from shared.dynamodb import damage
from shared.dynamodb.attributes import Entity, Item
from shared.dynamodb.schema import USER_INDEX
from shared.dynamodb.table import KEYS_ONLY, Projection, Table
from shared.dynamodb.writes import MOST_TOGETHER, Write, delete, forget, put_new, update
from shared.errors import AccountChanged, EmailTaken, NoSuchUser, UsernameTaken
from shared.models.members import Pace, Role, User

_USER = Entity(
    User,
    apart=frozenset({"password_hash", "generation", "more"}),
    more=filter(None, (each.ACCOUNT for each in features.roles(hooks.AccountFields))),
)
"""Fields in other items, from two attributes, or of features."""

MOST_LEFT = MOST_TOGETHER - 4
"""Leftover messages of a name's last owner that the next one's transaction can delete. A delivery leaves one."""

_USERNAME, _HOT_PACE = Projection.of("Username"), Projection.of("HotPace")
_ALL = Projection.of("Type", *_USER.names, "Generation", "SignOuts")


def create(table: Table, user: User) -> User:
    """Create an account; returns it with its id. Raises UsernameTaken, EmailTaken."""
    user = replace(user, account_id=user.account_id or table.token())
    # A delivery during the removal of the name's last owner may have left messages, which the next owner must not get.
    left = list(table.query(keys.messages(user.username), limit=MOST_LEFT, projection=KEYS_ONLY, consistent=True))
    table.transact(
        registration(user),
        account_checks.new(user.username, user.account_id),
        sessions.new_password(user),
        _email_taken(user.email, user.username),
        *(forget(keys.primary(item), because="it may have expired") for item in left),
    )
    return user


def registration(user: User) -> Write:
    """The write that creates a User item for a free name."""
    if user.password_hash is None or not user.account_id:
        raise ValueError("an account is made with a password and an id")
    item = {
        **keys.user(user.username),
        **keys.user_in_users(user.username),
        "Type": keys.USER,
        **_USER.write(user),  # with the role, which 1.1.0 needs; this release also reads accounts without one
        "Generation": sessions.first_generation(user.password_hash),
    }
    return put_new(item, refused=UsernameTaken(user.username))


def get(table: Table, username: str, *, consistent: bool = False) -> User:
    """Read one account, without its password hash. Raises NoSuchUser, also during its removal."""
    return _found(username, table.get(keys.user(username), consistent=consistent))


def without_addresses(table: Table, username: str) -> User:
    """Read one account without attributes that a User doesn't have, such as addresses. Raises NoSuchUser."""
    return _found(username, table.get(keys.user(username), consistent=True, projection=_ALL))


def _found(username: str, item: Item | None) -> User:
    if item is None or item.get("Type") == keys.REMOVAL:
        raise NoSuchUser(username)
    return damage.read(item, _from_item)


def of_email(table: Table, email: str) -> User:
    """The account with an email address, as ``without_addresses`` reads it. Raises NoSuchUser."""
    username = owner_of(table, email)
    if username is None:
        raise NoSuchUser(email)
    return without_addresses(table, username)


def owner_of(table: Table, email: str) -> str | None:
    """The username of the account with an email address, or None. One consistent GetItem."""
    item = table.get(keys.user_email(email), consistent=True)
    return item["Username"] if item else None


def rename(table: Table, username: str, name: str, account_id: str | None = None) -> None:
    """Change an account's display name. Raises NotSignedIn, NoSuchUser."""
    names, values = {"#name": "Name"}, {":name": name}
    table.write(account_checks.change(username, "SET #name = :name", account_id, names=names, values=values))


def set_hot_notifications(table: Table, username: str, pace: Pace, account_id: str | None = None) -> None:
    """Set an account's pace of hot-deal notifications. Raises NotSignedIn, NoSuchUser."""
    table.write(account_checks.change(username, "SET HotPace = :pace", account_id, values={":pace": pace}))


def hot_pace(table: Table, username: str) -> Pace:
    """An account's pace of hot-deal notifications; at once by default."""
    item = table.get(keys.user(username), consistent=True, projection=_HOT_PACE) or {}
    return Pace(item.get("HotPace", Pace.AT_ONCE))


def change_password(table: Table, username: str, password_hash: str, *, proved: str | None = None) -> None:
    """Change a password and end all sessions. Raises NoSuchUser; AccountChanged, unless ``proved`` is still the
    hash."""
    values = {":generation": sessions.first_generation(password_hash)}
    table.transact(
        account_checks.change(username, "SET Generation = :generation", values=values),
        sessions.changed_password(username, password_hash, proved=proved),
    )


def rehash(table: Table, user: User, password_hash: str) -> User:
    """Store a new hash of the same password; sessions stay. Raises AccountChanged if the password has changed."""
    table.write(sessions.changed_password(user.username, password_hash, proved=user.password_hash))
    return replace(user, password_hash=password_hash)


def change_email(table: Table, user: User, email: str) -> User:
    """Change an account's email address to an unused one. Raises EmailTaken, AccountChanged."""
    table.transact(
        update(
            keys.user(user.username),
            "SET Email = :email",
            condition="Email = :old AND AccountId = :account",
            values={":email": email, ":old": user.email, ":account": user.account_id},
            refused=AccountChanged(),
        ),
        _email_taken(email, user.username),
        email_given_up(user),
    )
    return replace(user, email=email)


def email_given_up(user: User) -> Write:
    """The write that frees an account's email address. Refused with NoSuchUser."""
    return delete(
        keys.user_email(user.email),
        condition="Username = :username",
        values={":username": user.username},
        refused=NoSuchUser(user.username),
    )


def set_role(table: Table, username: str, role: Role) -> None:
    """Make a user a member or editor, and end all sessions: a role takes effect at the next sign-in.

    For the command line: functions of the site may write a role only with a new account (``infra/rights.py``). Raises
    NoSuchUser.
    """
    expression, values = "SET #role = :role ADD SignOuts :one", {":role": role, ":one": 1}
    table.write(account_checks.change(username, expression, names={"#role": "Role"}, values=values))


def everyone(table: Table) -> Iterator[User]:
    """All users, in no order, page by page from UserIndex."""
    for item in table.everything(index=USER_INDEX):
        yield from damage.readable([item], _from_item)


def count(table: Table, most: int) -> int:
    """The number of users, at most ``most``: one page of UserIndex, 40 RRU for a thousand."""
    items, _ = table.scan(index=USER_INDEX, limit=most, projection=_USERNAME)
    return len(items)


def _email_taken(email: str, username: str) -> Write:
    """The write that reserves an email address for an account. Refused with EmailTaken."""
    item = {**keys.user_email(email), "Type": keys.USER_EMAIL, "Email": email, "Username": username}
    return put_new(item, refused=EmailTaken())


def _from_item(item: Item) -> User:
    return _USER.read({"Role": "member", **item}, password_hash=None, generation=sessions.generation_of(item))
