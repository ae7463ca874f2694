"""Drafts: deals that an editor has begun but not posted, in a partition of that editor.

A scheduled draft has a note, by its time, in the one partition of all scheduled posts. Its note is removed with it, so
the partition holds only future posts, and one Query finds what is due however long no sweep ran. Endings have a
partition a day instead, because they are read for days ahead and come in thousands.

``deals.create`` posts a draft, in one transaction that removes draft and note, so a draft is posted only once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from features.drafts import keys
from shared.data import account_checks
from shared.data import keys as core_keys
from shared.data.bulk import write_all
from shared.data.catalog import deals, editing
from shared.data.idempotency import Idempotency, earlier_result, once
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, forget, put, put_new, put_over, update
from shared.errors import AlreadyExists, Conflict, Invalid, InvalidInput, NotFound, TooLarge
from shared.models.catalog import Deal
from shared.values import identifiers
from shared.values.times import from_iso, to_iso


class NoSuchDraft(NotFound):
    text = "You have no draft {!r}: it was posted or discarded."


class DraftChanged(Conflict):
    text = "This draft was changed, posted or discarded meanwhile, in another window or by its schedule."


class TooManyDrafts(Conflict):
    text = "You cannot have more than {} drafts: post or discard one first."


class InvalidDraft(InvalidInput):
    """A draft that can't be posted or scheduled in its present state."""


NEEDED = ("title", "link", "price", "currency", "brand", "category")
"""The fields that a deal must have to be posted. They are empty while missing, and have the API's names."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft of an editor. Missing fields of its ``deal`` are empty.

    Id and times are the draft's; the posted deal gets new ones. ``starts_at`` is the scheduled time or None.
    ``refused`` says why it couldn't be posted when it was due.
    """

    deal: Deal
    username: str
    account_id: str
    starts_at: datetime | None = None
    refused: str | None = None

    @property
    def draft_id(self) -> str:
        return self.deal.deal_id

    @property
    def missing(self) -> list[str]:
        """The fields that it still needs to be posted."""
        return [name for name in NEEDED if not getattr(self.deal, name)]


MOST = 100
"""Drafts of one editor. Two that are saved at once may exceed it by one."""

_KEYS = Projection.of("PK", "SK", "StartsAt")


def save_new(
    table: Table, draft: Draft, now: datetime, seen: Collection[str] | None, *, idempotency: Idempotency | None = None
) -> Draft:
    """Save a new draft. One with a ``starts_at`` is scheduled, and gets the same checks as a post (``editing.ask``).

    A repeated request with the same ``idempotency`` key gets the first one's draft. Raises InvalidDraft, NoSuchTopic,
    DealTooLarge, DealIsOdd, TooManyDrafts, NotSignedIn; NoSuchDraft if a repeated request's draft has been removed.
    """
    earlier = earlier_result(table, idempotency, now)
    if earlier is not None:
        return get(table, draft.username, earlier)
    _check(table, draft, now, seen)
    kept = list(table.query(keys.drafts(draft.username), limit=MOST, projection=_KEYS, consistent=True))
    if len(kept) == MOST:
        raise TooManyDrafts(MOST)
    writes = [
        account_checks.required(draft.username, draft.account_id),
        put_new(to_item(draft), refused=AlreadyExists()),
        *_note_writes(None, draft),
    ]
    earlier = once(table, idempotency, draft.draft_id, now, writes)
    return draft if earlier is None else get(table, draft.username, earlier)


def save(table: Table, old: Draft, new: Draft, now: datetime, seen: Collection[str] | None) -> Draft:
    """Replace the draft ``old`` by ``new``, and note when it is to be posted.

    Raises DraftChanged if ``old`` has changed since it was read, and what ``save_new`` raises of the draft itself.
    """
    _check(table, new, now, seen)
    new = replace(new, deal=replace(new.deal, version=old.deal.version + 1, updated_at=now), refused=None)
    condition, values = _as_read(old)
    table.transact(
        account_checks.required(new.username, new.account_id),
        put_over(to_item(new), condition, values, refused=DraftChanged()),
        *_note_writes(old, new),
    )
    return new


def discard(table: Table, draft: Draft) -> None:
    """Remove a draft that hasn't changed since it was read, and its schedule. Raises DraftChanged."""
    table.transact(*_removal(draft))


