"""Countries, and their postal codes."""

from __future__ import annotations

from features.shop import bodies


def test_postal_codes_are_needed_where_a_country_has_them() -> None:
    needed = {code: bodies.needs_postal_code(code) for code in ("US", "CH", "JP", "HK", "AE", "IE")}

    assert needed == {"US": True, "CH": True, "JP": True, "HK": False, "AE": False, "IE": False}
    assert not {"XX", "ZZ", "us"} & bodies.countries().keys()
