"""Removing an account with all that is its owner's.

It imports the catalog and the members, because an account has something in both. The API, the pages and the
command line all remove accounts by this.

One transaction removes the account: its password is gone, its sessions have ended, its email address is free, and
no request that still runs can write for it. Its owner's items (likes, messages, and so on) may be
thousands of items, so it goes afterwards: some at once, the rest by the clock. Until all is gone the name is taken.
Each write of this requires that the name is still held for this removal, so a run that is late cannot touch what the
name's next owner has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import chain

from shared import features
from shared.data import account_checks, keys
from shared.data.bulk import forget_found
from shared.data.catalog import drafts, topics, votes
from shared.data.members import feed_keys, follows, sessions, users
from shared.dynamodb import damage
from shared.dynamodb.schema import GSI1, Index
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, put_over, require
from shared.errors import AccountChanged, NoSuchUser
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, Topic
from shared.models.members import User
from shared.values.times import to_iso

AT_ONCE = 100
"""Items of each kind that go with the request that removes an account: nearly all accounts are gone with it."""

IN_A_RUN = 1_000
"""Items of each kind that the clock's function looks for at once."""

_REMOVAL = Projection.of("Leaving")


def remove_account(table: Table, user: User, now: datetime) -> None:
    """Remove an account, and at least the first of what is its owner's. Raises StillNeeded, NoSuchUser."""
    leave(table, user, now)
    # The account is removed by now: whatever fails, the clock goes on.
    list(damage.each([user.username], lambda name: go_on(table, name, most=AT_ONCE), str, failures=[]))


def go_on(table: Table, username: str, *, most: int) -> bool:
    """Remove what is left of an account, ``most`` items of each kind; returns whether all is gone.

    With the last of it the name becomes free. It may be interrupted anywhere, and run twice at once. Raises Busy.
    """
    item = table.get(keys.user(username), consistent=True, projection=_REMOVAL)
    if item is None or "Leaving" not in item:
        return True
    held, values = "Leaving = :removal", {":removal": item["Leaving"]}
    required = require(keys.user(username), held, values=values, refused=_Finished(username))
    try:
        for remove_some in _COUNTED:
            if remove_some(table, username, most, required=required) == most:
                return False
        for partition, index in _partitions(username):
            if forget_found(table, partition, most, index=index, required=required) == most:
                return False
        table.write(delete(keys.user(username), condition=held, values=values, refused=_Finished(username)))
    except _Finished:  # by another run
        pass
    return True


def _remove_follows(table: Table, username: str, most: int, *, required: Write) -> int:
    slugs = topics.brand_names(table, consistent=True)  # a brand may be a moment old, and liked since
    followed = [*(Topic(BRAND, slug) for slug in slugs), *(Topic(CATEGORY, slug) for slug in CATEGORIES)]
    return follows.remove_some(table, username, followed, most, required=required)


_COUNTED: Mapping[Callable[..., int], tuple[str, ...]] = {
    **features.merged("removals"),
    votes.remove_some: (keys.VOTE,),
    feed_keys.remove_some: (keys.FEED_KEY,),
    drafts.remove_some: (keys.DRAFT,),
    _remove_follows: (*keys.LIKE.values(), *keys.WATCH.values()),
}
"""Functions that remove some items that others count or point to, and return how many, by their types."""


def _partitions(username: str) -> list[tuple[str, Index | None]]:
    """The partitions to empty: of each other type that an account owns, in the table or else in an index.

    An index may miss the latest writes. That does no harm to sessions, which no longer work.
    """
    from shared.data.entities import ROWS  # noqa: PLC0415  # 20 ms, which only a removal pays

    counted = set(chain.from_iterable(_COUNTED.values()))
    owned = [(row.own, *row.places) for row in ROWS if row.owned and row.type not in counted]
    named = [next(place for place in places if "<Username>" in place.partition) for places in owned]
    return list(dict.fromkeys((place.partition.replace("<Username>", username), place.index) for place in named))


def go_on_with_all(table: Table, *, failures: damage.Failures | None = None) -> int:
    """Finish the removals that are under way; returns how many.

    They take turns, so that neither a large account nor one that fails keeps the others from ending. One that fails, as
    when the time is over, is added to ``failures``, or else raised in the end; one that is damaged is noted.
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
        leave(table, now_it_is, now)  # it has another email address by now
