"""Deals on the desk: forms, previews, edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from shared.data import keys
from shared.data.catalog import changes, deals, feeds, offers, shops
from shared.data.catalog.changes import DealChange
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.html import views
from shared.models.catalog import BRAND, Deal, Status, Topic, feed_of
from shared.values import times
from tests.signed_in.conftest import PostDeal, editor, entered, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import DEAL, LINK, Browser, filled, posted
from tests.support.cases import cases


def test_an_unknown_shop_gets_a_form_with_what_the_bookmarklet_sent(
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
    deal = post_deal(link=f"{LINK}&utm_source=mail", list_price="158.00", image=image)
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


@pytest.mark.parametrize(
    ("typed", "at"),
    [
        ({"price": "€19.00", "listPrice": "€25"}, ["price", "listPrice"]),
        ({"price": "$19", "currency": "EUR"}, ["price"]),
    ],
)  # fmt: skip
def test_a_price_whose_sign_is_of_another_currency_is_asked_about(
    editor: Browser, table: Table, typed: dict[str, str], at: list[str]
) -> None:
    form = filled(editor.get(f"/desk/deals/new?link={LINK}"), **{**DEAL, "listPrice": "", **typed})

    refused = [editor.post(path, form) for path in ("/desk/deals", "/desk/deals/preview", *cases("TAKES_DEALS"))]

    assert {seen.status for seen in refused} == {422}
    for seen in refused:
        wrong = [each.get("name") for each in seen.document.iter("input") if each.get("aria-invalid")]
        assert wrong == at
        assert "Choose one currency." in seen.words
        assert seen.values()["price"] == typed["price"]
    assert posted(table) == []


def test_a_price_in_yen_has_no_decimals(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    old = post_deal(price="12.00", currency="JPY")
    half = {":price": "12.50"}  # as an earlier release took it
    table.write(update(keys.deal(old.deal_id), "SET Price = :price", values=half, refused=None))
    form = filled(editor.get(f"/desk/deals/new?link={LINK}"), **{**DEAL, "listPrice": ""})
    of_old = editor.get(f"/desk/deals/{old.number}").values()

    refused = editor.post("/desk/deals", form | {"price": "12.50", "currency": "JPY"})
    changed = editor.post(f"/desk/deals/{old.number}", of_old | {"price": "13.50"})
    kept = editor.post(f"/desk/deals/{old.number}", of_old | {"title": "Another title"})

    assert (refused.status, kept.status, changed.status) == (422, 303, 422)
    assert "An amount in JPY must have no decimals." in refused.words
    assert "An amount in JPY must have no decimals." in changed.words


def test_a_price_is_proposed_from_the_same_size_and_not_one_that_was_withdrawn_or_that_the_shops_page_has(
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
        shops.remember_category(table, DealChange(None, deal, times.now()))

    of_brand, of_shop = (
        editor.get(f"/desk/deals/new?link=https://www.{host}/new-thing") for host in ("gfore.com", "shop.example")
    )

    values = of_brand.values()
    assert (values["brand"], values["category"], values["currency"]) == ("G/Fore", "clothing", "EUR")
    assert (of_shop.values()["category"], of_shop.values()["brand"]) == ("shoes", "")
    assert "Filled in from earlier deals" in of_shop.words


def test_a_form_posts_once_however_often_it_is_sent_and_another_deal_asks_first(editor: Browser, table: Table) -> None:
    typed = DEAL | {"price": "CA$1,031.9", "listPrice": "$1,580", "currency": "CAD", "expiresAt": "2049-01-01T12:30"}
    form = filled(editor.get(f"/desk/deals/new?link={LINK}"), **typed)

    sent = [editor.post("/desk/deals", form) for _ in range(2)]
    (deal,) = posted(table)
    asked = editor.post("/desk/deals", form | {"title": "Another"})
    again = editor.post("/desk/deals", filled(asked))

    assert [(seen.status, seen.location) for seen in sent] == [(303, f"/desk/deals/{deal.number}?notice=posted")] * 2
    assert (deal.price, deal.list_price, deal.currency, deal.brand_name) == ("1031.90", "1580.00", "CAD", "Apple")
    assert times.to_iso(deal.ends_at or times.now()) == "2049-01-01T12:30:00Z"
    assert (asked.status, again.status) == (422, 303)
    assert "This form already posted a deal" in asked.words
    assert sorted(deal.title for deal in posted(table)) == ["Another", "Trail runner"]


def test_posting_a_deal_that_has_ended_says_that_no_one_is_notified(editor: Browser) -> None:
    seen = editor.post("/desk/deals", DEAL | {"expiresAt": "2020-01-01T12:30", "confirm": "expiresAt"})

    assert "Posted. It has already ended, so no one is notified." in editor.get(seen.location).words


WRONG_FIELDS = [
    ("title", "", "This must be filled in."),
    ("link", "ftp://shop.example", "This must be an http or https address."),
    ("price", "cheap", "Write the price in digits, such as 31.90 or 31."),
    ("listPrice", "-1", "Write the list price in digits, such as 31.90 or 31."),
    ("category", "cars", "Choose a category."),
    ("category", "", "This must be filled in."),
    ("expiresAt", "tomorrow", "This must be a day and a time."),
    ("image", "javascript:alert(1)", "This must be an http or https address."),
    ("brand", "Aple", "There is no brand with this name yet. Near: Apple."),
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
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch, *, exists: bool
) -> None:
    """Its only link leads to the shop: nothing else leads away from the typed fields, or to a deal that is not
    there."""
    monkeypatch.setenv("PICTURES_OF_OTHERS", "true")
    before = [deals.get(table, post_deal(40).deal_id)] if exists else []
    form = f"/desk/deals/{before[0].number}" if exists else "/desk/deals/new"
    typed = {"image": "https://shop.example/a.jpg", "expiresAt": "2049-01-01T12:30", "description": "Two\nlines"}
    typed |= {"title": "Road runner", "couponCode": "BIGTIME15"}

    seen = editor.post(f"{form.removesuffix('/new')}/preview", filled(editor.get(form)) | DEAL | typed | {"key": "k"})

    preview = next(each for each in seen.document.iter("section") if each.get("class") == "preview")
    (page,), (shop,) = preview.iter("article"), preview.iter("a")
    words = " ".join(" ".join(page.itertext()).split())
    when = views.moment(before[0].created_at) if exists else "When you post it"
    number = f"Number {before[0].number}" if exists else "Number The next one"
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
    assert [(each.status, each.location) for each in sent] == [(303, f"{path}?notice=edited")] * 2
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

    for action, said in (("withdraw", "was withdrawn"), ("restore", ""), ("end", "ended today")):
        form, before = editor.get(place), deals.get(table, deal.deal_id)
        if said:
            asked = editor.get(f"{place}/{action}")
            assert f'<a class="button" href="{place}/{action}">' in form.text
            assert f'action="{place}/{action}"' not in form.text
            assert said in asked.words
            assert f'<a class="button" href="{place}">Cancel</a>' in asked.text
        assert deals.get(table, deal.deal_id) == before
        assert editor.post(f"{place}/{action}").location.startswith(f"{place}?notice=")
        assert not said or editor.get(f"{place}/{action}").location == place  # there is nothing left to take out
        states.append(deals.get(table, deal.deal_id).status(times.now()))

    assert states == [Status.WITHDRAWN, Status.ACTIVE, Status.EXPIRED]
    assert editor.get(f"{place}/withdraw").status == 200


def test_withdrawing_and_ending_are_undone_for_ten_minutes(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal(ends_at=times.now() + timedelta(days=3))
    place = f"/desk/deals/{deal.number}"

    for action in ("withdraw", "end"):
        seen = editor.get(editor.post(f"{place}/{action}").location)
        undone = editor.get(editor.post(f"{place}/undo").location)

        assert "you can undo it until" in seen.words
        assert f'action="{place}/restore"' not in seen.text
        assert ("back in its lists" in undone.words, "undo it until" in undone.words) == (True, False)
    late = editor.post(f"{place}/undo")

    assert (late.status, "It can be undone for ten minutes" in late.words) == (409, True)
    assert deals.get(table, deal.deal_id).ends_at == deal.ends_at


def test_a_deals_page_says_who_changed_what(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal(coupon_code="<b>")
    place = f"/desk/deals/{deal.number}"
    editor.post(place, filled(editor.get(place), price="9.50", category="bags", couponCode=""))
    edited = deals.get(table, deal.deal_id)
    editor.post(f"{place}/withdraw")
    withdrawn = deals.get(table, deal.deal_id)
    for number, (before, after) in enumerate([(deal, edited), (edited, withdrawn)]):
        changes.note(table, DealChange(before, after, times.now()), str(number))

    beside, whole = editor.get(place).words, editor.get(f"{place}/log").words

    for words in (beside, whole):
        newest, _, older = words.partition("Price from 31.90 to 9.50")
        assert newest.count("eddy") == 2
        assert newest.rpartition("eddy")[0].rstrip().endswith("Withdrawn")
        assert "Category from Shoes to Bags Coupon code from <b> to nothing" in older


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        *((name, None) for name in ("Title", "Brand", "CreatedAt")),
        *((name, {"N": "31.90"}) for name in ("Price", "EndsAt", "DealNumber")),
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
    refused = editor.post(f"/desk/deals/{deal.number}", {**DEAL, "title": ""})
    saved = editor.post(f"/desk/deals/{deal.number}", {**DEAL, "title": "Mended", "brand": "G/Fore"})

    assert form.status == 200
    for each in (form, refused):
        assert ("item in the table is damaged" in each.text, "/preview" in each.text) == (True, False)
    assert (refused.status, saved.status) == (422, 303)
    mended = deals.get(table, deal.deal_id, consistent=True)
    assert (mended.title, mended.brand_name, mended.created_at) == ("Mended", "G/Fore", deal.created_at)
    assert [each.title for each in posted(table)] == ["Mended"]
    assert list(feeds.read(table, feed_of(Topic(BRAND, "apple")), limit=9, now=times.now()).items) == []
    deals.withdraw(table, deal.deal_id, times.now())
    assert posted(table) == []
