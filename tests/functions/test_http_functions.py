"""The functions behind HTTP: events as the gateway sends them, bodies, other origins, and a table that is silent."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.exceptions import ReadTimeoutError

from functions.api import accounts, authorizer, catalog, editors, members
from functions.pages import site
from shared.data.catalog import topics
from shared.data.members import users
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.table import Table
from shared.http.requests import address
from shared.models.catalog import ALL_DEALS, BRAND, Topic
from shared.runtime import environment
from tests.support.engines import ENDPOINT_VARIABLE
from tests.support.factories import token_of_new, walk
from tests.support.surroundings import EVENTS, context, event, event_of, page, surrounded
from tests.support.wire import Received, answered, error, hooked, serving

G_FORE = Topic(BRAND, "g-fore")


def body_of(answer: dict[str, Any]) -> Any:
    """The JSON that an answer holds, decoded as the gateway and a client do."""
    body = answer["body"]
    if answer["isBase64Encoded"]:
        body = gzip.decompress(base64.b64decode(body)).decode()
    return json.loads(body)


def test_the_event_that_the_readme_hands_to_the_catalog_is_answered_on_a_table_of_any_deals(
    deployed: Table, context: LambdaContext
) -> None:
    readme = (EVENTS.parent / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"make invoke FUNCTION=catalog EVENT=events/(\S+)\.json", readme)

    assert [catalog.handler(event(each), context)["statusCode"] for each in named] == [200]


def test_the_catalog_decodes_a_name_with_an_encoded_slash(table: Table, context: LambdaContext) -> None:
    answer = catalog.handler(event("catalog-brand-page"), context)

    assert answer["statusCode"] == 200
    assert body_of(answer) == {
        "brand": "g-fore",
        "name": "G/Fore",
        "likes": 0,
        "watchers": 0,
        "latest": {"items": [], "next": None},
    }


def test_the_docs_page_runs_its_own_scripts_alone_and_is_shown_in_no_frame(
    table: Table, context: LambdaContext
) -> None:
    answer = catalog.handler(page("/docs") | {"multiValueHeaders": {}}, context)

    headers = {name: values[0] for name, values in answer["multiValueHeaders"].items()}
    policy = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", answer["body"], re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(hashes) == 2
    assert policy["script-src"].split() == [f"'sha256-{each}'" for each in hashes]
    assert (policy["default-src"], policy["frame-ancestors"], policy["connect-src"]) == ("'none'", "'none'", "'self'")
    assert headers["X-Frame-Options"] == "DENY"


def test_members_does_nothing_without_a_named_caller(table: Table, context: LambdaContext) -> None:
    forged = event("members-like-brand")

    for named in (None, {}, {"principalId": "ana"}):
        forged["requestContext"]["authorizer"] = named

        assert members.handler(forged, context)["statusCode"] == 401
    assert topics.get(table, G_FORE).likes == 0


def test_a_route_that_a_function_does_not_have_is_a_404_problem(table: Table, context: LambdaContext) -> None:
    elsewhere = event("editors-post-deal") | {"path": "/nowhere", "resource": "/nowhere"}

    for function in (catalog, accounts, members, editors):
        answer = function.handler(elsewhere, context)

        assert answer["statusCode"] == 404
        assert answer["multiValueHeaders"]["Content-Type"] == ["application/problem+json"]


@pytest.mark.parametrize("name", ["catalog-brand-page", "members-like-brand", "editors-post-deal"])
def test_a_table_that_cannot_answer_is_503_and_says_nothing_of_itself(
    table: Table, context: LambdaContext, name: str
) -> None:
    function = {"catalog": catalog, "members": members, "editors": editors}[name.partition("-")[0]]
    gone = error("ResourceNotFoundException", message=f"Cannot do operations on a non-existent table: {table.name}")

    with answered(environment.table(), "", lambda _: gone):
        answer = function.handler(event(name), context)

    assert answer["statusCode"] == 503
    assert answer["multiValueHeaders"]["Retry-After"] == ["1"]
    assert table.name not in answer["body"]
    assert "ResourceNotFound" not in answer["body"]


def test_the_authorizer_allows_a_token_and_says_whose_it_is(table: Table, context: LambdaContext) -> None:
    request = event("authorizer-request")
    request["headers"]["Authorization"] = f"Bearer {token_of_new(table, 'ana')}"

    policy, ana = authorizer.handler(request, context), users.get(table, "ana")

    assert policy == {
        "principalId": "ana",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": request["methodArn"]}],
        },
        "context": {
            "username": "ana",
            "role": "member",
            "accountId": ana.account_id,
            "generation": ana.generation,
        },
    }


def test_the_authorizer_denies_a_request_without_a_token_that_is_known(table: Table, context: LambdaContext) -> None:
    asked = event("authorizer-request")

    for headers in (asked["headers"], None, {}, {"authorization": "Bearer"}, {"AUTHORIZATION": "Basic eDp5"}):
        policy = authorizer.handler(asked | {"headers": headers}, context)

        assert policy["policyDocument"]["Statement"][0]["Effect"] == "Deny"
        assert "context" not in policy


def test_without_cloudfront_a_request_comes_from_where_its_connection_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BEHIND_PROXY", raising=False)
    asked = event("accounts-sign-up")
    asked["headers"]["X-Forwarded-For"] = "203.0.113.9, 198.51.100.7"

    assert address(asked) == asked["requestContext"]["identity"]["sourceIp"]


SAID = "The deal may have been posted: look for it before you post it again"


def posted(table: Table) -> list[str]:
    """The titles of the deals in the feed."""
    return [deal.title for page in walk(table, ALL_DEALS, limit=100) for deal in page.items]


@pytest.mark.parametrize("media_type", ["APPLICATION/JSON", "Application/Json; charset=UTF-8"])
def test_a_media_type_has_no_case(table: Table, context: LambdaContext, media_type: str) -> None:
    request = event("editors-post-deal")
    for headers in (request["headers"], request["multiValueHeaders"]):
        for name in [name for name in headers if name.lower() == "content-type"]:
            headers[name] = [media_type] if isinstance(headers[name], list) else media_type

    assert editors.handler(request, context)["statusCode"] == 201


@pytest.mark.parametrize("keyed", [True, False])
def test_who_has_no_key_hears_that_the_deal_may_be_there(
    table: Table, context: LambdaContext, monkeypatch: pytest.MonkeyPatch, keyed: bool
) -> None:
    request = event("editors-post-deal")
    if not keyed:
        for headers in (request["headers"], request["multiValueHeaders"]):
            for name in [name for name in headers if name.lower() == "idempotency-key"]:
                del headers[name]

    def lose(**_: Any) -> None:
        environment.budget().start(0)
        raise ReadTimeoutError(endpoint_url="https://dynamodb.example")

    # Every write's answer is lost, the first one's after it was carried out; time is over at once.
    asked = environment.table()
    with hooked(asked, "after-call.dynamodb.TransactWriteItems", lose):
        answer = editors.handler(request, context)

    problem = json.loads(answer["body"])
    assert (answer["statusCode"], answer["multiValueHeaders"]["Retry-After"]) == (503, ["1"])
    assert problem["detail"].startswith("The site is busy")
    assert (SAID in problem["detail"]) is not keyed
    assert posted(table)[0] == "Señor’s golf shoe 👟"


APP, OTHER, STRANGER = "https://app.example", "https://other.example", "https://evil.example"

Headers = dict[str, list[str]]


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage with two origins."""
    monkeypatch.setenv("CORS_ORIGINS", f"{APP} {OTHER}")


