"""Bulk edits: what an editor does with several deals, deal by deal, and how it is undone.

A bulk edit is one item in its editor's partition. It holds the plan: each deal as it was when the editor confirmed,
with its version. A deal is changed only if it still has that version, so what someone else decided since then stays.
Its new version and its editor show that it was this edit's, so a step that is repeated changes nothing.

The request of the form takes the first step of ``STEP`` deals. A note in the partition of unfinished edits has the
clock take the others. DynamoDB deletes both after ``LIFETIME``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from features.bulk_edits import keys
from shared.data import account_checks
from shared.data import keys as core_keys
from shared.data.bulk import write_all
from shared.data.catalog import deals, editing
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, forget, put, put_new, update
from shared.errors import (
    AlreadyExists,
    Conflict,
    DealTooLarge,
    EditedMeanwhile,
    Impossible,
    NoSuchDeal,
    NotFound,
    TooLateToUndo,
)
from shared.models.catalog import Deal, Status
from shared.values import identifiers
from shared.values.times import from_iso, to_iso

STEP = 25
"""Deals that one step changes, one after the other: they take one or two of a page's ten seconds."""

MOST = 500
"""Deals of one edit: their plan is an item of about 22 KB."""

EACH_MINUTE = 250
"""Deals that one run of the clock changes at most: some fifteen of its fifty seconds."""

LIFETIME = timedelta(days=1)

CHANGING, CHANGED, RESTORING, RESTORED, STOPPED = "changing", "changed", "restoring", "restored", "stopped"
"""The states of an edit, in their order; it stops if its author loses the role. ``FINISHED``: nothing is left to do."""

FINISHED = (CHANGED, RESTORED, STOPPED)


class NoSuchEdit(NotFound):
    plain = "There is no such edit. We keep it for a day."
    text = "You have no bulk edit {!r}."


class WalkedMeanwhile(Conflict):
    text = "Another run took this step of the edit."


class _NoEditor(Conflict):
    text = "Its author is no longer an editor."


@dataclass(frozen=True, slots=True)
class Planned:
    """A deal as it was when the edit was confirmed."""

    deal_id: str
    version: int
    category: str
    brand: str
    ends_at: datetime | None = None

    @classmethod
    def of(cls, deal: Deal) -> Planned:
        return cls(deal.deal_id, deal.version, deal.category, deal.brand, deal.ends_at)

    @classmethod
    def parse(cls, text: str) -> Planned:
        """Read its text in the table. Raises ValueError."""
        deal_id, version, category, brand, *ends_at = text.split(" ")
        return cls(deal_id, int(version), category, brand, from_iso(ends_at[0]) if ends_at else None)

    def __str__(self) -> str:
        ends_at = [to_iso(self.ends_at)] if self.ends_at else []
        return " ".join([self.deal_id, str(self.version), self.category, self.brand, *ends_at])

    def before(self, does: str) -> dict[str, Any]:
        """The values that the edit changed, as they were."""
        return {"ends_at": self.ends_at} if does == "end" else {"category": self.category, "brand": self.brand}


@dataclass(frozen=True, slots=True)
class BulkEdit:
    """An edit of several deals. ``does`` is ``end``, ``move`` or ``page``, and ``changes`` are a move's.

    ``outcomes`` are the codes of the deals walked so far: ``done``, ``same`` for one that needed no change, or why it
    was left. ``restored`` are those of the undoing. ``page`` has the order of a page's picks before and after.
    """

    edit_id: str
    username: str
    account_id: str
    started_at: datetime
    does: str
    planned: tuple[Planned, ...]
    changes: Mapping[str, str]
    state: str = CHANGING
    outcomes: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    finished_at: datetime | None = None
    page: Mapping[str, Any] | None = None

    @property
    def walked(self) -> tuple[str, ...]:
        """The outcomes of what is being done, or was done last."""
        return self.restored if self.restored or self.state in (RESTORING, RESTORED) else self.outcomes

    def undo_until(self, now: datetime) -> datetime | None:
        """Until when it can be undone; None if it can't."""
        if self.state != CHANGED or self.finished_at is None or "done" not in self.outcomes:
            return None
        until = self.finished_at + editing.WITHIN
        return until if now <= until else None


