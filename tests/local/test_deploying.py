"""What is deployed to a local cloud: code, streams, and the sample that a new one shows."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from ministack.core import lambda_runtime  # type: ignore[import-untyped]  # it has no types
from ministack.services import lambda_svc  # type: ignore[import-untyped]  # it has no types

from local import __main__ as local
from local import cloud, ministack_patches, sample
from local.cloud import _DEPLOYED_FROM, free_port
from local.settings import ROOT, Home, Trouble, client_arguments
from shared.data import invariants
from shared.data.catalog import feeds, picks
from shared.data.members import follows, users
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, CATEGORIES, EDITORS_CHOICE, FRONT_PAGE, Status
from shared.models.members import User
from tests.support import surroundings
from tests.support.checks import faults
from tests.support.commands import until
from tests.support.engines import MINISTACK
from tests.support.site import client_of, home, probed, stream_to_a_function, told, write

__all__ = ["home", "probed"]

ANSWERING = """
import json, urllib.request
def handler(event, context):
    status = "FAILED" if event["RequestType"] in %r else "SUCCESS"
    kept = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    answer = kept | {"Status": status, "Reason": "as the test wants it", "PhysicalResourceId": "step"}
    urllib.request.urlopen(urllib.request.Request(event["ResponseURL"], json.dumps(answer).encode(), method="PUT"))
"""


def test_the_document_names_what_the_digest_is_made_of() -> None:
    document = (ROOT / "docs" / "local-cloud.md").read_text(encoding="utf-8")

    sources = [name + ("/" if (ROOT / name).is_dir() else "") for name in _DEPLOYED_FROM]

    named = [name for name in sources if "lock" not in name and not name.startswith("requirements/")]
    assert [name for name in named if f"`{name}`" not in document] == []


def test_a_watched_stage_follows_each_folder_that_is_deployed() -> None:
    watched = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["watch"]["include"]

    assert {f"{name}/**" for name in _DEPLOYED_FROM if (ROOT / name).is_dir()} <= set(watched)


def a_stack(folder: Path, version: str, *, refuses: tuple[str, ...] = ()) -> Path:
    """A synthesized stack of a table, and of a step that fails in some kinds of deployment."""
    app = cdk.App(outdir=str(folder / version), builtin_cloud_formation_validation=False)
    stack = cdk.Stack(app, "Stack", synthesizer=cdk.LegacyStackSynthesizer(), analytics_reporting=False)
    key = dynamodb.Attribute(name="PK", type=dynamodb.AttributeType.STRING)
    dynamodb.Table(stack, "Table", table_name="kept", partition_key=key, removal_policy=cdk.RemovalPolicy.DESTROY)
    function = lambda_.Function(
        stack,
        "Function",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline(ANSWERING % (refuses,)),
    )
    cdk.CustomResource(stack, "Step", service_token=function.function_arn, properties={"Version": version})
    cdk.CfnOutput(stack, "Version", value=version)
    app.synth()
    return folder / version


@pytest.mark.thorough
def test_an_update_that_cannot_even_be_taken_back_hinders_no_later_one_and_loses_no_data(
    home: Home, tmp_path: Path
) -> None:
    there, _ = cloud.start(home, free_port())
    arguments = client_arguments(home, there.port)
    item = {"PK": {"S": "one"}}
    # Nothing but the answer decides: the step that refuses to be updated refuses to be brought back, too.
    cloud.deploy(home, there.port, "first", app=a_stack(tmp_path, "first", refuses=("Update",)))
    boto3.client("dynamodb", **arguments).put_item(TableName="kept", Item=item)

    with pytest.raises(Trouble, match="cdk deploy failed"):
        cloud.deploy(home, there.port, "second", app=a_stack(tmp_path, "second", refuses=("Update",)))
    (left,) = boto3.client("cloudformation", **arguments).describe_stacks()["Stacks"]
    told = cloud.deploy(home, there.port, "third", app=a_stack(tmp_path, "third"))

    assert left["StackStatus"] == "UPDATE_ROLLBACK_FAILED"
    assert told == {"Version": "third"}
    assert boto3.client("dynamodb", **arguments).scan(TableName="kept")["Items"] == [item]


def unpacked(folder: Path, name: str, text: str) -> Path:
    """A module's folder as MiniStack makes it, of a zip of its own."""
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        archive.writestr("handler.py", text)
    code = folder / name / "code"
    code.mkdir(parents=True)
    with lambda_runtime.zipfile.ZipFile(folder / f"{name}.zip") as archive:
        archive.extractall(code)
    return code


def test_the_same_code_is_unpacked_once_and_outlives_each_that_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(lambda_runtime, "zipfile", lambda_runtime.zipfile)
    ministack_patches.share_unpacked()

    one, two, changed = (unpacked(tmp_path, *each) for each in (("one", "1"), ("two", "1"), ("changed", "2")))
    shutil.rmtree(one.parent)

    assert (two / "handler.py").read_text() == "1"
    assert (changed / "handler.py").read_text() == "2"
    assert len(list(tmp_path.glob("unpacked-*"))) == 2


