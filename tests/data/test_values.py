"""Values on their way into the table and out of it: attributes, times, passwords."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.dynamodb.attributes import marshal, marshal_item, unmarshal, unmarshal_item
from shared.dynamodb.table import Table
from shared.values import links, passwords, times

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


def test_nobodys_password_is_never_right() -> None:
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


def test_the_data_model_names_each_parameter_that_only_tracks() -> None:
    document = (Path(__file__).parents[2] / "docs" / "data-model.md").read_text(encoding="utf-8")

    assert [name for name in links.TRACKING if f"`{name}`" not in document] == []


def test_what_an_address_asks_for_tells_products_apart() -> None:
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


def test_a_plain_address_is_filed_where_the_first_release_filed_it() -> None:
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
