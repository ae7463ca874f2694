"""Each event of ``events/``, handed by Lambda's own runtime client to the built artifact of the function it is for."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from infra.stage import ON_LAMBDA
from shared import settings
from shared.api.app import token_of
from shared.data import keys
from shared.data.catalog import deals, feeds, page_cache, topics
from shared.data.catalog.deals import from_item
from shared.data.catalog.page_cache import NEWEST
from shared.data.members import alerts, follows, messages, sessions, users
from shared.dynamodb.attributes import unmarshal_item
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, Deal, Topic
from shared.models.members import Limits
from shared.values import identifiers, times
from tests.functions.test_background_functions import cloudformation
from tests.invoke.conftest import INSTEAD, IS_LAMBDAS, RUNTIME, Place
from tests.support.factories import a_deal, a_user, account_of, join
from tests.support.surroundings import EVENTS, event

pytestmark = pytest.mark.thorough  # it builds the artifact of each function
Invoke = Callable[[str, bytes], Any]

FUNCTIONS = {
    "accounts-sign-up": ["accounts"],
    "authorizer-request": ["authorizer"],
    "editors-post-deal": ["editors"],
    "expiry-schedule": ["expiry"],
    "members-like-brand": ["members"],
    "messenger-alerts": ["messenger"],
    "messenger-work": ["messenger"],
    "refresher-schedule": ["refresher"],
    "seed-create": ["seed"],
    "seed-delete": ["seed"],
    "catalog-all-brands": ["catalog"],
    "catalog-brand-page": ["catalog"],
    "stream-insert": ["publisher", "refresher"],
    "stream-insert-old-date": ["publisher", "refresher"],
    "stream-modify-hot": ["publisher", "refresher"],
    "stream-modify-withdrawn": ["publisher", "refresher"],
    "stream-ttl-remove": ["publisher", "refresher"],
}
"""The functions that each event is for."""

G_FORE, SHOES = Topic(BRAND, "g-fore"), Topic(CATEGORY, "shoes")
NO_FAILURES: dict[str, list[str]] = {"batchItemFailures": []}


def text_of(name: str) -> bytes:
    return json.dumps(event(name)).encode()


@pytest.fixture
def deal(place: Place) -> Deal:
    """The deal that the events are about, as they found it."""
    image = event("stream-insert")["Records"][0]["dynamodb"]["NewImage"]
    return deals.create(place.table, from_item(unmarshal_item(image)), times.now())


def queued(place: Place) -> list[dict[str, Any]]:
    return [json.loads(message.body) for message in place.queue.receive()]


def kinds_of(place: Place) -> list[list[str]]:
    """The kinds of messages that Ana has, and Ben."""
    announced = datetime.fromtimestamp(1781273100, UTC)  # when the event was: the messages have ended since
    found = (messages.latest(place.table, who, limit=9, now=announced).items for who in ("ana", "ben"))
    return [[message.kind for message in each] for each in found]


def newest(place: Place) -> str:
    """The copy of the newest deals."""
    (cached,) = page_cache.read(place.table, [NEWEST], shard=1, now=times.now())
    assert cached is not None
    return cached.text


def stream(invoke: Invoke, name: str) -> None:
    """Hand a change of the stream to both of its readers, neither of which fails."""
    assert [invoke(reader, text_of(name)).payload for reader in ("publisher", "refresher")] == [NO_FAILURES] * 2


def test_functions_run_on_the_python_of_their_runtime() -> None:
    if not IS_LAMBDAS:
        pytest.skip(INSTEAD)
    assert RUNTIME.python == ON_LAMBDA.python


def test_each_event_is_here() -> None:
    assert set(FUNCTIONS) == {file.stem for file in EVENTS.glob("*.json")}


def test_signing_up(place: Place, invoke: Invoke) -> None:
    answer = invoke("accounts", text_of("accounts-sign-up"))

    assert answer.payload["statusCode"] == 201
    assert users.get(place.table, "ana").name == "Ana Müller"
    assert '"message":"request"' in answer.log


def test_being_known_by_a_token(place: Place, invoke: Invoke) -> None:
    request = event("authorizer-request")
    join(place.table, "ana")
    token, session = sessions.start(place.table, a_user(), times.now(), bytes(range(identifiers.BYTES)))
    signed_in = json.loads(json.dumps(request).replace(token_of(request), token))

    refused, allowed = (invoke("authorizer", json.dumps(each).encode()).payload for each in (request, signed_in))

    effects = [answer["policyDocument"]["Statement"][0]["Effect"] for answer in (refused, allowed)]
    assert effects == ["Deny", "Allow"]
    ana = {"username": "ana", "role": "member", "accountId": account_of("ana"), "generation": session.generation}
    assert allowed["context"] == ana


def test_posting_a_deal(place: Place, invoke: Invoke) -> None:
    answer = invoke("editors", text_of("editors-post-deal"))

    assert answer.payload["statusCode"] == 201
    deal_id = json.loads(answer.payload["body"])["dealId"]
    assert deals.find(place.table, deal_id).brand == "g-fore"


def test_sweeping_what_has_ended(place: Place, invoke: Invoke) -> None:
    now = times.now()
    yesterday = now - timedelta(days=1)
    ended = a_deal(yesterday, brand="g-fore", ends_at=yesterday + timedelta(seconds=1))
    stays = a_deal(yesterday, brand="g-fore", ends_at=now + timedelta(days=1))
    for posted in (ended, stays):
        deals.create(place.table, posted, yesterday)

    answer = invoke("expiry", text_of("expiry-schedule"))

    assert answer.payload == {"swept": 1}
    listed = feeds.read(place.table, ALL_DEALS, limit=5, now=yesterday).items
    assert [each.deal_id for each in listed] == [stays.deal_id]


def test_liking_a_brand_with_a_slash(place: Place, invoke: Invoke) -> None:
    join(place.table, "ana")

    answer = invoke("members", text_of("members-like-brand"))

    assert answer.payload["statusCode"] in (200, 201, 204)
    assert topics.get(place.table, G_FORE).likes == 1


def test_notifying_a_page_of_readers(place: Place, deal: Deal, invoke: Invoke) -> None:
    join(place.table, "ana", "ben")
    follows.watch(place.table, G_FORE, "ana", times.now())
    follows.watch(place.table, SHOES, "ben", times.now())

    answer = invoke("messenger", text_of("messenger-work"))

    assert answer.payload == NO_FAILURES
    assert kinds_of(place) == [["brand"], ["category"]]


def test_notifying_the_owners_of_alerts(place: Place, deal: Deal, invoke: Invoke) -> None:
    join(place.table, "ana", "ben")
    now = times.now()
    alerts.on_price(place.table, deal, "ana", account_of("ana"), Limits(deal.price, deal.currency), now)
    alerts.on_words(place.table, "ben", account_of("ben"), Limits(words=deal.brand_name), now)

    answer = invoke("messenger", text_of("messenger-alerts"))

    assert answer.payload == NO_FAILURES
    assert kinds_of(place) == [["price"], ["words"]]


def test_rebuilding_caches_each_minute(place: Place, deal: Deal, invoke: Invoke) -> None:
    invoke("refresher", text_of("refresher-schedule"))

    assert deal.deal_id in newest(place)


@pytest.mark.parametrize("name", ["seed-create", "seed-delete"])
def test_answering_cloudformation(place: Place, invoke: Invoke, name: str) -> None:
    with cloudformation() as (address, received):
        invoke("seed", json.dumps(event(name) | {"ResponseURL": address}).encode())

    assert [answer["Status"] for _, _, answer in received] == ["SUCCESS"]


def test_reading_a_brands_page(place: Place, invoke: Invoke) -> None:
    answer = invoke("catalog", text_of("catalog-brand-page"))

    assert answer.payload["statusCode"] == 200
    assert json.loads(answer.payload["body"])["name"] == "G/Fore"


def test_listing_the_brands(place: Place, invoke: Invoke) -> None:
    answer = invoke("catalog", text_of("catalog-all-brands"))

    assert answer.payload["statusCode"] == 200
    assert "g-fore" in answer.payload["body"]


def test_a_new_deal_is_announced_and_shown(place: Place, deal: Deal, invoke: Invoke) -> None:
    stream(invoke, "stream-insert")

    assert {work["kind"] for work in queued(place)} == {"brand", "category", "words"}
    assert deal.deal_id in newest(place)


def test_a_hot_deal_is_announced_to_all(place: Place, deal: Deal, invoke: Invoke) -> None:
    stream(invoke, "stream-modify-hot")

    assert [work["kind"] for work in queued(place)] == ["hot"] * settings.SCAN_SEGMENTS


@pytest.mark.parametrize("name", ["stream-insert-old-date", "stream-modify-withdrawn", "stream-ttl-remove"])
def test_what_is_no_news_is_not_announced(place: Place, invoke: Invoke, name: str) -> None:
    stream(invoke, name)

    assert queued(place) == []
    logged = [item["EditedBy"] for item in place.table.scan()[0] if item["Type"] == keys.LOG_LINE]
    assert logged == (["ana"] if name == "stream-modify-withdrawn" else [])
