"""Bodies that the API refuses, and what its answers say of them; and of what may have been done."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.exceptions import ReadTimeoutError

from functions.api import accounts, editors
from shared.api.validation import MAX_NAME, MAX_UNKNOWN
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


def post(**changed: Any) -> dict[str, Any]:
    """An editor's request for the sample's deal, with some fields of the body changed or added."""
    request = event("editors-post-deal")
    body = {**json.loads(base64.b64decode(request["body"])), **changed}
    return request | {"body": json.dumps(body), "isBase64Encoded": False}


def fields_of(answer: dict[str, Any]) -> list[str]:
    assert answer["statusCode"] == 422
    return [error["field"] for error in json.loads(answer["body"])["errors"]]


@pytest.mark.usefixtures("deployed")
def test_an_answer_names_no_more_than_twenty_unknown_fields_and_is_short(context: LambdaContext) -> None:
    unknown = {f"{'x' * 120}{number}": number for number in range(150)}

    answer = editors.handler(post(**unknown, price="cheap"), context)

    assert [field[0] for field in fields_of(answer)].count("x") == MAX_UNKNOWN == 20
    assert "price" in fields_of(answer)
    assert max(map(len, fields_of(answer))) == MAX_NAME
    assert len(answer["body"]) < 8_000


@pytest.mark.usefixtures("deployed")
def test_a_field_is_known_by_its_name_in_camel_case_alone(context: LambdaContext) -> None:
    for name in ("source_id", "list_price", "created_at", "coupon_code", "SourceId"):
        assert fields_of(editors.handler(post(**{name: "2026-06-01T10:00:00Z"}), context)) == [name]

    change = event("members-like-brand") | {"httpMethod": "PATCH", "path": "/me", "resource": "/me"}
    change["headers"] = {"Content-Type": "application/json"}
    change["body"] = json.dumps({"email": "ana@mail.example", "current_password": "correct horse battery"})
    assert "current_password" in fields_of(accounts.handler(change, context))


@pytest.mark.usefixtures("deployed")
def test_a_link_to_a_port_that_cannot_be_is_refused(context: LambdaContext) -> None:
    for link in ("https://x.example:99999/", "https://x.example:65536", "https://x.example:0/", "http://x:-1/"):
        assert fields_of(editors.handler(post(link=link), context)) == ["link"]


@pytest.mark.usefixtures("deployed")
def test_a_brand_has_a_name_that_is_seen_as_it_is(context: LambdaContext) -> None:
    for name in ("G\u2028Fore", "G\u2029Fore", "\u200b", "G\u202eFore", "G\u00adFore"):
        request = post() | {"path": "/brands", "resource": "/brands", "body": json.dumps({"name": name})}

        assert fields_of(editors.handler(request, context)) == ["name"]


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
