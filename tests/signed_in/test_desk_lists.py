"""The desk's ordered lists: by buttons, by numbers, by dragging, and beside another editor."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from shared.data import keys
from shared.data.catalog import deals, picks
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE
from shared.values import times
from tests.signed_in.conftest import PostDeal
from tests.support.browsing import Browser
from tests.support.desk import picked, posted
from tests.support.preview import Preview
from tests.support.preview import entered as token_of
from tests.support.windows import Visit


def test_a_page_is_ordered_by_buttons_and_by_dragging(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    one, two, three = (str(post_deal(minutes, title=f"Deal {minutes}").number) for minutes in (1, 2, 3))

    def press(button: str, **typed: str) -> list[str]:
        order = editor.get("/desk/front-page").values()["order"]
        assert editor.post("/desk/front-page", {"order": order, "do": button, **typed}).status == 303
        return picked(table)

    assert press("add", add=one) == [one]
    assert press("add", add=f"#{two}") == [one, two]
    assert press("add", add=three) == [one, two, three]
    assert press(f"up:{three}") == [one, three, two]
    assert press(f"down:{one}") == [three, one, two]
    assert press(f"out:{one}") == [three, two]
    assert press(f"up:{three}") == [three, two]
    editor.post("/desk/editors-choice", {"order": f"{three},{one},{two}"})
    assert picked(table, EDITORS_CHOICE) == [three, one, two]


def test_a_deal_is_put_to_a_place_by_numbers(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    made = [post_deal(minutes, title=f"Deal {minutes}") for minutes in range(1, 5)]
    one, two, three, four = (str(deal.number) for deal in made)
    picks.set_featured(table, FRONT_PAGE, [deal.deal_id for deal in made[:3]], times.now())

    def press(add: str, place: str) -> list[str]:
        fields = {**editor.get("/desk/front-page").values(), "do": "add", "add": add, "place": place}
        seen = editor.post("/desk/front-page", fields)
        assert seen.status == (303 if place.isdigit() else 422), seen.words
        return picked(table)

    assert press(three, "1") == [three, one, two]
    assert press(four, "2") == [three, four, one, two]
    assert press(three, "9") == [four, one, two, three]
    assert press(one, "first") == [four, one, two, three]


def test_a_deals_own_page_puts_it_on_the_front_page_and_the_last_of_a_full_one_goes(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picks, "MAX_FEATURED", 2)
    one, two, three = (post_deal(minutes, title=f"Deal {minutes}") for minutes in (1, 2, 3))
    picks.set_featured(table, FRONT_PAGE, [one.deal_id, two.deal_id], times.now())
    button = f"/desk/deals/{three.number}/front-page"
    assert "Put on the front page" in editor.get(f"/desk/deals/{three.number}").words

    first, again = editor.post(button), editor.post(button)
    deals.withdraw(table, two.deal_id, times.now())
    over = editor.post(f"/desk/deals/{two.number}/front-page")

    assert first.location == again.location == f"/desk/deals/{three.number}?notice=leads"
    assert picked(table) == [str(three.number), str(one.number)]
    assert over.status == 409


@pytest.mark.damages
def test_a_deal_without_a_number_is_ordered_by_its_id(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal, other = post_deal(2), post_deal(1)
    table.write(update(keys.deal(deal.deal_id), "REMOVE #n", condition=None, names={"#n": "DealNumber"}, refused=None))
    picks.set_featured(table, FRONT_PAGE, [other.deal_id, deal.deal_id], times.now())
    form = editor.get("/desk/front-page")

    moved = editor.post("/desk/front-page", {**form.values(), "do": f"up:{deal.deal_id}"})

    assert f'value="up:{deal.deal_id}"' in form.text
    assert moved.location == f"/desk/front-page?notice=ordered#deal-{deal.deal_id}"
    assert picked(table) == [deal.deal_id, str(other.number)]


def test_the_front_page_is_ordered_on_the_desk_too(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    one, two = (str(post_deal(minutes, title=f"Deal {minutes}").number) for minutes in (1, 2))
    editor.post("/desk/front-page", {"order": f"{one},{two}"})
    form = editor.get("/desk").values()

    moved = editor.post("/desk/front-page", {"order": form["order"], "back": form["back"], "do": f"up:{two}"})
    out = editor.post("/desk/front-page", {"order": f"{two},{one}", "back": "https://evil.example", "do": f"out:{one}"})

    assert form["order"] == f"{one},{two}"
    assert moved.location == f"/desk?notice=ordered#deal-{two}"  # where the next key goes on
    assert out.location == "/desk/front-page?notice=ordered#order"
    assert picked(table) == [two]


def test_what_another_editor_did_to_a_list_is_shown_first(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    one, two, three, four = (str(post_deal(minutes, title=f"Deal {minutes}").number) for minutes in range(1, 5))
    editor.post("/desk/front-page", {"order": f"{one},{two}"})
    form = editor.get("/desk/front-page").values()
    editor.post("/desk/front-page", {**form, "do": "add", "add": three})

    late = editor.post("/desk/front-page", {**form, "do": f"up:{two}"})
    adding = editor.post("/desk/front-page", {**form, "do": "add", "add": four})
    stood = picked(table)
    again = editor.post("/desk/front-page", {**late.values(), "do": f"up:{two}"})

    assert (late.status, adding.status, adding.values()["add"]) == (409, 409, four)
    assert "This list was changed meanwhile." in late.words
    assert stood == [one, two, three]
    assert again.status == 303
    assert picked(table) == [two, one, three]


@pytest.mark.parametrize("do", ["up", "down", "out", "add"])
def test_an_order_that_is_sent_twice_is_done_once(editor: Browser, table: Table, post_deal: PostDeal, do: str) -> None:
    one, two, three, four = (str(post_deal(minutes, title=f"Deal {minutes}").number) for minutes in range(1, 5))
    editor.post("/desk/front-page", {"order": f"{one},{two},{three}"})
    form = editor.get("/desk/front-page").values() | {"do": f"{do}:{two}" if do != "add" else "add", "add": four}
    wanted = {"up": [two, one, three], "down": [one, three, two], "out": [one, three], "add": [one, two, three, four]}

    sent = [editor.post("/desk/front-page", form) for _ in range(2)]

    assert [each.status for each in sent] == [303, 303]
    assert sent[0].location == sent[1].location
    assert picked(table) == wanted[do]


def test_what_cannot_be_added_to_a_list_is_said(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    there, over = (str(post_deal(minutes).number) for minutes in (1, 2))
    deals.withdraw(table, posted(table)[1].deal_id, times.now())

    for order, add, said in (
        ("", "99", "There is no deal with the number 99."),
        ("", "x", "There is no deal with the number x."),
        (there, there, "A deal must be featured once only."),
        ("", over, "This deal has ended or was withdrawn."),
    ):
        seen = editor.post("/desk/front-page", {"order": order, "do": "add", "add": add})
        assert (seen.status, said in seen.words) == (422, True), said


def test_a_category_gathers_five_deals_before_any_is_kept(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    numbers = [str(post_deal(minutes).number) for minutes in range(1, 6)]
    order = ""

    for number in numbers:
        seen = editor.post("/desk/categories/shoes", {"order": order, "do": "add", "add": number})
        order = seen.values().get("order", "") if seen.status == 422 else order

    assert seen.status == 303
    assert "A category must feature" not in editor.get("/desk/categories/shoes").words
    assert editor.get("/desk/categories/shoes").values()["order"] == ",".join(numbers)
    assert editor.get("/desk/categories/cars").status == 404


def test_only_a_drag_that_drops_on_the_list_is_kept_and_titles_have_whole_rings(visit: Visit, site: Preview) -> None:
    page = visit("/desk/front-page", token=token_of(site, "eddy", "editor"))
    rows = page.locator("#order tbody tr")
    numbers = picked(site.table)
    expect(rows.last).to_have_attribute("draggable", "true")  # once the script has run

    def drag_the_last_to_the_top() -> None:
        rows.last.locator(".place").hover()
        page.mouse.down()
        rows.nth(1).hover(position={"x": 20, "y": 5})
        rows.first.hover(position={"x": 20, "y": 5})
        rows.first.hover(position={"x": 20, "y": 2})
        expect(rows.first).to_have_attribute("data-number", numbers[-1])

    drag_the_last_to_the_top()
    page.keyboard.press("Escape")
    expect(rows.first).to_have_attribute("data-number", numbers[0])
    page.mouse.up()
    drag_the_last_to_the_top()
    page.locator("h1").hover()
    page.mouse.up()
    expect(rows.first).to_have_attribute("data-number", numbers[0])
    assert "notice" not in page.url
    assert picked(site.table) == numbers
    drag_the_last_to_the_top()
    with page.expect_navigation(url="**/desk/front-page?notice=ordered*"):
        page.mouse.up()

    assert picked(site.table) == [numbers[-1], *numbers[:-1]]
    page.keyboard.press("Tab")  # a ring is shown to those who use the keyboard, and is not cut off with the title
    page.locator("#order tbody a").first.focus()
    expect(page.locator("#order tbody .what div").first).to_have_css("outline-style", "solid")
    expect(page.locator("#order tbody .what div").first).to_have_css("overflow", "visible")
    expect(page.locator("#order tbody a").first).to_have_css("outline-style", "none")
