"""``btd probe``: what it makes of AWS's answers, which are made up here; ``tests/e2e/test_streams.py`` has it run."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli import proofs
from cli.proofs import Deployed, Fails, NotHere, Proof, cdn, exports
from features.mail import commands as mail
from features.mail.data import mailing
from features.mail.rows import Mail
from features.operations import probe
from infra.rows.cdn import Cdn
from infra.rows.exports import Exports
from infra.settings import STAGES, Stage
from shared.data import keys
from shared.data.members import users
from shared.dynamodb.table import Table
from tests.cli.conftest import Btd, bare_table, btd, table, wide_terminal  # noqa: F401  # fixtures
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK, Engine

DEV = STAGES["dev"]
CLOSED = dataclasses.replace(DEV, options=(Cdn(closes_apis=True),))
OUTPUTS = {
    "TableName": "deals",
    "ApiUrl": "https://api.example/v1/",
    "CdnUrl": "https://cdn.example/v1/",
    "MailQueueUrl": "queue",
}

Asked = tuple[str, Mapping[str, Any]]


def refusal(code: str, **more: Any) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}, **more}, "Any")  # type: ignore[typeddict-item]


class Aws:
    """Clients whose answers a test makes up, by operation; it keeps what they were asked."""

    exceptions = SimpleNamespace(TransactionCanceledException=ClientError)

    def __init__(self, **answers: Callable[..., Any]) -> None:
        self.answers, self.asked = answers, list[Asked]()

    def __call__(self, _service: str, **_: Any) -> Aws:
        return self

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def answer(**asked: Any) -> Any:
            self.asked.append((operation, asked))
            return self.answers[operation](**asked)

        return answer

    def get_paginator(self, operation: str) -> Any:
        pages = self.answers[operation]
        return type("Paginator", (), {"paginate": lambda _, **asked: [pages(**asked)]})()

    def operations(self) -> list[str]:
        return [operation for operation, _ in self.asked]


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for is looked for three times."""

    def three_times(_: float, look: Callable[[], Any]) -> Any:
        return look() or look() or look()

    monkeypatch.setattr(probe, "wait", three_times)


@pytest.fixture
def meets(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Deployed]:
    """A stage whose clients are made up."""

    def made(aws: Aws, stage: Stage = DEV) -> Deployed:
        monkeypatch.setattr(Deployed, "client", lambda _, service, **more: aws(service, **more))
        monkeypatch.setattr(Deployed, "table", type("Named", (), {"client": aws, "name": "deals"})())
        return Deployed(stage, OUTPUTS, FAKE_CREDENTIALS, "0123")

    return made


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, Sequence[tuple[int, str]]]], list[str]]:
    """Answers by the addresses that are asked, one after the other; returns the addresses that were."""

    def made(by_address: Mapping[str, Sequence[tuple[int, str]]]) -> list[str]:
        left: dict[str, Iterator[tuple[int, str]]] = {address: iter(some) for address, some in by_address.items()}
        asked: list[str] = []

        def ask(_method: str, url: str, **_: Any) -> tuple[int, str]:
            asked.append(url)
            return next(left[url])

        for module in (probe, proofs):
            monkeypatch.setattr(module, "ask", ask)
        return asked

    return made


