"""Requests to post a deal: how their type is read, and what is said of what may have been done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.exceptions import ReadTimeoutError

from functions.api import editors
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS
from shared.runtime import environment
from tests.support.events import event
from tests.support.factories import walk
from tests.support.wire import hooked

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
