"""The desk: who may enter it, what it shows of the day, its ordered lists."""

from __future__ import annotations

import html
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from shared.data import keys
from shared.data.catalog import deals, offers, picks, search, topics
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE
from shared.values import times
from tests.signed_in.conftest import PostDeal, _site, ana, anyone, editor, post_deal, table  # noqa: F401  # fixtures
from tests.support.browser import Visit
from tests.support.browsing import DEAL, Browser, picked, posted
from tests.support.cases import cases
from tests.support.preview import Preview
from tests.support.preview import entered as token_of


def test_a_form_sent_after_the_sessions_end_can_be_sent_again(anyone: Browser, editor: Browser, table: Table) -> None:
    typed = editor.get("/desk/deals/new").values() | DEAL | {"description": '<b>Two lines\nand "quotes"</b>'}

    kept = anyone.post("/desk/deals", typed)

    assert kept.status == 403
    assert "You are signed out" in kept.words
    assert posted(table) == []
    again = editor.post("/desk/deals", {name: kept.values()[name] for name in typed})
    assert again.status == 303
    assert [deal.description for deal in posted(table)] == ['<b>Two lines\nand "quotes"</b>']


def test_a_form_that_cannot_be_read_leads_to_sign_in(anyone: Browser) -> None:
    for body in ("", "name=1&name=2", "%ff=1", "&".join(f"f{n}=1" for n in range(200))):
        seen = anyone.post("/desk/deals", body)

        assert (seen.status, seen.location) == (303, "/account/sign-in")


