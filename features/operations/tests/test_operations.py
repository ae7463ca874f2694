"""What operators do with btd on a stage: read its logs, and send dead letters again."""

from __future__ import annotations

import io
import json
import secrets
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest

from features.operations import redrive
from features.operations.redrive import Batch, Replayer
from local.cloud import Cloud
from local.settings import Home
from shared import services
from shared.data import keys
from shared.data.catalog import deals
from shared.data.members.cohorts import Unit
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.table import Table
from shared.services import Queue
from tests.cli.conftest import Btd, ask, bare_table, btd, table, wide_terminal  # noqa: F401  # fixtures
from tests.support.cases import cases
from tests.support.commands import PATIENCE
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK, Engine
from tests.support.factories import NOW, a_deal, open_brands, post

UNIT = Unit("3F2VM8KqLdHD6qBOm7B4Q0YD0Fr", "category")


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


@pytest.fixture
def plumbing(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Queue]]:
    """The queue of the fan-out and the dead-letter queues, which the environment names."""
    client = services.connect_queue(
        "none", Budget(answer=PATIENCE), endpoint_url=table.client.meta.endpoint_url, **FAKE_CREDENTIALS
    ).client
    made = {}
    for output, variable in redrive.VARIABLES.items():
        url = client.create_queue(QueueName=f"{output}-{uuid.uuid4().hex}")["QueueUrl"]
        monkeypatch.setenv(variable, url)
        made[output] = Queue(url, client=client)
    yield made
    for queue in made.values():
        client.delete_queue(QueueUrl=queue.url)


def bodies(queue: Queue) -> list[str]:
    return [message.body for message in queue.receive()]


def bodies_released(queue: Queue) -> list[str]:
    """The same, leaving the messages for the next to look."""
    messages = list(queue.receive())
    for message in messages:
        queue.release(message)
    return [message.body for message in messages]


def test_empty_dead_letter_queues_are_said_to_be_so_and_hold_nothing_to_drop(
    plumbing: dict[str, Queue], btd: Btd
) -> None:
    assert "The dead-letter queues are empty" in btd("redrive").stdout
    assert "4f6c2b1e" in btd("redrive", "--drop", "4f6c2b1e", code=1).stderr


def test_looking_takes_nothing_out(plumbing: dict[str, Queue], btd: Btd) -> None:
    plumbing["WorkDeadLettersUrl"].send([UNIT.to_json()])

    first, second = btd("redrive").stdout, btd("redrive").stdout

    for text in (first, second):
        assert "category news" in text
        assert UNIT.deal_id in text
    assert bodies(plumbing["QueueUrl"]) == []
    assert bodies(plumbing["WorkDeadLettersUrl"]) == [UNIT.to_json()]


def test_more_than_one_request_holds_is_shown_whole(plumbing: dict[str, Queue], btd: Btd) -> None:
    plumbing["WorkDeadLettersUrl"].send([Unit(UNIT.deal_id, "hot", segment).to_json() for segment in range(23)])

    shown = json.loads(btd("redrive", "--json").stdout)["result"]

    assert len({case["messageId"] for case in shown}) == 23


@pytest.mark.parametrize(
    ("dead", "queue", "body"),
    [("WorkDeadLettersUrl", "QueueUrl", UNIT.to_json()), *cases("DEAD_WORK")],
    ids=lambda value: value if value.endswith("Url") else "",
)
def test_dead_work_is_sent_again_as_it_is(
    plumbing: dict[str, Queue], btd: Btd, dead: str, queue: str, body: str
) -> None:
    plumbing[dead].send([body])

    result = btd("redrive", "--send")

    assert "sent again" in result.stdout
    assert "each is sent by itself" in result.stderr  # MiniStack has no tasks that move messages
    assert bodies(plumbing[queue]) == [body]
    assert bodies(plumbing[dead]) == []


Asked = list[tuple[str, dict[str, Any]]]
"""The requests about tasks that move messages, with their parameters."""

UNITS = [Unit(UNIT.deal_id, "hot", segment).to_json() for segment in range(2)]


def task(status: str, moved: int = 0, **others: Any) -> dict[str, Any]:
    """SQS's answer about a task that moves two messages."""
    counts = {"ApproximateNumberOfMessagesMoved": moved, "ApproximateNumberOfMessagesToMove": 2}
    return {"Results": [{"Status": status, **counts, **others}]}


def refusal(code: str, message: str) -> dict[str, Any]:
    return {"Error": {"Code": code, "Message": message}}


