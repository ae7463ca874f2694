"""Names, times, ids, links and money."""

from __future__ import annotations

import json
import re
import string
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.dynamodb.attributes import marshal, marshal_item, unmarshal, unmarshal_item
from shared.dynamodb.table import Table
from shared.errors import InvalidName
from shared.values import directions, identifiers, links, money, naming, passwords, times
from shared.values.naming import normalise_email, normalise_username
from tools import standards

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.one_of(
        TEXTS, st.integers(-(10**37), 10**37), st.booleans(), st.sets(TEXTS.filter(bool), min_size=1, max_size=3)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@given(VALUES)
def test_a_value_comes_back_as_it_went(value: Any) -> None:
    assert unmarshal(marshal(value)) == value
    assert type(unmarshal(marshal(value))) is type(value)


def test_an_item_comes_back_from_the_engine_as_it_went(bare_table: Table) -> None:
    item = {
        "PK": "X",
        "SK": "X",
        "Text": "é🙂\n",
        "Number": 12_345_678_901_234_567_890,
        "Truth": True,
        "Bytes": b"\x00\xff",
        "List": ["a", 1, {"b": False}],
        "Map": {"2050-06-15": 3, "empty": "", "deep": {"er": []}},
        "Set": {"b", "a"},
    }

    bare_table.client.put_item(TableName=bare_table.name, Item=marshal_item(item))

    assert bare_table.get({"PK": "X", "SK": "X"}) == item


def test_what_is_none_is_left_out_of_an_item() -> None:
    assert unmarshal_item(marshal_item({"A": None, "B": "b"})) == {"B": "b"}


@pytest.mark.parametrize("value", [None, 1.5, set(), ...], ids=repr)
def test_what_the_table_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        marshal(value)


def test_a_text_of_a_time_is_utc_and_whole_seconds() -> None:
    in_kolkata = datetime(2026, 6, 5, 1, 58, 53, 999_999, tzinfo=timezone(timedelta(hours=5, minutes=30)))

    assert times.to_iso(in_kolkata) == "2026-06-04T20:28:53Z"
    assert times.from_iso("2026-06-05T01:58:53+05:30") == datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC)
    assert times.from_iso("2026-06-04T20:28:53Z").tzinfo is UTC


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-06-04", "2026-06-04T20:28:53", "20:28:53Z", "2026-06-31T00:00:00Z"]
)
def test_a_text_that_names_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        times.from_iso(text)


def test_a_password_is_hashed_by_argon2id_with_a_salt_of_its_own() -> None:
    one, other = passwords.hash_password("correct horse"), passwords.hash_password("correct horse")

    assert one != other
    assert one.startswith("$argon2id$")
    assert passwords.verify_password(one, "correct horse")
    assert not passwords.verify_password(one, "Correct horse")


def test_the_password_of_an_unknown_name_is_never_right() -> None:
    assert not passwords.verify_password(None, "nobody's password")
    assert not passwords.verify_password(None, "")
    assert not passwords.verify_password("no hash", "no hash")


SAME = (
    "https://www.Shop.example/view.php?id=1&size=l",
    "http://shop.example/view.php?size=l&id=1&",
    "https://shop.example:443/view.php/?id=1&size=l#reviews",
    "https://shop.example/%76iew.php?utm_source=mail&UTM_Medium=x&id=1&gclid=a&size=l&fbclid=b&mc_eid=c&msclkid=d",
    "https://shop.example/view.php?%75tm_campaign=x&id=%31&size=l",
)


