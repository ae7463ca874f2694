"""What pages show (cards, prices, counts, items of the table), and what they believe of forms and cookies."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.api.fields import Body
from shared.data.members import sessions, users
from shared.dynamodb.table import Table
from shared.errors import BadRequest, NotAForm
from shared.html import cookies, forms, fragments, pages, views
from shared.html.pages import Request
from shared.html.views import render
from shared.models.catalog import Deal
from shared.values.links import LONGEST
from tests.support.browsing import parsed
from tests.support.cases import cases
from tests.support.engines import FAST, on
from tests.support.factories import NOW, a_deal, a_user


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("1299.99", "USD", "$1,299.99"), ("20.00", "CHF", "CHF 20.00"), ("1200.00", "JPY", "¥1,200"),
        ("1200.50", "JPY", "¥1,200.50"), ("54000.00", "KRW", "₩54,000"), ("1.255", "KWD", "KWD 1.255"),
        ("1.50", "KWD", "KWD 1.500"), ("20.00", "CAD", "CA$20.00"), ("20.00", "HRK", "HRK 20.00"),
    ],
)  # fmt: skip
def test_an_amount_is_read_as_its_currency_is_written(amount: str, currency: str, shown: str) -> None:
    assert views.money(amount, currency) == shown


@pytest.mark.parametrize("currency", ["USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY"])
def test_a_card_shows_and_speaks_cents_where_there_are_any(currency: str) -> None:
    deal = a_deal(price="1200.00", list_price="2400.00", currency=currency)

    card = views.card(deal, NOW)
    tag = render("parts/picks.html", cards=[card], front=False)

    has_cents = currency != "JPY"
    assert card["spoken"].endswith("1,200.00" if has_cents else "1,200")
    assert card["list_price"].endswith("2,400.00" if has_cents else "2,400")
    assert ("<small>00</small>" in tag) == ("<small>" in tag) == has_cents


@pytest.mark.parametrize(
    ("list_price", "shown"), [("40.00", "$40.00"), ("20.00", None), ("20.10", None), ("10.00", None), (None, None)]
)
def test_a_list_price_is_shown_where_the_deal_is_cheaper(list_price: str | None, shown: str | None) -> None:
    assert views.card(a_deal(price="20.00", list_price=list_price), NOW)["list_price"] == shown


def test_a_card_shows_the_year_of_what_is_not_of_this_year() -> None:
    now = datetime(2026, 12, 31, 12, tzinfo=UTC)
    last, this = (a_deal(now - timedelta(days=days), ends_at=now + timedelta(hours=days)) for days in (366, 31))

    cards = [views.card(deal, now) for deal in (last, this)]

    assert [card["when"] for card in cards] == ["30 December 2025", "30 November"]
    assert [card["ends_at"] for card in cards] == ["15 Jan 2027, 18:00 UTC", "1 Jan 2027, 19:00 UTC"]


def test_a_product_of_two_days_is_two_cards() -> None:
    links = ["https://shop.example/a", "https://shop.example/b", "https://shop.example/a", "https://shop.example/c"]
    deals = [a_deal(NOW - timedelta(days=n), link=link) for n, link in enumerate(links)]

    assert views.first_groups(deals, 2) == 2


BOOT = "https://shop.example/products/boot"
VIEW = "https://shop.example/view.php"


def test_products_that_share_a_path_are_cards_of_their_own() -> None:
    titles = ("Espresso machine", "Garden hose", "Desk lamp")
    deals = [a_deal(title=title, link=f"{VIEW}?id={number}") for number, title in enumerate(titles, 1)]

    assert [card["title"] for card in views.cards(deals, NOW)] == [*titles]
    assert [views.first_groups(deals, most) for most in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("titles", "links"),
    [
        (("Boot", "Boot", "BOOT"), (f"{VIEW}?id=1", f"{VIEW}?id=2", f"{VIEW}?id=3")),
        (("Boot, red", "Boot - blue", "Boot (42)"), (f"{VIEW}?id=1", f"{VIEW}?id=2", f"{VIEW}?id=3")),
        (("Boot", "The boot", "A boot"), (f"{VIEW}?id=1", f"{VIEW}?id=1&utm_source=a", f"{VIEW}?fbclid=b&id=1")),
        (("Boot", "Boot | Dark Blue", "Boot - Bl\u00fc/Red"), (BOOT, f"{BOOT}-dark-blue", f"{BOOT}-bl-red?size=9")),
        (("Boot", "Boot", "BOOT"), (f"{BOOT}-c43762", f"{BOOT}-c43764", f"{BOOT}-c43765")),
    ],
    ids=["title", "title but for its end", "product", "a page for each colour", "a code for each colour"],
)
def test_variants_are_one_card_where_product_or_title_says_so(titles: tuple[str, ...], links: tuple[str, ...]) -> None:
    deals = [a_deal(title=title, link=link) for title, link in zip(titles, links, strict=True)]

    (card,) = views.cards(deals, NOW)

    assert card["kind"].endswith("3 colours and sizes")
    assert views.first_groups([*deals, a_deal(title="Hat")], 1) == 3
    assert len(views.cards([*deals, replace(deals[0], price="1.00")], NOW)) == 2


@pytest.mark.parametrize(
    ("title", "link"),
    [
        ("Boot - Blue", f"{BOOT}-laces"),  # another page
        ("Boot - Blue", f"{BOOT}blue"),
        ("Boot - \u84dd", f"{BOOT}-"),  # no letter of the colour is in the address
        ("Boot (Lined)", f"{BOOT}-lined"),  # another kind of boot
        ("Sandal - Blue", f"{BOOT}-blue"),
    ],
)
def test_another_page_of_a_shop_is_a_card_of_its_own(title: str, link: str) -> None:
    deals = [a_deal(title="Boot", link=BOOT), a_deal(title=title, link=link)]

    assert len(views.cards(deals, NOW)) == 2


def of_brands(*brands: str) -> list[Deal]:
    return [
        a_deal(NOW - timedelta(minutes=n), link=f"https://{n}.example/shoe", brand=brand, brand_name=brand.title())
        for n, brand in enumerate(brands)
    ]


def test_of_many_cards_of_a_brand_in_a_row_the_fourth_leads_to_the_rest() -> None:
    deals = of_brands(*["apple"] * 9, "asics", *["apple"] * 4, "asics")
    deals[6] = replace(deals[6], price="5.00")

    (day,) = views.by_day(deals, NOW, {})

    shown = [each.get("title") or (each["more"], each["brand_name"], each["spoken"]) for each in day["cards"]]
    assert shown[3] == (6, "Apple", "$5.00"), "with the lowest price of the rest"
    assert len(shown) == 3 + 1 + 1 + 4 + 1, "four in a row are shown: a card that leads to one takes its place"
    assert views.first_groups(deals, 4) == 9
    assert views.first_groups(deals, 5) == 10


@pytest.mark.parametrize(
    ("count", "lead", "shown"),
    [
        (9, True, {1: 9, 3: 7, 4: 9, 5: 6, 6: 7}),
        (13, True, {1: 13, 3: 13, 4: 13, 5: 11, 6: 13}),
        (4, True, {1: 4, 3: 4, 4: 4, 5: 4, 6: 4}),
        (8, False, {2: 8, 3: 6, 4: 8, 6: 6, 8: 8}),
        (5, False, {2: 4, 3: 3, 4: 4, 6: 5, 8: 5}),
    ],
)
def test_cards_that_are_some_of_many_fill_their_rows(count: int, lead: bool, shown: dict[int, int]) -> None:
    cards = [views.card(deal, NOW) for deal in of_brands(*["apple"] * count)]

    views.leave_out(cards, lead=lead)

    assert {columns: sum(columns not in card["unseen"] for card in cards) for columns in shown} == shown


@pytest.mark.parametrize(
    ("title", "brand", "name", "kind"),
    [
        ("Trail runner, blue", "Apple", "Trail runner", "blue"),
        ("Men's Flip Flop - Mid Yellow", "Allbirds", "Men's Flip Flop", "Mid Yellow"),
        ("Kismet Tee | Navy Stripe", "Fair Harbor", "Kismet Tee", "Navy Stripe"),
        ("Alex Crane Men's Playa Shirt", "Alex Crane", "Men's Playa Shirt", ""),
        ("ALEX CRANE: Playa Shirt (Large)", "Alex Crane", "ALEX CRANE: Playa Shirt", "Large"),
        ("Alexander shirt", "Alex", "Alexander shirt", ""),
        ("Apple", "Apple", "Apple", ""),
        ("- blue", "Apple", "- blue", ""),
        ("Lamp, in a very large and heavy box", "Apple", "Lamp, in a very large and heavy box", ""),
        (
            "Trail runner for winter - blue (dark blue sole)",
            "Apple",
            "Trail runner for winter - blue",
            "dark blue sole",
        ),
        (
            "Knife with a titanium handle (3 inch blade) K-3",
            "Apple",
            "Knife with a titanium handle\u2026 blade) K-3",
            "",
        ),
        (
            "Boot (with a lining, laces and a rubber sole inside)",
            "Apple",
            "Boot (with a lining, laces\u2026 sole inside)",
            "",
        ),
        ("Kismet" * 9, "Apple", f"{'Kismet' * 4}\u2026 etKismetKismet", ""),
    ],
)
def test_a_card_names_the_brand_once_and_the_colour_on_a_line_of_its_own(
    title: str, brand: str, name: str, kind: str
) -> None:
    card = views.card(a_deal(title=title, brand_name=brand), NOW)

    assert (card["title"], card["name"], card["kind"]) == (title, name, kind)


def test_long_names_that_differ_at_their_ends_look_different() -> None:
    cards = [
        views.card(a_deal(title=f"Women's Waterproof Insulated Winter Hiking Boot with a Zip {end}"), NOW)
        for end in ("39", "40")
    ]

    names = [card["name"] for card in cards]
    assert len({*names}) == 2
    assert max(map(len, names)) <= LONGEST


def test_a_list_without_deals_has_no_leading_one() -> None:
    assert fragments.enlarge_first_card("<p>That’s all.</p>") == "<p>That’s all.</p>"


ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "web" / "templates"
IMPORT = re.compile(r'\{% from "[^"]+" import ([^%]+) %\}')


@pytest.mark.parametrize(
    ("name", "number", "shown"),
    [
        ("unread", 3, "3 unread"), ("unread", "99+", "99+ unread"), ("unread", 0, ""), ("unread", None, ""),
        *cases("COUNTS_IN_HEAD"),
    ],
)  # fmt: skip
def test_a_page_that_knows_a_count_shows_it_without_script(name: str, number: int | str | None, shown: str) -> None:
    known: dict[str, Any] = {} if number is None else {name: number}
    answer = pages.page("about.html", **known)

    (count,) = (each for each in parsed({"body": answer.body}).iter("span") if each.get("id") == name)
    assert "".join(count.itertext()) == shown
    assert (count.get("hidden") is None) == bool(shown)


def test_a_template_imports_only_what_it_uses() -> None:
    for file in TEMPLATES.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        imported = [each.split(" as ")[-1].strip() for names in IMPORT.findall(text) for each in names.split(",")]
        rest = IMPORT.sub("", text)

        assert [name for name in imported if not re.search(rf"\b{name}\(", rest)] == [], file


def test_what_a_form_has_done_has_a_sentence_and_each_sentence_a_form() -> None:
    functions = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "functions" / "pages").rglob("*.py"))
    codes = {
        code for pair in re.findall(r'notices?=\(?"([\w-]+)"(?:, "([\w-]+)")?', functions) for code in pair if code
    }
    files = (TEMPLATES / "parts" / "sentence.html", *TEMPLATES.glob("*/in-pages.html"))
    texts = "".join(file.read_text(encoding="utf-8") for file in files)
    sentences = re.findall(r'^  "([\w-]+)": "', texts, re.MULTILINE)

    assert sorted(codes - {*sentences}) == []
    assert [code for code in sentences if f'"{code}"' not in functions] == []


ORIGIN = "https://deals.example"


def posted(body: str, media_type: str = "application/x-www-form-urlencoded") -> dict[str, Any]:
    """A form as a page function's routes see it: its body decoded."""
    return {"headers": {"Content-Type": media_type}, "body": body}


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "same-origin"}, {"sec-fetch-site": "same-origin", "origin": "null"}, {"Origin": ORIGIN}],
)
def test_a_form_of_our_own_is_taken(headers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_ORIGIN", ORIGIN)

    forms.ours_only({"httpMethod": "POST", "path": "/my/likes/brand/apple", "headers": headers})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site", "Origin": ORIGIN},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://blog.deals.example"},
        {"Sec-Fetch-Site": "none", "Origin": ORIGIN},
        {"Sec-Fetch-Site": ""},
        {"Origin": "null"},
        {"Origin": "https://evil.example", "Host": "evil.example"},
        {"Origin": "https://gateway.example", "Host": "gateway.example", "X-Forwarded-Host": "gateway.example"},
        {"Origin": f"{ORIGIN}.evil.example"},
        {"Origin": ORIGIN.replace("https", "http")},
        {"Referer": f"{ORIGIN}/account/sign-in"},
    ],
)
def test_a_form_from_elsewhere_is_refused(headers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_ORIGIN", ORIGIN)

    with pytest.raises(forms.FromElsewhere):
        forms.ours_only({"httpMethod": "POST", "path": "/my/likes/brand/apple", "headers": headers})


def test_a_site_that_does_not_know_its_origin_believes_no_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_ORIGIN", "")

    with pytest.raises(forms.FromElsewhere):
        forms.ours_only({"httpMethod": "POST", "path": "/my/likes/brand/apple", "headers": {"Origin": ""}})


def test_fields_are_read_as_they_were_typed() -> None:
    fields = forms.read(posted(urlencode({"title": "Größe 42 — 50 % & more", "note": "", "q": "  a=b+c "})))

    assert fields == {"title": "Größe 42 — 50 % & more", "note": "", "q": "  a=b+c "}
    assert forms.read({"headers": {}, "body": None}) == {}


@pytest.mark.parametrize(
    "body", ["title=%ff%fe", "title=%ED%A0%80", "a=1&a=2", "&".join(f"f{n}=" for n in range(101)), "title=é"]
)
def test_what_no_form_of_ours_sends_is_refused(body: str) -> None:
    with pytest.raises(BadRequest):
        forms.read(posted(body))


def test_another_media_type_is_no_form() -> None:
    with pytest.raises(NotAForm):
        forms.read(posted("{}", "application/json"))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(TEXTS, TEXTS, max_size=20))