def iam(query: Callable[[str, Any], bool], write: str = "ConditionalCheckFailedException") -> Aws:
    """IAM and a table, which answer a query whose policy and request are as ``query`` wants them, and refuse a write
    for the reason ``write``."""
    aws = Aws(
        get_caller_identity=lambda: {"Arn": "arn:aws:iam::111122223333:user/ana", "Account": "111122223333"},
        describe_table=lambda **_: {"Table": {"TableArn": "arn:aws:dynamodb:us-east-1:111122223333:table/deals"}},
        create_role=lambda **_: {"Role": {"Arn": "arn:aws:iam::111122223333:role/probe"}},
        put_role_policy=lambda **_: {},
        list_role_policies=lambda **_: {"PolicyNames": ["query"]},
        delete_role_policy=lambda **_: {},
        delete_role=lambda **_: {},
    )
    policies: list[str] = []

    def assume_role(**asked: Any) -> Any:
        policies.append(asked["Policy"])
        return {"Credentials": {"AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c"}}

    def answer(**asked: Any) -> Any:
        if "Condition" in policies[-1] and not query(policies[-1], asked):
            raise refusal("AccessDeniedException")
        return {"Items": []}

    def refuse(**asked: Any) -> Any:
        assert '"dynamodb:ReturnValues"' in policies[-1]
        assert asked["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD"
        raise refusal(write)

    aws.answers |= {"assume_role": assume_role, "query": answer, "update_item": refuse}
    return aws


def asks_for(policy: str, asked: Any) -> bool:
    return str(asked["ExpressionAttributeValues"][":key"]["S"]) in policy


def test_keys_of_indexes_hold_where_the_named_key_is_allowed_and_no_other(meets: Callable[..., Deployed]) -> None:
    aws = iam(asks_for)

    assert "another refused" in probe.keys_of_indexes(meets(aws))
    assert aws.operations()[-2:] == ["delete_role_policy", "delete_role"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (lambda policy, asked: "IndexName" not in asked and asks_for(policy, asked), "GSI1: its own key is refused"),
        (lambda policy, asked: "IndexName" in asked or asks_for(policy, asked), "GSI3: any key is allowed"),
    ],
    ids=["the index's key is not told", "no key is told"],
)
def test_keys_of_indexes_fail_and_the_role_is_removed(
    meets: Callable[..., Deployed], query: Callable[[str, Any], bool], said: str
) -> None:
    aws = iam(query)

    with pytest.raises(Fails, match=said) as error:
        probe.keys_of_indexes(meets(aws))

    assert "the table" not in str(error.value)
    assert aws.operations()[-2:] == ["delete_role_policy", "delete_role"]


def test_keys_fail_where_a_write_may_not_ask_for_the_item_that_its_condition_met(
    meets: Callable[..., Deployed],
) -> None:
    with pytest.raises(Fails, match=r"^a write that asks what its condition met is refused$"):
        probe.keys_of_indexes(meets(iam(asks_for, "AccessDeniedException")))


def test_a_role_that_iam_does_not_know_yet_is_waited_for(meets: Callable[..., Deployed]) -> None:
    aws = iam(asks_for)
    known = iter([False, False, True])
    assume = aws.answers["assume_role"]

    def assume_role(**asked: Any) -> Any:
        if not next(known, True):
            raise refusal("AccessDenied")
        return assume(**asked)

    aws.answers["assume_role"] = assume_role

    assert "another refused" in probe.keys_of_indexes(meets(aws))


@pytest.mark.parametrize(
    ("direct", "through", "holds"), [(401, 200, True), (200, 200, False), (401, 401, False)], ids=str
)
def test_closed_apis_answer_cloudfront_alone(
    meets: Callable[..., Deployed], answers: Any, direct: int, through: int, holds: bool
) -> None:
    answers({"https://api.example/v1/front-page": [(direct, "")], "https://cdn.example/v1/front-page": [(through, "")]})
    site = meets(Aws(), CLOSED)

    if holds:
        assert cdn.closed(site) == "401 directly, 200 through CloudFront"
    else:
        with pytest.raises(Fails, match=f"directly it answers {direct}, through CloudFront {through}"):
            cdn.closed(site)


def test_apis_that_are_not_closed_cannot_prove_it(meets: Callable[..., Deployed], answers: Any) -> None:
    answers({"https://api.example/v1/front-page": [(200, "")]})

    with pytest.raises(NotHere, match="answers 200"):
        cdn.closed(meets(Aws()))


