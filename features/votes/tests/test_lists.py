"""Scores on public pages: a deal's own, popular deals, and those on the front page."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from features.votes.data import votes
from features.votes.models import as_text
from functions.background import refresher
from shared.data.catalog import page_cache, picks
from shared.dynamodb.table import Table
from shared.http import cached_pages
from shared.models.catalog import FRONT_PAGE
from tests.pages.conftest import ask, now, table  # noqa: F401  # fixtures
from tests.pages.test_deal_page import links
from tests.support.browsing import Ask, parsed
from tests.support.factories import a_deal, post


def test_a_deals_score_is_shown_once_it_is_ten_minutes_old_and_ranks_it(ask: Ask, table: Table, now: datetime) -> None:
    new, old = post(table, [a_deal(now - timedelta(minutes=minutes)) for minutes in (5, 20)], now)
    for deal in (old, new):
        table.write(votes.counting(deal.deal_id, -12))
    votes.file_scores(table, [old.deal_id], now)

    shown = {deal.number: "".join(parsed(ask(f"/deals/{deal.number}")).itertext()) for deal in (old, new)}
    popular = ask("/popular")

    assert f"Score {as_text(-12)}" in shown[old.number]
    assert "The score appears ten minutes after the deal is posted" in shown[new.number]
    assert str(as_text(-12)) not in shown[new.number]
    assert [link.get("href") for link in parsed(popular).findall(".//h3/a")] == [f"/deals/{old.number}"]
    assert "public" in popular["multiValueHeaders"]["Cache-Control"][0]


@pytest.mark.parametrize("copied", [True, False], ids=["from a copy", "made now"])
def test_what_readers_vote_for_stands_beside_the_picks_which_have_their_scores(
    ask: Ask, table: Table, now: datetime, copied: bool
) -> None:
    (deal,) = post(table, [a_deal(now - timedelta(minutes=15))], now)
    table.write(votes.counting(deal.deal_id, 7))
    votes.file_scores(table, [deal.deal_id], now)
    picks.set_featured(table, FRONT_PAGE, [deal.deal_id], now)
    if copied:
        refresher.refresh(page_cache.PARTS, set(), set())
        cached_pages.memory.cache_clear()

    seen = parsed(ask("/"))
    (beside,) = [part for part in seen.findall(".//aside/section") if part.find("./h2/a") is not None]
    pick = "".join(seen.find(".//li[@class='card lead']").itertext())

    assert (beside.find("./h2/a").text, links(beside, "./ul")) == ("Most voted", [f"/deals/{deal.number}"])
    assert pick.count("Score +7") == 1


def test_the_deals_of_the_highest_ranks_stand_there_by_their_votes(ask: Ask, table: Table, now: datetime) -> None:
    """A deal that is 13 hours newer ranks above one with six times its votes."""
    made = post(
        table,
        [
            a_deal(now - timedelta(hours=hours), title=title, link=f"https://shop.example/{title}")
            for title, hours in (("lamp", 1), ("kettle", 14))
        ],
        now,
    )
    for deal, count in zip(made, (2, 13), strict=True):
        table.write(votes.counting(deal.deal_id, count))
    votes.file_scores(table, [deal.deal_id for deal in made], now)
    addresses = [f"/deals/{deal.number}" for deal in made]

    (beside,) = [part for part in parsed(ask("/")).findall(".//aside/section") if part.find("./h2/a") is not None]

    assert (beside.find("./h2/a").text, links(beside, "./ul")) == ("Most voted", addresses[::-1])
    assert links(parsed(ask("/popular")), ".//h3") == addresses


@pytest.mark.parametrize("copied", [True, False], ids=["from a copy", "made now"])
def test_cards_of_the_newest_deals_have_their_scores(ask: Ask, table: Table, now: datetime, copied: bool) -> None:
    made = [a_deal(now - timedelta(minutes=n), title=f"Lamp of {n}", link=f"https://shop.example/{n}") for n in (5, 20)]
    new, old = post(table, made, now)
    for deal in (new, old):
        table.write(votes.counting(deal.deal_id, 7))
    votes.file_scores(table, [new.deal_id, old.deal_id], now)
    if copied:
        refresher.refresh(page_cache.PARTS, set(), set())
        cached_pages.memory.cache_clear()

    for path in ("/", "/deals", f"/categories/{old.category}"):
        cards = parsed(ask(path)).findall(".//section[@id='list']//li")
        assert ["Score +7" in "".join(card.itertext()) for card in cards] == [False, True], path


def test_colours_of_one_product_are_one_popular_card(ask: Ask, table: Table, now: datetime) -> None:
    links_of = [f"https://shop.example/lamp?variant={number}" for number in (1, 2)]
    made = post(table, [a_deal(now - timedelta(minutes=15), title="Lamp", link=link) for link in links_of], now)
    for deal in made:
        table.write(votes.counting(deal.deal_id, 3))
    votes.file_scores(table, [deal.deal_id for deal in made], now)

    (card,) = parsed(ask("/popular")).findall(".//li[@class='card']")
    (beside,) = [part for part in parsed(ask("/")).findall(".//aside/section") if part.find("./h2/a") is not None]

    assert len(links(beside, "./ul")) == 1
    assert "2 colours and sizes" in " ".join("".join(card.itertext()).split())