def begin(table: Table, edit: BulkEdit) -> BulkEdit:
    """Store an edit, with its note unless it is finished. Raises NotSignedIn for an account that is gone."""
    table.transact(
        account_checks.required(edit.username, edit.account_id),
        put_new(to_item(edit), refused=AlreadyExists()),
        *([] if edit.state in FINISHED else [_noting(edit)]),
    )
    return edit


def get(table: Table, username: str, edit_id: str) -> BulkEdit:
    """An editor's edit. One consistent GetItem. Raises NoSuchEdit, Damaged."""
    item = table.get(keys.bulk_edit(username, edit_id), consistent=True) if identifiers.is_ksuid(edit_id) else None
    if item is None:
        raise NoSuchEdit(edit_id)
    return damage.read(item, from_item)


def latest(table: Table, username: str) -> BulkEdit | None:
    """An editor's latest edit. One Query of one item."""
    found = table.query(keys.bulk_edits(username), newest_first=True, limit=1, consistent=True)
    return next(iter(damage.readable(found, from_item)), None)


def walk(table: Table, edit: BulkEdit, now: datetime, *, correlation_id: str | None = None) -> BulkEdit:
    """Take the next step of an edit, or of its undoing; returns the edit as it is then. Raises WalkedMeanwhile."""
    if edit.state in FINISHED:
        return edit
    start = len(edit.walked)
    rows = edit.planned[start : start + STEP]
    found = {each.deal_id: each for each in deals.get_many(table, [row.deal_id for row in rows], consistent=True)}
    codes = []
    for number, row in enumerate(rows, start):
        if edit.state != CHANGING and (edit.does == "page" or edit.outcomes[number] != "done"):
            codes.append("same")
            continue
        take = _change if edit.state == CHANGING else _restore
        try:
            code = take(table, edit, row, found.get(row.deal_id), now, correlation_id)
        except EditedMeanwhile:  # by someone else, or by another run of this step; its version is another one now
            (seen,) = deals.get_many(table, [row.deal_id], consistent=True) or (None,)
            code = take(table, edit, row, seen, now, correlation_id)
        codes.append(code)
    return _recorded(table, edit, tuple(codes), now)


def undo(table: Table, edit: BulkEdit, now: datetime) -> BulkEdit:
    """Begin to undo a finished edit: a deal that nobody has changed since gets its old values. Raises TooLateToUndo."""
    if edit.undo_until(now) is None:
        raise TooLateToUndo("ten minutes")
    table.transact(
        update(
            keys.bulk_edit(edit.username, edit.edit_id),
            "SET #state = :restoring",
            condition="#state = :changed",
            names={"#state": "State"},
            values={":restoring": RESTORING, ":changed": CHANGED},
            refused=TooLateToUndo("ten minutes"),
        ),
        _noting(edit),
    )
    return replace(edit, state=RESTORING)


