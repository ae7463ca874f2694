"""The local cloud's readers of streams try again and give up as Lambda does, and ``make status`` says what is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ministack.services import lambda_svc  # type: ignore[import-untyped]  # it has no types

from cli.redrive import Batch
from local import __main__ as local
from local import cloud
from local.settings import Home
from tests.support import records
from tests.support.probe import client, home, stream_to_a_function, told, write
from tests.support.waiting import until

__all__ = ["home"]


@pytest.mark.parametrize("fails", ["whole", "partly"])
def test_a_record_that_always_fails_becomes_a_dead_letter_that_status_tells_of(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], fails: str
) -> None:
    seen, sqs = tmp_path / "seen", client(home, "sqs")
    url = sqs.create_queue(QueueName="SomeDeadLetters")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]

    stream_to_a_function(
        home,
        seen,
        fails,
        BatchSize=10,
        BisectBatchOnFunctionError=True,
        MaximumRetryAttempts=2,
        FunctionResponseTypes=["ReportBatchItemFailures"],
        DestinationConfig={"OnFailure": {"Destination": arn}},
    )
    write(home, "one", "two", "poison")
    there = cloud.running(home)
    assert there is not None
    assert until(lambda: cloud.waiting(home, there) == {"records": 0, "messages": 0, cloud.DEAD: 1})
    write(home, "three")
    assert until(lambda: "three" in told(seen))

    local.status(home)

    assert "Given up, in dead-letter queues: 1. btd redrive shows it" in capsys.readouterr().out
    (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
    dead = Batch.of(message["Body"])
    assert (dead.size, dead.reason) == (1, "RetryAttemptsExhausted")
    batches = [json.loads(line) for line in told(seen).splitlines()]
    assert batches.count(["poison"]) >= 2
    assert {"one", "two", "three"} <= {name for names in batches for name in names}


@pytest.mark.thorough  # about MiniStack, not about our code
def test_ministack_does_not_match_what_is_missing_below_what_is_missing() -> None:
    """Lambda would let the change through: there is no text of the old image's Hot."""
    not_hot = {"eventName": ["MODIFY"], "dynamodb": {"OldImage": {"Hot": {"S": [{"exists": False}]}}}}
    change = records.record({"PK": "1", "SK": "1"}, {"PK": "1", "SK": "1", "Title": "another"})

    def let_through(pattern: object) -> list[records.Record]:
        mapping = {"FilterCriteria": {"Filters": [{"Pattern": json.dumps(pattern)}]}}
        passed: list[records.Record] = lambda_svc._apply_filter_criteria([change], mapping)
        return passed

    assert let_through(not_hot) == []
    assert let_through({"eventName": ["MODIFY"]}) == [change]


def test_what_functions_have_not_read_yet_is_told(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream_to_a_function(home, tmp_path / "seen")  # without a bound of attempts, poison stays

    write(home, "poison")

    there = cloud.running(home)
    assert there is not None
    assert until(lambda: cloud.waiting(home, there)["records"] == 1)
    local.status(home)
    assert "Functions still have 1 record of the table's stream" in capsys.readouterr().out
