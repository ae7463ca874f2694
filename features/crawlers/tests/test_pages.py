"""Sitemaps and what crawlers leave out."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from features.crawlers import pages
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import times
from tests.pages.conftest import ask, now, posted, table  # noqa: F401  # fixtures
from tests.support.browsing import Ask, parsed
from tests.support.factories import a_deal, post


def test_the_sitemap_names_every_listed_deal_the_front_page_the_categories_and_the_brands(
    ask: Ask, now: datetime, posted: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, mapped = ask("/sitemap.xml")["body"], ask("/sitemap-pages.xml")["body"]
    month = f"/sitemap-{posted[0].created_at:%Y-%m}.xml"
    newest = f"https://deals.example/deals/{posted[0].number}<"

    assert f"/sitemap-{now:%Y-%m}.xml" in index
    assert "https://deals.example/sitemap-pages.xml<" in index
    for path in ("/", "/categories/shoes", f"/brands/{posted[0].brand}"):
        assert f"<loc>https://deals.example{path}</loc>" in mapped
    assert newest in ask(month)["body"]
    assert ask("/sitemap-1999-01.xml")["statusCode"] == 404
    monkeypatch.setattr(pages, "MOST_MAPPED", 1)
    bounded = ask(month)["body"]
    assert (bounded.count("<loc>"), newest in bounded) == (1, True)


def test_a_sitemap_follows_an_edit(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    deal, edited = posted[0], now + timedelta(minutes=1)
    deals.edit(table, deal.deal_id, {"title": "Renamed"}, edited)

    assert f"<lastmod>{times.to_iso(edited)}<" in ask(f"/sitemap-{deal.created_at:%Y-%m}.xml")["body"]


def test_crawlers_leave_out_private_pages_and_find_the_sitemap(ask: Ask) -> None:
    answer = ask("/robots.txt")

    assert answer["multiValueHeaders"]["Content-Type"] == ["text/plain; charset=utf-8"]
    lines = answer["body"].splitlines()
    assert (lines[0], lines[-1]) == ("User-agent: *", "Sitemap: https://deals.example/sitemap.xml")
    assert {"Disallow: /my/", "Disallow: /account"} <= {*lines}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=st.text(min_size=1, max_size=300))
def test_a_deals_page_says_as_data_what_the_deal_is(ask: Ask, table: Table, now: datetime, title: str) -> None:
    title = f"</script><b>{title}"
    (deal,) = post(table, [a_deal(now, title=title, price="1200.00", list_price=None, currency="JPY")], now)

    (script,) = parsed(ask(f"/deals/{deal.number}"), strict=False).findall(".//script[@type='application/ld+json']")

    product = json.loads(script.text)
    assert (product["name"], product["brand"]["name"], product["category"]) == (title, "Apple", "Shoes")
    assert product["offers"] == {
        "@type": "Offer",
        "url": f"https://deals.example/deals/{deal.number}",
        "price": "1200.00",
        "priceCurrency": "JPY",
        "availability": "https://schema.org/InStock",
    }