@pytest.fixture
def tasks(plumbing: dict[str, Queue], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Asked]:
    """Has SQS answer about tasks as AWS does. The last answer to ListMessageMoveTasks is repeated."""
    queue = plumbing["QueueUrl"]
    monkeypatch.setattr(services, "connect_queue", lambda *_, **__: queue)

    def answered(*listed: dict[str, Any] | BaseException, start: dict[str, Any] | None = None) -> Asked:
        asked: Asked = []
        left = list(listed)

        def answer(model: Any, params: dict[str, Any], **_: Any) -> tuple[Any, dict[str, Any]] | None:
            if not model.name.endswith(("MessageMoveTask", "MessageMoveTasks")):
                return None
            asked.append((model.name, json.loads(params["body"])))
            said: Any = start or {"TaskHandle": "a task"}
            if model.name == "ListMessageMoveTasks":
                said = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(said, BaseException):
                raise said
            return SimpleNamespace(status_code=400 if "Error" in said else 200), said

        events: Any = queue.client.meta.events
        events.register_first("before-call.sqs", answer)
        return asked

    return answered


def test_sqs_moves_what_a_queue_of_work_could_not_do(
    plumbing: dict[str, Queue], btd: Btd, tasks: Callable[..., Asked]
) -> None:
    asked = tasks({"Results": []}, task("RUNNING", 1), task("COMPLETED", 2))
    plumbing["WorkDeadLettersUrl"].send(UNITS)

    result = btd("redrive", "--send", "--json")

    assert [case["outcome"] for case in json.loads(result.stdout)["result"]] == ["sent again"] * 2
    assert "work: 1 of 2 messages are moved" in result.stderr
    (started,) = [parameters for operation, parameters in asked if operation == "StartMessageMoveTask"]
    assert "WorkDeadLettersUrl" in started["SourceArn"]
    assert "QueueUrl" in started["DestinationArn"]
    assert bodies(plumbing["QueueUrl"]) == []
    assert sorted(bodies(plumbing["WorkDeadLettersUrl"])) == sorted(UNITS)


RUNNING = "There is already a task running. Only one active task is allowed for a source queue arn at a given time."


@pytest.mark.parametrize(
    ("listed", "start", "why"),
    [
        (
            [{"Results": []}, task("FAILED", 1, FailureReason="AccessDenied")],
            None,
            "1 of 2 messages are moved, then the task was FAILED",
        ),
        ([{"Results": []}, task("CANCELLED", 1)], None, "1 of 2 messages are moved, then the task was CANCELLED"),
        ([task("RUNNING")], refusal("InvalidParameterValue", RUNNING), RUNNING),
        ([refusal("AccessDenied", "not authorized to perform sqs:ListMessageMoveTasks")], None, "not authorized"),
    ],
    ids=["failed", "cancelled", "another task", "no right"],
)
def test_a_task_that_fails_leaves_the_messages_and_says_why(
    plumbing: dict[str, Queue],
    btd: Btd,
    tasks: Callable[..., Asked],
    listed: list[dict[str, Any]],
    start: dict[str, Any] | None,
    why: str,
) -> None:
    tasks(*listed, start=start)
    plumbing["WorkDeadLettersUrl"].send(UNITS)

    shown = json.loads(btd("redrive", "--send", "--json", code=1).stdout)["result"]

    assert len(shown) == 2
    assert all(case["outcome"].startswith("left: ") and why in case["outcome"] for case in shown)
    assert bodies(plumbing["QueueUrl"]) == []


def test_an_earlier_task_in_a_late_list_is_not_taken_for_the_new_one(
    plumbing: dict[str, Queue], btd: Btd, tasks: Callable[..., Asked]
) -> None:
    earlier = task("COMPLETED", 7)
    tasks(earlier, earlier, task("FAILED", 1))
    plumbing["WorkDeadLettersUrl"].send(UNITS)

    result = btd("redrive", "--send", "--json", code=1)

    assert all("the task was FAILED" in case["outcome"] for case in json.loads(result.stdout)["result"])
    assert "7 of 2" not in result.stderr


def test_an_interruption_cancels_the_task(plumbing: dict[str, Queue], btd: Btd, tasks: Callable[..., Asked]) -> None:
    asked = tasks({"Results": []}, KeyboardInterrupt())
    plumbing["WorkDeadLettersUrl"].send(UNITS)

    btd("redrive", "--send", code=130)

    assert asked[-1] == ("CancelMessageMoveTask", {"TaskHandle": "a task"})


