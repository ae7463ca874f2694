"""What the API and the pages share of answering a request."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from shared.api import app
from shared.http.answers import json_answer
from tests.support.events import event


def _served() -> Any:
    """A function that answers one route."""
    made = app.create_app()

    @made.get("/deals/<deal_id>")
    def _deal(deal_id: str) -> Any:
        return json_answer({"dealId": deal_id})

    return app.serve(made)


def _asked(method: str, path: str = "/deals/1") -> dict[str, Any]:
    return event("catalog-brand-page") | {"httpMethod": method, "path": path, "resource": "/deals/{dealId}"}


def test_head_is_answered_as_get_is_without_the_body(context: LambdaContext) -> None:
    function = _served()
    wanted = function(_asked("GET"), context)

    answer = function(_asked("HEAD"), context)

    assert answer["body"] == ""
    assert wanted["body"] != ""
    assert (answer["statusCode"], answer["multiValueHeaders"]) == (wanted["statusCode"], wanted["multiValueHeaders"])


def test_a_path_that_holds_its_base_path_is_understood(context: LambdaContext) -> None:
    answer = _served()(_asked("GET", "/v1/deals/1"), context)

    assert answer["statusCode"] == 200
    assert answer["body"] == '{"dealId": "1"}'
