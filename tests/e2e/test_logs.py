"""One request followed through all functions of a deployed site, and metrics that CloudWatch can read there."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from infra.settings import STAGES
from local.settings import STAGE
from shared.runtime import metrics
from tests.e2e.plumbing import client, name_to_btd
from tests.support.emf import metrics_in
from tests.support.site import Site, Visitor
from tests.support.site import a_deal as body_of
from tests.support.waiting import eventually

STACK = STAGES[STAGE].stack_name


@pytest.fixture
def logged(site: Site, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Tells what all functions have logged of an id, as ``btd logs`` does in an environment that names the stack."""
    name_to_btd(monkeypatch, site, BTD_STACK=STACK)

    def of(text: str) -> list[dict[str, Any]]:
        result = CliRunner().invoke(app, ["logs", text, "--hours", "1", "--json"])
        assert result.exit_code == 0, result.output
        found: list[dict[str, Any]] = json.loads(result.stdout)["result"]
        return found

    return of


def told_of_brand(lines: list[dict[str, Any]]) -> int:
    """How many messages to watchers of the brand the lines tell of."""
    return sum(line.get("written", 0) for line in lines if line.get("kind") == "brand")


def test_one_search_follows_a_deal_from_the_post_to_the_last_message_with_metrics_for_cloudwatch(
    site: Site, editor: Visitor, brand: str, logged: Any
) -> None:
    readers = [site.member(name) for name in ("ana", "bo")]
    for reader in readers:
        assert reader.put(f"/brands/{brand}/watch").status_code == 200

    answer = editor.post("/deals", json=body_of(brand), headers={"X-Request-Id": "shop-7"})
    request = answer.headers["X-Correlation-Id"]

    def is_whole(found: list[dict[str, Any]]) -> bool:
        everybody = {"editors", "publisher", "messenger", "refresher"}
        return {line["service"] for line in found} >= everybody and told_of_brand(found) >= len(readers)

    def lines_so_far() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = logged(request)
        if not is_whole(found):  # MiniStack hands on a line that came late when its function works again
            assert editor.post("/deals", json=body_of(brand)).status_code == 201
        return found

    lines = eventually(lines_so_far, is_whole)

    posted, *_ = lines
    assert (posted["message"], posted["status"], posted["client_request_id"]) == ("request", 201, "shop-7")
    assert told_of_brand(lines) == len(readers)
    (announced,) = (line for line in lines if line["service"] == "publisher")
    assert announced["deal_id"] == answer.json()["dealId"]
    assert metrics_in(posted)[metrics.DEALS_POSTED.name] == [1]
    (directive,) = posted["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], posted[metrics.DIMENSION]) == (STACK, "editors")


def test_what_the_gateway_refuses_by_itself_has_an_id_too(visitor: Visitor) -> None:
    answers = [visitor.get("/nowhere"), visitor.post("/sessions", content=b"{", headers={"Content-Type": "text/plain"})]

    assert [answer.status_code for answer in answers] == [404, 415]
    assert len({answer.headers["X-Correlation-Id"] for answer in answers}) == 2


@pytest.mark.thorough  # about MiniStack, not about our code
def test_the_local_cloud_makes_no_metrics_of_lines_and_leaves_a_querys_filter_out(
    site: Site, editor: Visitor, brand: str
) -> None:
    """A departure from AWS that the runbook tells of: should this fail, it is gone, and ``btd logs`` may be a query."""
    assert editor.post("/deals", json=body_of(brand)).status_code == 201
    logs, now = client(site, "logs"), int(time.time())
    groups = [group["logGroupName"] for group in logs.describe_log_groups(logGroupNamePattern=STACK)["logGroups"]]

    found = client(site, "cloudwatch").list_metrics(Namespace=STACK)["Metrics"]
    query = logs.start_query(
        logGroupNames=groups,
        startTime=now - 3600,
        endTime=now + 60,
        queryString="fields @message | filter @message like 'nothing holds this'",
    )
    results = eventually(
        lambda: logs.get_query_results(queryId=query["queryId"]), lambda answer: answer["status"] == "Complete"
    )

    assert found == []
    assert results["results"] != []