@pytest.mark.parametrize("fails", ["whole", "partly"])
def test_a_record_that_always_fails_becomes_a_dead_letter_that_status_reports(
    probed: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], fails: str
) -> None:
    seen, sqs = tmp_path / "seen", client_of(probed, "sqs")
    url = sqs.create_queue(QueueName="SomeDeadLetters")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]

    stream_to_a_function(
        probed,
        seen,
        fails,
        BatchSize=10,
        BisectBatchOnFunctionError=True,
        MaximumRetryAttempts=2,
        FunctionResponseTypes=["ReportBatchItemFailures"],
        DestinationConfig={"OnFailure": {"Destination": arn}},
    )
    write(probed, "one", "two", "poison")
    there = cloud.running(probed)
    assert there is not None
    assert until(lambda: cloud.waiting(probed, there) == {"records": 0, "messages": 0, cloud.DEAD: 1})
    write(probed, "three")
    assert until(lambda: "three" in told(seen))

    local.status(probed)

    assert "Given up, in dead-letter queues: 1. docs/failures.md" in capsys.readouterr().out
    (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
    dead = json.loads(message["Body"])
    assert (dead["DDBStreamBatchInfo"]["batchSize"], dead["requestContext"]["condition"]) == (
        1,
        "RetryAttemptsExhausted",
    )
    batches = [json.loads(line) for line in told(seen).splitlines()]
    assert batches.count(["poison"]) >= 2
    assert {"one", "two", "three"} <= {name for names in batches for name in names}


@pytest.mark.thorough  # about MiniStack, not about our code
def test_ministack_does_not_match_what_is_missing_below_what_is_missing() -> None:
    """Lambda would let the change through: there is no text of the old image's Hot."""
    not_hot = {"eventName": ["MODIFY"], "dynamodb": {"OldImage": {"Hot": {"S": [{"exists": False}]}}}}
    change = surroundings.record({"PK": "1", "SK": "1"}, {"PK": "1", "SK": "1", "Title": "another"})

    def let_through(pattern: object) -> list[surroundings.Record]:
        mapping = {"FilterCriteria": {"Filters": [{"Pattern": json.dumps(pattern)}]}}
        passed: list[surroundings.Record] = lambda_svc._apply_filter_criteria([change], mapping)
        return passed

    assert let_through(not_hot) == []
    assert let_through({"eventName": ["MODIFY"]}) == [change]


def test_what_functions_have_not_read_yet_is_reported(
    probed: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream_to_a_function(probed, tmp_path / "seen")  # without a bound of attempts, poison stays

    write(probed, "poison")

    there = cloud.running(probed)
    assert there is not None
    assert until(lambda: cloud.waiting(probed, there)["records"] == 1)
    local.status(probed)
    assert "Functions still have 1 record of the table's stream" in capsys.readouterr().out


PLANTED = datetime(2026, 9, 1, 12, tzinfo=UTC)


def test_the_sample_has_what_the_site_can_show_and_the_document_says_how_many_deals() -> None:
    found = sample.read(PLANTED)

    active = [deal for deal in found if deal.status(PLANTED) is Status.ACTIVE]
    assert f"{len(found)} deals" in (ROOT / "docs" / "local-cloud.md").read_text(encoding="utf-8")
    assert 150 <= len(found) <= 250
    assert {deal.category for deal in active} == set(CATEGORIES)
    assert len({deal.brand for deal in found}) >= 25
    assert max(Counter(deal.link for deal in found).values()) >= 3
    assert any(deal.coupon_code for deal in active)
    assert any(deal.ends_at is not None for deal in active)
    assert any(deal.status(PLANTED) is Status.EXPIRED for deal in found)
    ends = [deal for deal in active if deal.ends_at and deal.ends_at - PLANTED < timedelta(days=1)]
    assert len(ends) >= 6, "something ends within a day"
    running = [deal for deal in active if "Running Shoes" in deal.title and float(deal.price) < 80]
    assert len({deal.link for deal in running}) >= 4, "running shoes under $80"
    assert len({deal.variant for deal in running if deal.variant}) >= 3, "a product in several colours"
    assert any(each.link == deal.link and float(each.price) > float(deal.price) for deal in active for each in found), (
        "a price that came down"
    )


@pytest.fixture(scope="module")
def planted() -> Iterator[Table]:
    """A table with the sample."""
    with MINISTACK.table() as table:
        for name in ("editor", "member"):
            users.create(table, User(name, f"{name}@example.com", name.title(), "-", "member", PLANTED))
        sample.plant(table, PLANTED, "member")
        yield table


def test_the_sample_fills_the_feeds_and_the_curated_pages_and_is_planted_once(planted: Table) -> None:
    latest = feeds.read(planted, ALL_DEALS, limit=100, now=PLANTED).items

    assert len(latest) >= 60
    assert len(picks.read(planted, FRONT_PAGE, PLANTED)) == sample.FRONT
    assert len(picks.read(planted, EDITORS_CHOICE, PLANTED)) == sample.CHOICE
    assert sum(deal.hot_at is not None for deal in latest) == sample.HOT
    assert len(follows.watches(planted, "member")) == len(sample.FOLLOWED)
    assert sample.plant(planted, PLANTED, "member") == 0


def test_what_the_sample_writes_agrees(planted: Table) -> None:
    found = {fault.rule for fault in faults(planted.everything(), PLANTED)}

    assert found - {invariants.WORDS, invariants.WORD_COUNTS, invariants.OFFERS} == set()  # which the stream brings
