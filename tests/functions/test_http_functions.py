"""The functions behind the API, called with API Gateway's events."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import accounts, authorizer, catalog, editors, members
from functions.cost_headers import with_cost
from shared.data import workings
from shared.data.catalog import topics
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.html import page_cost
from shared.http.requests import address
from shared.models.catalog import BRAND, Topic
from shared.runtime import environment
from shared.values import times
from tests.support.events import EVENTS, event, page
from tests.support.factories import join, token_of_new
from tests.support.wire import answered, error

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


def test_members_does_nothing_for_whom_nobody_is_named(table: Table, context: LambdaContext) -> None:
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


def test_where_work_is_shown_the_api_tells_what_it_took_and_links_to_the_drawing_of_its_writes(
    table: Table, context: LambdaContext
) -> None:
    join(table, "ana")
    page_cost.trace.cache_clear()
    read, liked = (
        with_cost(function)(event(name), context)["multiValueHeaders"]
        for function, name in ((catalog, "catalog-brand-page"), (members, "members-like-brand"))
    )
    page_cost.trace.cache_clear()

    (trace_id,) = re.findall(r'</table/took/([\w-]{16})>; rel="describedby"', liked["Link"][0])
    (group,) = (workings.find(table, trace_id, times.now()) or {})["groups"]
    assert (group["function"], [write["verb"] for write in group["writes"]]) == (
        "follows.like",
        ["put", "update", "check"],
    )
    assert liked["Server-Timing"][0].endswith(' + 7 WRU"')
    assert "RRU" in read["Server-Timing"][0]
    assert "Link" not in read


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

    policy = authorizer.handler(request, context)

    assert policy == {
        "principalId": "ana",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": request["methodArn"]}],
        },
        "context": {"username": "ana", "role": "member", "accountId": users.get(table, "ana").account_id},
    }


def test_the_authorizer_denies_a_request_without_a_token_that_is_known(table: Table, context: LambdaContext) -> None:
    asked = event("authorizer-request")

    for headers in (asked["headers"], None, {}, {"authorization": "Bearer"}, {"AUTHORIZATION": "Basic eDp5"}):
        policy = authorizer.handler(asked | {"headers": headers}, context)

        assert policy["policyDocument"]["Statement"][0]["Effect"] == "Deny"
        assert "context" not in policy


def test_without_cloudfront_a_request_comes_from_where_its_connection_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BEHIND_CDN", raising=False)
    asked = event("accounts-sign-up")
    asked["headers"]["X-Forwarded-For"] = "203.0.113.9, 198.51.100.7"

    assert address(asked) == asked["requestContext"]["identity"]["sourceIp"]
