"""The actions of drafts, for ``tests/interleave``."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from features.drafts import data as drafts
from features.drafts.data import Draft
from shared.data.idempotency import Idempotency
from tests.interleave.beginning import LATER
from tests.support.factories import NOW, a_deal, account_of

if TYPE_CHECKING:
    from tests.interleave.processes import Process


def a_draft(letter: bytes, **fields: object) -> Draft:
    begun = a_deal(NOW, entropy=letter * 16, title=f"Draft {letter!r}", link="https://shop.example/draft")
    return replace(Draft(begun, "bo", account_of("bo")), **fields)  # type: ignore[arg-type]  # any of its fields


PLANNED, DUE = (a_draft(letter, starts_at=when) for letter, when in ((b"4", LATER + timedelta(hours=1)), (b"5", LATER)))


def prepare(at: Process) -> None:
    """Two editors have a draft that is planned."""
    drafts.save_new(at.table, PLANNED, NOW, None)
    eves = replace(PLANNED, username="eve", account_id=account_of("eve"))
    drafts.save_new(
        at.table, replace(eves, deal=replace(eves.deal, deal_id=a_deal(NOW, entropy=b"e" * 16).deal_id)), NOW, None
    )


def leave_due(at: Process) -> None:
    """A draft becomes due."""
    drafts.save_new(at.table, DUE, NOW, None)


def save_new(at: Process) -> str:
    new = replace(a_draft(b"6"), deal=a_deal(LATER, entropy=at.entropy(), title="New"))
    once = Idempotency(account_of("bo"), "a key", {"title": "New"})
    return drafts.save_new(at.table, new, LATER, None, idempotency=once).deal.title


def save(at: Process, draft: Draft = PLANNED) -> None:
    old = drafts.get(at.table, "bo", draft.draft_id)
    new = replace(old, deal=replace(old.deal, price="11.00"), starts_at=LATER + timedelta(minutes=90))
    drafts.save(at.table, old, new, LATER, None)


def post(at: Process, draft: Draft = PLANNED) -> str:
    """As the API does: a repeated request gets the deal that the first one posted."""
    try:
        found = drafts.get(at.table, "bo", draft.draft_id)
    except drafts.NoSuchDraft:
        return drafts.posted_as(at.table, account_of("bo"), draft.draft_id, LATER)
    return drafts.post(at.table, found, LATER, None).deal_id


def discard(at: Process, draft: Draft = PLANNED) -> None:
    drafts.discard(at.table, drafts.get(at.table, "bo", draft.draft_id))


def sweep(at: Process) -> None:
    """It doesn't return what it posted: of two runs at once, both report what one of them has posted."""
    drafts.sweep(at.table, LATER)


WRITES = {"save new draft": save_new, "save draft": save, "post draft": post, "discard draft": discard}
PENDING_WRITES = {
    "post due drafts": sweep,
    "save due draft": lambda at: save(at, DUE),
    "post due draft": lambda at: post(at, DUE),
    "discard due draft": lambda at: discard(at, DUE),
}
BEFORE_WRITES = (prepare,)
LEFT_PENDING = (leave_due,)
REFUSED_WRITES = ("DraftChanged",)
_BETWEEN = "the clock does one thing after the other: what it does first may come before the draft is posted"
WRITES_DIFFER = {frozenset({"tick", name}): _BETWEEN for name in ("post due draft", "post due drafts")}
