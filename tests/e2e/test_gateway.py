"""The deployed API: its gateway, its logs, attacks on it, and schemathesis, which holds answers against the document.

schemathesis tries as each role the routes that are for it, with few examples and always the same. ``make fire`` lets
every role try every route for as long as ``FIRE_SECONDS`` says, with other examples each time.
``tests/api/test_attacks.py`` has attacks that end in one function.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.settings import STAGES
from local import cloud
from local.settings import ROOT, STAGE
from shared import features, hooks
from shared.data import keys
from shared.data.catalog import topics
from shared.data.members import rate_limits
from shared.errors import BrandExists
from shared.models.catalog import CATEGORIES
from shared.runtime import metrics
from shared.values import naming, times
from tests.e2e.conftest import client
from tests.support.cases import cases
from tests.support.commands import PATIENCE, begin, eventually, make
from tests.support.site import Site, Visitor, a_deal, assert_problem, dump, fresh
from tests.support.site import a_deal as body_of
from tests.support.surroundings import metrics_in


def test_an_unknown_path_and_a_method_that_a_path_does_not_have_are_404(visitor: Visitor) -> None:
    for path in ("/", "/nothing", "/deals/1/2/3", "/me/nothing", "/.env", "/brands/x/likes"):
        for method in ("GET", "POST", "DELETE"):
            assert_problem(visitor.request(method, path), 404)
    for method, path in (("POST", "/front-page"), ("DELETE", "/deals"), ("PUT", "/users"), ("PUT", "/sessions")):
        assert_problem(visitor.request(method, path, json={}), 404)


def test_odd_bytes_reach_a_function_as_they_were_sent(site: Site, editor: Visitor, visitor: Visitor) -> None:
    """The gateway encodes bodies and decodes paths and queries; ``tests/api/test_bad_input.py`` has all bad input."""
    writes, headers = site.writes(), {"Content-Type": "application/json"}

    for body in (b'{"title": "\xff"}', b"\xfe\xff\x00{\x00}", b"\x1f\x8b\x08\x00", b'{"title": "x"'):
        assert_problem(editor.post("/deals", content=body, headers=headers), 400)
    for cursor in ("%%%%", "\x00" * 44, "\N{PARTY POPPER}"):
        assert_problem(visitor.get("/deals", params={"cursor": cursor}), 400, "cursor")
    for name in ("%23", "x%23USER%23ana", "%00", "%F0%9F%8E%89", "%FF%FE", "%25"):
        assert editor.put(f"/brands/{name}/like").status_code == 404
    assert_problem(editor.post("/deals", content=b" " * 400_000, headers=headers), 413)
    assert writes.keys() == []


def test_head_is_answered_as_get_is_but_for_the_body(visitor: Visitor) -> None:
    read, asked = visitor.get("/openapi.json"), visitor.request("HEAD", "/openapi.json")

    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["Content-Type"] == read.headers["Content-Type"]
    assert visitor.request("HEAD", "/me").status_code == 401


def test_every_route_that_needs_a_session_is_401_without_one(site: Site, visitor: Visitor) -> None:
    writes = site.writes()
    refused = 0

    for template, methods in site.contract.document["paths"].items():
        for method, operation in methods.items():
            if operation["security"]:
                path = template.replace("{", "").replace("}", "")
                answer = visitor.request(method.upper(), path, json={"name": "Anonymous"})
                assert_problem(answer, 401)
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                refused += 1

    assert refused > 20
    assert writes.keys() == []


NOBODYS = [
    "Bearer", "Bearer unknown", "Bearer " + "A" * 43, "Bearer " + "A" * 4000, "Bearer SESSION#x", "Basic dXNlcjpwYXNz",
    "unknown", "Bearer a b", "Bearer \x7f",
]  # fmt: skip


def test_an_unknown_token_is_401(visitor: Visitor) -> None:
    for authorization in NOBODYS:
        assert_problem(visitor.get("/me", headers={"Authorization": authorization}), 401)


def test_the_scheme_of_a_token_is_named_in_any_case(site: Site, member: Visitor) -> None:
    answer = site.visitor().get("/me", headers={"Authorization": f"bearer {member.token}"})

    assert answer.json()["username"] == member.username


def test_a_wrong_token_does_no_harm_where_none_is_needed(visitor: Visitor) -> None:
    assert visitor.get("/deals", headers={"Authorization": "Bearer unknown"}).status_code == 200


def test_the_api_has_a_path_for_who_resolves_no_names_and_the_clouds_own_needs_the_checkouts_key(site: Site) -> None:
    ours, the_clouds = (
        httpx.get(f"{site.endpoint}/{path}/categories", trust_env=False, timeout=PATIENCE)
        for path in (f"_aws/execute-api/{site.api_id}/v1", f"restapis/{site.api_id}/v1/_user_request_")
    )

    assert len(ours.json()["items"]) == 8
    assert the_clouds.status_code == 403


def test_ministack_has_no_route_for_an_encoded_slash(visitor: Visitor) -> None:
    """API Gateway hands ``%2F`` on as part of one segment (tests/functions has its event); MiniStack splits it."""
    assert_problem(visitor.get("/brands/g%2Ffore"), 404)


@pytest.mark.thorough  # about MiniStack, not about our code
def test_ministack_believes_x_forwarded_for(site: Site) -> None:
    """API Gateway's ``sourceIp`` is the address that the connection came from, whatever a header says."""
    login, claimed = {"username": fresh("far-away"), "password": "a guess"}, "203.0.113.9"
    window = int(datetime.now(UTC).timestamp()) // rate_limits.WINDOW_SECONDS

    assert_problem(site.visitor().post("/sessions", json=login, headers={"X-Forwarded-For": claimed}), 401)

    # The next window may have begun meanwhile.
    (counted,) = site.table.get_many([keys.attempts("ADDRESS", claimed, each) for each in (window, window + 1)])
    assert len(counted["Counted"]) == 1