def asked(name: str, origin: str | None, **more: Any) -> dict[str, Any]:
    """A sample event that a page of an origin causes."""
    request = event(name)
    if origin is not None:
        request["headers"] = {**request["headers"], "Origin": origin}
    return request | more


def headers_of(answer: dict[str, Any]) -> Headers:
    found: Headers = answer["multiValueHeaders"]
    return found


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("origin", [APP, OTHER, STRANGER, "null", f"{APP}.evil.example", APP.upper(), None])
def test_pages_of_allowed_origins_alone_read_answers_and_no_cache_gives_one_anothers(
    table: Table, context: LambdaContext, origin: str | None
) -> None:
    answer = catalog.handler(asked("catalog-brand-page", origin), context)

    headers, is_allowed = headers_of(answer), origin in (APP, OTHER)
    assert answer["statusCode"] == 200
    assert headers.get("Access-Control-Allow-Origin") == ([origin] if is_allowed else None)
    assert ("ETag" in headers.get("Access-Control-Expose-Headers", [""])[0]) is is_allowed
    assert headers["Vary"] == ["Accept-Encoding, Origin"]
    assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.usefixtures("allowed")
def test_a_refusal_may_be_read_as_well(table: Table, context: LambdaContext) -> None:
    by_member = asked("editors-post-deal", APP)
    by_member["requestContext"]["authorizer"]["role"] = "member"

    refused = editors.handler(by_member, context)
    broken = accounts.handler(asked("accounts-sign-up", APP, body="no base64!", isBase64Encoded=True), context)

    assert (refused["statusCode"], broken["statusCode"]) == (403, 400)
    assert (
        headers_of(refused)["Access-Control-Allow-Origin"] == headers_of(broken)["Access-Control-Allow-Origin"] == [APP]
    )


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("path", ["/deals", "/me/watches", "/brands/{brand}/like"])
def test_a_browser_that_asks_first_hears_what_it_may_send(table: Table, context: LambdaContext, path: str) -> None:
    question = asked("catalog-brand-page", APP, httpMethod="OPTIONS", path=path, resource=path)

    answer = catalog.handler(question, context)

    headers = headers_of(answer)
    assert (answer["statusCode"], answer["body"]) == (204, "")
    assert headers["Access-Control-Allow-Origin"] == [APP]
    assert {"PUT", "PATCH", "DELETE"} <= set(headers["Access-Control-Allow-Methods"][0].split(", "))
    assert {"Authorization", "Idempotency-Key"} <= set(headers["Access-Control-Allow-Headers"][0].split(", "))