def get(table: Table, username: str, draft_id: str) -> Draft:
    """One of an editor's drafts. One consistent GetItem. Raises NoSuchDraft, Damaged."""
    item = table.get(keys.draft(username, draft_id), consistent=True) if identifiers.is_ksuid(draft_id) else None
    if item is None:
        raise NoSuchDraft(draft_id)
    return damage.read(item, from_item)


def of(table: Table, username: str) -> list[Draft]:
    """An editor's drafts, newest first, at most ``MOST``. One consistent Query, because a form redirects here."""
    return damage.readable(
        table.query(keys.drafts(username), newest_first=True, limit=MOST, consistent=True), from_item
    )


def posted_as(table: Table, account_id: str, draft_id: str, now: datetime) -> str:
    """The id of the deal that a draft was posted as in the last 24 hours. Raises NoSuchDraft."""
    posted = earlier_result(table, _posting(account_id, draft_id), now)
    if posted is None:
        raise NoSuchDraft(draft_id)
    return posted


def post(
    table: Table,
    draft: Draft,
    now: datetime,
    seen: Collection[str] | None,
    *,
    correlation_id: str | None = None,
    also: Sequence[Write] = (),
) -> Deal:
    """Post a draft that hasn't changed since it was read, in a transaction with the writes ``also``.

    If it is posted already, returns that deal. Raises InvalidDraft, DraftChanged, and what ``editing.create`` raises.
    """
    _require_whole(draft)
    deal = replace(
        draft.deal,
        deal_id=identifiers.derived(now, "draft", draft.draft_id),
        created_at=now,
        updated_at=None,
        version=1,
        correlation_id=correlation_id,
    ).signed(draft.username)
    once_only = _posting(draft.account_id, draft.draft_id)
    return editing.create(table, deal, now, seen, idempotency=once_only, also=[*also, *_removal(draft)])


class _NoEditor(Conflict):
    text = "Its author is no longer an editor."


@dataclass(frozen=True, slots=True)
class PostedDraft:
    """A deal that was posted as scheduled, and the delay."""

    deal: Deal
    late: timedelta


def sweep(
    table: Table,
    now: datetime,
    *,
    most: int = 100,
    correlation_id: str | None = None,
    failures: damage.Failures | None = None,
) -> list[PostedDraft]:
    """Post drafts that are due, at most ``most``, those due first before others.

    A draft that can't be posted any more stays, and says why. Repeating the sweep is harmless. A failing draft doesn't
    stop the others: its error is added to ``failures`` or, without that list, raised at the end.
    """
    bound = keys.beginning(now, "~")
    due = list(table.query(bound["PK"], until=bound["SK"], limit=most, consistent=True))
    begin = partial(_begin, table, now=now, correlation_id=correlation_id)
    return list(chain.from_iterable(damage.each(due, begin, failures=failures)))


def remove_some(table: Table, username: str, most: int, *, required: Write) -> int:
    """Remove at most ``most`` drafts, with schedules, of an account that is being removed; returns how many."""
    found = list(table.query(keys.drafts(username), limit=most, projection=_KEYS, consistent=True))
    gone = "another run of the removal may have been here first"
    for item in found:
        starts_at = damage.read_or(item, _planned, otherwise=None)
        plan = [keys.beginning(starts_at, core_keys.id_in(item["SK"]))] if starts_at else []
        write_all(table, [forget(key, because=gone) for key in (*plan, core_keys.primary(item))], required=required)
    return len(found)


def to_item(draft: Draft) -> Item:
    return {
        **keys.draft(draft.username, draft.draft_id),
        "Type": keys.DRAFT,
        "Username": draft.username,
        "AccountId": draft.account_id,
        **deals.DEAL.write(draft.deal),
        "StartsAt": to_iso(draft.starts_at) if draft.starts_at else None,
        "Refused": draft.refused,
    }


def from_item(item: Item) -> Draft:
    """Read a draft; fields of its deal that are missing or unreadable are empty. Raises KeyError, ValueError."""
    deal, _ = editing.salvaged(item, core_keys.id_in(item["SK"]))
    return Draft(deal, item["Username"], item["AccountId"], _planned(item), item.get("Refused"))


def note_of(draft: Draft) -> Item | None:
    """The note of a scheduled draft; None if it isn't scheduled."""
    if draft.starts_at is None:
        return None
    key = keys.beginning(draft.starts_at, draft.draft_id)
    return {**key, "Type": keys.BEGINNING, "DealId": draft.draft_id, "Username": draft.username}


