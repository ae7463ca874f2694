"""``btd probe``: what it makes of AWS's answers, which are made up here; ``tests/e2e/test_streams.py`` has it run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from cli import proofs as waiting
from cli.proofs import Deployed, Fails, NotAsked, NotHere, Proof
from features.operations import probe, proofs, rights_proofs, roles
from infra.functions import BY_NAME, of_stage
from infra.settings import STAGES
from infra.stage import Stage
from shared.data import keys
from shared.dynamodb.schema import GSI1
from shared.values import times
from tests.cli.conftest import Btd, bare_table, btd, table, wide_terminal  # noqa: F401  # fixtures
from tests.support.engines import MINISTACK, Engine
from tests.support.proofs import DEV, OUTPUTS, Aws, answers, meets, refusal  # noqa: F401  # fixtures
from tests.support.rights import Ask, Policy, asks, policy_of
from tools import documents


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for is looked for three times."""

    def three_times(_: float, look: Callable[[], Any]) -> Any:
        return look() or look() or look()

    monkeypatch.setattr(waiting, "wait", three_times)


TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/table"
WRITES = {
    "put_item": "PutItem",
    "update_item": "UpdateItem",
    "delete_item": "DeleteItem",
    "transact_write_items": "TransactWriteItems",
}
BATCHES = {"batch_write_item": "BatchWriteItem"}
READS = {"get_item": "GetItem", "batch_get_item": "BatchGetItem", "query": "Query", "scan": "Scan"}
PARTIQL = {"batch_execute_statement": "BatchExecuteStatement"}


def iam(tells: Callable[[Ask], bool] = lambda _: True, denies: Callable[[Ask], bool] = lambda _: False) -> Aws:
    """IAM and a table: each request is decided by the policies of the role, and by the session's.

    ``tells`` says of which requests IAM is told the keys. ``denies`` refuses requests against the policies.
    """
    made: dict[str, list[str]] = {}
    acting: list[list[str]] = [[]]
    aws = Aws(
        get_caller_identity=lambda: {"Arn": "arn:aws:iam::111122223333:user/ana", "Account": "111122223333"},
        describe_table=lambda **_: {"Table": {"TableArn": TABLE}},
        list_role_policies=lambda **asked: {"PolicyNames": [*range(len(made[asked["RoleName"]]))]},
        delete_role_policy=lambda **_: {},
        delete_role=lambda **asked: made.pop(asked["RoleName"], None),
        list_roles=lambda **_: {"Roles": [{"RoleName": name} for name in made]},
    )

    def create_role(**asked: Any) -> Any:
        made[asked["RoleName"]] = []
        return {"Role": {"Arn": f"arn:aws:iam::111122223333:role/{asked['RoleName']}"}}

    def assume_role(**asked: Any) -> Any:
        of_role = [each for each in made[asked["RoleArn"].rpartition("/")[2]] if '"Allow"' in each]
        acting.append([" ".join(of_role), *([asked["Policy"]] if "Policy" in asked else [])])
        return {"Credentials": {"AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c"}}

    def is_allowed(ask: Ask) -> bool:
        statements = [[one for each in documents_of(part) for one in each["Statement"]] for part in acting[-1]]
        return not denies(ask) and all(Policy(each, TABLE).allows(ask, leading_keys=tells(ask)) for each in statements)

    def decided(operation: str, **asked: Any) -> Any:
        if not all(map(is_allowed, asks(operation, asked))):
            if operation == "BatchExecuteStatement":
                return {"Responses": [{"Error": {"Code": "AccessDenied"}}]}
            raise refusal("AccessDeniedException")
        if operation in WRITES.values() and len(acting) > 1 and acting[-1]:
            raise refusal("ConditionalCheckFailedException")
        return {"Items": []}

    def answer(operation: str) -> Callable[..., Any]:
        return lambda **asked: decided(operation, **asked)

    aws.answers |= {name: answer(operation) for name, operation in (READS | WRITES | BATCHES | PARTIQL).items()}
    aws.answers |= {
        "create_role": create_role,
        "put_role_policy": lambda **asked: made[asked["RoleName"]].append(asked["PolicyDocument"]),
        "assume_role": assume_role,
        "delete_item": lambda **asked: {} if "ConditionExpression" not in asked else decided("DeleteItem", **asked),
    }
    return aws