def sweep(
    table: Table, now: datetime, *, correlation_id: str | None = None, failures: damage.Failures | None = None
) -> list[BulkEdit]:
    """Go on with unfinished edits, the oldest first, at most ``EACH_MINUTE`` deals; returns those that finished.

    One whose author is no longer an editor stops. A failing edit doesn't stop the others: its error is added
    to ``failures`` or, without that list, raised at the end.
    """
    notes = list(table.query(keys.unfinished("")["PK"], limit=EACH_MINUTE // STEP))
    left = [EACH_MINUTE // STEP]
    go_on = partial(_go_on, table, now=now, correlation_id=correlation_id, left=left)
    return [each for each in damage.each(notes, go_on, failures=failures) if each is not None]


def _go_on(table: Table, note: Item, now: datetime, correlation_id: str | None, left: list[int]) -> BulkEdit | None:
    """Walk a note's edit to its end, or until no steps are ``left``."""
    forgetting = forget(core_keys.primary(note), because="nothing is left to do")
    try:
        edit = get(table, damage.attribute(note, "Username", str), core_keys.id_in(note["SK"]))
        while edit.state not in FINISHED and left[0] > 0:
            left[0] -= 1
            table.transact(account_checks.edits(edit.username, edit.account_id, refused=_NoEditor()))
            edit = walk(table, edit, now, correlation_id=correlation_id)
    except WalkedMeanwhile:  # by a request that has just begun it
        return None
    except _NoEditor:
        table.transact(_stopping(edit), forgetting)
        return None
    except NoSuchEdit:  # it expired
        table.write(forgetting)
        return None
    return edit if edit.state in FINISHED else None


def _stopping(edit: BulkEdit) -> Write:
    return update(
        keys.bulk_edit(edit.username, edit.edit_id),
        "SET #state = :stopped",
        condition="#state = :state",
        names={"#state": "State"},
        values={":stopped": STOPPED, ":state": edit.state},
        refused=WalkedMeanwhile(),
    )


def remove_some(table: Table, username: str, most: int, *, required: Write) -> int:
    """Remove at most ``most`` edits, with their notes, of an account that is being removed; returns how many."""
    found = list(table.query(keys.bulk_edits(username), limit=most, projection=_KEYS, consistent=True))
    gone = "another run of the removal may have been here first"
    for item in found:
        note = keys.unfinished(core_keys.id_in(item["SK"]))
        write_all(table, [forget(key, because=gone) for key in (note, core_keys.primary(item))], required=required)
    return len(found)


_KEYS = Projection.of("PK", "SK")


def to_item(edit: BulkEdit) -> Item:
    return {
        **keys.bulk_edit(edit.username, edit.edit_id),
        "Type": keys.BULK_EDIT,
        "Username": edit.username,
        "AccountId": edit.account_id,
        "EditId": edit.edit_id,
        "StartedAt": to_iso(edit.started_at),
        "Does": edit.does,
        "State": edit.state,
        "Deals": [str(each) for each in edit.planned],
        "Outcomes": list(edit.outcomes),
        "Restored": list(edit.restored),
        "Changes": dict(edit.changes) or None,
        "Page": dict(edit.page) if edit.page else None,
        "FinishedAt": to_iso(edit.finished_at) if edit.finished_at else None,
        TTL_ATTRIBUTE: int((edit.started_at + LIFETIME).timestamp()),
    }


def from_item(item: Item) -> BulkEdit:
    """Read an edit. Raises KeyError, ValueError."""
    lists = [damage.attribute(item, name, list) for name in ("Deals", "Outcomes", "Restored")]
    planned, outcomes, restored = (tuple(map(str, each)) for each in lists)
    texts = [damage.attribute(item, name, str) for name in ("EditId", "Username", "AccountId", "Does", "State")]
    edit_id, username, account_id, does, state = texts
    return BulkEdit(
        edit_id,
        username,
        account_id,
        from_iso(item["StartedAt"]),
        does,
        tuple(map(Planned.parse, planned)),
        damage.attribute(item, "Changes", dict) if "Changes" in item else {},
        state,
        outcomes,
        restored,
        from_iso(item["FinishedAt"]) if "FinishedAt" in item else None,
        damage.attribute(item, "Page", dict) if "Page" in item else None,
    )


def _noting(edit: BulkEdit) -> Write:
    item = {
        **keys.unfinished(edit.edit_id),
        "Type": keys.UNFINISHED,
        "EditId": edit.edit_id,
        "Username": edit.username,
        TTL_ATTRIBUTE: int((edit.started_at + LIFETIME).timestamp()),
    }
    return put(item, because="the same edit always makes the same note")


def _recorded(table: Table, edit: BulkEdit, codes: tuple[str, ...], now: datetime) -> BulkEdit:
    """Add a step's outcomes to an edit; the last step finishes it. Raises WalkedMeanwhile."""
    which, state = ("Outcomes", CHANGED) if edit.state == CHANGING else ("Restored", RESTORED)
    walked = (*edit.walked, *codes)
    last = len(walked) == len(edit.planned)
    finishing = ", #state = :next, FinishedAt = :now" if last else ""
    values: dict[str, Any] = {":codes": list(codes), ":state": edit.state, ":number": len(edit.walked)}
    recording = update(
        keys.bulk_edit(edit.username, edit.edit_id),
        f"SET {which} = list_append({which}, :codes){finishing}",
        condition=f"#state = :state AND size({which}) = :number",
        names={"#state": "State"},
        values=values | ({":next": state, ":now": to_iso(now)} if last else {}),
        refused=WalkedMeanwhile(),
    )
    if last:
        table.transact(recording, forget(keys.unfinished(edit.edit_id), because="the edit is finished, noted or not"))
        edit = replace(edit, finished_at=now)
    else:
        table.write(recording)
    edit = replace(edit, outcomes=walked) if edit.state == CHANGING else replace(edit, restored=walked)
    return replace(edit, state=state if last else edit.state)


def _change(
    table: Table, edit: BulkEdit, row: Planned, deal: Deal | None, now: datetime, correlation_id: str | None
) -> str:
    """Change one deal, if it is as it was planned; returns the outcome's code."""
    if deal is None:
        return "gone"
    ended = edit.does == "end"
    if deal.version != row.version:
        if _is_of(edit, row, deal):  # an earlier run of this step
            return "done"
        return "same" if ended and deal.status(now) is Status.EXPIRED else "changed"
    if ended and deal.status(now) is not Status.ACTIVE:
        return "same" if deal.status(now) is Status.EXPIRED else "over"
    changes: Mapping[str, Any] = {"ends_at": now} if ended else edit.changes
    if all(getattr(deal, name) == value for name, value in changes.items()):
        return "same"
    return _edited(table, edit, deal, changes, now, correlation_id)


def _restore(
    table: Table, edit: BulkEdit, row: Planned, deal: Deal | None, now: datetime, correlation_id: str | None
) -> str:
    """Give one deal its old values, if nobody has changed it since; returns the outcome's code."""
    if deal is None:
        return "gone"
    if not _is_of(edit, row, deal):
        before = row.before(edit.does)
        is_as_before = deal.version == row.version + 2 and deal.editor == edit.username
        is_ours = is_as_before and all(getattr(deal, name) == value for name, value in before.items())
        return "done" if is_ours else "changed"
    return _edited(table, edit, deal, row.before(edit.does), now, correlation_id)


def _is_of(edit: BulkEdit, row: Planned, deal: Deal) -> bool:
    """Whether a deal is as this edit left it."""
    if deal.version != row.version + 1 or deal.editor != edit.username:
        return False
    if edit.does == "end":
        return deal.ends_at is not None and deal.ends_at >= edit.started_at and deal.ended_from is not None
    return all(getattr(deal, name) == value for name, value in edit.changes.items())


def _edited(
    table: Table, edit: BulkEdit, deal: Deal, changes: Mapping[str, Any], now: datetime, correlation_id: str | None
) -> str:
    """Change a deal, if it still has its version; returns the outcome's code. Raises EditedMeanwhile."""
    try:
        deals.edit(
            table,
            deal.deal_id,
            changes,
            now,
            by=edit.username,
            correlation_id=correlation_id,
            version=deal.version,
        )
    except NoSuchDeal:
        return "gone"
    except DealTooLarge:
        return "large"
    except Impossible:
        return "damaged"
    return "done"
