"""Checks that a user's writes require in their transaction: the account exists, and is the one that signed in.

They use a separate Account item, created and deleted with the User item. A write or a condition costs units by its
item's size: the User item grows with its addresses and is in an index, while the Account item stays at 0.1 KB. It also
counts the alerts, at most a hundred, and whatever must be finished before the account can be removed
(``holds_accounts`` of a feature).

A request may outlive its account, and the name may have a new owner. So requests bring the id of the account that
signed in, and writes for any other are refused. Only marking one message read needs no check: its id belongs to one
announcement to one name. The command line brings no id, and means the name's present owner. An account that is being
removed has no such item any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from shared import features, hooks
from shared.data import keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.writes import Write, delete, put_new, require, update
from shared.errors import DealsError, NoSuchUser, NotSignedIn, UsernameTaken


@cache
def _holding() -> Mapping[str, type[DealsError]]:
    """The counts of an Account item that must be 0 before its removal, each with its error.

    Asked when an account is written: what only reads lists that members make would otherwise import their models.
    """
    return features.merged(hooks.AccountFields, lambda each: each.HOLDS_ACCOUNTS)


def new(username: str, account_id: str) -> Write:
    """The write that gives a name to an account. Refused with UsernameTaken."""
    return put_new(to_item(username, account_id), refused=UsernameTaken(username))


def removed(username: str, account_id: str) -> Write:
    """The write that ends an account that has nothing left to finish. Refused with StillNeeded."""
    none = "".join(f" AND {count} = :none" for count in _holding())
    error = next(iter(_holding().values()), None)
    return delete(
        keys.account(username),
        condition=f"AccountId = :account{none}",
        values={":account": account_id, **({":none": 0} if none else {})},
        refused=error() if error else NoSuchUser(username),
    )


def held(count: str, username: str, account_id: str | None = None, *, more: int = 1) -> Write:
    """The write that adds ``more`` to a count that holds the account. Refused as ``required`` is."""
    condition, values = is_of(account_id)
    return update(
        keys.account(username),
        f"ADD {count} :more",
        condition=condition,
        values={":more": more, **values},
        refused=account_missing(username, account_id),
    )


def alerted(
    username: str, account_id: str | None, *, refused: DealsError, more: int = 1, most: int | None = None
) -> Write:
    """The write that adds ``more`` to the number of alerts, up to ``most``. Refused also as ``required`` is."""
    condition, held = is_of(account_id)
    bounded = {} if most is None else {":most": most}
    below = "" if most is None else " AND (attribute_not_exists(Alerts) OR Alerts < :most)"
    return update(
        keys.account(username),
        "ADD Alerts :more",
        condition=condition + below,
        values={":more": more, **bounded, **held},
        refused=refused,
    )


def to_item(username: str, account_id: str, counts: Mapping[str, int] | None = None) -> Item:
    """An Account item with its counts."""
    counted = dict.fromkeys(_holding(), 0) | (dict(counts) if counts else {})
    return {
        **keys.account(username),
        "Type": keys.ACCOUNT,
        "Username": username,
        "AccountId": account_id,
        **{name: count for name, count in counted.items() if count or name in _holding()},
    }


def required(username: str, account_id: str | None = None) -> Write:
    """Require that a name belongs to an account. Refused with NotSignedIn; without an id, with NoSuchUser."""
    condition, values = is_of(account_id)
    return require(keys.account(username), condition, values=values, refused=account_missing(username, account_id))


def edits(username: str, account_id: str, *, refused: DealsError) -> Write:
    """Require that a name still belongs to an account, and that it is an editor."""
    return require(
        keys.user(username),
        "AccountId = :account AND #role = :editor",
        names={"#role": "Role"},
        values={":account": account_id, ":editor": "editor"},
        refused=refused,
    )


def change(
    username: str,
    expression: str,
    account_id: str | None = None,
    *,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Write:
    """Update the User item of an account. Refused with NotSignedIn; without an id, with NoSuchUser."""
    condition, held = is_of(account_id)
    return update(
        keys.user(username),
        expression,
        condition=condition,
        names=names,
        values={**(values or {}), **held},
        refused=account_missing(username, account_id),
    )


def is_of(account_id: str | None) -> tuple[str, dict[str, str]]:
    """The condition, with values, that a User or Account item belongs to an account, or to any."""
    if account_id is None:
        return "attribute_exists(AccountId)", {}
    return "AccountId = :account", {":account": account_id}


def account_missing(username: str, account_id: str | None) -> DealsError:
    """The error for an account that is gone, or whose name has a new owner."""
    return NoSuchUser(username) if account_id is None else NotSignedIn("This account is gone, or is being removed.")
