"""The editor's desk: posted once, edited without taking back another's work, ordered without script."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from shared.data.catalog import brands, clicks, deals, featured, feeds, products
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.html import views
from shared.models.catalog import ALL_DEALS, EDITORS_CHOICE, FRONT_PAGE, Deal, Status
from shared.values import times
from tests.signed_in.conftest import entered
from tests.support.browsing import Browser, Seen

PostDeal = Callable[..., Deal]

LINK = "https://shop.example/trail-runner?variant=1"

DEAL = {
    "link": LINK,
    "title": "Trail runner",
    "price": "31.90",
    "listPrice": "158",
    "currency": "USD",
    "brand": "Apple",
    "category": "shoes",
    "couponCode": "",
    "expiresAt": "",
    "image": "",
    "description": "",
}

PAGES = [
    "/desk",
    "/desk/deals/new",
    "/desk/front-page",
    "/desk/editors-choice",
    "/desk/categories/shoes",
    "/desk/brands",
]


def posted(table: Table) -> list[Deal]:
    return list(feeds.read(table, ALL_DEALS, limit=100, now=times.now()).items)


def filled(seen: Seen, **changed: str) -> dict[str, str]:
    """What a browser would send of the page's form, with some fields typed again."""
    values = seen.values()
    return {name: value for name, value in values.items() if name in {*DEAL, "key", "version", "number"}} | changed


@pytest.mark.parametrize("path", PAGES)
def test_an_editor_sees_each_page(editor: Browser, path: str) -> None:
    assert editor.get(path).status == 200


@pytest.mark.parametrize("path", [*PAGES, "/desk/deals/1", "/desk/deals/1/hot", "/desk/deals/1/hot/progress"])
def test_a_member_sees_none_of_them(ana: Browser, path: str) -> None:
    seen = ana.get(path)

    assert seen.status == 403
    assert "The desk is for editors." in seen.words


@pytest.mark.parametrize("path", PAGES)
def test_nobody_is_led_to_sign_in(anyone: Browser, path: str) -> None:
    assert anyone.get(path).location.startswith("/account/sign-in?next=%2Fdesk")


FORMS = [
    "/desk/deals", "/desk/deals/preview", "/desk/deals/1", "/desk/deals/1/withdraw", "/desk/deals/1/restore",
    "/desk/deals/1/end", "/desk/deals/1/hot", "/desk/front-page", "/desk/editors-choice", "/desk/categories/shoes",
    "/desk/brands",
]  # fmt: skip


@pytest.mark.parametrize("path", FORMS)
def test_a_members_form_changes_nothing(ana: Browser, table: Table, post_deal: PostDeal, path: str) -> None:
    before = post_deal()

    seen = ana.post(path, DEAL | {"name": "Nike", "add": "1", "do": "add", "version": "1"})

    assert seen.status == 403
    assert deals.get(table, before.deal_id) == before
    assert len(posted(table)) == 1
    assert "nike" not in brands.names(table)
    assert featured.read(table, FRONT_PAGE, times.now()) == []


@pytest.mark.parametrize("path", FORMS)
def test_a_form_from_elsewhere_changes_nothing(editor: Browser, table: Table, post_deal: PostDeal, path: str) -> None:
    before = post_deal()
    editor.fetch_site = "cross-site"

    assert editor.post(path, DEAL | {"name": "Nike", "add": "1", "do": "add", "version": "1"}).status == 403
    assert deals.get(table, before.deal_id) == before


