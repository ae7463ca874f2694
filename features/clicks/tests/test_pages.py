"""``/go``: which clicks are counted, and where they lead."""

from __future__ import annotations

from datetime import datetime

import pytest

from features.clicks import clicks as function
from features.clicks.data import clicks
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.runtime import environment
from tests.pages.conftest import now, posted, table  # noqa: F401  # fixtures
from tests.support.browsing import Ask
from tests.support.rights import within_rights
from tests.support.surroundings import a_context, event_of
from tests.support.wire import watched

READER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}
OPENED = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture
def follow(table: Table) -> Ask:  # the fixture
    """Follow ``/go``."""
    handler = within_rights(function)
    return lambda path, method="GET", **how: handler(event_of(path, method, **how), a_context())


def test_a_click_takes_two_reads_and_two_writes(follow: Ask, posted: list[Deal]) -> None:
    with watched(environment.table()) as wire:
        follow(f"/go/{posted[0].number}", headers=READER)

    assert wire.operations == {"GetItem": 2, "PutItem": 1, "UpdateItem": 1}


@pytest.mark.parametrize(
    "sent",
    [{}, OPENED | {"Sec-Fetch-Site": "same-origin"}, OPENED | {"Sec-Fetch-Site": "none"}],
    ids=["an old browser", "a link on our pages", "a typed address"],
)
def test_a_click_is_counted_once_an_hour(follow: Ask, table: Table, posted: list[Deal], sent: dict[str, str]) -> None:
    for deal, counted in ((posted[0], [1, 0]), (posted[0], [1, 0]), (posted[1], [1, 1])):
        answer = follow(f"/go/{deal.number}", headers=READER | sent)

        assert answer["statusCode"] == 302
        assert answer["multiValueHeaders"]["Location"] == [deal.link]
        assert answer["multiValueHeaders"]["Cache-Control"] == ["no-store"]
        assert [*clicks.of(table, [each.deal_id for each in posted[:2]]).values()] == counted


def test_who_only_looks_is_not_counted(follow: Ask, table: Table, posted: list[Deal]) -> None:
    """All requests that open no page are in ``tests/html/test_apps.py``."""
    elsewhere = [READER | OPENED | {"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")]
    looks = [{"User-Agent": "Googlebot/2.1"}, {}, READER | {"Sec-Purpose": "prefetch"}, *elsewhere]

    for method, sent in (*(("GET", each) for each in looks), ("HEAD", READER)):
        assert follow(f"/go/{posted[0].number}", method, headers=sent)["statusCode"] == 302

    assert clicks.of(table, [posted[0].deal_id]) == {posted[0].deal_id: 0}


def test_an_ended_deal_leads_to_its_page_alone(follow: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    deals.withdraw(table, posted[0].deal_id, now)

    answer = follow(f"/go/{posted[0].number}", headers=READER)

    assert (answer["statusCode"], answer["multiValueHeaders"]["Location"]) == (303, [f"/deals/{posted[0].number}"])
    assert follow("/go/999999", headers=READER, query={"link": "https://evil.example"})["statusCode"] == 404
