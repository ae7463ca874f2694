"""The log and the metrics of the functions: one id from a request to its last message, and metrics that are right."""

from __future__ import annotations

import base64
import importlib
import inspect
import json
import re
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import accounts, authorizer, catalog, editors, members
from functions.background import expiry, messenger, publisher, refresher
from functions.pages import mine, site
from infra.bundling import module_of
from infra.functions import FUNCTIONS, reporters
from shared import features
from shared.api import posting
from shared.data import keys
from shared.data.catalog import deals, page_cache, picks, topics
from shared.data.catalog.deals import to_item_listed
from shared.data.members import fanout, messages, sessions, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.table import Table
from shared.html import cookies
from shared.http import cached_pages
from shared.models.catalog import BRAND, CATEGORY, FRONT_PAGE, Deal, Topic
from shared.models.members import User
from shared.runtime import environment, metrics
from shared.runtime.metrics import Metric
from shared.services import Queue
from shared.values import times
from shared.values.passwords import hash_password
from tests.support import surroundings
from tests.support.cases import cases_by_name
from tests.support.factories import a_deal, a_user, join, let_watch
from tests.support.surroundings import event, metrics_in, page, rooms_of, taken

Lines = Callable[[], list[dict[str, Any]]]

G_FORE = Topic(BRAND, "g-fore")
SHOES = Topic(CATEGORY, "shoes")
PASSWORD = "correct horse battery staple"
REQUEST = event("editors-post-deal")["requestContext"]["requestId"]


