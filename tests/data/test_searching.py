"""Search: each deal that has the words once, page by page, as it is named now; alerts take the same deals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.data import keys
from shared.data.catalog import deals, search, selecting, words
from shared.data.catalog.search import Match
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put_new, upsert
from shared.errors import AlreadyExists
from shared.html import views
from shared.models.catalog import Deal, Selection, Sort
from shared.values import links
from tests.support.factories import (
    NOW,
    a_deal,
    ago,
    ahead,
    every_page,
    ids,
    newest_first,
    post,
)
from tests.support.wire import watched

pytestmark = pytest.mark.usefixtures("counted_as_told")


def walked(table: Table, typed: str, limit: int) -> list[tuple[str, ...]]:
    """The ids on each page of a search."""
    pages = every_page(lambda cursor: search.find(table, words.asked(typed), limit=limit, cursor=cursor))
    return [page.deal_ids for page in pages]


def test_a_search_walked_page_by_page_repeats_and_skips_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [a_deal(ago(minutes=minute), title="Blue boot" if minute % 4 else "Boot") for minute in range(12)]
    for deal in [*made, a_deal(title="Red hat")]:
        search.file(table, None, deal)
    blue = [deal for deal in made if deal.title == "Blue boot"]

    for limit in (1, 5, 8, 9, 11, 12, 13):
        full_pages = [tuple(ids(made[start : start + limit])) for start in range(0, 12, limit)]
        assert walked(table, "boot", limit) == walked(table, "bo", limit) == full_pages
        for strides in ((4, 3, 2), (250,)):
            monkeypatch.setattr(search, "STRIDES", strides)
            assert [deal_id for page in walked(table, "blue boot", limit) for deal_id in page] == ids(blue)


def test_a_search_of_words_that_never_meet_reads_so_many_and_offers_to_read_on(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "STRIDES", (2, 1))
    made = [a_deal(ago(minutes=n), title="Blue boot" if n == 6 else "Blue hat" if n % 2 else "Boot") for n in range(9)]
    for deal in made:
        search.file(table, None, deal)

    first = search.find(table, words.asked("blue boot"), limit=1)
    second = search.find(table, words.asked("blue boot"), limit=1, cursor=first.next)

    assert first.deal_ids == ()
    assert first.next is not None
    assert second.deal_ids == (made[6].deal_id,)


COMMON = {"appl": 2, "apple": 2, "shoe": 2}
"""The words of brand and category that two deals have here, counted."""


def word_counts(table: Table) -> dict[str, int]:
    return {item["Word"]: item["Deals"] for item in table.scan()[0] if item["Type"] == "WordCount"}


def found(table: Table, typed: str) -> list[str]:
    return list(search.find(table, words.asked(typed), limit=100).deal_ids)


def test_a_deal_is_found_and_counted_by_the_words_it_has_now_however_often_the_stream_says_so(table: Table) -> None:
    deal, other = a_deal(title="Blue boot"), a_deal(ago(minutes=1), title="Blue hat")
    renamed = replace(deal, title="Green boot", version=2)
    search.file(table, None, other)

    for _ in range(2):
        search.file(table, None, deal)
    assert word_counts(table) == {**COMMON, "blue": 2, "boot": 1, "hat": 1}
    assert found(table, "blue") == ids([deal, other])

    for _ in range(2):
        search.file(table, deal, renamed)
    search.file(table, None, deal)  # out of the dead-letter queue
    assert found(table, "boot green") == [deal.deal_id]
    search.file(table, deal, renamed)
    assert word_counts(table) == {**COMMON, "blue": 1, "green": 1, "boot": 1, "hat": 1}
    assert found(table, "boot green") == found(table, "green") == [deal.deal_id]
    assert found(table, "boot blue") == []
    assert found(table, "blue") == [other.deal_id]

    for _ in range(2):
        search.file(table, renamed, None)
    assert word_counts(table) == {**dict.fromkeys(COMMON, 1), "blue": 1, "green": 0, "boot": 0, "hat": 1}
    assert found(table, "boot") == found(table, "gre") == []
    assert found(table, "apple") == [other.deal_id]


def test_a_walk_ends_where_no_deal_has_its_word_any_more_and_begins_with_what_was_meant(table: Table) -> None:
    saddles, meant = [a_deal(ago(minutes=minute), title="Saddle") for minute in range(2)], a_deal(title="Sandle")
    for deal in saddles:
        search.file(table, None, deal)
    first = search.find(table, words.asked("saddle"), limit=1)
    for deal in saddles:
        search.file(table, deal, None)
    search.file(table, None, meant)

    after = search.find(table, words.asked("saddle"), limit=1, cursor=first.next)

    assert first.next is not None
    assert (after.deal_ids, after.next) == ((), None)
    assert found(table, "saddle") == [meant.deal_id]
    assert found(table, "x-y") == []  # single letters, of which none need be there


def test_a_word_that_is_being_typed_stands_for_the_most_frequent_that_begin_so(table: Table) -> None:
    by_word = {
        word: [a_deal(ago(minutes=minute, hours=hours), title=word) for minute in range(hours)]
        for hours, word in enumerate(["boot", "boota", "bootb", "bootc", "bootd", "bootk"], 1)
    }
    for deal in (deal for those in by_word.values() for deal in those):
        search.file(table, None, deal)

    def of(*words: str) -> list[str]:
        return ids(newest_first(deal for word in words for deal in by_word[word]))

    assert found(table, "boo") == of("bootb", "bootc", "bootd", "bootk")
    assert found(table, "boot") == of("boot", "bootb", "bootc", "bootd", "bootk")
    assert found(table, "boot apple") == of("boot")
    assert found(table, "apple boota") == of("boota")
    completed = [search.find(table, words.asked(typed), limit=1).completed for typed in ("apple boot", "boot apple")]
    assert completed == [("bootk", "bootd", "bootc", "bootb"), ()]


def test_what_rare_completions_leave_unread_is_read_of_a_frequent_word(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ITEMS", 12)
    monkeypatch.setattr(selecting, "MOST", 12)
    titles = ["Shorthand", *["Short"] * 9]
    made = post(
        table,
        [a_deal(ago(minutes=age), title=title, price=f"{20 - age}.00") for age, title in enumerate(titles)],
    )
    for deal in made:
        search.file(table, None, deal)

    sorted_ = selecting.find(table, words.asked("short"), Selection(Sort.CHEAPEST), now=NOW)

    assert [match.price for match in sorted_.matches] == [f"{price}.00" for price in range(11, 21)]
    assert sorted_.looked is None


def test_words_of_no_deal_may_mean_three_that_are_written_almost_so_each(table: Table) -> None:
    for title in ("Blue", "Blues", "Bluer", "Bluet", "Boot"):
        search.file(table, None, a_deal(title=title))
    gone = a_deal(title="Blueu")
    search.file(table, None, gone)
    first = search.find(table, words.asked("blueu"), limit=1)
    search.file(table, gone, None)

    misspelt = search.find(table, words.asked("blueu apple bota"), limit=10)

    assert (first.deal_ids, misspelt.deal_ids, misspelt.next) == ((gone.deal_id,), (), None)
    assert misspelt.near == ("blue", "bluet", "blues", "boot")
    assert search.find(table, words.asked("bot"), limit=10).near == ("boot",)  # too short to be corrected
    assert search.find(table, words.asked(""), limit=10) == search.Found((), None)


def test_a_change_of_what_no_list_needs_writes_no_word_again(table: Table) -> None:
    deal = a_deal(title="Blue boot")
    search.file(table, None, deal)

    with watched(table) as wire:
        search.file(table, deal, replace(deal, description="Blue", version=2))

    assert "PutItem" not in wire.operations


def card_of(deal: Deal) -> str:
    """A deal's likenesses as its words' items have them."""
    return " ".join(links.hashed(text)[:10] for text in links.likenesses(deal.link, deal.title, deal.brand))


def test_a_word_has_what_lists_are_sorted_narrowed_and_laid_out_by(table: Table) -> None:
    deal = a_deal(title="Blue boot", list_price="200.00", ends_at=ahead(days=1))
    cheaper = replace(deal, price="50.00", version=2)
    search.file(table, None, deal)
    search.file(table, deal, cheaper)
    search.file(table, None, deal)  # an older record that comes again

    (match,) = search.find(table, words.asked("boot"), limit=9).matches

    told = (match.brand, match.price, match.currency, match.discount, match.ends_at, match.card)
    assert told == ("apple", "50.00", "USD", 75, deal.ends_at, card_of(deal))


FILED = {
    "jacket": "Down Jacket",
    "tee": "Men's Logo T-Shirt",
    "joined": "Heavy Tshirt",
    "shirt": "Oxford Shirt",
    "visor": "Running Visor",
    "mice": "Three Blind Mice",
    "knife": "Paring Knife",
    "apart": "Memory 16 GB",
    "close": "Stick 16gb",
    "zip": "Merino Quarter Zip Sweater",
    "hyphened": "Fleece Quarter-Zip",
    "zipped": "Cotton Quarterzip",
    "spaced": "Tall T Shirt",
    "litres": "Trail Pack 18 L",
}


def test_words_are_found_in_singular_and_plural_joined_or_hyphenated_and_by_category(table: Table) -> None:
    made = {name: a_deal(title=title, brand="hanes", brand_name="Hanes") for name, title in FILED.items()}
    for deal in made.values():
        search.file(table, None, deal)

    for typed, expected in TYPED.items():
        assert sorted(found(table, typed)) == sorted(made[name].deal_id for name in expected), typed


TYPED = {
    **{key: ["jacket"] for key in ["jackets", "jacket", "Jacke"]},
    **{key: ["tee", "joined", "spaced"] for key in ["t-shirt", "T-Shirts", "tshirt", "t shirt", "t shirts"]},
    **{key: [*FILED] for key in ["hanes", "hane", "shoe", "Shoes"]},
    "shirts": ["tee", "shirt", "spaced"],
    "mens": ["tee"],
    "runn": ["visor"],
    **{key: ["mice"] for key in ["mouse", "mice"]},
    **{key: ["knife"] for key in ["knives", "knife"]},
    **{key: ["apart", "close"] for key in ["16gb", "16 GB", "16-gb"]},
    **{key: ["litres"] for key in ["18l", "18 L"]},
    "quarter-zip": ["zip", "hyphened", "zipped"],
    "quarterzip": ["hyphened", "zipped"],
    "quarter zip": ["zip", "hyphened"],
}


def test_a_brand_whose_name_is_a_common_word_is_found_by_it(table: Table) -> None:
    running = a_deal(title="Cloud runner", brand="on", brand_name="On")
    for deal in (running, a_deal(title="Slip on runner")):
        search.file(table, None, deal)

    assert found(table, "On") == [running.deal_id]
    assert len(found(table, "on runner")) == 2
    assert found(table, "the") == []


def file_as_written(table: Table, deal: Deal) -> None:
    """File a deal under its words as they are written, and not under their stems or parts."""
    filed = words.of_deal_as_written(deal)
    (like, *_) = search.items_of(deal).values()
    for word in filed:
        item = {**like, **keys.word_of_deal(word, deal.deal_id), "Words": " ".join(filed)}
        count = {"Type": "WordCount", "Word": word}
        because = "an earlier release counted it"
        table.transact(
            put_new(item, refused=AlreadyExists()), upsert(keys.word_count(word), count, {"Deals": 1}, because=because)
        )


def test_words_that_an_earlier_release_filed_as_written_are_found_and_leave_with_their_deal(table: Table) -> None:
    deal, ended = (a_deal(title=f"Blue {name} jackets") for name in ("down", "shell"))
    for each in (deal, ended):
        file_as_written(table, each)
    assert sorted(found(table, "jackets blue")) == sorted(found(table, "jack")) == sorted(ids([deal, ended]))

    search.file(table, ended, None)
    search.file(table, deal, replace(deal, title="Blue hats", version=2))

    assert found(table, "jackets") == found(table, "jacket") == []
    assert found(table, "hats") == [deal.deal_id]


@pytest.mark.parametrize(
    ("typed", "ran"),
    [
        ("runing shoes", "running shoes"),
        ("Runnign", "running"),
        ("urnning", "running"),
        ("sheos visor", "shoes visor"),
        ("bleu sheos", "blue shoes"),
        ("visorr t-shrit", None),
        ("rung", None),
        ("57000", None),
    ],
)
def test_where_nothing_is_found_the_words_that_were_meant_are_searched(
    table: Table, typed: str, ran: str | None
) -> None:
    deal = a_deal(title="Men's Blue Running Visor Shoes 5700")
    search.file(table, None, deal)

    corrected = search.find(table, words.asked(typed), limit=10)

    assert (corrected.instead.text if corrected.instead else None) == ran
    assert corrected.deal_ids == ((deal.deal_id,) if ran else ())


def test_the_rarest_of_some_words_is_that_of_the_fewest_deals(table: Table) -> None:
    for title in ("Blue boot", "Blue hat", "Zebra"):
        search.file(table, None, a_deal(title=title))

    assert search.rarest(table, words.asked("blue zebra").terms).written == "zebra"
    assert search.rarest(table, words.asked("zebra yak").terms).written == "yak"


def a_match(deal_id: str, card: str) -> Match:
    return Match(deal_id, "boot", card, "apple", "10.00", "USD")


def test_a_card_is_a_product_at_a_price_and_is_shown_whole() -> None:
    cheap = a_match("1", "boot page")
    matches = [
        cheap,
        replace(cheap, deal_id="2", card="boot other"),
        replace(cheap, deal_id="3", card="red page"),
        replace(cheap, price="20.00"),
        a_match("5", "hat"),
        a_match("6", "cap"),
    ]

    assert [len(search.first_cards(matches, most)) for most in (1, 2, 3, 4)] == [3, 4, 5, 6]


def test_cards_of_a_search_are_the_cards_that_its_page_shows(table: Table) -> None:
    titles = ("Boot, red", "Boot, blue", "Boot, blue", "Hose", "Boot", "Lamp")
    made = [
        a_deal(ago(minutes=n), title=f"{title} thing", link=f"https://shop.example/view.php?id={n % 4}")
        for n, title in enumerate(titles)
    ]
    for deal in made:
        search.file(table, None, deal)

    matches = search.find(table, words.asked("thing"), limit=9).matches

    shown = [len(search.first_cards(matches, most)) for most in range(1, 7)]
    assert shown == [views.first_groups(made, most, under=None) for most in range(1, 7)]


def test_a_page_reads_the_first_deal_of_each_card_and_counts_the_others() -> None:
    one = a_match("1", "boot page")
    over = replace(one, deal_id="0", ends_at=NOW)
    matches = [over, one, a_match("4", "hat"), replace(one, deal_id="2"), replace(one, deal_id="3", price="9.00")]

    heads, alike = search.heads(matches, NOW)

    assert [(match.deal_id, alike[match.deal_id]) for match in heads] == [("1", 2), ("4", 1), ("3", 1)]


def test_a_search_whose_words_rarely_meet_reads_on_once_and_shows_few(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ITEMS", 4)
    monkeypatch.setattr(search, "STRIDES", (4, 6))
    monkeypatch.setattr(search, "FEW", 2)
    made = [a_deal(ago(minutes=n), title="Blue boot" if n >= 5 else "Boot") for n in range(12)]
    for deal in [*made, *(a_deal(ago(days=1, minutes=n), title="Blue hat") for n in range(9))]:
        search.file(table, None, deal)

    first = search.find(table, words.asked("blue boot"), limit=3)

    assert first.deal_ids == tuple(ids(made[5:7]))
    pages = every_page(lambda cursor: search.find(table, words.asked("blue boot"), limit=3, cursor=cursor))
    assert [deal_id for page in pages for deal_id in page.deal_ids] == ids(made[5:])


def test_what_a_search_has_found_is_shown_while_it_is_active(table: Table) -> None:
    active, ending, withdrawn = (deals.create(table, a_deal(ends_at=end), NOW) for end in (None, ahead(days=1), None))
    deals.withdraw(table, withdrawn.deal_id, NOW)
    at_end = ahead(days=1)
    matches = [replace(a_match(each.deal_id, "x"), ends_at=each.ends_at) for each in (active, ending, withdrawn)]

    assert ids(search.active(table, matches, NOW)) == ids([active, ending])
    assert ids(search.active(table, matches, at_end)) == [active.deal_id]
    assert [match.is_over(at_end) for match in matches] == [False, True, False]  # and so it is not read


def test_a_word_of_no_deal_asks_for_none(table: Table) -> None:
    search.file(table, None, a_deal(title="Blue boot"))

    with watched(table) as wire:
        found = search.find(table, words.asked("boot bluuu"), limit=10)

    assert (found.deal_ids, found.near) == ((), ("blue",))
    assert not [request for request in wire.requests if str(request.partition).startswith("WORD#")]


@pytest.mark.parametrize(
    ("typed", "cut"),
    [("one two three four five", False), ("one two three four five six", True), ("x" * 100, False), ("x" * 101, True)],
)
def test_a_search_of_more_than_is_looked_up_says_so(typed: str, cut: bool) -> None:
    assert words.asked(typed).cut is cut


def test_a_page_that_is_not_full_has_deals_with_most_of_the_words(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = ["Blue trail runner", "Blue road runner", "Trail runner", "Blue lamp", "Runner", "Lamp"]
    made = {title: a_deal(ago(minutes=number), title=title) for number, title in enumerate(titles)}
    for deal in made.values():
        search.file(table, None, deal)

    def partly(typed: str, limit: int = 9) -> list[str]:
        found = search.find(table, words.asked(typed), limit=limit)
        names = {deal.deal_id: title for title, deal in made.items()}
        return [names[match.deal_id] for match in search.partly(table, found, limit - len(found.matches))]

    assert partly("blue trail runner") == ["Blue road runner", "Trail runner"]
    assert partly("blue trail runner", limit=2) == ["Blue road runner"]
    assert partly("blue trail runner", limit=1) == []
    assert partly("trail lamp") == ["Blue trail runner", "Trail runner", "Blue lamp", "Lamp"]
    assert partly("trail zzzz") == ["Blue trail runner", "Trail runner"]
    assert partly("qqqq zzzz") == partly("lamp") == []
    monkeypatch.setattr(search, "MOST_PARTLY", 1)  # the search has read more: half a page, and nothing more is read
    assert partly("blue trail runner", limit=5) == ["Trail runner"]
    assert partly("trail lamp", limit=4) == ["Blue trail runner", "Trail runner"]


def test_a_page_of_what_is_typed_is_within_limits(table: Table) -> None:
    prices = {"31.90": "63.80", "79.00": "100.00", "99.00": "220.00"}
    made = [
        a_deal(ago(minutes=number), title=f"Trail runner {number}", price=price, list_price=before)
        for number, (price, before) in enumerate(prices.items())
    ]
    for deal in post(table, made):
        search.file(table, None, deal)

    def found(typed: str, **limits: Any) -> list[str]:
        shown = selecting.page(table, typed, Selection(**limits), limit=9, now=NOW)
        return [deal.price for deal in [*shown.page.items, *shown.partly]]

    assert found("trail runner", most="80.00", currency="USD") == ["31.90", "79.00"]
    assert found("trail runner", discount=50) == ["31.90", "99.00"]
    assert found("trail runner", discount=50, least="50.00", currency="USD") == ["99.00"]
    assert found("trail tent", most="80.00", currency="USD") == ["31.90", "79.00"]


def test_synonyms_are_found_with_the_typed_word_and_named(table: Table) -> None:
    made = {title: a_deal(ago(minutes=n), title=title) for n, title in enumerate(["Sofa", "Corner couch", "Lamp"])}
    for deal in made.values():
        search.file(table, None, deal)

    sofas, couches = (search.find(table, words.asked(typed), limit=9) for typed in ("sofas", "corner couches"))

    assert (sofas.deal_ids, sofas.synonyms) == (tuple(ids([made["Sofa"], made["Corner couch"]])), ("couch",))
    assert (couches.deal_ids, couches.synonyms) == ((made["Corner couch"].deal_id,), ("sofa",))


def test_a_word_that_has_synonyms_is_spelled_right(table: Table) -> None:
    search.file(table, None, a_deal(title="Soft shell"))

    sofas, slip = (search.find(table, words.asked(typed), limit=9) for typed in ("sofa", "sotf"))

    assert (sofas.matches, sofas.instead) == ((), None)
    assert slip.instead is not None


def test_a_search_that_finds_nothing_is_repeated_with_the_kind_of_thing(table: Table) -> None:
    shoe = a_deal(title="Trail runner", brand="hoka", brand_name="Hoka")
    for deal in (shoe, a_deal(title="Court sneakers")):
        search.file(table, None, deal)

    wider = search.find(table, words.asked("hoka sneakers"), limit=9)
    selected = selecting.find(table, words.asked("hoka trainers"), Selection(most="9999.00"), now=NOW)

    assert (wider.deal_ids, wider.instead and wider.instead.text) == ((shoe.deal_id,), "hoka shoe")
    assert [match.deal_id for match in selected.matches] == [shoe.deal_id]
    assert search.find(table, words.asked("asics sneakers"), limit=9).instead is None
    assert search.find(table, words.asked("hoka traners"), limit=9).deal_ids == (shoe.deal_id,)


def test_limits_that_leave_nothing_are_loosened_one_by_one(table: Table) -> None:
    for price, list_price in (("30.00", "40.00"), ("90.00", "200.00")):
        search.file(table, None, a_deal(title="Boot", price=price, list_price=list_price))

    found = selecting.find(table, words.asked("boot"), Selection(most="50.00", currency="USD", discount=50), now=NOW)

    assert found.loosened == (
        (Selection(discount=50), 1),
        (Selection(most="50.00", currency="USD"), 1),
        (Selection(), 2),
    )


RUNS = {
    "chinese": "男子运动鞋 轻便跑步 270",
    "thai": "รองเท้าวิ่งผู้ชาย",
    "japanese": "メンズ ランニングシューズ",
    "umlauts": "Überzüge für große Öfen",
    "spelled": "Grosse Ueberzuege fuer Oefen",
    "swedish": "Å på Öland",
}


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("运动鞋", ["chinese"]),
        ("动鞋", ["chinese"]),
        ("鞋", ["chinese"]),
        ("动", ["chinese"]),
        ("270 跑步", ["chinese"]),
        ("跑鞋", []),
        ("รองเท้า", ["thai"]),
        ("วิ่ง", ["thai"]),
        ("เท้า", ["thai"]),
        ("シューズ", ["japanese"]),
        ("ﾗﾝﾆﾝｸﾞ", ["japanese"]),
        ("Überzüge", ["umlauts", "spelled"]),
        ("ueberzuege", ["umlauts", "spelled"]),
        ("uberzuge", ["umlauts"]),
        ("öfen große", ["umlauts", "spelled"]),
        ("oefen", ["umlauts", "spelled"]),
        ("på", ["swedish"]),
        ("paa oeland", ["swedish"]),
    ],
)
def test_a_part_of_a_run_is_found_and_umlauts_in_either_spelling(table: Table, typed: str, names: list[str]) -> None:
    made = {name: a_deal(title=title) for name, title in RUNS.items()}
    for deal in made.values():
        search.file(table, None, deal)

    assert sorted(found(table, typed)) == sorted(made[name].deal_id for name in names)


def test_a_run_that_is_filed_as_one_word_is_found_whole_until_it_is_indexed(table: Table) -> None:
    deal = a_deal(title="运动鞋")
    file_as_written(table, deal)

    assert found(table, "运动鞋") == [deal.deal_id]
    assert found(table, "动鞋") == []

    search.file(table, None, deal)
    assert found(table, "动鞋") == [deal.deal_id]


def test_long_titles_in_runs_are_filed_under_so_many_words() -> None:
    deal = a_deal(title="运动鞋轻便跑步" * 20 + "".join(map(chr, range(0x4E00, 0x4E80))))

    assert len(words.of_deal(deal)) == words.MOST_OF_RUNS
