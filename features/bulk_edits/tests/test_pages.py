"""Several deals at once: ended, moved, or put on a page, each by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from importlib import import_module

import pytest

from shared.data import keys
from shared.data.catalog import deals, picks
from shared.dynamodb.table import Table
from shared.dynamodb.writes import delete
from shared.errors import NotFound
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, Deal, Status
from shared.values import times
from tests.signed_in.conftest import PostDeal, ana, editor, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser, Seen


def ticked(*chosen: Deal | str, **fields: str) -> dict[str, str]:
    return {f"deal-{each.number if isinstance(each, Deal) else each}": "1" for each in chosen} | fields


def sent(editor: Browser, *chosen: Deal | str, **fields: str) -> Seen:
    """The page that the form leads to."""
    answer = editor.post("/desk/deals/together", ticked(*chosen, **fields))
    assert answer.status == 303, answer.words
    return editor.get(answer.location)


def now_is(table: Table, *some: Deal) -> list[Deal]:
    return deals.get_many(table, [deal.deal_id for deal in some], consistent=True)


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
    assert "There is no such deal." in seen.words
    assert "2 deals ended" in again.words
    assert now_is(table, first, second) == ended
    assert [deal.status(times.now()) for deal in (*ended, *now_is(table, other))] == [Status.EXPIRED] * 2 + [
        Status.ACTIVE
    ]


def test_what_was_ended_together_is_restored_together_and_nothing_else(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    first, second, early = (post_deal(title=title) for title in ("One", "Two", "Three"))
    before = times.now() - timedelta(minutes=2)
    deals.edit(table, early.deal_id, {"ends_at": before}, before)
    seen = sent(editor, first, second, early, do="end")
    undo = {name: value for name, value in seen.values().items() if name.startswith("deal-") or name in ("do", "at")}

    answer = editor.post("/desk/deals/together", undo)
    restored = editor.get(answer.location)
    again = sent(editor, first, early, do="undo", at=undo["at"])

    assert undo.keys() == {"do", "at", f"deal-{first.number}", f"deal-{second.number}"}
    assert "2 deals restored" in restored.words
    assert [deal.status(times.now()) for deal in now_is(table, first, second, early)] == [
        *[Status.ACTIVE] * 2,
        Status.EXPIRED,
    ]
    assert "1 deal restored" in again.words  # it is as it was asked to be
    assert "It can be restored for ten minutes" in again.words


def test_a_preview_of_restoring_is_not_a_page(editor: Browser, post_deal: PostDeal) -> None:
    assert editor.get(f"/desk/deals/together?do=undo&deal-{post_deal().number}=1").status == 400


def test_ticked_deals_move_to_another_category_and_brand(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    first, second = post_deal(), post_deal(category="bags")

    for fields, said in (({}, "Choose a category"), ({"brand": "Nobody"}, "no brand with this name")):
        refused = editor.post("/desk/deals/together", ticked(first, do="move", category="", **fields))
        assert (refused.status, said in refused.words) == (422, True)
    for _ in range(2):
        assert "2 deals moved" in sent(editor, first, second, do="move", category="bags", brand="G/Fore").words

    moved = now_is(table, first, second)
    assert [(deal.category, deal.brand_name, deal.version) for deal in moved] == [("bags", "G/Fore", 2)] * 2


def test_ticked_deals_take_the_first_places_of_a_page(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picks, "MAX_FEATURED", 3)
    there, last, first, second, over = (post_deal() for _ in range(5))
    picks.set_featured(table, FRONT_PAGE, [there.deal_id, last.deal_id], times.now())
    deals.edit(table, over.deal_id, {"ends_at": times.now()}, times.now())

    for _ in range(2):
        seen = sent(editor, first, second, over, do="page", page="front")
    sent(editor, second, do="page", page="choice")

    assert ("2 deals put on the page" in seen.words, "It has ended" in seen.words) == (True, True)
    front, choice = (picks.read(table, page, times.now()) for page in (FRONT_PAGE, EDITORS_CHOICE))
    assert [deal.deal_id for deal in front] == [first.deal_id, second.deal_id, there.deal_id]
    assert [deal.deal_id for deal in choice] == [second.deal_id]


def test_one_that_another_editor_changes_meanwhile_is_left_and_the_others_are_not(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = post_deal(), post_deal()
    bulk = import_module("features.bulk_edits.pages")
    read: Callable[[str], Deal | str] = bulk._read

    def overtaken(number: str) -> Deal | str:
        deal = read(number)
        if number == str(first.number):
            deals.edit(table, first.deal_id, {"price": "9.99"}, times.now())
        return deal

    monkeypatch.setattr(bulk, "_read", overtaken)
    answer = editor.post("/desk/deals/together", ticked(first, second, do="end"))

    assert answer.location == f"/desk/deals/together/done?do=end&done={second.number}&changed={first.number}"
    assert [deal.status(times.now()) for deal in now_is(table, first, second)] == [Status.ACTIVE, Status.EXPIRED]


def test_a_link_claims_nothing_and_shows_the_deals_as_they_are(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    active, ended, other = (post_deal(title=title) for title in ("One", "Two", "Three"))
    link = f"/desk/deals/together/done?do=end&done={active.number}.{ended.number}.99999&busy={other.number}"
    assert "1 deal ended" in sent(editor, ended, do="end").words

    seen = editor.get(link)

    assert seen.words.count("There is no such deal.") == 1
    claimed = ("deals ended", "Done", "Not changed", "The table was busy")
    assert [words for words in claimed if words in seen.words] == []
    assert "4 deals, as of now" in seen.words
    assert all(title in seen.words for title in ("One", "Two", "Three", "Ended"))
    for nothing in ("done=99999", "done=99999.99998&busy=99997", "gone=", "done=%22"):
        assert editor.get(f"/desk/deals/together/done?do=end&{nothing}").status == 404


@pytest.mark.damages
def test_deals_that_are_gone_or_damaged_when_the_result_is_read_are_named(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    first, second = post_deal(title="One"), post_deal(title="Two")
    answer = editor.post("/desk/deals/together", ticked(first, second, "4711", do="end"))
    table.write(delete(keys.deal(first.deal_id), refused=NotFound()))

    seen = editor.get(answer.location)

    assert (seen.status, "2 deals ended" in seen.words) == (200, True)
    assert seen.words.count("There is no such deal.") == 2
    assert f"Deal {first.number}" in seen.words


def test_nothing_too_many_and_nonsense_do_nothing(editor: Browser, ana: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()

    assert editor.get("/desk/deals/together?do=end").location == "/desk/deals?notice=unticked"
    assert editor.post("/desk/deals/together", {"do": "end"}).location == "/desk/deals?notice=unticked"
    assert editor.post("/desk/deals/together", ticked(deal, do="burn")).status == 400
    assert editor.post("/desk/deals/together", ticked(*map(str, range(1, 27)), do="end")).status == 400
    assert editor.post("/desk/deals/together", ticked(deal, do="page", page="mine")).status == 400
    assert ana.post("/desk/deals/together", ticked(deal, do="end")).status == 403
