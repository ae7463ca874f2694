"""The editor's desk: posted once, edited without taking back another's work, ordered without script."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from functions.pages.desk import deal_form
from shared.data import item_types, keys
from shared.data.catalog import brands, clicks, deal_log, deals, feeds, offers, picks, shops
from shared.data.catalog.changes import DealChange
from shared.data.members import users
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put, update
from shared.html import views
from shared.http.cookie_header import DONE
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CuratedPage,
    Deal,
    Status,
    Topic,
    feed_of,
)
from shared.values import times
from tests.signed_in.conftest import PostDeal, entered
from tests.support.browsing import Browser, Seen
from tests.support.preview import Preview, started
from tests.support.preview import entered as token_of
from tests.support.windows import Visit

LINK = "https://shop.example/trail-runner?variant=1"

DEAL = {
    "link": LINK, "title": "Trail runner", "price": "31.90", "listPrice": "158", "currency": "USD", "brand": "Apple",
    "category": "shoes", **dict.fromkeys(("couponCode", "variant", "expiresAt", "image", "description"), ""),
}  # fmt: skip


def posted(table: Table) -> list[Deal]:
    return list(feeds.read(table, ALL_DEALS, limit=100, now=times.now()).items)


def picked(table: Table, page: CuratedPage = FRONT_PAGE) -> list[str]:
    """The numbers of the deals of a page, in their order."""
    return [str(views.number(deal)) for deal in picks.read(table, page, times.now(), consistent=True)]


def filled(seen: Seen, **changed: str) -> dict[str, str]:
    """The page's form as a browser would send it, with some fields typed again."""
    values = seen.values()
    names = {"key", *DEAL, *(f"{deal_form.READ}{name}" for name in DEAL)}
    return {name: value for name, value in values.items() if name in names} | changed


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


def test_an_unknown_shop_gets_a_form_with_what_the_bookmarklet_told(
    editor: Browser,
) -> None:
    told = {"title": "Runner", "price": "12.50", "list": "20", "image": "https://i.example/a.jpg"}
    new, filled_in, wrong = (
        editor.get(f"/desk/deals/new?link={link}&{urlencode(query)}")
        for link, query in (("https://unknown.example/thing", {}), (LINK, told), ("thing", {}))
    )

    assert (new.values()["link"], new.values()["title"]) == ("https://unknown.example/thing", "")
    assert [filled_in.values()[name] for name in ("title", "price", "listPrice", "image")] == [*told.values()]
    assert wrong.status == 422
    assert "This must be an http or https address." in wrong.words