def test_a_dead_letter_queue_with_an_unknown_message_is_not_moved(
    plumbing: dict[str, Queue], btd: Btd, tasks: Callable[..., Asked]
) -> None:
    asked = tasks({"Results": []})
    plumbing["WorkDeadLettersUrl"].send([*UNITS, "no JSON"])

    btd("redrive", "--send", code=1)

    assert asked == []
    assert sorted(bodies(plumbing["QueueUrl"])) == sorted(UNITS)
    assert bodies(plumbing["WorkDeadLettersUrl"]) == ["no JSON"]


def test_an_unknown_message_is_left_and_fails_and_can_be_dropped(plumbing: dict[str, Queue], btd: Btd) -> None:
    strange = ["no JSON", "[]", "{}", '"text"', '{"DDBStreamBatchInfo": {}}', '{"kind": "brand"}']
    plumbing["DealsDeadLettersUrl"].send(strange)

    left = json.loads(btd("redrive", "--send", "--json", code=1).stdout)["result"]
    still_there = bodies_released(plumbing["DealsDeadLettersUrl"])
    btd("redrive", *(word for case in left for word in ("--drop", case["messageId"])))

    assert {(case["queue"], case["kind"]) for case in left} == {("deals", "unknown")}
    assert sorted(still_there) == sorted(strange)
    assert bodies(plumbing["DealsDeadLettersUrl"]) == []


def test_queues_that_the_environment_does_not_name_are_asked_for(table: Table, btd: Btd) -> None:
    result = btd("redrive", code=2)

    assert "BTD_DEALS_DEAD_LETTERS_URL" in result.stderr


def test_the_local_clouds_queues_are_known(
    plumbing: dict[str, Queue], table: Table, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path_factory.mktemp("cloud"))
    names = {output[0].lower() + output[1:]: queue.url for output, queue in plumbing.items()}
    home.cloud.write_text(json.dumps({"endpoint": "http://127.0.0.1:1", "region": "us-east-1", **names}))
    for variable in ("BTD_TABLE", *redrive.VARIABLES.values()):
        monkeypatch.delenv(variable)
    monkeypatch.setattr("cli.commands.Home", lambda: home)
    monkeypatch.setattr("cli.commands.running", lambda _: Cloud(1, 1))

    addresses, where = redrive._addresses()

    assert addresses == {output: queue.url for output, queue in plumbing.items()}
    assert where["endpoint_url"] == "http://127.0.0.1:1"