@pytest.mark.parametrize("link", SAME)
def test_spellings_and_tracking_do_not_change_a_product(link: str) -> None:
    assert links.product(link) == "shop.example/view.php?id=1&size=l"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("www.shop.example", "shop.example"),
        ("münchen.example", "münchen.example"),
        ("пример.рф", "пример.рф"),
        ("日本のみせ.jp", "日本のみせ.jp"),
        # Cyrillic letters that look like Latin ones: among those, or all before a Latin ending.
        ("g\u043e\u043egle.com", "xn--ggle-55da.com"),
        ("\u0430\u0440\u0440\u04cf\u0435.com", "xn--80ak6aa92e.com"),
        ("\u0391\u03a1\u03a1LE.com", "xn--le-b9b8da.com"),
        ("xn--80ak6aa92e.com", "xn--80ak6aa92e.com"),
        # Signs and letters that look like a slash or a dot, turn the name around, or can't be seen.
        ("apple.com\u2215a.example", "apple.xn--coma-id9a.example"),
        ("apple.com\u30cea.example", "apple.xn--coma-xq4c.example"),
        ("apple\u3002com.example", "apple.com.example"),
        ("a\u200bpple.com", "apple.com"),
        ("a\u0338pple.com", "xn--apple-mod.com"),
        ("\u202eelppa.example", "%E2%80%AEelppa.example"),
        ("コーヒー.jp", "コーヒー.jp"),
        ("楽天.com", "楽天.com"),
    ],
)
def test_a_shops_name_in_mixed_scripts_is_shown_in_ascii(name: str, shown: str) -> None:
    assert links.shown_host(f"https://{name}/offer") == shown


def test_the_data_model_names_each_parameter_that_only_tracks() -> None:
    document = (Path(__file__).parents[2] / "docs" / "data-model.md").read_text(encoding="utf-8")

    assert [name for name in links.TRACKING if f"`{name}`" not in document] == []


def test_the_query_of_an_address_distinguishes_products() -> None:
    different = [
        "https://shop.example/view.php",
        *(f"https://shop.example/view.php?id={number}" for number in (1, 2, 3)),
        "https://shop.example/view.php?ID=1",
        "https://shop.example/View.php?id=1",
        "https://shop.example:8443/view.php?id=1",
        "https://shop.example/a%2Fb",
        "https://shop.example/a/b",
        "https://shop.example/#/lamp",
        "https://shop.example/#!/hose",
        "https://[broken/view.php",
        "https://shop.example:port/view.php",
    ]

    assert len({links.product_hash(link) for link in different}) == len(different)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://shop.example/caf%c3%a9?q=%e9", "https://shop.example/café?q=%E9"),
        ("https://shop.example/a%7Eb?q=trail%20shoe", "https://shop.example/a~b?q=trail+shoe"),
        ("https://bücher.example/a", "https://xn--bcher-kva.example/a/"),
    ],
)
def test_an_address_is_one_product_however_it_is_encoded(one: str, other: str) -> None:
    assert links.product(one) == links.product(other)


def test_a_plain_address_is_its_own_product() -> None:
    link = "https://www.shop.example/trail-runner/"

    assert links.product(link) == links.page(link) == "shop.example/trail-runner"


@pytest.mark.parametrize(
    ("link", "encoded"),
    [
        ("https://shop.example/a?b=c%20d&e=1#f", "https://shop.example/a?b=c%20d&e=1#f"),
        ("https://shop.example/Schuh größe?q=é|", "https://shop.example/Schuh%20gr%C3%B6%C3%9Fe?q=%C3%A9%7C"),
        ("https://bücher.example:8443/", "https://xn--bcher-kva.example:8443/"),
    ],
)
def test_an_address_is_percent_encoded_for_a_header(link: str, encoded: str) -> None:
    assert links.encoded(link) == links.encoded(links.encoded(link)) == encoded


CODES = st.sampled_from(sorted(money.currencies()))


def test_the_data_are_what_the_libraries_say() -> None:
    assert {path: path.read_text(encoding="utf-8") for path in standards.written()} == standards.written()