def test_the_desk_shows_what_was_posted_with_clicks(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    for _ in range(3):
        clicks.count(table, deal.deal_id)

    seen = editor.get("/desk")

    assert "Trail runner" in seen.words
    assert "3 clicks" in seen.words


def test_the_desk_shows_what_ends_soon(editor: Browser, post_deal: PostDeal) -> None:
    post_deal(title="Ends soon", ends_at=times.now() + timedelta(hours=1))

    words = editor.get("/desk").words

    assert "Ends soon" in words.partition("Ending")[2]


def test_an_unknown_shop_gets_an_empty_form(editor: Browser) -> None:
    seen = editor.get("/desk/deals/new?link=https://unknown.example/thing")

    assert seen.values()["link"] == "https://unknown.example/thing"
    assert seen.values()["title"] == ""


def test_what_is_no_address_is_asked_for_again(editor: Browser) -> None:
    seen = editor.get("/desk/deals/new?link=thing")

    assert seen.status == 422
    assert "An http or https address is needed." in seen.words


def test_a_known_product_fills_the_form_and_warns_of_its_active_deal(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    deal = post_deal(link="https://shop.example/trail-runner?variant=2", list_price="158.00")
    products.follow(table, None, deal)

    seen = editor.get(f"/desk/deals/new?link={LINK}")

    assert "This product has an active deal" in seen.words
    assert f"/desk/deals/{deal.number}" in seen.text
    assert {name: seen.values()[name] for name in ("title", "brand", "category", "listPrice")} == {
        "title": "Trail runner",
        "brand": "Apple",
        "category": "shoes",
        "listPrice": "158.00",
    }
    assert seen.values()["price"] == ""


def test_a_known_shop_fills_in_its_brand(editor: Browser, post_deal: PostDeal) -> None:
    post_deal(brand="g-fore", category="clothing", currency="EUR")

    values = editor.get("/desk/deals/new?link=https://www.gfore.com/new-thing").values()

    assert (values["brand"], values["category"], values["currency"]) == ("G/Fore", "clothing", "EUR")


def test_the_bookmarklet_fills_the_form(editor: Browser) -> None:
    seen = editor.get(f"/desk/deals/new?link={LINK}&title=Runner&price=12.50&list=20&image=https://i.example/a.jpg")

    values = seen.values()
    assert (values["title"], values["price"], values["listPrice"], values["image"]) == (
        "Runner",
        "12.50",
        "20",
        "https://i.example/a.jpg",
    )


def test_a_deal_is_posted(editor: Browser, table: Table) -> None:
    form = editor.get(f"/desk/deals/new?link={LINK}")

    seen = editor.post("/desk/deals", filled(form, **DEAL | {"price": "$1,031.9", "expiresAt": "2049-01-01T12:30"}))

    (deal,) = posted(table)
    assert (seen.status, seen.location) == (303, f"/desk/deals/{deal.number}?said=posted")
    assert (deal.price, deal.list_price, deal.brand_name) == ("1031.90", "158.00", "Apple")
    assert times.to_iso(deal.ends_at or times.now()) == "2049-01-01T12:30:00Z"


def test_a_form_that_is_sent_twice_posts_one_deal(editor: Browser, table: Table) -> None:
    form = filled(editor.get(f"/desk/deals/new?link={LINK}"), **DEAL)

    first = editor.post("/desk/deals", form)
    second = editor.post("/desk/deals", form)

    assert first.location == second.location
    assert len(posted(table)) == 1


def test_a_form_that_was_sent_and_then_changed_asks_first(editor: Browser, table: Table) -> None:
    form = filled(editor.get(f"/desk/deals/new?link={LINK}"), **DEAL)
    editor.post("/desk/deals", form)

    asked = editor.post("/desk/deals", form | {"title": "Another"})
    again = editor.post("/desk/deals", filled(asked))

    assert asked.status == 422
    assert "This form has posted a deal already" in asked.words
    assert again.status == 303
    assert sorted(deal.title for deal in posted(table)) == ["Another", "Trail runner"]


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("title", "", "This is needed."),
        ("link", "ftp://shop.example", "An http or https address is needed."),
        ("price", "cheap", "A price is digits, a point and two digits: 31.90."),
        ("listPrice", "-1", "A price is digits, a point and two digits: 31.90."),
        ("category", "cars", "Must be one of clothing"),
        ("expiresAt", "tomorrow", "This is no day and time."),
        ("image", "javascript:alert(1)", "An http or https address is needed."),
        ("brand", "Aple", "There is no brand of this name yet. Near: Apple."),
    ],
)
def test_a_field_that_cannot_be_used_is_named_and_nothing_is_posted(
    editor: Browser, table: Table, field: str, typed: str, said: str
) -> None:
    seen = editor.post("/desk/deals", DEAL | {field: typed})

    assert seen.status == 422
    assert said in seen.words
    assert f'id="e-{field}"' in seen.text
    assert posted(table) == []