def test_a_known_product_fills_the_form_with_a_warning(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    image = "https://shop.example/trail-runner.jpg"
    deal = post_deal(link="https://shop.example/trail-runner?variant=2", list_price="158.00", image=image)
    offers.file(table, None, deal)

    seen = editor.get(f"/desk/deals/new?link={LINK}")

    assert "This product has an active deal" in seen.words
    assert f"/desk/deals/{deal.number}" in seen.text
    assert {name: seen.values()[name] for name in ("title", "brand", "category", "listPrice", "price", "image")} == {
        "title": "Trail runner",
        "brand": "Apple",
        "category": "shoes",
        "listPrice": "158.00",
        "price": deal.price,
        "image": image,
    }
    assert f"As in the deal of {views.day(deal.created_at, times.now())}. Compare it with the shop’s." in seen.words
    assert posted(table) == [deal]


def test_a_price_is_proposed_from_the_same_size_and_not_one_that_was_withdrawn_or_that_the_shops_page_told(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    small, large = (f"https://shop.example/trail-runner?variant={size}" for size in ("small", "large"))
    made = [post_deal(n, link=link, price=f"2{n}.00") for n, link in ((3, large), (2, small), (1, small))]
    for deal in made:
        offers.file(table, None, deal)

    proposed, of_the_page = (
        [editor.get(f"/desk/deals/new?link={link}{told}") for link in (small, large)] for told in ("", "&price=12.50")
    )
    for deal in made:
        deals.withdraw(table, deal.deal_id, times.now())
        offers.file(table, deal, deals.get(table, deal.deal_id))
    withdrawn = editor.get(f"/desk/deals/new?link={small}")

    assert [seen.values()["price"] for seen in proposed] == ["21.00", "23.00"]
    assert [seen.values()["price"] for seen in of_the_page] == ["12.50"] * 2
    assert (withdrawn.values()["title"], withdrawn.values()["price"]) == ("Trail runner", "")
    assert ["As in the deal of" in seen.words for seen in (*proposed, *of_the_page, withdrawn)] == [True] * 2 + [
        False
    ] * 3


def test_a_known_shop_fills_in_its_brand_and_its_last_category(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    post_deal(brand="g-fore", category="clothing", currency="EUR")
    signed, imported = post_deal(category="bags").signed("ana"), post_deal(category="home")
    for deal in (signed, replace(signed, category="shoes"), imported):
        shops.remember(table, DealChange(None, deal, times.now()))

    of_brand, of_shop = (
        editor.get(f"/desk/deals/new?link=https://www.{host}/new-thing") for host in ("gfore.com", "shop.example")
    )

    values = of_brand.values()
    assert (values["brand"], values["category"], values["currency"]) == ("G/Fore", "clothing", "EUR")
    assert (of_shop.values()["category"], of_shop.values()["brand"]) == ("shoes", "")
    assert "Filled in with what we know" in of_shop.words


def test_a_form_posts_once_however_often_it_is_sent_and_another_deal_asks_first(editor: Browser, table: Table) -> None:
    typed = DEAL | {"price": "$1,031.9", "listPrice": "$1,580", "expiresAt": "2049-01-01T12:30"}
    form = filled(editor.get(f"/desk/deals/new?link={LINK}"), **typed)

    sent = [editor.post("/desk/deals", form) for _ in range(2)]
    (deal,) = posted(table)
    asked = editor.post("/desk/deals", form | {"title": "Another"})
    again = editor.post("/desk/deals", filled(asked))

    assert [(seen.status, seen.location) for seen in sent] == [(303, f"/desk/deals/{deal.number}?said=posted")] * 2
    assert (deal.price, deal.list_price, deal.brand_name) == ("1031.90", "1580.00", "Apple")
    assert times.to_iso(deal.ends_at or times.now()) == "2049-01-01T12:30:00Z"
    assert (asked.status, again.status) == (422, 303)
    assert "This form has posted a deal already" in asked.words
    assert sorted(deal.title for deal in posted(table)) == ["Another", "Trail runner"]


WRONG_FIELDS = [
    ("title", "", "This must be filled in."),
    ("link", "ftp://shop.example", "This must be an http or https address."),
    ("price", "cheap", "A price must be digits, a point and two digits: 31.90."),
    ("listPrice", "-1", "A list price must be digits, a point and two digits: 31.90."),
    ("category", "cars", "This must be one of clothing"),
    ("expiresAt", "tomorrow", "This must be a day and a time."),
    ("image", "javascript:alert(1)", "This must be an http or https address."),
    ("brand", "Aple", "There is no brand of this name yet. Near: Apple."),
    ("description", "€" * 3_000, "A deal must have at most 8192 bytes"),
]


def test_a_field_that_cannot_be_used_is_named_and_nothing_is_posted_or_previewed(editor: Browser, table: Table) -> None:
    for field, typed, said in WRONG_FIELDS:
        for path in ("/desk/deals", "/desk/deals/preview"):
            seen = editor.post(path, DEAL | {field: typed})

            assert seen.status == 422
            assert said in seen.words
            assert f'id="e-{field}"' in seen.text
            assert "<article" not in seen.text
    assert posted(table) == []


@pytest.mark.parametrize("exists", [False, True])
def test_a_preview_shows_the_deal_as_it_will_be_and_writes_nothing(
    editor: Browser, table: Table, sell: PostDeal, monkeypatch: pytest.MonkeyPatch, *, exists: bool
) -> None:
    """Its only link leads to the shop: nothing else leads away from what was typed, or to a deal that is not there."""
    monkeypatch.setenv("PICTURES_OF_OTHERS", "true")
    before = [deals.get(table, sell(40).deal_id)] if exists else []
    form = f"/desk/deals/{before[0].number}" if exists else "/desk/deals/new"
    typed = {"image": "https://shop.example/a.jpg", "expiresAt": "2049-01-01T12:30", "description": "Two\nlines"}
    typed |= {"title": "Road runner", "couponCode": "BIGTIME15"}

    seen = editor.post(f"{form.removesuffix('/new')}/preview", filled(editor.get(form)) | DEAL | typed | {"key": "k"})

    preview = next(each for each in seen.document.iter("section") if each.get("class") == "preview")
    (page,), (shop,) = preview.iter("article"), preview.iter("a")
    words = " ".join(" ".join(page.itertext()).split())
    when = views.moment(before[0].created_at) if exists else "When you post it"
    number = f"Here On sale Number {before[0].number}" if exists else "Number The next one"
    assert f"Nothing is {'saved' if exists else 'posted'} yet." in seen.words
    assert posted(table) == before
    assert [each.get("src") for each in page.iter("img")] == ["https://shop.example/a.jpg"]
    assert "Apple · Shoes Road runner $31.90" in words
    assert f"Posted {when} Ends 1 January 2049, 12:30 UTC {number} Two lines" in words
    assert "BIGTIME15" in words
    assert (shop.get("href"), shop.get("target"), shop.get("rel")) == (LINK, "_blank", "noopener noreferrer")
    assert " ".join(preview.itertext()).count("Road runner") == 2  # the head of its page, and its card
    assert exists or seen.values()["key"] == "k"
    assert ('"/desk/deals/new" aria-current="page"' in seen.text) == (not exists)


def test_a_preview_of_a_deal_that_is_over_leads_to_no_shop_and_of_a_withdrawn_one_says_no_end(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    deal = post_deal()
    deals.withdraw(table, deal.deal_id, times.now())

    over, withdrawn = (
        editor.post(path, DEAL | {"couponCode": "BIGTIME15", "expiresAt": ends})
        for path, ends in (
            ("/desk/deals/preview", "2020-01-01T00:00"),
            (f"/desk/deals/{deal.number}/preview", "2049-01-01T12:30"),
        )
    )

    in_over, in_withdrawn = (
        " ".join(next(each for each in seen.document.iter("article")).itertext()) for seen in (over, withdrawn)
    )
    assert [word in in_over for word in ("Ended", "Go to", "BIGTIME15")] == [True, False, False]
    assert [word in in_withdrawn for word in ("Ended", "2049")] == [False, False]


def test_a_deal_is_edited_once_however_often_that_is_sent(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    path = f"/desk/deals/{deal.number}"
    form = filled(editor.get(path), price="9.5", listPrice="", description="Two\r\nlines")

    sent = [editor.post(path, form) for _ in range(2)]

    edited = deals.get(table, deal.deal_id)
    assert [(each.status, each.location) for each in sent] == [(303, f"{path}?said=edited")] * 2
    assert (edited.price, edited.list_price, edited.title) == ("9.50", None, deal.title)
    assert edited.version == deal.version + 1


TwoForms = Callable[..., tuple[str, dict[str, str]]]


@pytest.fixture
def overtaken(editor: Browser, table: Table, post_deal: PostDeal) -> TwoForms:
    """A deal's path, and its form as one editor has it open; another editor has saved some fields meanwhile."""

    def opened(**theirs: str) -> tuple[str, dict[str, str]]:
        deal = post_deal(coupon_code="SPRING", description="Two\nlines")
        path = f"/desk/deals/{deal.number}"
        other = entered(table, "olga", "editor")
        mine = filled(editor.get(path))
        assert other.post(path, filled(other.get(path), **theirs)).status == 303
        return path, mine

    return opened


@pytest.mark.parametrize(
    ("theirs", "title", "said", "kept"),
    [
        (
            {"price": "20.00", "couponCode": ""},
            "Road runner",
            ["Price 31.90 20.00", "Coupon code SPRING nothing"],
            ("Road runner", "20.00", None),
        ),
        (
            {"title": "Their runner", "price": "20.00", "expiresAt": "2049-01-01T12:30"},
            "My runner",
            ["Both of you changed this field.", "Title Their runner My runner", "Ends nothing 2049-01-01 12:30:00 UTC"],
            ("My runner", "20.00", "SPRING"),
        ),
    ],
    ids=["other fields", "the same one"],
)
def test_what_another_editor_changed_meanwhile_is_shown_first_and_stays_where_one_did_not_change_it(
    editor: Browser, table: Table, overtaken: TwoForms, theirs: dict[str, str], title: str, said: list[str],
    kept: tuple[str, str, str | None],
) -> None:  # fmt: skip
    path, mine = overtaken(**theirs)

    first = editor.post(path, mine | {"title": title})
    (between,) = posted(table)
    again = editor.post(path, filled(first))

    assert (first.status, again.status) == (409, 303)
    assert [each for each in ("Only they changed these fields.", *said) if each not in first.words] == []
    assert ("Both of you" in first.words) == ("title" in theirs)
    assert (between.title, between.price) == (theirs.get("title", "Trail runner"), "20.00")
    (saved,) = posted(table)
    assert (saved.title, saved.price, saved.coupon_code) == kept
    assert saved.description == "Two\nlines"


def test_editors_who_want_the_same_do_not_disagree(editor: Browser, table: Table, overtaken: TwoForms) -> None:
    path, mine = overtaken(price="20", brand="Apple")
    deals.make_hot(table, posted(table)[0].deal_id, times.now())

    assert editor.post(path, mine | {"price": "$20.0", "brand": "apple", "title": "Road runner"}).status == 303
    (deal,) = posted(table)
    assert (deal.title, deal.price, deal.hot_at is not None) == ("Road runner", "20.00", True)


def test_what_another_editor_writes_at_the_same_instant_stays_too(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    deal = post_deal()
    path = f"/desk/deals/{deal.number}"
    form = filled(editor.get(path), title="Road runner")
    edit, waiting = deals.edit, [{"price": "20.00"}]

    def overtaken_once(*given: Any, **named: Any) -> Deal:
        if waiting:
            edit(table, deal.deal_id, waiting.pop(), times.now())
        return edit(*given, **named)

    monkeypatch.setattr(deals, "edit", overtaken_once)
    seen = editor.post(path, form)

    assert seen.status == 409
    assert "Price 31.90 20.00" in seen.words
    assert [(each.title, each.price) for each in posted(table)] == [("Trail runner", "20.00")]


@pytest.mark.parametrize(("where", "typed"), [("/preview", {}), ("", {"price": "cheap"})], ids=["preview", "refused"])
def test_a_form_that_is_shown_again_still_knows_what_it_was_read_with(
    editor: Browser, table: Table, overtaken: TwoForms, where: str, typed: dict[str, str]
) -> None:
    path, mine = overtaken(couponCode="AUTUMN")

    shown = editor.post(f"{path}{where}", mine | {"title": "Road runner"} | typed)
    late = editor.post(path, filled(shown, price="31.90"))
    editor.post(path, filled(late))

    assert late.status == 409
    assert [(deal.title, deal.coupon_code) for deal in posted(table)] == [("Road runner", "AUTUMN")]


def test_a_form_without_its_earlier_values_changes_nothing(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()

    seen = editor.post(f"/desk/deals/{deal.number}", DEAL | {"title": "Road runner"})

    assert seen.status == 409
    assert "Title Trail runner Road runner" in seen.words
    assert deals.get(table, deal.deal_id) == deal


def test_what_takes_a_deal_out_of_all_lists_asks_first(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    place = f"/desk/deals/{deal.number}"
    states = []

    for action, said in (("withdraw", "was taken back"), ("restore", ""), ("end", "ended today")):
        form, before = editor.get(place), deals.get(table, deal.deal_id)
        if said:
            asked = editor.get(f"{place}/{action}")
            assert f'<a class="button" href="{place}/{action}">' in form.text
            assert f'action="{place}/{action}"' not in form.text
            assert said in asked.words
            assert f'<a class="button" href="{place}">Cancel</a>' in asked.text
        assert deals.get(table, deal.deal_id) == before
        assert editor.post(f"{place}/{action}").location.startswith(f"{place}?said=")
        assert not said or editor.get(f"{place}/{action}").location == place  # there is nothing left to take out
        states.append(deals.get(table, deal.deal_id).status(times.now()))

    assert states == [Status.WITHDRAWN, Status.ACTIVE, Status.EXPIRED]
    assert editor.get(f"{place}/withdraw").status == 200


def test_withdrawing_and_ending_are_undone_for_ten_minutes(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal(ends_at=times.now() + timedelta(days=3))
    place = f"/desk/deals/{deal.number}"

    for action in ("withdraw", "end"):
        seen = editor.get(editor.post(f"{place}/{action}").location)
        assert "you can undo it until" in seen.words
        assert f'action="{place}/restore"' not in seen.text
        undone = editor.get(editor.post(f"{place}/undo").location)
        assert "It is as it was" in undone.words
        assert "undo it until" not in undone.words
        now_is = deals.get(table, deal.deal_id)
        assert (now_is.status(times.now()), now_is.ends_at) == (Status.ACTIVE, deal.ends_at)

    late = editor.post(f"{place}/undo")
    assert (late.status, "It can be undone for ten minutes" in late.words) == (409, True)


def test_a_deals_page_says_who_changed_what(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal(coupon_code="<b>")
    place = f"/desk/deals/{deal.number}"
    editor.post(place, filled(editor.get(place), price="9.50", category="bags", couponCode=""))
    edited = deals.get(table, deal.deal_id)
    editor.post(f"{place}/withdraw")
    withdrawn = deals.get(table, deal.deal_id)
    for number, (before, after) in enumerate([(deal, edited), (edited, withdrawn)]):
        deal_log.note(table, DealChange(before, after, times.now()), str(number))

    beside, whole = editor.get(place).words, editor.get(f"{place}/log").words

    for words in (beside, whole):
        newest, _, older = words.partition("Price from 31.90 to 9.50")
        assert newest.count("eddy") == 2
        assert newest.rpartition("eddy")[0].rstrip().endswith("Withdrawn")
        assert "Category from Shoes to Bags Coupon code from <b> to nothing" in older


def test_making_hot_says_first_who_will_be_told_if_anybody(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal, over = post_deal(), post_deal()
    deals.withdraw(table, over.deal_id, times.now())
    entered(table, "ana")

    asked = editor.get(f"/desk/deals/{deal.number}/hot")
    before = deals.get(table, deal.deal_id).hot_at
    made = editor.post(f"/desk/deals/{deal.number}/hot")
    progress = editor.get(made.location)
    refused, sent = editor.get(f"/desk/deals/{over.number}/hot"), editor.post(f"/desk/deals/{over.number}/hot")

    assert "2 readers will get a message" in asked.words
    assert "Messages 2 Write units 4, two for each message" in asked.words
    assert "less than $0.0001, at $1.25 for each million readers" in asked.words
    assert before is None
    assert deals.get(table, deal.deal_id).hot_at is not None
    assert "0 readers told so far, of about 2." in progress.words
    assert "Everybody is being told." in progress.words
    assert ("nobody can be told" in refused.words, sent.status) == (True, 409)
    assert f'<a class="button" href="/desk/deals/{over.number}">To the deal</a>' in refused.text


@pytest.mark.parametrize(
    ("readers", "counted", "told", "costs"),
    [
        (999, "999 readers", "999 Write units 1,998, two", "$0.0012"),
        (1000, "1,000 readers", "1,000 Write units 2,000, two", "$0.0012"),
        (1001, "More than 1,000 readers", "more than 1,000 Write units more than 2,000, two", "more than $0.0012"),
    ],
)
def test_making_hot_says_whether_there_are_more_readers_than_are_counted_and_what_they_cost_at_least(
    editor: Browser, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch, readers: int, counted: str, told: str,
    costs: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(users, "count", lambda _, most: min(readers, most))

    words = editor.get(f"/desk/deals/{post_deal().number}/hot").words

    assert f" {counted} will get a message" in words
    assert f"Messages {told}" in words
    assert f"Cost {costs}, at $1.25 for each million readers" in words


def bar(seen: Seen) -> tuple[str | None, str | None]:
    """The value and the maximum of a page's bar; neither where it is not known."""
    (element,) = seen.document.iter("progress")
    return element.get("value"), element.get("max")


@pytest.fixture
def hot(table: Table, post_deal: PostDeal) -> Callable[..., Deal]:
    """A hot deal of which the first of four parts of all readers are told, each part its readers in two cohorts."""

    def told(parts: int = 0, readers: int = 2, **unfinished: int) -> Deal:
        deal = post_deal(title="Hot runner")
        deals.make_hot(table, deal.deal_id, times.now())
        counts = [{"Told": readers, "Pages": 2, "LastPage": 2}] * parts + ([unfinished] if unfinished else [])
        for segment, count in enumerate(counts):
            item = {**keys.fan_out_segment(deal.deal_id, segment), "Type": item_types.FAN_OUT, "Segments": 4, **count}
            item["LastAt"] = times.to_iso(times.now())
            table.write(put(item, because="nobody else writes it"))
        return deal

    return told


@pytest.mark.parametrize(
    ("readers", "parts", "unfinished", "reached", "said"),
    [
        (3, 1, {}, ("2", "3"), "2 readers told so far, of about 3."),
        (4, 0, {}, (None, None), "0 readers told so far, of more than 3."),
        (4, 0, {"Told": 1, "Pages": 1}, (None, None), "1 reader told so far, of more than 3."),
        (4, 1, {"Told": 1, "Pages": 1}, ("1", "4"),
         "3 readers told so far, of more than 3. 1 of 4 parts of the list finished."),
        (4, 2, {}, ("2", "4"), "4 readers told so far. 2 of 4 parts of the list finished."),
        (4, 4, {}, ("1", "1"), "8 readers told."),
    ],
    ids=["all are counted", "nobody", "some", "a part", "more than were counted", "everybody"],
)  # fmt: skip
def test_the_bar_shows_how_many_are_told_or_of_more_readers_than_are_counted_the_parts_that_are(
    editor: Browser, table: Table, hot: Callable[..., Deal], monkeypatch: pytest.MonkeyPatch, readers: int, parts: int,
    unfinished: dict[str, int], reached: tuple[str, str], said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("functions.pages.desk.hot.MOST_COUNTED", 3)
    for name in ("ana", "bo", "cleo")[: readers - 1]:  # the editor is a reader, too
        entered(table, name)
    deal = hot(parts, **unfinished)

    path = f"/desk/deals/{deal.number}/hot/progress"

    page, on_the_desk, for_script = editor.get(path), editor.get("/desk"), editor.get(path, Accept="application/json")

    told = for_script.json
    assert said in page.words
    assert ([each.text for each in page.document.iter("h1")], said) == ([told["heading"]], told["sentence"])
    assert reached == ((str(told["reached"]), str(told["most"])) if told["most"] else (None, None))
    assert told["finished"] == (parts == 4)
    assert ("about" in page.words.partition("Hot since")[0]) == (readers == 3)
    assert bar(page) == bar(on_the_desk) == reached


def test_progress_looks_again_without_script_until_everybody_is_told(editor: Browser, hot: Callable[..., Deal]) -> None:
    """It looks at the address without ``said``: what was just done is said once."""
    path, over = (f"/desk/deals/{deal.number}/hot/progress" for deal in (hot(), hot(4)))
    editor.cookies[DONE] = "hot"

    seen, at_the_end = (editor.get(f"{each}?said=hot") for each in (path, over))

    assert f'<noscript><meta http-equiv="refresh" content="10; url={path}"></noscript>' in seen.text
    assert f'href="{path}">Look again</a>' in seen.text
    assert "Refresh" not in seen.headers  # which a browser with script would follow, too
    assert "Everybody is told" in at_the_end.words
    assert [each in at_the_end.text for each in ("being told", "Look again", "refresh")] == [False] * 3


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

    assert first.location == again.location == f"/desk/deals/{three.number}?said=leads"
    assert picked(table) == [str(three.number), str(one.number)]
    assert over.status == 409


def test_a_deal_without_a_number_is_ordered_by_its_id(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal, other = post_deal(2), post_deal(1)
    table.write(update(keys.deal(deal.deal_id), "REMOVE #n", condition=None, names={"#n": "DealNumber"}, refused=None))
    picks.set_featured(table, FRONT_PAGE, [other.deal_id, deal.deal_id], times.now())
    form = editor.get("/desk/front-page")

    moved = editor.post("/desk/front-page", {**form.values(), "do": f"up:{deal.deal_id}"})

    assert f'value="up:{deal.deal_id}"' in form.text
    assert moved.location == f"/desk/front-page?said=ordered#deal-{deal.deal_id}"
    assert picked(table) == [deal.deal_id, str(other.number)]


def test_the_front_page_is_ordered_on_the_desk_too(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    one, two = (str(post_deal(minutes, title=f"Deal {minutes}").number) for minutes in (1, 2))
    editor.post("/desk/front-page", {"order": f"{one},{two}"})
    form = editor.get("/desk").values()

    moved = editor.post("/desk/front-page", {"order": form["order"], "back": form["back"], "do": f"up:{two}"})
    out = editor.post("/desk/front-page", {"order": f"{two},{one}", "back": "https://evil.example", "do": f"out:{one}"})

    assert form["order"] == f"{one},{two}"
    assert moved.location == f"/desk?said=ordered#deal-{two}"  # where the next key goes on
    assert out.location == "/desk/front-page?said=ordered#order"
    assert picked(table) == [two]


def test_all_deals_are_listed_in_pages(editor: Browser, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.pages.desk.today.SHOWN", 2)
    for minutes in (1, 2, 3):
        post_deal(minutes, title=f"Deal {minutes}")

    first = editor.get("/desk/deals")
    older = next(a.get("href") for a in first.document.iter("a") if a.get("rel") == "next")
    second = editor.get(older)

    assert ("Deal 2" in first.words, "Deal 3" in first.words, "Deal 3" in second.words) == (True, False, True)
    assert editor.get("/desk/deals?cursor=forged").status == 400


def test_the_desk_shows_how_far_telling_a_hot_deal_has_got(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    """Of about how many, and how fast: readers told by the seconds since it became hot."""
    now, deal = times.now(), post_deal()
    for name in ("ana", "bo", "cleo", "dan", "eve"):
        entered(table, name)
    deals.make_hot(table, deal.deal_id, now - timedelta(seconds=2))
    segment = {**keys.fan_out_segment(deal.deal_id, 0), "Type": item_types.FAN_OUT, "Segments": 1, "Pages": 1}
    segment["LastAt"] = times.to_iso(times.now())
    seen = [editor.get("/desk").words]

    for told in ({"Told": 4}, {"Told": 6, "LastPage": 1}):
        table.write(put({**segment, **told, "LastAt": times.to_iso(now)}, because="nobody else writes it"))
        seen.append(editor.get("/desk").words)

    before, during, after = seen
    assert "0 told of about 6" in before
    assert "a second" not in before
    assert "4 told of about 6 2 a second" in during
    assert "6 told, everybody 3 a second" in after


def test_the_desk_follows_a_hot_deal_that_is_not_among_the_newest(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.pages.desk.today.SHOWN", 2)
    now = times.now()
    picked = post_deal(30, title="Picked and hot")
    ending = post_deal(20, title="Ending and hot", ends_at=now + timedelta(hours=1))
    post_deal(10)
    post_deal(5)
    for deal in (picked, ending):
        deals.make_hot(table, deal.deal_id, now)
    picks.set_featured(table, FRONT_PAGE, [picked.deal_id], now)

    words = editor.get("/desk").words

    told = words.partition("Being told")[2].partition("today and tomorrow")[0]
    assert "among the 2 newest deals, those ending and the front page’s" in told
    assert "Picked and hot" in told
    assert "Ending and hot" in told


def test_the_bookmarklet_is_hidden_where_the_site_has_no_address(
    editor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = editor.get("/desk").text
    monkeypatch.delenv("SITE_ORIGIN")

    hidden = editor.get("/desk")

    assert "https://deals.example/desk/deals/new?link=" in html.unescape(shown)
    assert "javascript:" not in hidden.text
    assert "it needs the site’s own address, and none is configured" in hidden.words


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


def test_a_brand_is_created_after_a_warning_of_near_names_if_it_can_be(editor: Browser, table: Table) -> None:
    created = editor.post("/desk/brands", {"name": "Patagonia"})
    asked = editor.post("/desk/brands", {"name": "Aple"})
    before = dict(brands.names(table))
    editor.post("/desk/brands", {"name": "Aple", "sure": "1"})
    refused = [editor.post("/desk/brands", {"name": name, "sure": "1"}) for name in ("APPLE", "", "!!!")]

    assert created.location == "/desk/brands?said=brand"
    assert before["patagonia"] == "Patagonia"
    assert (asked.status, "like this: Apple." in asked.words) == (409, True)
    assert ("aple" in before, "aple" in brands.names(table)) == (False, True)
    assert [(seen.status, 'id="e-name"' in seen.text) for seen in refused] == [(409, True), (422, True), (422, True)]


def test_what_is_typed_stays_text(editor: Browser, table: Table) -> None:
    evil = '</textarea><script>alert(1)</script>"><img src=x onerror=alert(1)>'

    seen = editor.post("/desk/deals", DEAL | {"title": evil, "description": evil, "price": "x"})

    assert "<script>alert" not in seen.text
    assert "<img src=x" not in seen.text
    assert seen.values()["title"] == evil
    assert seen.values()["description"] == evil


@pytest.fixture
def site() -> Iterator[Preview]:
    """The page functions behind a server, for a real browser; on the front page are four deals."""
    with started(most=12) as preview:
        picks.set_featured(preview.table, FRONT_PAGE, [deal.deal_id for deal in preview.deals[:4]], times.now())
        yield preview


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
    assert "said" not in page.url
    assert picked(site.table) == numbers
    drag_the_last_to_the_top()
    with page.expect_navigation(url="**/desk/front-page?said=ordered*"):
        page.mouse.up()

    assert picked(site.table) == [numbers[-1], *numbers[:-1]]
    page.keyboard.press("Tab")  # a ring is shown to those who use the keyboard, and is not cut off with the title
    page.locator("#order tbody a").first.focus()
    expect(page.locator("#order tbody .what div").first).to_have_css("outline-style", "solid")
    expect(page.locator("#order tbody .what div").first).to_have_css("overflow", "visible")
    expect(page.locator("#order tbody a").first).to_have_css("outline-style", "none")


def test_a_page_of_progress_follows_in_place(visit: Visit, site: Preview) -> None:
    """The keyboard stays where it is, and the page says one thing at a time."""
    deal = next(deal for deal in site.deals if deal.status(times.now()) is Status.ACTIVE)
    hot = deals.make_hot(site.table, deal.deal_id, times.now())
    page = visit(f"/desk/deals/{deal.number}/hot/progress?said=hot", token=token_of(site, "eddy", "editor"))
    page.context.add_cookies([{"name": DONE, "value": "hot", "url": page.url}])
    page.reload()
    expect(page.locator(".notice")).to_have_text("Everybody is being told.")
    page.get_by_role("link", name="To the deal").focus()
    page.evaluate("document.body.dataset.same = 'page'")
    segment = {**keys.fan_out_segment(hot.deal_id, 0), "Type": item_types.FAN_OUT, "Segments": 1, "Pages": 1}
    segment["LastAt"] = times.to_iso(times.now())

    site.table.write(put({**segment, "Told": 1}, because="nobody else writes it"))
    expect(page.locator("[data-says=sentence]")).to_have_text("1 reader told so far, of about 1.")
    expect(page.locator("progress")).to_have_attribute("value", "1")
    site.table.write(put({**segment, "Told": 1, "LastPage": 1}, because="nobody else writes it"))

    expect(page.get_by_role("heading", level=1)).to_have_text("Everybody is told")
    expect(page).to_have_title(re.compile("^Everybody is told · "))
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator("body[data-same]")).to_have_count(1)
    expect(page.get_by_role("link", name="To the deal")).to_be_focused()


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        *((name, None) for name in ("Title", "Price", "Category", "Brand", "CreatedAt")),
        *((name, {"N": "31.90"}) for name in ("Title", "Price", "EndsAt", "Version", "DealNumber")),
    ],
)
def test_an_editor_opens_and_mends_a_damaged_deal(
    table: Table, editor: Browser, post_deal: PostDeal, attribute: str, value: dict[str, str] | None
) -> None:
    deal = post_deal(link=LINK, ends_at=times.now() + timedelta(days=1))
    item = marshal_item(table.get(keys.deal(deal.deal_id), consistent=True) or {})
    spoiled = {name: kind for name, kind in item.items() if name != attribute} | ({attribute: value} if value else {})
    table.client.put_item(TableName=table.name, Item=spoiled)

    form = editor.get(f"/desk/deals/{deal.number}")
    saved = editor.post(f"/desk/deals/{deal.number}", {**DEAL, "title": "Mended", "brand": "G/Fore"})

    assert form.status == 200
    assert "damaged this deal" in form.text
    assert saved.status == 303
    mended = deals.get(table, deal.deal_id, consistent=True)
    assert (mended.title, mended.brand_name, mended.created_at) == ("Mended", "G/Fore", deal.created_at)
    assert [each.title for each in posted(table)] == ["Mended"]
    assert list(feeds.read(table, feed_of(Topic(BRAND, "apple")), limit=9, now=times.now()).items) == []
    deals.withdraw(table, deal.deal_id, times.now())
    assert posted(table) == []
