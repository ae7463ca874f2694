"""What titles name: kinds, colours, patterns."""

from __future__ import annotations

import re

import pytest

from shared.html import links
from shared.values import kinds

LOOKS = {
    "Greyson Men's Cayuse Polo": "g-polo",
    "Short Sleeve Button Up | Oxford Blue": "g-camp c-blue",
    "Socks 3 Pack": "g-sock",
    "Men's The Seaport Kinston Stripe Polo": "g-polo p-stripe",
    "Maria Santangelo Men's Gingham Woven Shirt": "g-shirt p-plaid",
    "RTIC Logo Short Sleeve T-Shirt": "g-tee",
    "Colt Down Jacket": "g-parka",
    "Field Day 16 L Pack": "g-backpack",
    "Sandy Vest - New Indigo": "g-vest c-navy",
    "Commuter Backpack 18L - Matte Olive": "g-backpack c-green",
    "Camouflage Quest Ventilated Tee": "g-tee p-dots",
    'The Neon Lions 5.5" (NFL Classic Lined Swim Trunks)': "g-shorts",
    "Belt Cable XL Set": "",
    "\N{SOCKS} \N{SPARKLES}": "",
    "": "",
}


def test_a_title_gives_its_tile_a_kind_a_colour_and_a_pattern() -> None:
    assert {title: kinds.look(title, "").removesuffix("disc").strip() for title in LOOKS} == LOOKS


def test_one_of_two_cuts_is_chosen_by_the_deal_and_stays() -> None:
    cuts = {deal_id: kinds.look("", deal_id) for deal_id in map(str, range(40))}

    assert set(cuts.values()) == {"", "disc"}
    assert cuts == {deal_id: kinds.look("", deal_id) for deal_id in cuts}


@pytest.mark.parametrize("prefix", ["g", "c", "p"])
def test_the_stylesheet_knows_the_same_names_as_the_tables(prefix: str) -> None:
    known = {"g": kinds.KINDS, "c": kinds.COLOURS, "p": kinds.PATTERNS}[prefix]
    style = links.files()["site.css"].read_text(encoding="utf-8")

    assert set(re.findall(rf"^\.{prefix}-(\w+) ", style, re.MULTILINE)) == set(known)
