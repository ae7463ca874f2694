"""Drafts and plans: an editor's own, and posted once, by the editor or the clock, whatever comes between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from features.drafts import data as drafts
from features.drafts import keys as draft_keys
from features.drafts.data import Draft, DraftChanged, InvalidDraft, NoSuchDraft, TooManyDrafts
from shared.data import invariants, keys
from shared.data.catalog import deals, editing
from shared.data.idempotency import Idempotency
from shared.data.members import users
from shared.dynamodb.capacity import Capacity
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, put
from shared.errors import DealIsOdd, NoSuchTopic, NotSignedIn
from shared.models.catalog import ALL_DEALS, Deal
from tests.support.checks import checked, faults, repair
from tests.support.engines import FAST, on
from tests.support.factories import APPLE, NOW, a_deal, a_user, account_of, ahead, leave, listed
from tests.support.wire import taken_by

AT = ahead(hours=2)
"""When a planned draft is due."""

pytestmark = on(FAST)


@pytest.fixture(autouse=True)
def _editor(table: Table) -> None:
    users.create(table, a_user(role="editor"))


def a_draft(**of_deal: Any) -> Draft:
    return Draft(a_deal(**of_deal), "ana", account_of("ana"))


def kept(table: Table, starts_at: datetime | None = None, **of_deal: Any) -> Draft:
    """A draft in the table; with a time, a planned one."""
    return drafts.save_new(table, replace(a_draft(**of_deal), starts_at=starts_at), NOW, ())


def notes(table: Table) -> list[str]:
    return [note["SK"] for note in table.query("BEGINNINGS")]


def left(table: Table) -> list[object]:
    """The drafts that are left, and the notes."""
    return [*drafts.of(table, "ana"), *notes(table)]


def test_a_draft_may_lack_anything_and_is_its_editors_until_it_is_posted(table: Table) -> None:
    blank = dict.fromkeys(("title", "price", "brand", "brand_name", "category"), "")
    draft = kept(table, None, **blank)

    assert drafts.of(table, "ana") == [drafts.get(table, "ana", draft.draft_id)] == [draft]
    assert [*drafts.of(table, "bo"), *listed(table, ALL_DEALS)] == []
    assert draft.missing == ["title", "price", "brand", "category"]
    with pytest.raises(InvalidDraft):
        drafts.post(table, draft, NOW, ())


def test_drafts_are_listed_with_the_newest_first(table: Table) -> None:
    older, newer = (drafts.save_new(table, a_draft(created_at=at), NOW, ()) for at in (NOW, ahead(seconds=1)))

    assert drafts.of(table, "ana") == [newer, older]


def test_a_form_that_is_sent_twice_keeps_one_draft(table: Table) -> None:
    sent = Idempotency(account_of("ana"), "a form's key", {"title": "Trail runner"})

    first, again = (drafts.save_new(table, a_draft(), NOW, (), idempotency=sent) for _ in range(2))

    assert first == again
    assert drafts.of(table, "ana") == [first]


def test_a_draft_is_posted_as_of_now_and_is_gone(table: Table) -> None:
    draft = kept(table, AT)

    deal = drafts.post(table, draft, ahead(hours=1), (), correlation_id="a request")
    again = drafts.post(table, draft, ahead(hours=1, minutes=1), (), correlation_id="another")

    assert again == deal == deals.get(table, deal.deal_id)
    assert (deal.created_at, deal.number, deal.version, deal.title) == (ahead(hours=1), 1, 1, draft.deal.title)
    assert drafts.posted_as(table, account_of("ana"), draft.draft_id, AT) == deal.deal_id
    assert listed(table, ALL_DEALS, now=AT) == [deal.deal_id]
    assert left(table) == []


def test_a_plan_follows_its_draft(table: Table) -> None:
    draft = kept(table, AT)
    assert notes(table) == [f"2050-06-15T14:00:00Z#{draft.draft_id}"]

    later = drafts.save(table, draft, replace(draft, starts_at=ahead(hours=3)), NOW, ())
    assert notes(table) == [f"2050-06-15T15:00:00Z#{draft.draft_id}"]

    drafts.save(table, later, replace(later, starts_at=None), NOW, ())
    assert notes(table) == []


def test_a_draft_that_was_saved_elsewhere_meanwhile_is_not_overwritten_discarded_or_posted(table: Table) -> None:
    old = kept(table)
    new = drafts.save(table, old, replace(old, deal=replace(old.deal, title="Road runner")), NOW, ())

    for attempt in (
        partial(drafts.save, table, old, old, NOW, ()),
        partial(drafts.discard, table, old),
        partial(drafts.post, table, old, NOW, ()),
    ):
        with pytest.raises(DraftChanged):
            attempt()

    assert drafts.of(table, "ana") == [new]
    drafts.discard(table, new)
    with pytest.raises(NoSuchDraft):
        drafts.get(table, "ana", new.draft_id)


@pytest.mark.parametrize(
    ("starts_at", "of_deal", "refused"),
    [
        (NOW, {}, InvalidDraft),
        (AT, {"ends_at": AT}, InvalidDraft),
        (AT, {"link": ""}, InvalidDraft),
        (AT, {"brand": "nobodys"}, NoSuchTopic),
        (AT, {"list_price": "20.00"}, DealIsOdd),
    ],
)
def test_what_could_not_be_posted_then_is_not_planned(
    table: Table, starts_at: datetime, of_deal: dict[str, Any], refused: type[Exception]
) -> None:
    with pytest.raises(refused):
        kept(table, starts_at, **of_deal)

    assert drafts.of(table, "ana") == []


def test_a_plan_is_carried_out_once_at_its_time_or_when_the_clock_works_again(table: Table) -> None:
    on_time, late = kept(table, AT), kept(table, ahead(days=1), list_price=None)

    assert drafts.sweep(table, AT - timedelta(seconds=1)) == []
    (first,) = drafts.sweep(table, AT)
    (second,) = drafts.sweep(table, ahead(days=9))

    assert (first.deal.title, first.deal.created_at, first.late) == (on_time.deal.title, AT, timedelta())
    assert (second.deal.title, second.deal.created_at, second.late) == (
        late.deal.title,
        ahead(days=9),
        timedelta(days=8),
    )
    assert [*drafts.sweep(table, ahead(days=9)), *left(table)] == []


@pytest.mark.parametrize("read", ["the draft", "the note"])
def test_two_sweeps_at_once_post_a_deal_once(table: Table, monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    """The second sweep has read the draft, or at least its note, before the first one posts it."""
    draft = kept(table, AT)
    (deal,) = (begun.deal for begun in drafts.sweep(table, AT, correlation_id="first"))
    table.write(put(drafts.note_of(draft) or {}, because="as the other sweep read it"))
    if read == "the draft":
        monkeypatch.setattr(drafts, "get", lambda *_: draft)

    assert drafts.sweep(table, AT + timedelta(minutes=1), correlation_id="second") == []

    assert listed(table, ALL_DEALS, now=AT) == [deal.deal_id]


@pytest.mark.parametrize(
    ("happens", "due", "why"),
    [
        (lambda table: table.write(forget(keys.topic(APPLE), because="by hand")), AT, "There is no brand 'apple'."),
        (lambda table: users.set_role(table, "ana", "member"), AT, "Its author is no longer an editor."),
        (lambda _: None, ahead(days=2), "It had ended before it was posted."),
    ],
    ids=["brand", "role", "end"],
)
def test_what_cannot_be_posted_any_more_stays_a_draft_and_says_why(
    table: Table, happens: Callable[[Table], object], due: datetime, why: str
) -> None:
    draft = kept(table, AT, ends_at=ahead(days=1))
    other = kept(table, ahead(days=3), brand="asics", ends_at=None)
    happens(table)

    assert drafts.sweep(table, due) == []

    (stays,) = (each for each in drafts.of(table, "ana") if each.draft_id == draft.draft_id)
    assert (stays.refused, stays.starts_at, stays.deal.title) == (why, None, draft.deal.title)
    assert notes(table) == [f"2050-06-18T12:00:00Z#{other.draft_id}"]
    assert drafts.save(table, stays, stays, due, ()).refused is None


@pytest.mark.parametrize("happens", ["loses the role", "leaves"])
def test_a_plan_is_not_carried_out_for_an_author_who_stops_being_an_editor_meanwhile(
    table: Table, monkeypatch: pytest.MonkeyPatch, happens: str
) -> None:
    create = editing.create

    def create_later(*given: Any, **named: Any) -> Deal:
        if happens == "leaves":
            leave(table)
        else:
            users.set_role(table, "ana", "member")
        return create(*given, **named)

    kept(table, AT)
    monkeypatch.setattr(editing, "create", create_later)

    assert drafts.sweep(table, AT) == []

    assert listed(table, ALL_DEALS, now=AT) == []
    said = [] if happens == "leaves" else ["Its author is no longer an editor."]
    assert [draft.refused for draft in drafts.of(table, "ana")] == said


def test_one_draft_that_cannot_be_read_does_not_keep_the_others_waiting(table: Table) -> None:
    damaged, sound = kept(table, AT), kept(table, ahead(hours=3), title="Sound")
    table.write(put({**drafts.to_item(damaged), "StartsAt": "soon"}, because="by hand"))

    (begun,) = drafts.sweep(table, ahead(hours=3))

    assert (begun.deal.title, sound.deal.title) == ("Sound", "Sound")


def test_drafts_and_plans_leave_with_their_account_and_none_comes_after(table: Table) -> None:
    draft = kept(table, AT)
    kept(table)

    leave(table)

    assert left(table) == []
    with pytest.raises(NotSignedIn):
        drafts.save_new(table, draft, NOW, ())


def test_an_editor_has_a_hundred_drafts_at_most(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST", 2)
    kept(table)
    kept(table)

    with pytest.raises(TooManyDrafts):
        kept(table)


@checked
def test_the_checker_finds_a_plan_without_its_note_and_mends_it(table: Table) -> None:
    draft = kept(table, AT)
    table.write(forget(draft_keys.beginning(AT, draft.draft_id), because="by hand"))

    (fault,) = faults(table.everything(), NOW)

    assert (fault.rule, repair(table, fault)) == (invariants.PARTNERS, True)
    assert faults(table.everything(), NOW) == []


def test_what_drafts_take_is_what_the_document_says(table: Table) -> None:
    saved = replace(a_draft(), starts_at=None)
    by_hand, by_clock = kept(table), kept(table, AT)
    steps: dict[str, Callable[[], object]] = {
        "a deal": lambda: deals.create(table, a_deal(), NOW),
        "a draft saved": lambda: drafts.save_new(table, saved, NOW, ()),
        "a draft planned": lambda: drafts.save(table, saved, replace(saved, starts_at=ahead(days=2)), NOW, ()),
        "a draft posted by hand, besides its deal": lambda: drafts.post(table, by_hand, NOW, ()),
        "a planned draft posted by the clock, besides its deal": lambda: drafts.sweep(table, AT),
    }

    page = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    took = taken_by(table, steps)
    deal = took.pop("a deal")
    besides = {name: deal if name.endswith("its deal") else Capacity() for name in took}
    more = {name: Capacity(of.read - besides[name].read, of.write - besides[name].write) for name, of in took.items()}
    lines = [f"| {name} | {of.read:g} | {of.write:g} | {of.dollars / 1000:.4f} |" for name, of in more.items()]
    assert by_clock.starts_at == AT
    assert [line for line in lines if line not in page] == []