def test_whatever_a_browser_encodes_comes_back(fields: dict[str, str]) -> None:
    assert forms.read(posted(urlencode(fields))) == fields


def test_a_forms_key_makes_its_sendings_one() -> None:
    key = forms.new_key()

    once = forms.idempotency({"key": key, "pieces": "3"}, "ana", {"add": 3})

    assert once is not None
    assert (once.account_id, once.client_key, once.request) == ("ana", key, {"add": 3})


@pytest.mark.parametrize("fields", [{}, {"key": ""}, {"key": "x" * 256}, {"key": "é"}, {"key": "a\nb"}])
def test_a_form_without_a_valid_key_has_no_promise_to_be_sent_once(fields: dict[str, str]) -> None:
    assert forms.idempotency(fields, "ana", {}) is None


@pytest.mark.parametrize("path", ["/", "/brands/g-fore", "/my/inbox?unread=yes&cursor=abc", "/search?q=%C3%A9t%C3%A9"])
def test_a_path_of_ours_is_led_to(path: str) -> None:
    assert forms.own_path(path, "/") == path


AWAY = [
    None, "", "brands", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example",
    "https:/evil.example", "javascript:alert(1)", "/\t/evil.example", "/\n/evil.example", " //evil.example",
    "/brands\r\nSet-Cookie: a=b", "/é", "/a b", "/../x", "/./" + "/evil.example", "/" + "a" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("text", AWAY)
def test_what_leads_away_is_ignored(text: str | None) -> None:
    assert forms.own_path(text, "/my/inbox") == "/my/inbox"


@given(st.text(st.sampled_from("/\\.:@ahtps\t\n?#%2fF")), st.booleans())
def test_wherever_it_leads_the_host_stays_ours(text: str, encoded: bool) -> None:
    led = forms.own_path(quote(text) if encoded else text, "/")

    assert urlsplit(urljoin(f"{ORIGIN}/account/sign-in", led))[:2] == ("https", "deals.example")


class Change(Body):
    quantity: int


def test_a_field_says_in_plain_words_that_it_wants_a_number() -> None:
    with pytest.raises(forms.InvalidFields) as refused:
        forms.check(Change, {"quantity": "many"})

    assert refused.value.errors == {"quantity": "This must be a whole number."}


ENTROPY = bytes(range(32))


def bringing(*lines: str, now: datetime = NOW) -> Request:
    event = {"headers": {"Cookie": lines[-1]}, "multiValueHeaders": {"Cookie": list(lines)}, "requestContext": {}}
    return Request(event, "/my/inbox", {}, now)


@pytest.fixture
def token(table: Table) -> str:
    ana = a_user("ana")
    users.create(table, ana)
    token, _ = sessions.start(table, ana, NOW, ENTROPY)
    return token


def test_the_session_is_kept_from_scripts_from_plain_http_and_from_sibling_hosts() -> None:
    session, hint = cookies.signed_in("t0ken")

    assert session == "__Host-btd=t0ken; Path=/; Secure; SameSite=Lax; HttpOnly; Max-Age=2592000"
    assert hint == "__Host-btd-in=1; Path=/; Secure; SameSite=Lax; Max-Age=2592000"


@on(FAST)
def test_the_laptops_cookies_are_taken_by_browsers_that_want_https_for_the_others(
    table: Table, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGE", "local")

    session, hint = cookies.signed_in(token)

    assert session == f"btd={token}; Path=/; SameSite=Lax; HttpOnly; Max-Age=2592000"
    assert not [line for line in (session, hint, *cookies.signed_out()) if "Secure" in line or "__Host-" in line]
    assert cookies.session_of(table, bringing(f"btd={token}")) is not None
    assert cookies.session_of(table, bringing(f"__Host-btd={token}")) is None


@on(FAST)
def test_a_programs_token_opens_no_page(table: Table, token: str) -> None:
    own, session = sessions.start(table, users.get(table, "ana"), NOW, bytes(32), program="Import")

    assert sessions.authenticate(table, own, NOW) == session
    assert cookies.session_of(table, bringing(f"__Host-btd={own}")) is None
    assert cookies.session_of(table, bringing(f"__Host-btd={token}")) is not None


def test_signing_out_ends_both() -> None:
    assert [value.partition("=")[0] for value in cookies.signed_out()] == ["__Host-btd", "__Host-btd-in"]
    assert all("Max-Age=0" in value for value in cookies.signed_out())


@on(FAST)
def test_a_session_is_found_among_other_cookies(table: Table, token: str) -> None:
    request = bringing("theme=dark; btd-in=1", f"a=b;__Host-btd={token}")

    session = cookies.session_of(table, request)

    assert session is not None
    assert session.username == request.username == "ana"


GUESSED = [
    "", "__Host-btd=", "__Host-btd=guessed", "btd={token}", "__host-btd={token}",
    "__Host-btd={token}; __Host-btd=another", "__Host-btd={token}é", "__Host-btd={token}" + "x" * 200, "btd-in=1",
]  # fmt: skip


@on(FAST)
def test_a_guessed_cookie_belongs_to_no_one(table: Table, token: str) -> None:
    for cookie in GUESSED:
        request = bringing(cookie.replace("{token}", token))

        assert cookies.session_of(table, request) is None
        assert request.username is None
