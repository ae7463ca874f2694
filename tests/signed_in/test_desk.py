"""The editor's desk: who may enter it, what it shows of the day, its lists of all deals and of brands."""

from __future__ import annotations

import html
from datetime import timedelta

import pytest

from shared.data.catalog import clicks, topics
from shared.dynamodb.table import Table
from shared.values import times
from tests.signed_in.conftest import PostDeal
from tests.support.browsing import Browser
from tests.support.desk import DEAL, posted


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
    deal = post_deal(title="Ends soon", ends_at=times.now() + timedelta(hours=1))
    for _ in range(3):
        clicks.count(table, deal.deal_id)

    words = editor.get("/desk").words

    ending, _, posted_today = words.partition("today and tomorrow")[2].partition(" Today ")
    assert "Ends soon" in ending
    assert "Ends soon" in posted_today
    assert "3 clicks" in posted_today


def test_all_deals_are_listed_in_pages(editor: Browser, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.pages.desk.today.SHOWN", 2)
    for minutes in (1, 2, 3):
        post_deal(minutes, title=f"Deal {minutes}")

    first = editor.get("/desk/deals")
    older = next(a.get("href") for a in first.document.iter("a") if a.get("rel") == "next")
    second = editor.get(older)

    assert ("Deal 2" in first.words, "Deal 3" in first.words, "Deal 3" in second.words) == (True, False, True)
    assert editor.get("/desk/deals?cursor=forged").status == 400


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