@pytest.mark.parametrize(
    ("currency", "decimals", "sign"),
    [
        ("USD", 2, "$"), ("EUR", 2, "€"), ("GBP", 2, "£"), ("JPY", 0, "¥"), ("KRW", 0, "₩"), ("CHF", 2, "CHF"),
        ("CAD", 2, "CA$"), ("KWD", 3, "KWD"), ("CLF", 4, "CLF"), ("HRK", 2, "HRK"),
    ],
)  # fmt: skip
def test_a_currency_has_its_decimals_and_its_sign(currency: str, decimals: int, sign: str) -> None:
    assert (money.decimals(currency), money.sign(currency)) == (decimals, sign)


def test_metals_funds_and_codes_for_tests_are_no_currencies() -> None:
    assert not {"XAU", "XDR", "XTS", "XXX", "usd", "ZZZ"} & money.currencies().keys()


@given(CODES, st.integers(0, 10**12))
def test_units_are_written_and_counted_again(currency: str, units: int) -> None:
    amount = money.of_units(units, currency)

    assert money.units(amount, currency) == units
    assert money.amount(amount) == money.normal(amount) == amount


@pytest.mark.parametrize(
    ("amount", "currency", "units"),
    [
        ("31.90", "USD", 3190),
        ("1200.00", "JPY", 120_000),
        ("1.25", "KWD", 1250),
        ("1.255", "KWD", 1255),
        ("5", "USD", 500),
    ],
)
def test_an_amount_is_counted_in_the_smallest_units_it_was_ever_stored_in(
    amount: str, currency: str, units: int
) -> None:
    assert money.units(amount, currency) == units


@pytest.mark.parametrize(
    ("amount", "currency", "said"),
    [
        ("12.50", "JPY", "An amount in JPY must have no decimals."),
        ("1.255", "USD", "An amount in USD must have at most 2 decimals."),
        ("1.2345", "KWD", "An amount in KWD must have at most 3 decimals."),
        ("1200.00", "JPY", None), ("1200", "JPY", None), ("1.255", "KWD", None), ("1.250", "USD", None),
    ],
)  # fmt: skip
def test_an_amount_has_no_more_decimals_than_its_currency(amount: str, currency: str, said: str | None) -> None:
    assert money.fault(amount, currency) == said


@pytest.mark.parametrize(
    ("typed", "amount", "sign"),
    [
        ("¥1,200", "1200", "¥"), ("€19.00", "19.00", "€"), ("19.00 €", "19.00", "€"), ("CHF 20", "20", "CHF"),
        ("CA$1,299.99", "1299.99", "CA$"), ("31.9", "31.9", ""), (" $ 5 ", "5", "$"), ("kr 100", "100", "kr"),
        ("19,5", "19.5", ""), ("1.299,00 €", "1299.00", "€"), ("19,5,0", "19,5,0", ""),
        ("five", "five", ""), ("$5 USD", "$5 USD", ""), ("-5", "-5", ""), ("", "", ""),
    ],
)  # fmt: skip
def test_a_typed_amount_is_read_with_its_sign(typed: str, amount: str, sign: str) -> None:
    assert money.read(typed) == (amount, sign)


@pytest.mark.parametrize(
    ("sign", "of", "not_of"),
    [
        ("$", ("USD", "CAD", "AUD"), ("EUR", "JPY", "CHF")), ("¥", ("JPY", "CNY"), ("USD",)), ("€", ("EUR",), ("USD",)),
        ("CA$", ("CAD",), ("USD", "AUD")), ("US$", ("USD",), ("CAD",)), ("chf", ("CHF",), ("USD",)),
        ("kr", (), ("SEK", "USD")),
    ],
)  # fmt: skip
def test_a_sign_may_be_of_several_currencies(sign: str, of: tuple[str, ...], not_of: tuple[str, ...]) -> None:
    assert [code for code in (*of, *not_of) if money.is_of(sign, code)] == list(of)


def test_amounts_are_read_in_one_way_with_a_sign_where_the_currency_has_one() -> None:
    assert money.text("71.99", "USD") == "$71.99"
    assert money.sums({"USD": "1299.00", "CHF": "5.00", "JPY": "1200.00"}) == "$1,299.00 and CHF 5.00 and ¥1,200"


