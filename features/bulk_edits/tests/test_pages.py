"""Several deals at once on the desk: ended, moved, or put on a page, each by itself, and restored together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from features.bulk_edits import data
from features.bulk_edits.data import BulkEdit
from shared.data import keys
from shared.data.catalog import deals, picks, search
from shared.data.members import sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import delete
from shared.errors import Busy, NotFound
from shared.html import cookies
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, Deal, Status
from shared.values import times
from tests.signed_in.conftest import FUNCTIONS, PostDeal, ana, editor, entered, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser, Seen

ACTIVE, EXPIRED = Status.ACTIVE, Status.EXPIRED


def ticked(*chosen: Deal | str, **fields: str) -> dict[str, str]:
    return {f"deal-{each.number if isinstance(each, Deal) else each}": "1" for each in chosen} | fields


def sent(editor: Browser, *chosen: Deal | str, **fields: str) -> Seen:
    """The page that the form leads to."""
    answer = editor.post("/desk/deals/together", ticked(*chosen, **fields))
    assert answer.status == 303, answer.words
    return editor.get(answer.location)


def undone(editor: Browser, seen: Seen) -> Seen:
    """The page after its button that undoes the edit was pressed; without the button, the page that says no."""
    forms = [form.get("action") for form in seen.document.iter("form") if form.get("action", "").endswith("/undo")]
    answer = editor.post(forms[0])
    return editor.get(answer.location) if answer.status == 303 else answer


def now_is(table: Table, *some: Deal) -> list[Deal]:
    return deals.get_many(table, [deal.deal_id for deal in some], consistent=True)


def states(table: Table, *some: Deal) -> list[Status]:
    return [deal.status(times.now()) for deal in now_is(table, *some)]


def filled(editor: Browser, place: str) -> dict[str, str]:
    """The fields of the page before an edit, as its form sends them."""
    names = ("do", "all", "seen", "q", "category", "state", "age", "to_category", "to_brand", "page")
    return {name: value or "" for name, value in editor.get(place).values().items() if name in names}


def test_ticked_deals_are_ended_once_after_a_page_says_so(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    first, second, other = (post_deal(title=title) for title in ("One", "Two", "Three"))
    withdrawn = deals.withdraw(table, post_deal(title="Four").deal_id, times.now())
    assert f'name="deal-{first.number}"' in editor.get("/desk/deals").text

    asked = editor.get(f"/desk/deals/together?do=end&deal-{first.number}=1&deal-{second.number}=1")
    seen = sent(editor, first, second, withdrawn, "4711", do="end")
    ended = now_is(table, first, second)
    again = sent(editor, first, second, do="end")

    assert ("End 2 deals?" in asked.words, "One" in asked.words, "Three" in asked.words) == (True, True, False)
    assert "2 deals ended" in seen.words
    assert "It has ended or was withdrawn." in seen.words
    assert "Some of the ticked deals are gone or damaged." in seen.words
    assert ("2 deals ended" in again.words, "Undo" in again.words) == (True, False)
    assert now_is(table, first, second) == ended
    assert states(table, *ended, other) == [EXPIRED, EXPIRED, ACTIVE]


def test_what_was_ended_together_is_restored_together_and_nothing_else(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    soon = times.now() + timedelta(hours=3)
    first, second, early = (post_deal(title=title, ends_at=soon) for title in ("One", "Two", "Three"))
    before = times.now() - timedelta(minutes=2)
    deals.edit(table, early.deal_id, {"ends_at": before}, before)
    seen = sent(editor, first, second, early, do="end")

    assert "3 deals ended at" in editor.get("/desk/deals").words
    restored = undone(editor, seen)
    again = editor.post(next(f.get("action") for f in seen.document.iter("form") if "undo" in f.get("action", "")))

    assert "Undo all 2" in seen.words
    assert "2 deals restored" in restored.words
    assert states(table, first, second, early) == [ACTIVE, ACTIVE, EXPIRED]
    assert [deal.ends_at for deal in now_is(table, first, second)] == [first.ends_at] * 2
    assert again.status == 303
    assert "can be undone" not in editor.get("/desk/deals").words


def test_ticked_deals_move_to_another_category_and_brand_and_back(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    first, second = post_deal(), post_deal(category="bags")

    for fields, said in (({}, "Choose a category"), ({"to_brand": "Nobody"}, "no brand with this name")):
        refused = editor.post("/desk/deals/together", ticked(first, do="move", to_category="", **fields))
        assert (refused.status, said in refused.words) == (422, True)
    seen = sent(editor, first, second, do="move", to_category="bags", to_brand="G/Fore")
    assert "2 deals moved" in sent(editor, first, second, do="move", to_category="bags", to_brand="G/Fore").words
    moved = now_is(table, first, second)

    deals.edit(table, second.deal_id, {"price": "9.99"}, times.now(), by="eve")
    restored = undone(editor, seen)

    assert [(deal.category, deal.brand_name, deal.version) for deal in moved] == [("bags", "G/Fore", 2)] * 2
    assert ("1 deal restored" in restored.words, "Someone else has changed it since." in restored.words) == (True, True)
    assert [(deal.category, deal.brand) for deal in now_is(table, first, second)] == [
        (first.category, first.brand),
        ("bags", "g-fore"),
    ]


def test_ticked_deals_take_the_first_places_of_a_page_and_leave_them(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picks, "MAX_FEATURED", 3)
    there, last, first, second, over = (post_deal() for _ in range(5))
    picks.set_featured(table, FRONT_PAGE, [there.deal_id, last.deal_id], times.now())
    deals.edit(table, over.deal_id, {"ends_at": times.now()}, times.now())

    def order() -> list[str]:
        return [deal.deal_id for deal in picks.read(table, FRONT_PAGE, times.now())]

    for _ in range(2):
        seen = sent(editor, first, second, over, do="page", page="front")
    sent(editor, second, do="page", page="choice")
    placed = order()
    other = sent(editor, last, do="page", page="front")
    late = undone(editor, seen)
    back = undone(editor, other)

    assert ("2 deals put on the page" in seen.words, "It has ended" in seen.words) == (True, True)
    assert placed == [first.deal_id, second.deal_id, there.deal_id]
    assert [deal.deal_id for deal in picks.read(table, EDITORS_CHOICE, times.now())] == [second.deal_id]
    assert (late.status, "The order is as before" in back.words) == (409, True)
    assert order() == placed


def test_one_that_another_editor_changes_meanwhile_is_left_and_the_others_are_not(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = post_deal(), post_deal()
    walk: Callable[..., BulkEdit] = data.walk

    def overtaken(table: Table, edit: BulkEdit, *about: object, **more: object) -> BulkEdit:
        deals.edit(table, first.deal_id, {"price": "9.99"}, times.now())
        return walk(table, edit, *about, **more)

    monkeypatch.setattr(data, "walk", overtaken)
    seen = sent(editor, first, second, do="end")

    assert ("1 deal ended" in seen.words, "Someone else has changed it since." in seen.words) == (True, True)
    assert states(table, first, second) == [ACTIVE, EXPIRED]


def test_all_that_match_are_ended_by_their_filter_but_not_what_changed_since(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("features.desk.desk.SHOWN", 2)
    monkeypatch.setattr(data, "STEP", 2)
    coats = [post_deal(minutes, title=f"Rain coat {minutes}", category="outerwear") for minutes in range(3, 10)]
    post_deal(title="Rain boot", category="shoes")
    bag = post_deal(title="Rain coat bag", category="bags")
    for deal in (*coats, bag):
        search.file(table, None, deal)

    listed = editor.get("/desk/deals?q=rain+coat&category=outerwear")
    form = filled(editor, "/desk/deals/together?q=rain+coat&category=outerwear&all=1&do=end")
    deals.edit(table, coats[-1].deal_id, {"price": "9.99"}, times.now(), by="eve")
    late = post_deal(0, title="Rain coat 0", category="outerwear")
    search.file(table, None, late)
    answer = editor.post("/desk/deals/together", form)
    begun = editor.get(answer.location)
    so_far = editor.get(answer.location, accept="application/json").json
    finished = data.sweep(table, times.now())

    assert ("7 match" in listed.words, "All 7 that match" in listed.words) == (True, True)
    assert ("Ending 6 deals" in begun.words, so_far["reached"], so_far["finished"]) == (True, 2, False)
    assert [edit.state for edit in finished] == [data.CHANGED]
    assert states(table, *coats, bag, late) == [EXPIRED] * 6 + [ACTIVE] * 3
    assert data.sweep(table, times.now()) == []
    undone(editor, editor.get(answer.location))
    data.sweep(table, times.now())
    assert "6 deals restored" in editor.get(answer.location).words
    assert states(table, *coats) == [ACTIVE] * 7


def test_a_busy_table_leaves_the_first_step_to_the_clock(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    deal = post_deal()

    def busy(*_about: object, **_more: object) -> BulkEdit:
        raise Busy

    with monkeypatch.context() as patched:
        patched.setattr(data, "walk", busy)
        seen = sent(editor, deal, do="end")
    assert "Ending 1 deal" in seen.words

    data.sweep(table, times.now())

    assert states(table, deal) == [EXPIRED]


def test_an_edit_whose_author_loses_the_role_stops_and_says_so(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "STEP", 1)
    first, second = post_deal(), post_deal(title="Rain boot")
    place = editor.post("/desk/deals/together", ticked(first, second, do="end")).location

    users.set_role(table, "eddy", "member")
    assert data.sweep(table, times.now()) == []
    users.set_role(table, "eddy", "editor")

    token, _ = sessions.start(table, users.get(table, "eddy"), times.now(), bytes(32))
    again = Browser(FUNCTIONS, {cookies.SESSION: token, cookies.HINT: "1"})
    assert "Stopped after 1 of 2 deals" in again.get(place).words
    assert sorted(states(table, first, second)) == [ACTIVE, EXPIRED]
    assert data.sweep(table, times.now()) == []


def test_an_edit_is_its_editors_and_a_forged_one_is_none(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    place = editor.post("/desk/deals/together", ticked(post_deal(), do="end")).location
    other = entered(table, "eve", "editor")

    assert [other.get(place).status, other.post(f"{place}/undo").status] == [404, 404]
    assert editor.get("/desk/deals/together/forged").status == 404


@pytest.mark.damages
def test_a_deal_that_is_gone_when_the_result_is_read_is_a_row_without_a_link(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    first, second = post_deal(title="One"), post_deal(title="Two")
    answer = editor.post("/desk/deals/together", ticked(first, second, do="end"))
    table.write(delete(keys.deal(first.deal_id), refused=NotFound()))

    seen = editor.get(answer.location)

    assert (seen.status, "2 deals ended" in seen.words, "A deal" in seen.words) == (200, True, True)


def test_nothing_too_many_and_nonsense_do_nothing(editor: Browser, ana: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()

    assert editor.get("/desk/deals/together?do=end").location == "/desk/deals?notice=unticked"
    assert editor.post("/desk/deals/together", {"do": "end"}).location == "/desk/deals?notice=unticked"
    assert editor.post("/desk/deals/together", ticked(deal, do="burn")).status == 400
    assert editor.post("/desk/deals/together", {"all": "1", "do": "end"}).status == 400
    assert editor.get("/desk/deals/together?all=1&do=end&q=jakcet").location == "/desk/deals?notice=unticked"
    assert editor.post("/desk/deals/together", ticked(*map(str, range(1, 27)), do="end")).status == 400
    assert editor.post("/desk/deals/together", ticked(deal, do="page", page="mine")).status == 400
    assert ana.post("/desk/deals/together", ticked(deal, do="end")).status == 403
