"""Slugs, usernames, addresses and ids: the one form in which each is compared and put into keys."""

from __future__ import annotations

import json
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidName
from shared.values import identifiers, naming
from shared.values.naming import normalise_email, normalise_username

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "deals.jsonl"


SLUGS = {
    "apple": ("Apple", "APPLE", "apple"),
    "g-fore": ("G/Fore", "g/fore", "G FORE", "g#fore", "Ｇ／ｆｏｒｅ", "G🏌Fore", " g-fore "),
    "nicolo": ("Nicoló", "Nicolo\N{COMBINING ACUTE ACCENT}"),
    "manana": ("Mañana",), "04651-a-trip-in-a-bag": ("04651 / A Trip In A Bag",), "arc-teryx": ("Arc'teryx",),
    "mizzen-main": ("Mizzen+Main",), "so-fr": ("So Fr@",), "patagonia-inc": ("Patagonia, Inc.",),
    "drake-waterfowl-systems-icon": ("Drake Waterfowl Systems (Icon)",), "lyle-scott": ("  --Lyle & Scott--  ",),
    "strasse": ("Straße",), "asics": ("ＡＳＩＣＳ",), "5": ("№5",), "fun-house": ("Fun 🎉 House",), "a-b": ("a\0b",),
    "brand-like": ("brand#like",), "a-2fb-c": ("a%2Fb?c",),
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
def test_what_is_no_ksuid_is_told(text: str) -> None:
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