def test_the_desk_shows_what_was_posted_and_what_ends_soon(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    post_deal(title="Ends soon", ends_at=times.now() + timedelta(hours=1))

    words = editor.get("/desk").words

    ending, _, posted_today = words.partition("today and tomorrow")[2].partition(" Today ")
    assert "Ends soon" in ending
    assert "Ends soon" in posted_today


def test_all_deals_are_listed_in_pages(editor: Browser, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.desk.desk.SHOWN", 2)
    for minutes in (1, 2, 3):
        post_deal(minutes, title=f"Deal {minutes}")

    first = editor.get("/desk/deals")
    older = next(a.get("href") for a in first.document.iter("a") if a.get("rel") == "next")
    second = editor.get(older)

    assert ("Deal 2" in first.words, "Deal 3" in first.words, "Deal 3" in second.words) == (True, False, True)
    assert editor.get("/desk/deals?cursor=forged").status == 400


def test_the_list_is_filtered_by_state_age_and_category_and_goes_on(
    editor: Browser, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("features.desk.desk.SHOWN", 2)
    monkeypatch.setattr("features.desk.matching.BLOCK", 4)
    now = times.now()
    for number in range(3):
        post_deal(60 * 24 * 40 + number, title=f"Old {number}.")
    for number in range(3):
        post_deal(number, title=f"Ending {number}.", ends_at=now + timedelta(hours=5 + number))
    post_deal(30, title="Bag 0.", category="bags")

    def shown(place: str) -> list[str]:
        words = editor.get(place).words
        return [title for kind in ("Old", "Ending", "Bag") for n in range(3) if (title := f"{kind} {n}.") in words]

    first = editor.get("/desk/deals?state=soon")
    second = next(each.get("href") for each in first.document.iter("a") if each.get("rel") == "next")
    assert (shown("/desk/deals?state=soon"), shown(second)) == (["Ending 0.", "Ending 1."], ["Ending 2."])
    assert "3 of the newest 4 match" in first.words
    assert shown("/desk/deals?category=bags") == ["Bag 0."]
    assert shown("/desk/deals?state=endless&category=bags&age=7") == []
    assert "None of the newest 4 deals match." in editor.get("/desk/deals?age=30").words
    assert shown("/desk/deals?state=nonsense&age=x&skip=-1") == ["Ending 0.", "Ending 1."]


def test_deals_that_have_ended_are_a_state_of_the_list(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    over = times.now() - timedelta(hours=1)
    for title, category in (("Wool cap", "accessories"), ("Linen bag", "bags"), ("Wool bag", "bags")):
        deal = post_deal(60 * 24, title=title, category=category)
        offers.file(table, None, replace(deal, ends_at=over), has_ended=True)
    offers.file(table, None, post_deal(60, title="Cord bag", category="bags"))

    def shown(query: str) -> list[str]:
        words = editor.get(f"/desk/deals?state=ended{query}").words
        return [title for title in ("Wool cap", "Linen bag", "Wool bag", "Cord bag") if title in words]

    assert shown("") == ["Wool cap", "Linen bag", "Wool bag"]
    assert shown("&category=bags") == ["Linen bag", "Wool bag"]
    assert shown("&category=bags&q=WOOL") == ["Wool bag"]
    assert "3 of the newest deals that ended match" in editor.get("/desk/deals?state=ended").words


def test_a_corrected_search_says_so_and_its_form_has_the_corrected_words(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    for minutes in (1, 2):
        search.file(table, None, post_deal(minutes, title="Leather jacket"))

    seen = editor.get("/desk/deals?q=jakcet")

    assert "No deal has “jakcet”. These have “jacket”." in seen.words
    assert seen.values()["q"] == "jacket"


def test_the_bookmarklet_is_hidden_where_the_site_has_no_address(
    editor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = editor.get("/desk").text
    monkeypatch.delenv("SITE_ORIGIN")

    hidden = editor.get("/desk")

    assert "https://deals.example/desk/deals/new?link=" in html.unescape(shown)
    assert "javascript:" not in hidden.text
    assert "the site’s address isn’t configured" in hidden.words


def test_a_brand_is_created_after_a_warning_of_near_names_if_it_can_be(editor: Browser, table: Table) -> None:
    created = editor.post("/desk/brands", {"name": "Patagonia"})
    asked = editor.post("/desk/brands", {"name": "Aple"})
    before = dict(topics.brand_names(table))
    editor.post("/desk/brands", {"name": "Aple", "sure": "1"})
    refused = [editor.post("/desk/brands", {"name": name, "sure": "1"}) for name in ("APPLE", "", "!!!")]

    assert created.location == "/desk/brands?notice=brand"
    assert before["patagonia"] == "Patagonia"
    assert (asked.status, "like this: Apple." in asked.words) == (409, True)
    assert ("aple" in before, "aple" in topics.brand_names(table)) == (False, True)
    assert [(seen.status, 'id="e-name"' in seen.text) for seen in refused] == [(409, True), (422, True), (422, True)]


def test_what_is_typed_stays_text(editor: Browser, table: Table) -> None:
    evil = '</textarea><script>alert(1)</script>"><img src=x onerror=alert(1)>'

    seen = editor.post("/desk/deals", DEAL | {"title": evil, "description": evil, "price": "x"})

    assert "<script>alert" not in seen.text
    assert "<img src=x" not in seen.text
    assert seen.values()["title"] == evil
    assert seen.values()["description"] == evil


def test_editors_see_each_page_of_the_desk_and_members_none(editor: Browser, ana: Browser) -> None:
    for path in cases("EDITORS_PAGES"):
        assert editor.get(path).status == 200, path
    for path in (*cases("EDITORS_PAGES"), *cases("EDITORS_PAGES_OF_SOMETHING")):
        seen = ana.get(path)
        assert (seen.status, "The desk is for editors." in seen.words) == (403, True), path


def test_a_script_of_a_visitor_is_told_that_nobody_is_signed_in(anyone: Browser) -> None:
    assert anyone.get("/desk/deals/1/hot/progress", Accept="application/json").status == 401


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
    assert press(f"#{three}", "9") == [four, one, two, three]
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
    editor.post("/desk/front-page", {"order": f"{two},{one}", "do": f"up:{two}"})
    highest = picked(table)
    out = editor.post("/desk/front-page", {"order": f"{two},{one}", "back": "https://evil.example", "do": f"out:{one}"})

    assert (form["order"], highest) == (f"{one},{two}", [two, one])
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
    assert "This list has changed since you opened it." in late.words
    assert stood == [one, two, three]
    assert again.status == 303
    assert picked(table) == [two, one, three]


@pytest.mark.parametrize("do", ["up", "down", "out", "add"])
def test_a_page_is_ordered_by_buttons_and_by_dragging_and_a_form_sent_twice_does_it_once(
    editor: Browser, table: Table, post_deal: PostDeal, do: str
) -> None:
    one, two, three, four = (str(post_deal(minutes, title=f"Deal {minutes}").number) for minutes in range(1, 5))
    editor.post("/desk/editors-choice", {"order": f"{one},{two},{three}"})  # as dragging sends it
    form = editor.get("/desk/editors-choice").values() | {"do": f"{do}:{two}" if do != "add" else "add", "add": four}
    wanted = {"up": [two, one, three], "down": [one, three, two], "out": [one, three], "add": [one, two, three, four]}

    sent = [editor.post("/desk/editors-choice", form) for _ in range(2)]

    assert [each.status for each in sent] == [303, 303]
    assert sent[0].location == sent[1].location
    assert picked(table, EDITORS_CHOICE) == wanted[do]


def test_what_cannot_be_added_to_a_list_is_said(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    there, over = (str(post_deal(minutes).number) for minutes in (1, 2))
    deals.withdraw(table, posted(table)[1].deal_id, times.now())

    for order, add, said in (
        ("", "99", "There is no deal with the number 99."),
        ("", "x", "There is no deal with the number x."),
        (there, there, "A deal can be featured only once."),
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