CODE_BESIDE_AMOUNT = re.compile(
    r"currency['\"\]]*\}\}? \{\{?[^}]*(price|amount|ceiling)|(price|amount|ceiling)['\"\]]*\}\}? \{\{?[^}]*currency"
    r"|currency ~ \" \" ~|~ \" \" ~ [\w.]*currency"
)
"""A text that sets an amount beside its currency itself, in an f-string or a template."""


def test_no_text_sets_an_amount_beside_its_currency_by_itself() -> None:
    root = Path(__file__).resolve().parents[2]
    sources = [path for name in ("functions", "shared", "cli", "local") for path in (root / name).rglob("*.py")]
    sources += (root / "web" / "templates").rglob("*.html")

    found = {
        f"{path.relative_to(root)}: {text[0]}"
        for path in sources
        for text in CODE_BESIDE_AMOUNT.finditer(path.read_text(encoding="utf-8"))
    }

    assert CODE_BESIDE_AMOUNT.search('f"{deal.currency} {deal.price}"')
    assert CODE_BESIDE_AMOUNT.search("""f"{deal['price']} {deal['currency']}" """)
    # What tells cards or messages apart, and is not shown.
    assert found == {
        "shared/html/views.py: price} {deal.currency",
        "shared/data/catalog/search.py: price} {match.currency",
        "shared/data/members/messages.py: price} {about.currency",
    }


SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "deals.jsonl"


SLUGS = {
    "apple": ("Apple", "APPLE", "apple"),
    "g-fore": ("G/Fore", "g/fore", "G FORE", "g.fore", "Ｇ／ｆｏｒｅ", "G🏌Fore", " g-fore "),
    "nicolo": ("Nicoló", "Nicolo\N{COMBINING ACUTE ACCENT}"),
    "manana": ("Mañana",), "04651-a-trip-in-a-bag": ("04651 / A Trip In A Bag",), "arc-teryx": ("Arc'teryx",),
    "mizzen-plus-main": ("Mizzen+Main", "mizzen ＋ main"), "so-fr-at": ("So Fr@",),
    "patagonia-inc": ("Patagonia, Inc.",),
    "drake-waterfowl-systems-icon": ("Drake Waterfowl Systems (Icon)",), "lyle-and-scott": ("  --Lyle & Scott--  ",),
    "strasse": ("Straße",), "asics": ("ＡＳＩＣＳ",), "5": ("№5",), "fun-house": ("Fun 🎉 House",), "a-b": ("a\0b",),
    "a-plus": ("A+",), "a": ("A",), "c-sharp": ("C#",), "c-plus-plus": ("C++",), "m-star": ("M*",),
    "rag-bone": ("Rag Bone", "Rag-Bone", "Rag’Bone™"), "rag-plus-bone": ("Rag+Bone",),
    "rag-and-bone": ("Rag & Bone", "Rag and Bone", "RAG＆BONE"), "at-and-t": ("AT&T",), "c": ("C", "C."),
    "p-bang-nk": ("P!nk",), "guess-query": ("Guess?",), "euro-uro": ("€uro",),
    "brand-sharp-like": ("brand#like",), "a-percent-2fb-query-c": ("a%2Fb?c",),
}  # fmt: skip


@pytest.mark.parametrize(("name", "slug"), [(name, slug) for slug, names in SLUGS.items() for name in names])
def test_a_slug_is_ascii_lower_case_with_single_hyphens(name: str, slug: str) -> None:
    assert naming.slug(name) == slug


@pytest.mark.parametrize(
    "name", ["", " ", "-", "#", "/", "🎉", "🎉🎉", "\0", "\N{RIGHT-TO-LEFT MARK}", "…", "™", "\ud800"]
)
def test_a_name_without_letters_or_digits_has_no_slug(name: str) -> None:
    with pytest.raises(InvalidName):
        naming.slug(name)