def test_a_preview_shows_the_card_and_writes_nothing(editor: Browser, table: Table) -> None:
    seen = editor.post("/desk/deals/preview", DEAL | {"couponCode": "BIGTIME15", "key": "k"})

    assert "$31.90" in seen.words
    assert "BIGTIME15" in seen.words
    assert seen.values()["key"] == "k"
    assert posted(table) == []


def test_a_deal_is_edited(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    form = editor.get(f"/desk/deals/{deal.number}")

    seen = editor.post(f"/desk/deals/{deal.number}", filled(form, price="9.5", listPrice=""))

    edited = deals.get(table, deal.deal_id)
    assert seen.location == f"/desk/deals/{deal.number}?said=edited"
    assert (edited.price, edited.list_price, edited.title) == ("9.50", None, deal.title)


def test_of_two_editors_the_later_one_sees_both_values_and_takes_nothing_back(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    deal = post_deal()
    other = entered(table, "olga", "editor")
    mine, theirs = editor.get(f"/desk/deals/{deal.number}"), other.get(f"/desk/deals/{deal.number}")
    other.post(f"/desk/deals/{deal.number}", filled(theirs, price="20.00"))

    conflict = editor.post(f"/desk/deals/{deal.number}", filled(mine, title="Road runner"))
    unchanged = deals.get(table, deal.deal_id)
    again = editor.post(f"/desk/deals/{deal.number}", filled(conflict, price="20.00"))

    assert conflict.status == 409
    assert "Title Trail runner Road runner" in conflict.words
    assert "Price 20.00 31.90" in conflict.words
    assert (unchanged.title, unchanged.price) == ("Trail runner", "20.00")
    assert again.status == 303
    assert deals.get(table, deal.deal_id).title == "Road runner"


@pytest.mark.parametrize("version", ["", "0", "abc", "-1"])
def test_a_form_without_the_version_it_was_read_at_changes_nothing(
    editor: Browser, table: Table, post_deal: PostDeal, version: str
) -> None:
    deal = post_deal()

    seen = editor.post(f"/desk/deals/{deal.number}", DEAL | {"version": version})

    assert seen.status == 409
    assert deals.get(table, deal.deal_id) == deal


def test_a_deal_is_withdrawn_restored_and_ended(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    states = []

    for action in ("withdraw", "restore", "end"):
        editor.post(f"/desk/deals/{deal.number}/{action}")
        states.append(deals.get(table, deal.deal_id).status(times.now()))

    assert states == [Status.WITHDRAWN, Status.ACTIVE, Status.EXPIRED]


def test_making_hot_says_first_who_will_be_told(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    entered(table, "ana")

    asked = editor.get(f"/desk/deals/{deal.number}/hot")
    before = deals.get(table, deal.deal_id).hot_at
    made = editor.post(f"/desk/deals/{deal.number}/hot")
    progress = editor.get(made.location)

    assert "2 readers will get a message" in asked.words
    assert before is None
    assert deals.get(table, deal.deal_id).hot_at is not None
    assert "0 readers told so far." in progress.words
    assert progress.headers["Refresh"] == ["2"]


def test_a_deal_that_is_over_is_not_made_hot(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    deals.withdraw(table, deal.deal_id, times.now())

    assert "nobody can be told" in editor.get(f"/desk/deals/{deal.number}/hot").words
    assert editor.post(f"/desk/deals/{deal.number}/hot").status == 409


def test_the_front_page_is_ordered_by_buttons(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    one, two, three = (str(post_deal(minutes, title=f"Deal {minutes}").number) for minutes in (1, 2, 3))

    def press(button: str, **typed: str) -> list[str]:
        order = editor.get("/desk/front-page").values()["order"]
        assert editor.post("/desk/front-page", {"order": order, "do": button, **typed}).status == 303
        return [str(deal.number) for deal in featured.read(table, FRONT_PAGE, times.now())]

    assert press("add", add=one) == [one]
    assert press("add", add=f"#{two}") == [one, two]
    assert press("add", add=three) == [one, two, three]
    assert press(f"up:{three}") == [one, three, two]
    assert press(f"down:{one}") == [three, one, two]
    assert press(f"out:{one}") == [three, two]
    assert press(f"up:{three}") == [three, two]


def test_a_dragged_order_is_kept(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    numbers = [str(post_deal(minutes).number) for minutes in (1, 2, 3)]

    editor.post("/desk/editors-choice", {"order": ",".join(reversed(numbers))})

    assert [str(deal.number) for deal in featured.read(table, EDITORS_CHOICE, times.now())] == numbers[::-1]


@pytest.mark.parametrize(("add", "said"), [("99", "There is no deal with the number 99."), ("x", "There is no deal")])
def test_a_number_that_no_deal_has_is_named(editor: Browser, add: str, said: str) -> None:
    seen = editor.post("/desk/front-page", {"order": "", "do": "add", "add": add})

    assert seen.status == 422
    assert said in seen.words


def test_a_deal_that_is_over_is_not_added(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    deals.withdraw(table, deal.deal_id, times.now())

    seen = editor.post("/desk/front-page", {"order": "", "do": "add", "add": str(deal.number)})

    assert seen.status == 422
    assert "This deal has ended or was withdrawn." in seen.words


def test_a_deal_is_added_once(editor: Browser, post_deal: PostDeal) -> None:
    number = str(post_deal().number)

    seen = editor.post("/desk/front-page", {"order": number, "do": "add", "add": number})

    assert seen.status == 422
    assert "A deal must be featured once only." in seen.words


def test_a_category_gathers_its_five_deals_before_any_is_kept(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    numbers = [str(post_deal(minutes).number) for minutes in range(1, 6)]
    order = ""

    for number in numbers:
        seen = editor.post("/desk/categories/shoes", {"order": order, "do": "add", "add": number})
        order = seen.values().get("order", "") if seen.status == 422 else order

    assert seen.status == 303
    assert "A category must feature" not in editor.get("/desk/categories/shoes").words
    assert editor.get("/desk/categories/shoes").values()["order"] == ",".join(numbers)


def test_an_unknown_category_is_not_found(editor: Browser) -> None:
    assert editor.get("/desk/categories/cars").status == 404


def test_a_brand_is_created(editor: Browser, table: Table) -> None:
    seen = editor.post("/desk/brands", {"name": "Patagonia"})

    assert seen.location == "/desk/brands?said=brand"
    assert brands.names(table)["patagonia"] == "Patagonia"


def test_names_that_are_near_are_warned_of_first(editor: Browser, table: Table) -> None:
    asked = editor.post("/desk/brands", {"name": "Aple"})
    before = dict(brands.names(table))
    editor.post("/desk/brands", {"name": "Aple", "sure": "1"})

    assert asked.status == 409
    assert "like this: Apple." in asked.words
    assert "aple" not in before
    assert "aple" in brands.names(table)


@pytest.mark.parametrize(("name", "status"), [("APPLE", 409), ("", 422), ("!!!", 422)])
def test_a_brand_that_cannot_be_is_said_at_its_field(editor: Browser, name: str, status: int) -> None:
    seen = editor.post("/desk/brands", {"name": name, "sure": "1"})

    assert seen.status == status
    assert 'id="e-name"' in seen.text


def test_what_is_typed_stays_text(editor: Browser, table: Table) -> None:
    evil = '</textarea><script>alert(1)</script>"><img src=x onerror=alert(1)>'

    seen = editor.post("/desk/deals", DEAL | {"title": evil, "description": evil, "price": "x"})

    assert "<script>alert" not in seen.text
    assert "<img src=x" not in seen.text
    assert seen.values()["title"] == evil
    assert seen.values()["description"] == evil