def _planned(item: Item) -> datetime | None:
    return from_iso(item["StartsAt"]) if "StartsAt" in item else None


def _check(table: Table, draft: Draft, now: datetime, seen: Collection[str] | None) -> None:
    """Refuse a draft that can't be stored, and a schedule that couldn't be kept."""
    deal = draft.deal
    deals.check_prices(deal)
    deals.check_size(deal)
    if draft.starts_at is None:
        return
    _require_whole(draft)
    if draft.starts_at <= now:
        raise InvalidDraft({"startsAt": "This must be in the future. To post it now, leave it empty."})
    if deal.ends_at is not None and deal.ends_at <= draft.starts_at:
        raise InvalidDraft({"startsAt": "The deal would have ended by then."})
    deals.stored_brand(table, deal.brand)
    editing.ask(replace(deal, created_at=now), now, seen)


def _require_whole(draft: Draft) -> None:
    if draft.missing:
        raise InvalidDraft(dict.fromkeys(draft.missing, "This must be filled in."))


def _begin(table: Table, note: Item, now: datetime, correlation_id: str | None) -> list[PostedDraft]:
    """Post a note's draft, if it is still scheduled and can be posted."""
    username, key = damage.attribute(note, "Username", str), core_keys.primary(note)
    with suppress(NoSuchDraft):
        draft = get(table, username, core_keys.id_in(note["SK"]))
        if draft.starts_at is not None and keys.beginning(draft.starts_at, draft.draft_id) == key:
            return _post_planned(table, draft, draft.starts_at, now, correlation_id)
    table.write(forget(key, because="it is of a plan that is gone"))
    return []


def _post_planned(
    table: Table, draft: Draft, starts_at: datetime, now: datetime, correlation_id: str | None
) -> list[PostedDraft]:
    """Post a due draft, or else record in it why it can't be posted and cancel its schedule."""
    if draft.deal.ends_at is not None and draft.deal.ends_at <= now:
        why = "It had ended before it was posted."
    else:
        editor = account_checks.edits(draft.username, draft.account_id, refused=_NoEditor())
        try:
            deal = post(table, draft, now, None, correlation_id=correlation_id, also=[editor])
        except DraftChanged:  # by its editor, meanwhile; the next sweep reads it again
            return []
        except (Conflict, Invalid, NotFound, TooLarge) as error:
            why = str(error)
        else:
            is_ours = deal.correlation_id == correlation_id  # otherwise another sweep posted it
            return [PostedDraft(deal, now - starts_at)] if is_ours else []
    condition, values = _as_read(draft)
    said = update(
        keys.draft(draft.username, draft.draft_id),
        "SET Refused = :why, Version = Version + :one REMOVE StartsAt",
        condition=condition,
        values={**values, ":why": why, ":one": 1},
        refused=DraftChanged(),
    )
    with suppress(DraftChanged):
        table.transact(said, *_note_writes(draft, replace(draft, starts_at=None)))
    return []


def _removal(draft: Draft) -> list[Write]:
    """The writes that remove a draft and its schedule. Refused with DraftChanged."""
    condition, values = _as_read(draft)
    key = keys.draft(draft.username, draft.draft_id)
    return [delete(key, condition=condition, values=values, refused=DraftChanged()), *_note_writes(draft, None)]


def _as_read(draft: Draft) -> tuple[str, Mapping[str, object]]:
    """The condition that a draft hasn't changed since it was read, and has the same account."""
    return "Version = :read AND AccountId = :account", {":read": draft.deal.version, ":account": draft.account_id}


def _note_writes(old: Draft | None, new: Draft | None) -> list[Write]:
    """The writes of a draft's note when ``old`` becomes ``new``."""
    before, after = (note_of(draft) if draft else None for draft in (old, new))
    if before == after:
        return []
    gone = "the draft goes in the same transaction, and is what is required"
    return [
        *([forget(core_keys.primary(before), because=gone)] if before else []),
        *([put(after, because="the same draft and time always make the same note")] if after else []),
    ]


def _posting(account_id: str, draft_id: str) -> Idempotency:
    """The idempotency key that has a draft posted only once."""
    return Idempotency(account_id, f"draft {draft_id}", {})