def test_a_throttle_is_proved_by_the_gateways_own_words_and_bounded(
    meets: Callable[..., Deployed], answers: Any
) -> None:
    attempts = 2 * DEV.sign_in_burst + 10
    many = [(400, "no JSON")] * (attempts - 1)
    asked = answers({"https://api.example/v1/sessions": [*many, (429, "Too many requests: slow down.")]})

    assert probe.throttle(meets(Aws())) == f"{attempts} attempts at once: {{400: {attempts - 1}, 429: 1}}"
    assert len(asked) == attempts

    answers({"https://api.example/v1/sessions": [*many, (429, "from a function")]})
    with pytest.raises(Fails, match="429: 1"):
        probe.throttle(meets(Aws()))


def table_with(outcomes: Iterator[str], counted: int) -> Aws:
    """A table whose transactions end so, and whose item then counts so many."""

    def transact(**_: Any) -> Any:
        if (code := next(outcomes)) != "written":
            raise refusal("TransactionCanceledException", CancellationReasons=[{"Code": code}])
        return {}

    return Aws(
        transact_write_items=transact,
        get_item=lambda **_: {"Item": {"Version": {"N": str(counted)}}},
        delete_item=lambda **_: {},
    )


def test_a_conflict_is_proved_where_transactions_meet_and_the_count_is_right(meets: Callable[..., Deployed]) -> None:
    aws = table_with(iter(["written"] * 15 + ["TransactionConflict"] * 5), 15)

    assert probe.conflict(meets(aws)) == "{'written': 15, 'TransactionConflict': 5}; the item counts 15"
    assert aws.asked[-1] == (
        "delete_item",
        {"TableName": "deals", "Key": {name: {"S": keys.scratch("probe", "0123")} for name in ("PK", "SK")}},
    )


@pytest.mark.parametrize(
    ("ends", "counted"),
    [(["written"] * 200, 200), (["written"] * 19 + ["TransactionConflict"], 20)],
    ids=["none meets another", "one that was cancelled has written"],
)
def test_a_conflict_fails_and_the_item_is_removed(
    meets: Callable[..., Deployed], ends: list[str], counted: int
) -> None:
    aws = table_with(iter(ends), counted)

    with pytest.raises(Fails, match=f"counts {counted}"):
        probe.conflict(meets(aws))

    assert aws.operations()[-1] == "delete_item"
    assert aws.operations().count("transact_write_items") == len(ends)


def export_of(*arns: str, status: str = "COMPLETED") -> Aws:
    def listed(**_: Any) -> Any:
        return {"ExportSummaries": [{"ExportArn": arn, "ExportType": "INCREMENTAL_EXPORT"} for arn in arns]}

    return Aws(
        describe_table=lambda **_: {"Table": {"TableArn": "arn"}},
        list_exports=listed,
        describe_export=lambda **asked: {
            "ExportDescription": {**asked, "ExportStatus": status, "FailureMessage": "outside of PITR"}
        },
    )


def test_the_newest_night_proves_the_export(meets: Callable[..., Deployed]) -> None:
    stage = dataclasses.replace(DEV, options=(Exports(days=30),))
    arns = ("arn/export/01700000000000-a", "arn/export/01800000000000-b")

    assert exports.export(meets(export_of(*arns), stage)) == "arn/export/01800000000000-b is COMPLETED"
    with pytest.raises(Fails, match="outside of PITR"):
        exports.export(meets(export_of(*arns, status="FAILED"), stage))
    with pytest.raises(NotHere, match="no night"):
        exports.export(meets(export_of(), stage))
    with pytest.raises(NotHere, match="exports nothing"):
        exports.export(meets(export_of(*arns)))


def logs_of(*lines: str) -> Aws:
    return Aws(
        describe_log_groups=lambda **_: {"logGroups": [{"logGroupName": "BigTimeDeals-dev-CatalogLog0A1B-x"}]},
        filter_log_events=lambda **_: {"events": [{"message": line} for line in lines]},
    )