def test_every_origin_is_one_answer_for_all(
    table: Table, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORS_ORIGINS", "*")

    headers = headers_of(catalog.handler(asked("catalog-brand-page", STRANGER), context))

    assert headers["Access-Control-Allow-Origin"] == ["*"]
    assert headers["Vary"] == ["Accept-Encoding"]


def test_a_stage_that_names_no_origin_says_nothing_of_it(table: Table, context: LambdaContext) -> None:
    question = asked("catalog-brand-page", APP, httpMethod="OPTIONS")

    refused = catalog.handler(question, context)
    headers = headers_of(catalog.handler(asked("catalog-brand-page", APP), context))

    assert refused["statusCode"] == 404
    assert not [name for name in (*headers, *headers_of(refused)) if name.startswith("Access-Control")]
    assert headers["Vary"] == ["Accept-Encoding"]


__all__ = ["context"]

READERS = {"API": (catalog, event("catalog-all-brands")), "page": (site, event_of("/brands"))}


def silent(request: Received) -> None:
    """Say nothing until the client has gone."""
    request.connection.recv(1)


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_a_silent_table_gets_503_when_the_time_of_readers_is_over(
    reader: str, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, asked = READERS[reader]
    monkeypatch.setattr(environment, "FOR_A_READER", 0.5)  # of the 30 seconds that the laptop's functions have
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: 30_000)
    with serving(silent) as server, surrounded(monkeypatch, server.table()):
        monkeypatch.setenv(ENDPOINT_VARIABLE, server.endpoint)
        environment.begin(asked, context)

        answer = function.handler(asked, context)

        assert answer["statusCode"] == 503


def taken_at(seconds: float) -> Any:
    """A request that the gateway took at a time, whose function or authorizer began later."""
    return {"httpMethod": "GET", "requestContext": {"requestTimeEpoch": int(seconds * 1000)}}


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ({"httpMethod": "GET", "path": "/"}, 8.0),
        (event("authorizer-request"), 8.0),  # of a year ago
        (taken_at(1_000_000 - 3.0), 5.0),
        (taken_at(1_000_000 - 7.5), 1.0),
        (taken_at(1_000_000 - 50.0), 1.0),
        (taken_at(1_000_000 + 5.0), 8.0),  # the gateway's clock is another
        (event("stream-insert"), 29.0),
        (event("messenger-work"), 29.0),
        ([], 29.0),
    ],
)
def test_what_a_reader_waits_for_ends_within_ten_seconds_and_work_has_all_its_time(
    asked: Any, seconds: float, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = Budget(clock=lambda: 100.0)
    monkeypatch.setattr(environment, "budget", lambda: budget)
    monkeypatch.setattr("shared.runtime.environment.time.time", lambda: 1_000_000.0)
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: 30_000)

    environment.begin(asked, context)

    assert budget.left() == seconds