def test_a_name_may_be_as_long_as_a_key_bears() -> None:
    assert naming.slug("X" * 100) == "x" * 100
    with pytest.raises(InvalidName):
        naming.slug("x" * 101)
    with pytest.raises(InvalidName):
        naming.slug("北" * 60)  # short as it is written, long when it is spelled out


@given(st.text(max_size=60))
def test_whatever_the_name_its_slug_is_one_and_stays_one(name: str) -> None:
    try:
        slug = naming.slug(name)
    except InvalidName:
        return

    assert naming.is_slug(slug)
    assert set(slug) <= set(string.ascii_lowercase + string.digits + "-")
    assert naming.slug(slug) == slug


@given(st.text(alphabet=string.ascii_letters + string.digits + " /&'+.", min_size=1, max_size=40))
def test_upper_and_lower_case_make_one_slug(name: str) -> None:
    try:
        slug = naming.slug(name)
    except InvalidName:
        return

    assert naming.slug(name.upper()) == naming.slug(name.lower()) == slug


def test_a_title_from_right_to_left_is_isolated_in_a_sentence() -> None:
    assert directions.isolated("נעלי ריצה 270") == "\u2068נעלי ריצה 270\u2069"
    assert [directions.isolated(title) for title in ("Trail runner", "Überzüge", "运动鞋")] == [
        "Trail runner",
        "Überzüge",
        "运动鞋",
    ]


def test_the_brands_of_real_deals_have_slugs_of_their_own() -> None:
    brands = {json.loads(line)["brand"] for line in SAMPLE.read_text(encoding="utf-8").splitlines()}

    by_slug: dict[str, set[str]] = {}
    for brand in brands:
        by_slug.setdefault(naming.slug(brand), set()).add(brand)

    shared = [names for names in by_slug.values() if len(names) > 1]
    assert sorted(sorted(names) for names in shared) == [["ASICS", "Asics"], ["GORUCK", "GoRuck"]]


@pytest.mark.parametrize(
    ("written", "username"),
    [("ana", "ana"), (" Ana ", "ana"), ("ANA.B_C-9", "ana.b_c-9"), ("ａｎａ", "ana"), ("\N{KELVIN SIGN}im", "kim"),
     ("a", "a"), ("a" * 30, "a" * 30)],
)  # fmt: skip
def test_a_username_is_compared_in_lower_case(written: str, username: str) -> None:
    assert normalise_username(written) == username


@pytest.mark.parametrize(
    "forged",
    [
        "", " ", "#", "ana#bo", "ana＃bo", "ana/bo", "ana%2Fbo", "ana?", "ana bo", "ana\nbo", "ana\0",
        "\N{RIGHT-TO-LEFT OVERRIDE}ana", "an\N{ZERO WIDTH SPACE}a", "an\N{SOFT HYPHEN}a", "аna", "anа", "ana🙂", "añа",
        "ana\N{COMBINING ACUTE ACCENT}", ".", ".ana", "ana.", "-ana", "_", "a" * 31, "USER#ana", "\ud800",
        "ana@mail.example", "an\0a", "١٢٣",
    ],
)  # fmt: skip
def test_a_username_that_looks_like_another_or_like_a_key_is_refused(forged: str) -> None:
    with pytest.raises(ValueError, match="must be 1 to 30 of"):
        normalise_username(forged)


@given(st.text(max_size=40))
def test_whatever_is_accepted_as_a_username_breaks_no_key(text: str) -> None:
    try:
        name = normalise_username(text)
    except ValueError:
        return

    assert set(name) <= set(string.ascii_lowercase + string.digits + "._-")
    assert normalise_username(name) == name