@pytest.mark.thorough
def test_make_run_finds_the_cloud_that_runs_and_make_invoke_uses_it(site: Site, tmp_path: Path) -> None:
    there = cloud.running(site.home)
    logs = [tmp_path / "one.log", tmp_path / "another.log"]

    runs = [begin(site.home, "up", log) for log in logs]  # at once, and told no port
    ended = [run.wait(timeout=300) for run in runs]
    told = make(site.home, "status")
    invoked = make(site.home, "invoke", "FUNCTION=seed")

    assert ended == [0, 0], [log.read_text() for log in logs]
    links = [
        f"{site.origin}/{path}  ({remark})" for each in features.roles(hooks.Local) for _, path, remark in each.LINKS
    ]
    assert all(link in log.read_text() for log in logs for link in links)
    assert there is not None
    assert cloud.running(site.home) == there
    assert told.stdout == f"The local cloud runs on port {there.port} (process {there.pid}).\n"
    assert json.loads(site.home.cloud.read_text())["apiId"] == site.api_id
    assert invoked.returncode == 0, invoked.stderr
    assert "The local cloud is not running" not in invoked.stderr
    assert 'CloudFormation receives: {"Status": "SUCCESS"' in invoked.stderr


def test_make_invoke_names_to_a_function_the_queue_that_it_was_deployed_with(site: Site) -> None:
    invoked = make(site.home, "invoke", "FUNCTION=accounts")

    assert invoked.returncode == 0, invoked.stderr
    assert '"statusCode": 201' in invoked.stdout


