"""``btd probe``: what it makes of AWS's answers, which are made up here; ``tests/e2e/test_streams.py`` has it run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from cli.proofs import Deployed, Fails, NotHere, Proof
from features.operations import probe
from infra.settings import STAGES
from infra.stage import Stage
from shared.data import keys
from shared.values import times
from tests.cli.conftest import Btd, bare_table, btd, table, wide_terminal  # noqa: F401  # fixtures
from tests.support.engines import MINISTACK, Engine
from tests.support.proofs import DEV, OUTPUTS, Aws, answers, meets, refusal  # noqa: F401  # fixtures
from tools import documents


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for is looked for three times."""

    def three_times(_: float, look: Callable[[], Any]) -> Any:
        return look() or look() or look()

    monkeypatch.setattr(probe, "wait", three_times)


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


def test_the_rights_of_a_role_that_stays_end_by_themselves(meets: Callable[..., Deployed]) -> None:
    aws = iam(asks_for)
    before = times.now()

    probe.keys_of_indexes(meets(aws))

    (policy,) = (asked["PolicyDocument"] for operation, asked in aws.asked if operation == "put_role_policy")
    (statement,) = json.loads(policy)["Statement"]
    until = datetime.fromisoformat(statement["Condition"]["DateLessThan"]["aws:CurrentTime"])
    assert before < until <= times.now() + probe.ROLE_LASTS


def test_a_run_first_removes_the_roles_that_a_killed_one_left_on_its_stage(
    meets: Callable[..., Deployed], btd: Btd, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {"/btd-probe/BigTimeDeals-dev/": ["btd-probe-dead"], "/btd-probe/BigTimeDeals-prod/": ["btd-probe-prod"]}
    aws = iam(asks_for)

    def create_role(**asked: Any) -> Any:
        left[asked["Path"]].append(asked["RoleName"])
        return {"Role": {"Arn": "arn:aws:iam::111122223333:role/probe"}}

    def delete_role(**asked: Any) -> Any:
        for names in left.values():
            if asked["RoleName"] in names:
                names.remove(asked["RoleName"])

    aws.answers |= {
        "create_role": create_role,
        "delete_role": delete_role,
        "list_roles": lambda PathPrefix: {"Roles": [{"RoleName": name} for name in left[PathPrefix]]},  # noqa: N803
    }
    site = meets(aws)
    monkeypatch.setattr(probe, "deployed", lambda: site)

    def killed(**_: Any) -> Any:
        raise SystemExit(137)

    aws.answers["assume_role"] = killed
    aws.answers["list_role_policies"] = killed  # nor does the end of the proof run
    with pytest.raises(SystemExit):
        probe.keys_of_indexes(site)
    assert len(left["/btd-probe/BigTimeDeals-dev/"]) == 2
    aws.answers |= iam(asks_for).answers | {key: aws.answers[key] for key in ("create_role", "delete_role")}
    aws.asked.clear()

    said = btd("probe", "starts", code=1).output

    assert left == {"/btd-probe/BigTimeDeals-dev/": [], "/btd-probe/BigTimeDeals-prod/": ["btd-probe-prod"]}
    assert "Removed what an earlier run left: the role btd-probe-dead." in said
    assert aws.operations()[:3] == ["list_role_policies", "delete_role_policy", "delete_role"]


def test_what_cannot_be_removed_is_said_and_the_proofs_run(btd: Btd, monkeypatch: pytest.MonkeyPatch) -> None:
    every_proof(monkeypatch, STAGES["dev"], lambda _: "seen", blind=False)
    for name, proof in probe.proofs().items():
        monkeypatch.setitem(probe.proofs(), name, proof._replace(tidy=breaks))

    done = btd("probe", "keys")

    assert "What earlier runs of keys left was not removed: ClientError" in done.output
    assert "holds" in done.stdout


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


def every_proof(monkeypatch: pytest.MonkeyPatch, stage: Stage, outcome: Callable[[Deployed], str], blind: bool) -> None:
    """Let every proof come to one outcome, on a stage."""
    monkeypatch.setattr(probe, "deployed", lambda: Deployed(stage, OUTPUTS, {}, "0123"))
    for name in probe.proofs():
        monkeypatch.setitem(probe.proofs(), name, Proof(outcome, 1, "nothing is told here", blind=blind))


def fails(_: Deployed) -> str:
    raise Fails("seen otherwise")


def breaks(_: Deployed) -> Any:
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


def test_each_proof_belongs_to_a_claim_and_they_take_ten_minutes_at_most() -> None:
    proved = {claim["proof"] for claim in documents.claims()}

    assert {f"btd probe {name}" for name in probe.proofs()} <= proved
    assert {proof for proof in proved if re.fullmatch("btd probe [a-z]+", proof)} == {
        f"btd probe {n}" for n in probe.proofs()
    }
    assert sum(proof.seconds for proof in probe.proofs().values()) <= 600