@pytest.mark.parametrize(
    ("written", "address"), [(" Ana@Mail.Example ", "ana@mail.example"), ("a+b@mail.example", "a+b@mail.example")]
)
def test_an_address_is_compared_in_lower_case(written: str, address: str) -> None:
    assert normalise_email(written) == address


@pytest.mark.parametrize(
    "forged",
    ["", "ana", "@", "ana@", "@mail.example", "ana@mail", "a#b@mail.example", "a b@mail.example", "a\0@mail.example",
     "a@b@mail.example", "a@mail..example", "a@m\0il.example", "é@x.example", "ana@mail.example" + "x" * 250,
     "a@mail.example, b@mail.example", "a@mail.example\nBcc: b@mail.example"],
)  # fmt: skip
def test_what_is_no_address_is_refused(forged: str) -> None:
    with pytest.raises(ValueError, match="email"):
        normalise_email(forged)


# Of the KSUID specification, https://github.com/segmentio/ksuid: an id, its seconds since the epoch and its payload.
VECTORS = [
    ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", 107_608_047, "b5a1cd34b5f99d1154fb6853345c9735"),
    ("0ujzPyRiIAffKhBux4PvQdDqMHY", 107_610_780, "73fc1aa3b2446246d6e89fcd909e8fe8"),
    ("000000000000000000000000000", 0, "00000000000000000000000000000000"),
    ("aWgEPTl1tmebfsQzFP4bxwgy80V", 2**32 - 1, "ffffffffffffffffffffffffffffffff"),
]


@pytest.mark.parametrize(("ksuid", "seconds", "payload"), VECTORS)
def test_a_ksuid_is_what_its_specification_says(ksuid: str, seconds: int, payload: str) -> None:
    when = identifiers.EPOCH + timedelta(seconds=seconds)

    assert identifiers.random(when, bytes.fromhex(payload)) == ksuid
    assert identifiers.time_of(ksuid) == when
    assert identifiers.is_ksuid(ksuid)


@pytest.mark.parametrize(
    "text",
    ["", "0" * 26, "0" * 28, "aWgEPTl1tmebfsQzFP4bxwgy80W", "z" * 27, "0" * 26 + "-", "0" * 26 + "é", "０" * 27,
     "0" * 26 + "\n", " " + "0" * 26, "0" * 27 + "\n"],
)  # fmt: skip
def test_what_is_no_ksuid_is_refused(text: str) -> None:
    assert not identifiers.is_ksuid(text)
    with pytest.raises(ValueError, match="KSUID"):
        identifiers.time_of(text)


@pytest.mark.parametrize("when", [identifiers.EPOCH - timedelta(seconds=1), datetime(2151, 1, 1, tzinfo=UTC)])
def test_a_time_that_no_ksuid_holds_is_refused(when: datetime) -> None:
    with pytest.raises(ValueError, match="KSUID"):
        identifiers.random(when, bytes(16))
    with pytest.raises(ValueError, match="KSUID"):
        identifiers.derived(when, "deal", "shop:1")


TIMES = st.datetimes(datetime(2014, 5, 14), datetime(2150, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # as asked


@given(TIMES, TIMES, st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_ids_of_different_seconds_sort_as_their_times(a: datetime, b: datetime, one: bytes, other: bytes) -> None:
    earlier, later = sorted([a.replace(microsecond=0), b.replace(microsecond=0)])

    if earlier < later:
        assert identifiers.random(earlier, one) < identifiers.random(later, other)
    assert identifiers.time_of(identifiers.random(a, one)) == a.replace(microsecond=0)


def test_a_derived_id_depends_on_all_that_it_is_made_of() -> None:
    when = datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC)

    made = {
        identifiers.derived(when, "deal", "a"),
        identifiers.derived(when, "deal", "b"),
        identifiers.derived(when, "deala"),
        identifiers.derived(when, "message", "a"),
        identifiers.derived(when + timedelta(seconds=1), "deal", "a"),
    }

    assert len(made) == 5
    assert identifiers.derived(when, "deal", "a") in made
