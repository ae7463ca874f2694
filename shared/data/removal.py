"""Remove an account and everything that belongs to it, in the catalog and in members.

One transaction removes the account: the password is gone, sessions end, the email address is free, and no running
request can write for it. Its other items (likes, messages and so on) may be thousands, so they are removed afterwards:
some at once, the rest by the clock. Until then the name stays taken. Each of these writes requires that the name is
still held for this removal, so a late run can't touch the next owner's items.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from shared import features, hooks
from shared.data import account_checks, keys
from shared.data.bulk import forget_found
from shared.data.entity import Entity
from shared.data.members import follows, sessions, users
from shared.dynamodb import damage
from shared.dynamodb.schema import GSI1, Index
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import delete, put_over, require
from shared.errors import AccountChanged, NoSuchUser
from shared.models.members import User
from shared.values.times import to_iso

AT_ONCE = 100
"""Items of each kind that the request itself removes: enough for nearly all accounts."""

IN_A_RUN = 1_000
"""Items of each kind that one look of the clock's function removes."""

REMOVERS = dict.fromkeys([*keys.LIKE.values(), *keys.WATCH.values()], follows.remove_some)
"""How likes and watches are removed, which brands and categories count (``hooks.Removal``)."""

_REMOVAL = Projection.of("Leaving")


def remove_account(table: Table, user: User, now: datetime) -> None:
    """Remove an account, and at least its first items. Raises StillNeeded, NoSuchUser."""
    leave(table, user, now)
    # The account is removed by now; if this fails, the clock continues.
    list(damage.each([user.username], lambda name: go_on(table, name, most=AT_ONCE), str, failures=[]))


def go_on(table: Table, username: str, *, most: int) -> bool:
    """Remove more of an account, ``most`` items of each kind; returns whether all is gone, which frees the name.

    It may be interrupted anywhere, and run twice at once. Raises Busy.
    """
    item = table.get(keys.user(username), consistent=True, projection=_REMOVAL)
    if item is None or "Leaving" not in item:
        return True
    held, values = "Leaving = :removal", {":removal": item["Leaving"]}
    required = require(keys.user(username), held, values=values, refused=_Finished(username))
    try:
        # The chart of the table takes 20 ms, which only a removal pays.
        from shared.data.entities import OWNED  # noqa: PLC0415

        for remove in dict.fromkeys(_way(row, username) for row in OWNED):
            if callable(remove):
                removed = remove(table, username, most, required=required)
            else:
                removed = forget_found(table, remove[0], most, index=remove[1], required=required)
            if removed == most:
                return False
        table.write(delete(keys.user(username), condition=held, values=values, refused=_Finished(username)))
    except _Finished:  # by another run
        pass
    return True


def _way(row: Entity, username: str) -> Callable[..., int] | tuple[str, Index | None]:
    """How an account's items of a type are removed: by a function, or all of a partition of the table or an index.

    An index may lack the latest writes. For sessions that is harmless, because they no longer work.
    """
    if row.remover:
        return features.merged(hooks.Removal, lambda each: each.REMOVERS)[row.type]
    place = next(place for place in (row.own, *row.places) if "<Username>" in place.partition)
    return place.partition.replace("<Username>", username), place.index


def go_on_with_all(table: Table, *, failures: damage.Failures | None = None) -> int:
    """Finish the removals in progress; returns how many it finished.

    They take turns, so a large or failing account doesn't delay the others. A failure, such as lack of time, is added
    to ``failures`` or, without that list, raised at the end; damaged items are noted.
    """
    failed = [] if failures is None else failures
    finished, left = 0, [keys.id_in(item["PK"]) for item in table.query(keys.removals(), index=GSI1)]
    while left:
        runs = list(damage.each(left, lambda name: (name, go_on(table, name, most=IN_A_RUN)), str, failures=failed))
        finished += sum(is_gone for _, is_gone in runs)
        left = [name for name, is_gone in runs if not is_gone]
    if failures is None:
        damage.raise_last(failed)
    return finished


class _Finished(NoSuchUser):
    """Nothing is left to remove: another run has freed the name."""


def leave(table: Table, user: User, now: datetime) -> None:
    """Remove an account, and hold its name until ``go_on`` is done. Raises StillNeeded, NoSuchUser."""
    removal = {
        **keys.user(user.username),
        **keys.user_in_removals(user.username),
        "Type": keys.REMOVAL,
        "Username": user.username,
        "Leaving": user.account_id,
        "RemovedAt": to_iso(now),
    }
    condition, values = "AccountId = :account AND Email = :email", {":account": user.account_id, ":email": user.email}
    try:
        table.transact(
            put_over(removal, condition, values, refused=AccountChanged()),
            account_checks.removed(user.username, user.account_id),
            users.email_given_up(user),
            sessions.removed_password(user.username),
        )
    except AccountChanged:
        now_it_is = users.get(table, user.username, consistent=True)
        if now_it_is.account_id != user.account_id:
            raise NoSuchUser(user.username) from None
        leave(table, now_it_is, now)  # its email address has changed
