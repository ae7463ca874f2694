"""Searches, watches and alerts take the same deals for the same words."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from shared.data.catalog import search, words
from shared.data.members import alerts, fanout, limits
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import Limits
from tests.support.engines import MOTO, Engine
from tests.support.factories import NOW, a_deal, account_of, ago, ids, join, open_brands

_WORDS = ["quarter", "zip", "zips", "quarterzip", "t", "shirt", "tshirts", "long", "sleeve", "agre", "agreed", "apple"]
_TEXTS = st.lists(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3).map("-".join), min_size=1, max_size=3).map(
    " ".join
)


def taken_for(table: Table, text: str, deals: list[Deal]) -> tuple[list[str], list[str]]:
    """The ids of the deals that a search finds, and the words that it says it took: as they are typed or completed,
    or others for those that no deal has."""
    found = search.find(table, words.asked(text), limit=len(deals))
    ran = found.instead or words.asked(text)
    completed = [f"{ran.text.strip().removesuffix(ran.words[-1])}{word}" for word in found.completed]
    return list(found.deal_ids), [ran.text, *completed]


def test_whenever_a_search_finds_a_deal_an_alert_on_its_words_tells_of_it_and_the_reverse(engine: Engine) -> None:
    @settings(max_examples=8 if engine is MOTO else 40, deadline=None)
    @given(_TEXTS, st.lists(_TEXTS, min_size=1, max_size=4))
    @example("quarter-zip", ["Merino Quarter Zip Sweater", "Quarterzip", "Quarter-Zip", "Quarter"])
    @example("zorblax quarter-zip", ["Merino Quarter Zip Sweater", "Zorblax Quarter Zip", "Zorblax"])
    @example("t-shirt", ["Oxford Shirt"])
    @example("agre", ["Agreed"])
    @example("knives", ["Paring Knife", "Knives"])
    @example("mouse", ["Three Blind Mice"])
    @example("16gb", ["Memory 16 GB", "Memory 16gb"])
    def check(text: str, titles: list[str]) -> None:
        typed = text.replace("-", " ").split()
        assume(len({*typed}) == len(typed))  # a search asks a repeated word once, and completes it once
        assume(words.asked(text).terms and not words.asked(text).cut)
        made = [a_deal(ago(minutes=minute), title=title) for minute, title in enumerate(titles)]
        with engine.table() as table:
            open_brands(table)
            for deal in made:
                search.file(table, None, deal)
            found, taken = taken_for(table, text, made)
            for number, each in enumerate(taken):
                join(table, f"reader{number}")
                alerts.on_words(table, f"reader{number}", account_of(f"reader{number}"), Limits(words=each), NOW)
            told = []
            for deal in made:
                met, _ = alerts.cohort_met(table, fanout.alerts_of(deal, "words")[0], deal, 250)
                assert len({alert.username for alert in met}) == len(met)
                told += [deal] if met else []
                watched = [limits.wants(Limits(words=each), deal, words.of_deal(deal).keys()) for each in taken]
                assert any(watched) == bool(met)
        assert found == ids(told)

    check()