def test_starts_are_shown_by_function_and_must_be_over_in_ten_seconds(meets: Callable[..., Deployed]) -> None:
    line = "REPORT RequestId: a Duration: 3.00 ms Memory Size: 512 MB Init Duration: {} ms"

    assert probe.starts(meets(logs_of(line.format("312.40"), line.format("401.90")))) == "Catalog 402 ms"
    with pytest.raises(Fails, match="Catalog 10001 ms"):
        probe.starts(meets(logs_of(line.format("10001.00"))))
    with pytest.raises(NotHere, match="no log"):
        probe.starts(meets(logs_of("REPORT Duration: 3.00 ms")))


def test_a_bounce_that_stops_mail_to_the_account_proves_the_mail_and_the_account_is_removed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = dataclasses.replace(DEV, options=(Mail(sender="deals@deals.example", postal_address="1 Main Street"),))
    bounces = True

    def send_message(**asked: Any) -> Any:
        address = json.loads(asked["MessageBody"])["to"]
        if bounces:
            mailing.stop(table, address, "bounce")
        return {}

    aws = Aws(send_message=send_message)
    monkeypatch.setattr(Deployed, "client", lambda _, service, **more: aws(service, **more))
    reached = {**FAKE_CREDENTIALS, "endpoint_url": table.client.meta.endpoint_url}
    site = Deployed(stage, {**OUTPUTS, "TableName": table.name}, reached, "0123")

    assert "bounced" in mail.mail(site)
    assert list(users.everyone(table)) == []

    bounces = False
    monkeypatch.setattr(mail, "wait", lambda _seconds, look: look())
    with pytest.raises(Fails, match="no bounce"):
        mail.mail(site)
    assert list(users.everyone(table)) == []


def every_proof(monkeypatch: pytest.MonkeyPatch, stage: Stage, outcome: Callable[[Deployed], str], blind: bool) -> None:
    """Let every proof come to one outcome, on a stage."""
    monkeypatch.setattr(probe, "deployed", lambda: Deployed(stage, OUTPUTS, {}, "0123"))
    for name in probe.proofs():
        monkeypatch.setitem(probe.proofs(), name, Proof(outcome, 1, "nothing is told here", blind=blind))


def fails(_: Deployed) -> str:
    raise Fails("seen otherwise")


def breaks(_: Deployed) -> str:
    raise refusal("ServiceUnavailable")


def is_not_here(_: Deployed) -> str:
    raise NotHere("no such thing")


@pytest.mark.parametrize(
    ("stage", "outcome", "blind", "result", "code"),
    [
        ("dev", lambda _: "seen", False, "holds", 0),
        ("dev", fails, True, "fails", 1),
        ("dev", breaks, True, "fails", 1),
        ("dev", is_not_here, False, "unknown", 0),
        ("local", lambda _: "seen", False, "works", 0),
        ("local", fails, False, "fails", 1),
        ("local", fails, True, "unknown", 0),
    ],
)
def test_the_ledger_is_printed_with_the_results(
    btd: Btd,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    outcome: Callable[[Deployed], str],
    blind: bool,
    result: str,
    code: int,
) -> None:
    every_proof(monkeypatch, STAGES[stage], outcome, blind)

    rows = json.loads(btd("probe", "keys", "--json", code=code).stdout)["result"]
    printed = btd("probe", "keys", code=code).stdout

    (first, *_) = rows
    assert (first["claim"], first["state"], first["result"]) == ("leading-keys-of-an-index", "bet", result)
    assert ("nothing is told here" in first["found"]) == (stage == "local")
    assert {row["result"] for row in rows if row["found"] == "btd probe throttle"} == {""}
    assert re.search(rf"leading-keys-of-an-index +bet +{result}", printed)


def test_a_proof_that_is_not_there_and_a_stack_that_is_not_there_are_not_understood(
    btd: Btd, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "There is no proof magic" in btd("probe", "magic", code=2).output
    monkeypatch.setenv("BTD_STACK", "Others")
    assert "No stage of infra/settings.py has a stack Others" in btd("probe", code=2).output
