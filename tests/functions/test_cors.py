"""The API called by other sites' pages: what a browser asks, what it is told, and what it is never told."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import accounts, catalog, editors
from shared.dynamodb.table import Table
from tests.support.events import event

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
@pytest.mark.parametrize("path", ["/deals", "/me/addresses/home", "/brands/{brand}/like"])
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