def documents_of(text: str) -> Iterator[dict[str, Any]]:
    """The policies in a text of several, one after the other."""
    decoder = json.JSONDecoder()
    while text := text.strip():
        found, end = decoder.raw_decode(text)
        yield found
        text = text[end:]


QUESTIONS = ["keys", "nokeys", "operations", "writes", "returned", "projections"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_proof_about_iam_holds_where_iam_is_as_documented_and_removes_its_role(
    meets: Callable[..., Deployed], name: str
) -> None:
    aws = iam()

    assert "requests" in rights_proofs.PROOFS[name].prove(meets(aws))
    assert aws.operations()[-1] == "delete_role"
    assert aws.operations().count("create_role") == aws.operations().count("delete_role") == 1


@pytest.mark.parametrize(
    ("name", "aws", "said"),
    [
        ("keys", iam(tells=lambda ask: not ask.index), "GSI1's own key: refused"),
        ("keys", iam(denies=lambda ask: ask.index == GSI1.name), "GSI1's own key: refused"),
        ("nokeys", iam(denies=lambda ask: ask.operation == "Scan"), "a scan under ForAllValues: refused"),
        ("operations", iam(denies=lambda ask: ask.operation == "PartiQLInsert"), "PartiQLInsert's own key: refused"),
        ("operations", iam(denies=lambda ask: ask.operation == "BatchGetItem"), "BatchGetItem's own key: refused"),
        ("returned", iam(denies=lambda ask: ask.operation == "UpdateItem"), "a write that returns"),
        ("projections", iam(denies=lambda ask: bool(ask.attributes)), "the table's its attribute: refused"),
    ],
)
def test_a_proof_about_iam_fails_where_an_answer_is_another_and_removes_its_role(
    meets: Callable[..., Deployed], name: str, aws: Aws, said: str
) -> None:
    with pytest.raises(Fails, match=said):
        rights_proofs.PROOFS[name].prove(meets(aws))

    assert aws.operations()[-1] == "delete_role"


def test_attributes_that_are_not_told_fail_the_proof_of_writes(meets: Callable[..., Deployed]) -> None:
    aws = iam()
    refused = aws.answers["update_item"]

    def update(**asked: Any) -> Any:
        return refused(**{**asked, "UpdateExpression": "SET Version = :probe", "ExpressionAttributeNames": {}})

    aws.answers["update_item"] = update

    with pytest.raises(Fails, match="another attribute: allowed"):
        rights_proofs.writes(meets(aws))


def test_the_rights_of_a_role_that_stays_end_by_themselves(meets: Callable[..., Deployed]) -> None:
    aws = iam()
    before = times.now()

    rights_proofs.keys_of_indexes(meets(aws))

    documents_put = [asked["PolicyDocument"] for operation, asked in aws.asked if operation == "put_role_policy"]
    (ends,) = [each for text in documents_put for each in json.loads(text)["Statement"] if each["Effect"] == "Deny"]
    assert (ends["Action"], ends["Resource"]) == ("*", "*")
    until = datetime.fromisoformat(ends["Condition"]["DateGreaterThan"]["aws:CurrentTime"])
    assert before < until <= times.now() + roles.LASTS


def test_a_run_first_removes_the_roles_and_items_that_a_killed_one_left_on_its_stage(
    meets: Callable[..., Deployed], btd: Btd, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = iam()
    site = meets(aws)
    monkeypatch.setattr(probe, "deployed", lambda: site)

    def killed(**_: Any) -> Any:
        raise SystemExit(137)

    removes = aws.answers["list_role_policies"]
    aws.answers |= {"assume_role": killed, "list_role_policies": killed}  # nor does the end of the proof run
    with pytest.raises(SystemExit):
        rights_proofs.keys_of_indexes(site)
    at = {"PK": {"S": keys.scratch("probe", "conflict")}, "SK": {"S": "dead"}}
    aws.answers |= {"list_role_policies": removes, "query": lambda **_: {"Items": [at]}}
    aws.asked.clear()

    said = btd("probe", "starts", code=3).output

    assert "Removed what an earlier run left: the role btd-probe-0123-0." in said
    assert "Removed what an earlier run left: the item of run dead." in said
    assert [("delete_item", {"TableName": "deals", "Key": at})] == [
        each for each in aws.asked if each[0] == "delete_item"
    ]
    # What is left is removed before anything is asked.
    assert aws.operations()[0] == "list_role_policies"


def test_what_cannot_be_removed_is_said_and_the_proofs_run(btd: Btd, monkeypatch: pytest.MonkeyPatch) -> None:
    every_proof(monkeypatch, STAGES["dev"], lambda _: "seen", blind=False)
    for name, proof in probe.proofs().items():
        monkeypatch.setitem(probe.proofs(), name, proof._replace(tidy=breaks))

    done = btd("probe", "keys")

    assert "What earlier runs of keys left was not removed: ClientError" in done.output
    assert "holds" in done.stdout


def test_a_role_that_iam_does_not_know_yet_is_waited_for(meets: Callable[..., Deployed]) -> None:
    aws = iam()
    known = iter([False, False, True])
    assume = aws.answers["assume_role"]

    def assume_role(**asked: Any) -> Any:
        if not next(known, True):
            raise refusal("AccessDenied")
        return assume(**asked)

    aws.answers["assume_role"] = assume_role

    assert "GSI1's own key" in rights_proofs.keys_of_indexes(meets(aws))


def test_a_role_that_cannot_be_used_says_nothing_about_the_claim(meets: Callable[..., Deployed]) -> None:
    with pytest.raises(NotAsked, match="refused what it is allowed"):
        rights_proofs.keys_of_indexes(meets(iam(denies=lambda _: True)))


def functions_of(aws: Aws, change: Callable[[str, str], str] = lambda _, text: text) -> Aws:
    """Deploy the functions of dev, with the policies of their rows."""
    rows = {row.name: row for row in of_stage(DEV) if row.access}
    listed = [
        {
            "Role": f"arn:aws:iam::111122223333:role/{name}",
            "Environment": {"Variables": {"TABLE_NAME": "deals", "POWERTOOLS_SERVICE_NAME": name}},
        }
        for name in rows
    ]
    policies, removes = {name: policy_of(row.access_at(DEV)) for name, row in rows.items()}, aws.answers

    def of_role(**asked: Any) -> Any:
        text = json.dumps({"Statement": [*policies[asked["RoleName"]].statements]})
        return {"PolicyDocument": json.loads(change(asked["RoleName"], text))}

    of_probe = removes["list_role_policies"]
    aws.answers |= {
        "list_functions": lambda **_: [{"Functions": listed[:3]}, {"Functions": listed[3:]}],
        "list_role_policies": lambda **asked: (
            {"PolicyNames": ["p"]} if asked["RoleName"] in policies else of_probe(**asked)
        ),
        "get_role_policy": of_role,
    }
    return aws


def test_each_functions_deployed_policies_are_tried_with_requests_of_its_rights(
    meets: Callable[..., Deployed],
) -> None:
    aws = functions_of(iam())

    said = rights_proofs.rights_of_functions(meets(aws))

    rights = sum(len(row.access_at(DEV)) for row in of_stage(DEV))
    assert f"{rights} requests are allowed" in said
    assert aws.operations().count("create_role") == aws.operations().count("delete_role")


def test_a_right_that_is_not_deployed_and_one_too_many_fail(meets: Callable[..., Deployed]) -> None:
    def change(name: str, text: str) -> str:
        if name == "authorizer":
            return text.replace("dynamodb:GetItem", "dynamodb:Query")
        return text.replace(BY_NAME["seed"].access[0].partitions[0], "*") if name == "seed" else text  # type: ignore[union-attr]

    with pytest.raises(Fails) as error:
        rights_proofs.rights_of_functions(meets(functions_of(iam(), change)))

    assert "authorizer: GetItem of" in str(error.value)
    assert "seed: PutItem of any key allowed" in str(error.value)
    assert not re.findall("(catalog|desk|messenger):", str(error.value))


def test_a_throttle_is_proved_by_the_gateways_own_words_and_bounded(
    meets: Callable[..., Deployed], answers: Any
) -> None:
    attempts = 2 * DEV.sign_in_burst + 10
    many = [(400, "no JSON")] * (attempts - 1)
    asked = answers({"https://api.example/v1/sessions": [*many, (429, "Too many requests: slow down.")]})

    assert proofs.throttle(meets(Aws())) == f"{attempts} attempts at once: {{400: {attempts - 1}, 429: 1}}"
    assert len(asked) == attempts

    answers({"https://api.example/v1/sessions": [*many, (429, "from a function")]})
    with pytest.raises(Fails, match="429: 1"):
        proofs.throttle(meets(Aws()))


def table_with(outcomes: Iterator[str], counted: int, most: int = 100) -> Aws:
    """A table whose transactions end so, and whose item then counts so many."""

    def transact(**asked: Any) -> Any:
        if len(asked["TransactItems"]) > most:
            raise refusal("ValidationException")
        if len(asked["TransactItems"]) > 1:
            raise refusal("TransactionCanceledException", CancellationReasons=[{"Code": "ConditionalCheckFailed"}])
        if "ClientRequestToken" not in asked and (code := next(outcomes)) != "written":
            raise refusal("TransactionCanceledException", CancellationReasons=[{"Code": code}])
        return {}

    return Aws(
        transact_write_items=transact,
        get_item=lambda **_: {"Item": {"Version": {"N": str(counted)}}},
        delete_item=lambda **_: {},
    )


def test_a_conflict_is_proved_where_transactions_meet_and_the_count_is_right(meets: Callable[..., Deployed]) -> None:
    aws = table_with(iter(["written"] * 15 + ["TransactionConflict"] * 5), 16)

    found = "{'written': 15, 'TransactionConflict': 5}, and one twice; the item counts 16"
    assert proofs.conflict(meets(aws)) == found
    at = {"PK": {"S": keys.scratch("probe", "conflict")}, "SK": {"S": "0123"}}
    assert ("delete_item", {"TableName": "deals", "Key": at}) in aws.asked


@pytest.mark.parametrize(
    ("ends", "counted"),
    [
        (["written"] * 200, 201),
        (["written"] * 19 + ["TransactionConflict"], 21),
        (["written"] * 19 + ["TransactionConflict"], 22),
    ],
    ids=["none meets another", "one that was cancelled has written", "a token counts twice"],
)
def test_a_conflict_fails_and_the_item_is_removed(
    meets: Callable[..., Deployed], ends: list[str], counted: int
) -> None:
    aws = table_with(iter(ends), counted)

    with pytest.raises(Fails, match=f"counts {counted}"):
        proofs.conflict(meets(aws))

    assert aws.operations()[-1] == "delete_item"
    assert aws.operations().count("transact_write_items") == len(ends) + 2


def test_a_transaction_of_too_many_writes_must_be_refused(meets: Callable[..., Deployed]) -> None:
    aws = table_with(iter(["written"] * 15 + ["TransactionConflict"] * 5), 16, most=200)

    with pytest.raises(Fails, match="101 writes is taken"):
        proofs.conflict(meets(aws))


def logs_of(*lines: str) -> Aws:
    """Logs whose every line, and every group, is on a page of its own."""
    return Aws(
        describe_log_groups=lambda **_: [
            {"logGroups": []},
            {"logGroups": [{"logGroupName": "BigTimeDeals-dev-CatalogLog0A1B-x"}]},
        ],
        filter_log_events=lambda **_: [{"events": [{"message": line}]} for line in lines],
    )


def test_starts_are_shown_by_function_and_must_be_over_in_ten_seconds(meets: Callable[..., Deployed]) -> None:
    line = "REPORT RequestId: a Duration: 3.00 ms Memory Size: 512 MB Init Duration: {} ms"

    assert proofs.starts(meets(logs_of(line.format("312.40"), line.format("401.90")))) == "Catalog 402 ms"
    with pytest.raises(Fails, match="Catalog 10001 ms"):
        proofs.starts(meets(logs_of(line.format("10001.00"))))
    # It is on the last page.
    with pytest.raises(Fails, match="Catalog 12000 ms"):
        proofs.starts(meets(logs_of(*[line.format("312.40")] * 5, line.format("12000.00"))))
    with pytest.raises(Fails, match="Catalog 10000 ms"):
        proofs.starts(meets(logs_of("INIT_REPORT Init Duration: 9999.73 ms Phase: init Status: timeout")))
    with pytest.raises(NotHere, match="no log"):
        proofs.starts(meets(logs_of("REPORT Duration: 3.00 ms")))


def test_logs_that_are_not_read_to_their_end_prove_nothing(
    meets: Callable[..., Deployed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "STARTS_SECONDS", -1)

    with pytest.raises(NotAsked, match="so far: none"):
        proofs.starts(meets(logs_of("REPORT Init Duration: 312.40 ms")))


def every_proof(monkeypatch: pytest.MonkeyPatch, stage: Stage, outcome: Callable[[Deployed], str], blind: bool) -> None:
    """Let every proof come to one outcome, on a stage."""
    monkeypatch.setattr(probe, "deployed", lambda: Deployed(stage, OUTPUTS, {}, "0123"))
    for name in probe.proofs():
        monkeypatch.setitem(probe.proofs(), name, Proof(outcome, 1, "nothing is told here", blind=blind))


def fails(_: Deployed) -> str:
    raise Fails("seen otherwise")


def breaks(_: Deployed) -> Any:
    raise refusal("ServiceUnavailable")


def has_expired(_: Deployed) -> Any:
    raise refusal("ExpiredTokenException")


def may_not(_: Deployed) -> Any:
    """The caller may not create roles."""
    raise refusal("AccessDenied")


def is_not_here(_: Deployed) -> str:
    raise NotHere("no such thing")


@pytest.mark.parametrize(
    ("stage", "outcome", "blind", "result", "code"),
    [
        ("dev", lambda _: "seen", False, "holds", 0),
        ("dev", fails, True, "fails", 1),
        ("dev", breaks, True, "not asked", 3),
        ("dev", has_expired, False, "not asked", 3),
        ("dev", may_not, False, "not asked", 3),
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

    (asked,) = [row for row in rows if row["result"]]
    assert (asked["claim"], asked["state"], asked["result"]) == ("leading-keys-of-an-index", "seen", result)
    assert ("nothing is told here" in asked["found"]) == (stage == "local")
    assert re.search(rf"leading-keys-of-an-index +seen +{result}", printed)


def test_a_proof_that_a_person_runs_is_printed_with_the_stacks_names(btd: Btd, monkeypatch: pytest.MonkeyPatch) -> None:
    every_proof(monkeypatch, DEV, lambda _: "seen", blind=False)

    found = {row["claim"]: row["found"] for row in json.loads(btd("probe", "keys", "--json").stdout)["result"]}

    assert found["ttl-is-late"] == "aws dynamodb describe-time-to-live --table-name deals"
    assert found["authorizer"].startswith("curl -i -H 'Authorization: Bearer x' https://api.example/v1/me")
    assert found["metrics-in-log-lines"].endswith("BigTimeDeals-dev")


def test_a_proof_that_is_not_there_and_a_stack_that_is_not_there_are_not_understood(
    btd: Btd, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "There is no proof magic" in btd("probe", "magic", code=2).output
    monkeypatch.setenv("BTD_STACK", "Others")
    assert "No stage of infra/settings.py has a stack Others" in btd("probe", code=2).output


def test_each_proof_belongs_to_a_claim_and_they_take_fifteen_minutes_at_most() -> None:
    proved = {claim["proof"] for claim in documents.claims()}

    assert {f"btd probe {name}" for name in probe.proofs()} <= proved
    assert {proof for proof in proved if re.fullmatch("btd probe [a-z]+", proof)} == {
        f"btd probe {n}" for n in probe.proofs()
    }
    assert sum(proof.seconds for proof in probe.proofs().values()) <= 900
