"""Dead letters of a whole site, redriven by ``btd``, and the ledger on a laptop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from features.operations.redrive import OPTIONAL, VARIABLES
from shared.data import keys
from shared.data.catalog.deals import to_item_listed
from shared.data.members import users
from shared.dynamodb.writes import forget, put, update
from shared.values import times
from tests.e2e.conftest import Plumbing, brand, editor, member, messages_of, name_to_btd, posted, shown, site, visitor  # noqa: F401  # fixtures
from tests.support.cases import cases_by_name
from tests.support.commands import begin, eventually, until
from tests.support.factories import a_deal
from tests.support.site import Site, Visitor, home, probed

__all__ = ["home", "probed"]


pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def plumbing(site: Site) -> Plumbing:
    return Plumbing.of(site)


@pytest.fixture
def btd(site: Site, plumbing: Plumbing, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs ``btd redrive`` on the site, by the environment that one sets for AWS."""
    queues = {variable: plumbing.outputs[name] for name, variable in VARIABLES.items() if name not in OPTIONAL}
    name_to_btd(monkeypatch, site, BTD_TABLE=site.table.name, **queues)

    def run(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["redrive", *arguments])
        assert result.exit_code == code, f"{result.output} {result.stderr}"
        return result

    return run


def ask(btd: Any, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(btd("--json", *arguments, code=code).stdout)["result"]
    return found


@pytest.mark.thorough
def test_the_ledger_is_proved_as_far_as_a_laptop_can_and_nothing_stays(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # It leaves the addresses that btd reads.
    assert begin(site.home, "up", tmp_path / "up.log").wait(timeout=300) == 0
    monkeypatch.setenv("BTD_HOME", str(site.home.folder))
    monkeypatch.delenv("BTD_TABLE", raising=False)
    before = {user.username for user in users.everyone(site.table)}

    answer = CliRunner().invoke(app, ["probe", "--json"])

    assert answer.exit_code == 0, answer.output
    results = {row["claim"]: row for row in json.loads(answer.stdout)["result"]}
    # The cloud passes no keys to IAM.
    expected = {"leading-keys-of-an-index": ("unknown", "own key: refused"), **cases_by_name("PROVEN")}
    for claim, (result, found) in expected.items():
        assert results[claim]["result"] == result, claim
        assert found in results[claim]["found"], claim
    assert {user.username for user in users.everyone(site.table)} == before
    assert not [item for item in site.table.everything() if str(item["PK"]).startswith(keys.scratch("probe", ""))]


def test_work_that_makes_no_sense_becomes_a_dead_letter_after_five_deliveries_and_holds_nothing_up(
    site: Site, plumbing: Plumbing, editor: Visitor, brand: str, btd: Any
) -> None:
    ana = site.member("ana")
    ana.put(f"/brands/{brand}/watch")
    with plumbing.impatient():
        plumbing.queue("QueueUrl").send(["no JSON"])
        deal_id = posted(editor, brand)

        eventually(lambda: messages_of(ana, deal_id), lambda found: len(found) == 1)
        assert until(lambda: plumbing.waiting()["WorkDeadLettersUrl"] == 1)

    (letter,) = ask(btd)
    assert (letter["queue"], letter["kind"], letter["dealIds"]) == ("work", "unknown", [])
    assert letter["received"] >= 5
    (left,) = ask(btd, "--send", code=1)
    assert left["outcome"].startswith("left")
    assert plumbing.waiting()["WorkDeadLettersUrl"] == 1
    (dropped,) = ask(btd, "--drop", letter["messageId"])
    assert dropped["outcome"] == "dropped"
    assert plumbing.waiting()["WorkDeadLettersUrl"] == 0


def test_a_record_that_cannot_be_read_holds_up_no_other_and_redrives_cleanly_once_it_is_repaired(
    site: Site, plumbing: Plumbing, editor: Visitor, brand: str, btd: Any
) -> None:
    ana = site.member("ana")
    ana.put(f"/brands/{brand}/watch")
    before = posted(editor, brand)
    poison = a_deal(times.now(), brand=brand, brand_name=brand.title())
    item = to_item_listed(poison, listed=True)
    site.table.write(put({name: value for name, value in item.items() if name != "Title"}, because="a test"))
    after = posted(editor, brand)
    for deal_id in (before, after):
        eventually(lambda which=deal_id: messages_of(ana, which), lambda found: len(found) == 1)  # type: ignore[misc]

    (letter,) = eventually(lambda: ask(btd), lambda found: len(found) == 1)
    (left,) = ask(btd, "--send", code=1)
    mended = {":title": "Mended"}
    site.table.write(update(keys.deal(poison.deal_id), "SET Title = :title", values=mended, refused=None))
    (replayed,) = ask(btd, "--send")

    assert (letter["queue"], letter["reason"]) == ("deals", "RetryAttemptsExhausted")
    assert poison.deal_id in letter["dealIds"]  # with what came behind it in its batch
    assert "failed again" in left["outcome"]
    assert replayed["outcome"].endswith("replayed")
    eventually(lambda: messages_of(ana, poison.deal_id), lambda found: len(found) == 1)
    assert until(lambda: set(plumbing.waiting().values()) == {0})
    eventually(lambda: shown(editor), lambda deals: poison.deal_id in deals)
    site.table.write(forget(keys.deal(poison.deal_id), because="no container counts it"))


def test_a_batch_that_the_stream_has_forgotten_is_left_and_said_to_be(plumbing: Plumbing, btd: Any) -> None:
    (shard,) = plumbing.streams.describe_stream(StreamArn=plumbing.stream)["StreamDescription"]["Shards"]
    # As Lambda sends it after its retries: https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
    parked = {
        "requestContext": {
            "requestId": "316aa6d0-8154-xmpl-9af7-85d5f4a6bc81",
            "functionArn": plumbing.function("Refresher"),
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 6,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": "2026-06-12T00:35:05.996Z",
        "DDBStreamBatchInfo": {
            "shardId": shard["ShardId"],
            "startSequenceNumber": "1".zfill(21),
            "endSequenceNumber": "2".zfill(21),
            "approximateArrivalOfFirstRecord": "2026-06-12T00:35:02Z",
            "approximateArrivalOfLastRecord": "2026-06-12T00:35:02Z",
            "batchSize": 1,
            "streamArn": plumbing.stream,
        },
    }
    plumbing.queue("RefreshesDeadLettersUrl").send([json.dumps(parked)])

    (left,) = ask(btd, "--send", code=1)
    (dropped,) = ask(btd, "--drop", left["messageId"])

    assert left["outcome"].startswith("left: The stream no longer has these records")
    assert dropped["outcome"] == "dropped"


def test_nothing_is_left_in_any_queue(plumbing: Plumbing) -> None:
    assert until(lambda: set(plumbing.waiting().values()) == {0})