def replay(table: Table, function: str, event: str, deal_id: str, **images: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records that a function is handed for a batch of one, about a deal."""
    told = {name: marshal_item(image) for name, image in {"Keys": keys.deal(deal_id), **images}.items()}
    record = {"eventName": event, "dynamodb": {**told, "SequenceNumber": "7", "ApproximateCreationDateTime": NOW}}
    handed: list[dict[str, Any]] = []

    def invoke(*, Payload: bytes, **_: Any) -> dict[str, Any]:  # noqa: N803  # boto3's name
        handed.extend(json.loads(Payload)["Records"])
        return {"Payload": io.BytesIO(b"null")}

    streams: Any = SimpleNamespace(
        get_shard_iterator=lambda **_: {"ShardIterator": "first"}, get_records=lambda **_: {"Records": [record]}
    )
    functions: Any = SimpleNamespace(invoke=invoke)
    name = f"arn:aws:lambda:us-east-1:123456789012:function:BigTimeDeals-prod-{function}1A2B"
    batch = Batch(name, "stream", "shard", "7", "7", 1, "RetryAttemptsExhausted")
    Replayer(streams, functions, table).replay(batch)
    return handed


@pytest.mark.parametrize(
    ("function", "title"), [("PublisherFunction", "Green boot"), ("RefresherFunction", "Blue boot")]
)
def test_the_publisher_is_handed_deals_as_they_are_now(table: Table, function: str, title: str) -> None:
    open_brands(table)
    (deal,) = post(table, [a_deal(title="Blue boot")])
    then = table.get(keys.deal(deal.deal_id)) or {}
    deals.edit(table, deal.deal_id, {"title": "Green boot"}, NOW)

    handed = replay(table, function, "INSERT", deal.deal_id, NewImage=then)

    assert [each["dynamodb"]["NewImage"]["Title"]["S"] for each in handed] == [title]


@pytest.mark.parametrize("function", ["PublisherFunction", "RefresherFunction"])
def test_a_removal_is_handed_over_as_it_is_so_that_words_and_copies_are_taken_out(table: Table, function: str) -> None:
    gone = {**keys.deal(UNIT.deal_id), "Type": keys.DEAL, "Title": "Blue boot"}

    (handed,) = replay(table, function, "REMOVE", UNIT.deal_id, OldImage=gone)

    assert handed["eventName"] == "REMOVE"
    assert handed["dynamodb"]["OldImage"] == marshal_item(gone)
    assert "NewImage" not in handed["dynamodb"]


def test_a_deal_that_is_gone_is_not_announced(table: Table) -> None:
    """The record of its removal takes out what the lost record filed."""
    gone = {**keys.deal(UNIT.deal_id), "Type": keys.DEAL}

    assert replay(table, "PublisherFunction", "INSERT", UNIT.deal_id, NewImage=gone) == []


HOUR = 3_600_000


@pytest.fixture
def stack(bare_table: Table, monkeypatch: pytest.MonkeyPatch) -> str:
    """A name that no other test's logs have, and which the environment names."""
    name = f"BigTimeDeals-{secrets.token_hex(4)}"
    monkeypatch.setenv("BTD_STACK", name)
    return name


@pytest.fixture
def log(bare_table: Table) -> Callable[..., None]:
    """Writes a line to a log group, some milliseconds ago."""
    client: Any = boto3.client("logs", endpoint_url=bare_table.client.meta.endpoint_url, **FAKE_CREDENTIALS)  # type: ignore[call-overload]  # all given

    def write(group: str, line: str | dict[str, Any], ago: int = 0) -> None:
        client.create_log_group(logGroupName=group)
        client.create_log_stream(logGroupName=group, logStreamName="stream")
        message = line if isinstance(line, str) else json.dumps(line)
        at = time.time_ns() // 1_000_000 - ago
        event = {"timestamp": at, "message": message}
        client.put_log_events(logGroupName=group, logStreamName="stream", logEvents=[event])

    return write


def test_lines_of_all_functions_come_in_their_order(stack: str, log: Callable[..., None], ask: Any) -> None:
    log(f"{stack}-MessengerLog", {"message": "delivered", "correlation_id": "4a1f6c7e-54cf"}, ago=1000)
    log(f"{stack}-EditorsLog", {"message": "request", "correlation_id": "4a1f6c7e-54cf"}, ago=3000)
    log(f"{stack}-PublisherLog", {"message": "announced", "correlation_id": "another"}, ago=2000)

    found = ask("logs", "4a1f6c7e-54cf")

    assert [line["message"] for line in found["result"]] == ["request", "delivered"]


def test_another_stacks_lines_and_old_ones_are_left_out(stack: str, log: Callable[..., None], ask: Any) -> None:
    log(f"{stack}-EditorsLog", {"message": "new", "deal_id": "3F2VM8Kq"}, ago=HOUR // 2)
    log(f"{stack}-SeedLog", {"message": "old", "deal_id": "3F2VM8Kq"}, ago=2 * HOUR)
    log(f"Others-{secrets.token_hex(4)}", {"message": "theirs", "deal_id": "3F2VM8Kq"})

    found = ask("logs", "3F2VM8Kq", "--hours", "1")

    assert [line["message"] for line in found["result"]] == ["new"]


def test_a_line_is_shown_with_its_function_and_without_what_makes_metrics(
    stack: str, log: Callable[..., None], btd: Btd
) -> None:
    line = {"service": "editors", "level": "INFO", "message": "request", "status": 201, "_aws": {"Timestamp": 1}}
    log(f"{stack}-EditorsLog", line | {"correlation_id": "4a1f6c7e"})
    log(f"{stack}-SeedLog", "2026-06-12T14:05:00Z 4a1f6c7e Task timed out after 10.01 seconds")

    shown = btd("logs", "4a1f6c7e").stdout

    assert all(word in shown for word in ("editors", "INFO", "request", "status=201", "Task timed out"))
    assert "Timestamp" not in shown


@pytest.mark.parametrize("text", ['a"b', "ab", "two\nlines", "back\\slash"])
def test_what_would_be_no_single_term_of_a_search_is_refused(stack: str, btd: Btd, text: str) -> None:
    assert "without quotation marks" in btd("logs", text, code=2).stderr


def test_without_a_stack_and_a_local_cloud_there_are_no_logs(
    btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BTD_STACK", raising=False)
    monkeypatch.setattr("cli.commands.Home", lambda: Home(tmp_path))

    assert "BTD_STACK" in btd("logs", "4a1f6c7e", code=2).stderr


def test_logs_that_cannot_be_read_are_one_line_and_no_trace(
    stack: str, btd: Btd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    assert btd("logs", "4a1f6c7e", code=1).stderr.startswith("The logs cannot be read:")