INVOKED = [
    (line.removeprefix("make ").split(), answered)
    for page, answered in (("README.md", 200), ("docs/afternoon.md", 401))
    for line in re.findall(r"^make invoke .*$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
]
"""The invocations that documents print, and the status that each says or lets expect."""


@pytest.mark.parametrize(("words", "answered"), INVOKED, ids=str)
def test_make_invoke_answers_as_the_documents_say(site: Site, tmp_path: Path, words: list[str], answered: int) -> None:
    with suppress(BrandExists):  # the import that both documents begin with brings it
        topics.create_brand(site.table, naming.slug("G/Fore"), "G/Fore", times.now())
    if not site.home.cloud.exists():
        assert begin(site.home, "up", tmp_path / "up.log").wait(timeout=300) == 0

    invoked = make(site.home, *words)

    assert invoked.returncode == 0, invoked.stderr
    assert json.loads(invoked.stdout)["statusCode"] == answered


def test_two_documents_print_invocations() -> None:
    assert len(INVOKED) == 2


STACK = STAGES[STAGE].stack_name


@pytest.fixture
def logged(site: Site) -> Callable[[str], list[dict[str, Any]]]:
    """Tells what all functions have logged of an id, in the order of writing."""
    logs = client(site, "logs")

    def of(text: str) -> list[dict[str, Any]]:
        groups = logs.describe_log_groups(logGroupNamePattern=STACK)["logGroups"]
        pages = logs.get_paginator("filter_log_events")
        found = [
            event
            for group in groups
            for page in pages.paginate(logGroupName=group["logGroupName"], filterPattern=f'"{text}"')
            for event in page["events"]
        ]
        return [json.loads(each["message"]) for each in sorted(found, key=lambda each: each["timestamp"])]

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
        everyone = {"editors", "publisher", "messenger", "refresher"}
        return {line["service"] for line in found} >= everyone and told_of_brand(found) >= len(readers)

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
    """A departure from AWS that the runbook tells of: should this fail, it is gone."""
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


def raw(site: Site, request: bytes) -> bytes:
    """The site's answer to bytes that no HTTP library would send."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=120) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


TRAVERSALS = [
    "/v1/brands/%2e%2e/me",
    "/v1/brands/../me",
    "/v1/brands/..%2f..%2fme",
    "/v1/brands/%2e%2e%2fme",
    "/v1//me",
    "/v1/brands/x/..%5c..%5cme",
    "/v1/deals/%2e%2e/front-page/featured",
]


def test_a_path_leads_nowhere_else(site: Site) -> None:
    """Nobody is signed in: each place it leads to refuses it."""
    host, writes = site.visitor().headers["Host"], site.writes()

    for path in TRAVERSALS:
        for method in ("GET", "PUT", "DELETE"):
            answer = raw(site, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            assert answer.split(b" ")[1] in (b"400", b"401", b"404"), (path, answer)

    assert writes.keys() == []


@pytest.mark.parametrize("path", ["/categories", "/openapi.json", "/docs", "/nothing"])
def test_no_answer_repeats_the_host_that_a_proxy_names(site: Site, path: str) -> None:
    answer = httpx.get(
        f"{site.endpoint}/_aws/execute-api/{site.api_id}/v1{path}",
        headers={"X-Forwarded-Host": "evil.example", "X-Original-URL": "/v1/me"},
        trust_env=False,
        timeout=PATIENCE,
    )

    assert answer.status_code in (200, 404)
    assert "evil" not in answer.text + str(answer.headers)


QUOTES = [
    "Trail' runner",
    "x'} ; DELETE FROM \"big-time-deals\" WHERE PK='USER#ana' --",
    "', 'PK': 'SESSION#0",
    "? ?1 :v #n {0} %s ${x}",
    '"}]} "title": "x',
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
]


def test_text_that_would_be_a_statement_elsewhere_reaches_readers_as_it_is(site: Site, editor: Visitor) -> None:
    reader, bystander, slug = site.member("quoted"), site.member("bystander"), fresh("quoting")
    assert reader.patch("/me", json={"name": QUOTES[1]}).json()["name"] == QUOTES[1]
    assert editor.post("/brands", json={"name": f"{slug} '; --"}).headers["Location"] == f"/v1/brands/{slug}"
    assert reader.put(f"/brands/{slug}/watch").status_code == 200
    people = {key: item for key, item in dump(site.table).items() if item["Type"] in ("User", "Session", "UserEmail")}

    for title in QUOTES:
        deal = editor.post("/deals", json=a_deal(slug, title=title, description=title, couponCode=title))
        assert deal.status_code == 201

    told = eventually(lambda: reader.get("/messages").json()["items"], lambda items: len(items) == len(QUOTES))
    assert sorted(message["deal"]["title"] for message in told) == sorted(QUOTES)
    assert editor.put(f"/deals/{deal.json()['dealId']}/hot").status_code == 202
    (hot,) = eventually(lambda: bystander.get("/messages").json()["items"], lambda items: len(items) == 1)
    assert (hot["kind"], hot["deal"]["title"]) == ("hot", QUOTES[-1])
    shown = site.visitor().get(f"/brands/{slug}/deals")
    assert sorted(deal["title"] for deal in shown.json()["items"]) == sorted(QUOTES)
    assert shown.headers["Content-Type"] == "application/json"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert {key: item for key, item in dump(site.table).items() if key in people} == people


SEED = "20261121"
EXAMPLES = "4"
"""Examples that the fuzzing makes for each route, besides those that are derived from the schema one by one."""

SECONDS = os.environ.get("FIRE_SECONDS")


@pytest.mark.thorough
@pytest.mark.parametrize("role", ["anonymous", "member", "editor"])
def test_no_answer_departs_from_the_document(site: Site, editor: Visitor, role: str, tmp_path: Path) -> None:
    stock(editor)
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(site.contract.document), encoding="utf-8")
    asked = [operation for methods in site.contract.document["paths"].values() for operation in methods.values()]
    if SECONDS is None:
        asked = [operation for operation in asked if operation["tags"] == [role]]

    done = fire(site, role, document, tmp_path / "report.json")

    print(done.stdout)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert told["operations"]["tested"] == len(asked)
    assert {told["phases"][phase]["status"] for phase in ("coverage", "fuzzing", "stateful")} == {"success"}
    assert told["test_cases"]["generated"] > 10 * len(asked)


def stock(editor: Visitor) -> None:
    """The brand that the document's examples name, with a deal in each category."""
    assert editor.post("/brands", json={"name": "allbirds"}).status_code in (201, 409)
    for category in CATEGORIES:
        assert editor.post("/deals", json=a_deal("allbirds", category=category)).status_code == 201


def fire(site: Site, role: str, document: Path, report: Path) -> subprocess.CompletedProcess[str]:
    """Run schemathesis as a role, in a process of its own."""
    bounded = ["--seed", SEED, "--max-examples", EXAMPLES, "--include-tag", role]
    return subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", "tests/e2e/schemathesis.toml"),
            *("run", str(document), "--url", f"{site.endpoint}/v1", "--no-color"),
            *("--header", f"Host: {site.visitor().headers['Host']}"),
            *("--report-json-path", str(report)),
            *(bounded if SECONDS is None else ["--max-time", SECONDS]),
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT),
            "NO_PROXY": "127.0.0.1",
            "FIRE_ROLE": role,
            "FIRE_HOME": str(site.home.folder),
            "FIRE_PORT": str(site.port),
            "FIRE_TABLE": site.table.name,
        },
    )


@pytest.mark.parametrize("asked", cases("AT_THE_GATEWAY"), ids=lambda asked: asked.__name__)
def test_what_features_are_asked_for_passes_the_gateway(
    site: Site, editor: Visitor, brand: str, asked: Callable[[Site, Visitor, str], None]
) -> None:
    asked(site, editor, brand)