def counted(lines: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The values of each metric in some lines."""
    found: dict[str, list[float]] = {}
    for line in lines:
        if "_aws" in line:
            for name, values in metrics_in(line).items():
                found.setdefault(name, []).extend(values)
    return found


def work(*units: Unit) -> dict[str, Any]:
    """The event that brings some units to the messenger."""
    template = event("messenger-work")["Records"][0]
    return {
        "Records": [
            {**template, "messageId": f"unit-{number}", "body": unit.to_json()} for number, unit in enumerate(units)
        ]
    }


def queued(queue: Queue) -> list[Unit]:
    """The work in the queue, taken out of it."""
    return [Unit.from_json(body) for body in taken(queue)]


def posted(context: LambdaContext, **changes: Any) -> Deal:
    """A deal that an editor has posted."""
    request = event("editors-post-deal")
    request["requestContext"] |= changes
    body = json.loads(base64.b64decode(request["body"]))
    body.pop("createdAt", None)  # a deal with an old date is no news
    request["body"] = base64.b64encode(json.dumps(body).encode()).decode()
    answer = editors.handler(request, context)
    assert answer["statusCode"] == 201
    return deals.get(environment.table(), json.loads(answer["body"])["dealId"], consistent=True)


def sign_in(password: str, username: str = "ana") -> dict[str, Any]:
    request = event("accounts-sign-up")
    body = json.dumps({"username": username, "password": password})
    return request | {"path": "/sessions", "resource": "/sessions", "body": body, "isBase64Encoded": False}


@pytest.fixture
def ana(table: Table) -> User:
    return users.create(table, a_user("ana", password_hash=hash_password(PASSWORD)))


def test_one_id_leads_from_the_post_of_a_deal_to_its_messages(
    table: Table, queue: Queue, lines: Lines, context: LambdaContext
) -> None:
    let_watch(table, G_FORE, "ana", now=times.now())

    deal = posted(context)
    stream = surroundings.batch([surroundings.record(None, to_item_listed(deal, listed=True))])
    publisher.handler(stream, context)
    refresher.handler(stream, context)
    messenger.handler(work(*queued(queue)), context)

    following = [line["message"] for line in lines() if REQUEST in json.dumps(line)]
    # Those who watch the brand, those who watch the category, and those with alerts on words.
    assert following == ["request", "announced", "refreshed", *["delivered"] * 3]
    (message,) = messages.latest(table, "ana", limit=5, now=times.now()).items
    assert message.correlation_id == deal.correlation_id == REQUEST


def test_making_a_deal_hot_is_followed_by_the_id_of_that_request(
    table: Table, queue: Queue, lines: Lines, context: LambdaContext
) -> None:
    deal = posted(context)
    request = event("editors-post-deal")
    path = f"/deals/{deal.deal_id}/hot"
    request |= {"path": path, "resource": path, "httpMethod": "PUT", "body": None}
    request["requestContext"]["requestId"] = "made-hot"

    answers = [editors.handler(request, context)["statusCode"]]
    hot = deals.get(table, deal.deal_id, consistent=True)
    request["requestContext"]["requestId"] = "said-again"
    answers.append(editors.handler(request, context)["statusCode"])
    before, after = (to_item_listed(each, listed=True) for each in (deal, hot))
    publisher.handler(surroundings.batch([surroundings.record(before, after)]), context)

    assert answers == [202, 202]
    assert deals.get(table, deal.deal_id, consistent=True) == hot
    assert {unit.correlation_id for unit in queued(queue)} == {"made-hot"}


def test_an_edit_names_its_own_request_and_one_that_changes_nothing_leaves_the_last(
    table: Table, context: LambdaContext
) -> None:
    deal = posted(context)

    edited = deals.edit(table, deal.deal_id, {"title": "Putter"}, times.now(), correlation_id="edit")
    same = deals.edit(table, deal.deal_id, {"title": "Putter"}, times.now(), correlation_id="again")
    swept = deals.edit(table, deal.deal_id, {"title": "Driver"}, times.now())

    assert (edited.correlation_id, same.correlation_id, swept.correlation_id) == ("edit", "edit", None)


def test_readers_are_not_shown_whose_request_it_was(table: Table, context: LambdaContext) -> None:
    deal = posted(context)
    picks.set_featured(table, FRONT_PAGE, [deal.deal_id], times.now())
    refresher.handler(event("refresher-schedule"), context)

    answers = [catalog.handler(page(path), context) for path in (f"/deals/{deal.deal_id}", "/front-page", "/deals")]

    assert all(deal.deal_id in answer["body"] for answer in answers)
    assert not any(REQUEST in answer["body"] for answer in answers)
    copies = table.get(keys.featured(FRONT_PAGE))
    assert copies is not None
    assert "CorrelationId" not in copies["Featured"][0]


@pytest.mark.parametrize(
    ("headers", "logged"),
    [
        ({"X-Request-Id": "a7c1-42"}, "a7c1-42"),
        ({"x-correlation-id": "trace:1", "X-Request-Id": "2"}, "trace:1"),
        ({"X-Request-Id": "two\nlines"}, None),
        ({"X-Request-Id": "x" * 65}, None),
        ({"X-Request-Id": '{"status": 500}'}, None),
        ({}, None),
    ],
    ids=["one", "two", "lines", "long", "json", "none"],
)
def test_an_answer_and_its_line_have_our_id_and_the_line_a_clients_own_if_it_is_one(
    table: Table, lines: Lines, context: LambdaContext, headers: dict[str, str], logged: str | None
) -> None:
    paths = {"/categories": 200, "/brands/none": 404, "/nowhere": 404}

    answers = [catalog.handler(page(path, headers), context) for path in paths]

    assert [answer["statusCode"] for answer in answers] == list(paths.values())
    assert [answer["multiValueHeaders"]["X-Correlation-Id"] for answer in answers] == [[REQUEST]] * 3
    assert [(line["correlation_id"], line.get("client_request_id")) for line in lines()] == [(REQUEST, logged)] * 3


def test_a_page_logs_the_clients_own_id_and_who_is_signed_in_if_it_asks(
    table: Table, ana: User, lines: Lines, context: LambdaContext
) -> None:
    token, _ = sessions.start(table, ana, times.now(), bytes(range(32)))
    headers = {"X-Request-Id": "a7c1-42", "Cookie": f"{cookies.SESSION}={token}"}

    site.handler(page("/about", headers), context)
    mine.handler(page("/my/status", headers), context)

    everybodys, anas = lines()
    assert (everybodys["path"], everybodys["client_request_id"], everybodys.get("username")) == (
        "/about", "a7c1-42", None,
    )  # fmt: skip
    assert (anas["path"], anas["client_request_id"], anas["username"]) == ("/my/status", "a7c1-42", "ana")


def test_no_password_token_or_body_is_logged(
    table: Table, ana: User, lines: Lines, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.logger().setLevel("DEBUG")
    token, _ = sessions.start(table, ana, times.now(), bytes(range(32)))
    asked = event("authorizer-request")
    asked["headers"]["Authorization"] = f"Bearer {token}"
    sign_up = json.dumps({"username": "eve", "email": "eve@mail.example", "password": PASSWORD, "name": "Evelyn"})

    made = accounts.handler(event("accounts-sign-up") | {"body": sign_up, "isBase64Encoded": False}, context)
    signed_in = accounts.handler(sign_in(PASSWORD), context)
    accounts.handler(sign_in(PASSWORD + "!"), context)
    authorizer.handler(asked, context)
    editors.handler(event("editors-post-deal"), context)

    logged = json.dumps(lines())
    assert (made["statusCode"], signed_in["statusCode"]) == (201, 201)
    secrets = [PASSWORD, token, json.loads(signed_in["body"])["token"], "eve@mail.example", "Evelyn", "golf shoe"]
    assert [secret for secret in secrets if secret in logged] == []
    assert event("editors-post-deal")["headers"]["Authorization"] not in logged


def test_why_a_record_failed_is_logged_without_the_id_of_the_one_before(
    table: Table, queue: Queue, lines: Lines, context: LambdaContext
) -> None:
    deal = posted(context)
    good = surroundings.record(None, to_item_listed(deal, listed=True))
    bad = surroundings.damaged(to_item_listed(deal, listed=True))
    lines()

    publisher.handler(surroundings.batch([good, bad]), context)
    messenger.handler(work(*queued(queue)[:1], Unit("gone", "brand")), context)
    broken = work(Unit(deal.deal_id, "brand"))
    broken["Records"][0]["body"] = "{}"
    messenger.handler(broken, context)

    told = [(line["message"], line.get("correlation_id"), line.get("exception_name")) for line in lines()]
    assert told == [
        ("record failed", None, "DamagedDeal"),
        ("announced", REQUEST, None),
        ("delivered", REQUEST, None),
        ("delivered", None, None),
        ("record failed", None, "ValueError"),
    ]


def follow(verb: str, table: Table, context: LambdaContext) -> None:
    join(table, "ana")
    asked = event("members-like-brand")
    asked |= {name: asked[name].replace("/like", f"/{verb}") for name in ("path", "resource")}
    for method in ("PUT", "PUT", "DELETE", "DELETE"):
        members.handler(asked | {"httpMethod": method}, context)


def posts(table: Table, context: LambdaContext) -> None:
    for request in ("first", "repeated"):  # with one Idempotency-Key
        posted(context, requestId=request)


def wrong_passwords(table: Table, context: LambdaContext) -> None:
    users.create(table, a_user("ana", password_hash=hash_password(PASSWORD)))
    for request in (sign_in("wrong password"), sign_in(PASSWORD, "nobody"), sign_in(PASSWORD)):
        accounts.handler(request, context)


def reads(table: Table, context: LambdaContext) -> None:
    catalog.handler(page("/front-page"), context)
    refresher.refresh([page_cache.NEWEST], set(), set())
    for path in ("/front-page", "/deals", "/brands", "/categories/shoes", "/deals"):
        catalog.handler(page(path), context)


def news(table: Table, context: LambdaContext) -> None:
    let_watch(table, G_FORE, "ana", now=times.now())
    let_watch(table, SHOES, "ana", "ben", now=times.now())
    deal = posted(context)
    (brand, category) = fanout.news_of(deal, times.now() - timedelta(seconds=5))
    for unit in (brand, category, brand):  # ana has hers by then, and the queue may deliver twice
        messenger.handler(work(unit), context)


def sweeps(table: Table, context: LambdaContext) -> None:
    yesterday = times.now() - timedelta(days=1)
    ended = a_deal(yesterday, brand="g-fore", ends_at=yesterday + timedelta(seconds=1))
    deals.create(table, ended, yesterday)
    for _ in range(2):
        expiry.handler(event("expiry-schedule"), context)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (partial(follow, "like"), {metrics.LIKES_ADDED: [1], metrics.LIKES_REMOVED: [1]}),
        (partial(follow, "watch"), {metrics.WATCHES_ADDED: [1], metrics.WATCHES_REMOVED: [1]}),
        (posts, {metrics.DEALS_POSTED: [1]}),
        (wrong_passwords, {metrics.SIGN_IN_FAILURES: [1, 1]}),
        (reads, {metrics.CACHE_MISSES: [2, 1, 1], metrics.CACHE_HITS: [1, 1, 1]}),
        (news, {metrics.MESSAGES_DELIVERED: [1, 1]}),
        (sweeps, {metrics.ENDED_DEALS_SWEPT: [1, 0]}),
    ],
    ids=["likes", "watches", "posts", "wrong passwords", "reads", "news", "sweeps"],
)
def test_what_happens_is_counted_once(
    deployed: Table,
    lines: Lines,
    context: LambdaContext,
    what: Callable[[Table, LambdaContext], None],
    expected: dict[Metric, list[float]],
) -> None:
    yesterday = times.now() - timedelta(days=1)
    topics.plant_seeds(deployed, yesterday)
    topics.create_brand(deployed, "g-fore", "G/Fore", yesterday)

    what(deployed, context)

    found = counted(lines())
    assert {metric.name: found.get(metric.name) for metric in expected} == {
        metric.name: values for metric, values in expected.items()
    }


def test_the_lag_of_a_page_is_reported_when_it_is_first_delivered(
    table: Table, lines: Lines, context: LambdaContext
) -> None:
    began = time.time()

    news(table, context)

    first, second = counted(lines())[metrics.FAN_OUT_LAG.name]
    assert 5 <= first <= second <= 6 + time.time() - began


def test_the_clock_reports_the_age_of_each_cached_part_before_it_rebuilds_any(
    table: Table, lines: Lines, context: LambdaContext
) -> None:
    refresher.handler(event("refresher-schedule"), context)
    never_built = counted(lines())
    refresher.handler(event("refresher-schedule"), context)
    built = counted(lines())

    assert metrics.CACHE_AGE.name not in never_built
    assert len(built[metrics.CACHE_AGE.name]) == len(page_cache.PARTS)


def test_an_environment_starts_cold_once_and_says_so_under_the_stacks_name_and_the_functions(
    table: Table, lines: Lines, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "BigTimeDeals-dev")

    for _ in range(3):
        catalog.handler(page("/categories"), context)

    logged = lines()
    assert [line.get(metrics.COLD_START.name) for line in logged] == [[1], None, None]
    (directive,) = logged[0]["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], directive["Dimensions"]) == ("BigTimeDeals-dev", [[metrics.DIMENSION]])
    assert logged[0][metrics.DIMENSION] == "test"  # as the environment says


def test_a_metric_that_a_stage_does_not_pay_for_is_a_field_and_no_more(
    table: Table, lines: Lines, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METRICS", metrics.CACHE_AGE.name)

    catalog.handler(page("/categories"), context)

    (line,) = lines()
    assert line[metrics.COLD_START.name] == [1]
    assert "_aws" not in line


def source(module: ModuleType) -> str:
    """A function's source, with that of features that join it, and of the shared modules that report for it."""
    rooms = rooms_of(module)
    names = [each for room in rooms for each in vars(room).values()]
    used = {each.__name__ if inspect.ismodule(each) else getattr(each, "__module__", "") for each in names}
    common = [each for each in (cached_pages, posting) if each.__name__ in used]
    return "".join(map(inspect.getsource, (*rooms, *common)))


NAMED = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (metrics, *features.modules("metrics"))
    for name, value in vars(module).items()
    if isinstance(value, Metric)
}


ONLY_WITH_FEATURES = {"metrics.DEALS_POSTED": {"expiry"}}
"""Functions of the core that report a metric only where a feature does it there; ``cases.py`` of such a one says so."""


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_metric_is_reported_by_the_functions_it_names_and_no_others(name: str) -> None:
    """Reports are named by the function's row, and all rows are looked through: the API's, the pages', the others."""
    called = re.compile(rf"\b{name.rpartition('.')[2]}\b")

    found = {row.name for row in FUNCTIONS if called.search(source(importlib.import_module(module_of(row.name))))}

    assert found | ONLY_WITH_FEATURES.get(name, set()) == set(reporters(NAMED[name]))
    assert set(cases_by_name("REPORTERS").get(name, ())) <= found
