"""The demo in CPython: its site, its clock, its archives, and where moto departs from DynamoDB."""

from __future__ import annotations

import base64
import gzip
import json
import marshal
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest
from botocore.exceptions import ClientError

from demo import archives, corrections, dating, packing
from demo.site import fits
from demo.stand_ins import InTurn
from infra.functions import of_stage
from infra.settings import STAGES
from shared import features, hooks
from shared.data.catalog import feeds, page_cache
from shared.dynamodb import table as table_module
from shared.dynamodb.attributes import unmarshal_item
from shared.dynamodb.schema import create_table_request
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace, waves
from shared.models.catalog import ALL_DEALS
from shared.values import identifiers
from tests.support.checks import faults
from tests.support.commands import printed_by
from tests.support.engines import DYNOXIDE_ENGINE, FAST, MINISTACK, MOTO, Engine


@pytest.fixture(scope="module")
def seen() -> Any:
    return printed_by("tests.demo.probe", "tab")


def test_pages_answer_below_the_demos_address(seen: Any) -> None:
    assert seen["front"]["status"] == 200
    assert 'href="/demo/site/deals' in seen["front"]["text"]
    assert seen["nothing"] == 404
    assert seen["signed out"].startswith("/demo/site/account/sign-in")


def test_a_page_has_the_header_of_the_panel(seen: Any) -> None:
    """Where a feature has a panel."""
    assert bool(seen["front"]["timing"]) is bool(features.modules("panel"))


def test_a_deal_comes_to_readers_and_into_the_search_though_the_tab_was_closed_right_after_it(seen: Any) -> None:
    assert "Tab runner" in seen["inbox"]
    assert "Tab runner" in seen["search"]


def test_what_was_kept_and_the_changes_since_are_the_whole_table(seen: Any) -> None:
    assert seen["kept"]
    assert 0 < seen["changes"] < seen["items"]
    assert seen["session after"] == 200


def test_a_sample_of_another_day_is_as_good_as_one_that_is_made_today(seen: Any) -> None:
    assert faults(map(unmarshal_item, seen["later"]), datetime.fromisoformat(seen["then"])) == []
    assert seen["of before"] == []
    for moved, built in seen["copies"].values():
        assert moved == built
    assert seen["back"]


def test_an_archive_of_another_day_is_moved_and_its_front_page_takes_one_request(seen: Any) -> None:
    assert seen["moved"] == 10
    assert seen["front after"]["timing"].count("1 requests") == len(features.modules("panel")[:1])


NOON = datetime(2026, 6, 4, 12, tzinfo=UTC)
NOW = NOON.timestamp()


@pytest.mark.parametrize(
    ("hours", "days"),
    [(0, 0), (23, 0), (24, 1), (24 * 365, 365), (-0.5, 0), (-2, -1), (-26, -2)],
)
def test_days_are_whole_and_a_clock_that_is_slow_is_no_error(hours: float, days: int) -> None:
    assert dating.days_since(NOW, NOW + hours * 3600) == days


def _deal_id(days: int) -> str:
    return identifiers.derived(NOON + timedelta(days=days), "a deal")


def _page(days: int, *shown: str) -> str:
    """A copy of a page: days that it shows, and a link to older deals."""
    days_shown = "".join(f"<b>{day}</b>" for day in shown)
    cursor = identifiers.cursor_after(feeds.scope(ALL_DEALS), _deal_id(days))
    return base64.b64encode(page_cache.compress(f'{days_shown}<a href="/deals?cursor={cursor}">')).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"S": "2026-06-04T20:28:53Z"}, {"S": "2026-06-11T20:28:53Z"}),
        ({"S": "ENDING#2026-05-30T01:00:00Z#x"}, {"S": "ENDING#2026-06-06T01:00:00Z#x"}),
        ({"S": "13699 2026-06-27 13699"}, {"S": "13699 2026-07-04 13699"}),
        ({"N": "1780604933"}, {"N": "1781209733"}),
        ({"N": "1780604933848"}, {"N": "1781209733848"}),
        ({"N": "1995"}, {"N": "1995"}),
        ({"M": {"2026-06-04": {"L": [{"S": "2026-06-04"}]}}}, {"M": {"2026-06-11": {"L": [{"S": "2026-06-11"}]}}}),
        ({"S": f"DEAL#{_deal_id(0)}"}, {"S": f"DEAL#{_deal_id(7)}"}),
        (
            {"B": _page(0, "4 Jun", "28 Jun, 07:37 UTC", "Thursday 4 June")},
            {"B": _page(7, "11 Jun", "5 Jul, 07:37 UTC", "Thursday 11 June")},
        ),
        (
            {"B": _page(0, "30 Dec 2025", "Sunday 31 May", "4 July shoes")},
            {"B": _page(7, "6 Jan", "Sunday 7 June", "4 July shoes")},
        ),
        ({"S": "https://shop.example/2026-06-04/shoe"}, {"S": "https://shop.example/2026-06-04/shoe"}),
        ({"S": "Sale until 2026-06-04"}, {"S": "Sale until 2026-06-04"}),
        ({"S": "aaaaaaaaaaaaaaaaaaaaaaaaaaa"}, {"S": "aaaaaaaaaaaaaaaaaaaaaaaaaaa"}),
        ({"S": "2026-99-99"}, {"S": "2026-99-99"}),
        ({"B": "AAEC"}, {"B": "AAEC"}),
        ({"BOOL": True}, {"BOOL": True}),
    ],
)
def test_times_are_moved_and_nothing_else(before: Any, after: Any) -> None:
    assert dating.moved([{"X": before}], 7, NOW) == [{"X": after}]


RECORD = {"eventName": "INSERT", "dynamodb": {"NewImage": {"Type": {"S": "Deal"}, "Title": {"S": "Shoe"}}}}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ({"dynamodb": {"NewImage": {"Type": {"S": ["Deal", "Score"]}}}}, True),
        ({"dynamodb": {"NewImage": {"Type": {"S": ["Score"]}}}}, False),
        ({"dynamodb": {"OldImage": {"Type": {"S": ["Deal"]}}}}, False),
        ({"eventName": ["REMOVE"], "dynamodb": {"NewImage": {"Type": {"S": ["Deal"]}}}}, False),
        ({"eventName": ["INSERT"]}, True),
    ],
)
def test_a_reader_gets_the_records_that_match_its_filters(pattern: Any, expected: bool) -> None:
    assert fits(RECORD, [pattern]) is expected
    assert fits(RECORD, [{"eventName": ["NONE"]}, pattern]) is expected


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files in the place of those that Pyodide and the filling of the table make."""
    monkeypatch.setattr(packing, "PARTS", tmp_path)
    monkeypatch.setattr(packing, "PYODIDE", tmp_path)
    for name in ("pyodide.mjs", *packing.PACKED):
        (tmp_path / name).write_text(f"the content of {name}")
    (tmp_path / "made").write_text("1798761600")
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"info": {"abi_version": "1"}, "packages": {"numpy": {}}}))
    return tmp_path


def _files(built: Path) -> Any:
    found = re.search(r"files = (\{.*?\}), shell = ", (built / "sw.js").read_text())
    assert found
    return json.loads(found[1])


def test_the_service_worker_names_each_file_and_no_other(parts: Path) -> None:
    built = parts / "built"
    packing.write(built)

    named = {name + (".packed" if kind else "") for name, kind in _files(built).items()}
    named |= {name for name, kind in _files(built).items() if kind == "application/wasm"}

    there = {str(file.relative_to(built)) for file in built.rglob("*") if file.is_file()}
    assert named == there - {"sw.js"}


def test_what_is_packed_unpacks_to_its_content(parts: Path) -> None:
    built = parts / "built"
    packing.write(built)

    packed = list(built.rglob("*.packed"))

    assert {file.name.removesuffix(".packed") for file in packed} == {*packing.PACKED}
    for file in packed:
        name = file.name.removesuffix(".packed")
        assert gzip.decompress(file.read_bytes()).decode() == f"the content of {name}"


def test_another_content_has_another_folder_and_the_same_has_the_same(parts: Path) -> None:
    names = []
    for content in ("one", "one", "two"):
        (parts / "first").write_text(content)
        packing.write(parts / "built")
        names += [folder.name for folder in (parts / "built").iterdir() if folder.is_dir()]

    assert names[0] == names[1] != names[2]
    assert f'data-build="{names[2]}"' in (parts / "built" / "index.html").read_text()


def test_a_published_demo_links_the_documents_and_the_code(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/deals")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example")
    packing.write(parts / "built")

    page = (parts / "built" / "index.html").read_text()
    assert '<a href="../">Read the documentation</a>' in page
    assert '<a href="https://github.example/someone/deals">get the code</a>' in page


def _lines(code: CodeType) -> list[int | None]:
    """The line of each instruction of a code and of what it defines."""
    inner = [line for each in code.co_consts if isinstance(each, CodeType) for line in _lines(each)]
    return [line for line, *_ in code.co_positions()] + inner


@pytest.mark.parametrize("module", [corrections, packing, archives], ids=lambda module: str(module.__name__))
def test_our_packed_code_keeps_its_lines_in_a_smaller_table(module: ModuleType) -> None:
    whole = compile(Path(str(module.__file__)).read_bytes(), "x", "exec", optimize=2)
    packed = archives.with_lines(whole)

    assert _lines(packed) == _lines(whole)
    assert len(marshal.dumps(packed)) < 0.95 * len(marshal.dumps(whole))


def test_pyodides_own_list_of_packages_is_left_out(parts: Path) -> None:
    packing.write(parts / "built")

    (module,) = (parts / "built").rglob("build.mjs")

    assert '"abi_version": "1"' in module.read_text()
    assert "numpy" not in module.read_text()


def test_the_functions_are_those_of_the_laptops_pages_and_of_what_follows_a_write() -> None:
    rows = packing.rows()

    pages = {row.pages for row in of_stage(STAGES["local"]) if row.pages is not None}
    own = {path for each in features.roles(hooks.Demo) for path in each.PAGES}
    assert {row["pages"] for row in rows["functions"].values()} - {None} == pages | own
    assert {name for name, row in rows["functions"].items() if row["reads"]} == {"publisher", "refresher"}
    assert {name for name, row in rows["functions"].items() if row["each_minute"]} == {"expiry", "refresher", "remover"}
    assert "MAIL_QUEUE_URL" not in rows["variables"]
    assert rows["variables"]["SHOWS_WORK"] == "true"


def test_nothing_of_the_demo_names_another_host() -> None:
    for file in packing.HERE.iterdir():
        code = re.sub(r"^\s*//.*$", "", file.read_text(), flags=re.MULTILINE)

        assert re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", code) == []


KEY = {"PK": {"S": "a"}, "SK": {"S": "a"}}
LAPTOPS = [
    pytest.param(DYNOXIDE_ENGINE, id="dynoxide"),
    pytest.param(MINISTACK, id="ministack", marks=pytest.mark.thorough),
]


@pytest.fixture
def corrected() -> Iterator[Table]:
    with MOTO.table() as table, corrections.applied():
        yield table


def outcome(table: Table, operation: str, **arguments: Any) -> tuple[str, Any]:
    """The code of a refusal, or what the item is after a request."""
    try:
        getattr(table.client, operation)(TableName=table.name, **arguments)
    except ClientError as refused:
        error: Any = refused
        code = error.response["Error"]["Code"]
        return code, [each.get("Code") for each in error.response.get("CancellationReasons", ())]
    return "", table.client.get_item(TableName=table.name, Key=KEY, ConsistentRead=True).get("Item")


UPDATES = {
    "a comma before REMOVE": ("SET A = :n, REMOVE B", None),
    "no comma before REMOVE": ("SET A = :n REMOVE T", None),
    "a comma between values": ("SET A = :n, B = :n", None),
    "text greater than a number": ("SET A = :n", "T > :n"),
    "text less than a number": ("SET A = :n", "T < :n"),
    "text at most a number": ("SET A = :n", "T <= :n"),
    "text at least a number": ("SET A = :n", "T >= :n"),
    "no order, negated": ("SET A = :n", "NOT T > :n"),
    "text between numbers": ("SET A = :n", "T BETWEEN :n AND :n"),
    "text unlike a number": ("SET A = :n", "T <> :n"),
    "size of nothing": ("SET A = :n", "size(Nothing) < :n"),
    "size of nothing, or nothing": ("SET A = :n", "size(Nothing) < :n OR attribute_not_exists(Nothing)"),
    "size of text": ("SET A = :n", "size(T) < :n"),
}


@pytest.mark.parametrize("laptops", LAPTOPS)
@pytest.mark.parametrize(("expression", "condition"), UPDATES.values(), ids=UPDATES)
def test_an_update_comes_to_what_it_does_on_the_laptop(
    corrected: Table, laptops: Engine, expression: str, condition: str | None
) -> None:
    asked: dict[str, Any] = {
        "Key": KEY,
        "UpdateExpression": expression,
        "ExpressionAttributeValues": {":n": {"N": "9"}},
    }
    asked |= {"ConditionExpression": condition} if condition else {}

    if laptops is MINISTACK and ", REMOVE" in expression:
        pytest.skip("MiniStack takes a comma before REMOVE")
    with laptops.table() as other:
        came = []
        for table in (corrected, other):
            table.client.put_item(TableName=table.name, Item={**KEY, "T": {"S": "text"}, "N": {"N": "5"}})
            came.append(outcome(table, "update_item", **asked))

    assert came[0] == came[1]


@pytest.mark.parametrize("laptops", LAPTOPS)
def test_inserts_by_partiql_take_parameters_and_refuse_what_is_there(corrected: Table, laptops: Engine) -> None:
    items: list[dict[str, Any]] = [{"PK": "a", "SK": "a", "Tags": {"x", "y"}, "Map": {"n": 1}}, {"PK": "b", "SK": "b"}]

    with laptops.table() as other:
        came = [
            (table.insert_batch(items), table.insert_batch(items), table.get({"PK": "a", "SK": "a"}))
            for table in (corrected, other)
        ]

    assert came[0] == came[1]
    assert came[0][1] == ["DuplicateItem", "DuplicateItem"]


def _transactions(seed: int, many: int) -> Iterator[list[dict[str, Any]]]:
    """Random transactions over six items, most of which have a write whose condition fails."""
    chance = random.Random(seed)
    for number in range(many):
        writes: list[dict[str, Any]] = []
        for name in chance.sample("abcdef", chance.randint(1, 5)):
            key = {"PK": {"S": name[0]}, "SK": {"S": name}}
            condition = {"ConditionExpression": chance.choice(["attribute_exists(PK)", "attribute_not_exists(PK)"])}
            match chance.choice(["Put", "Update", "Delete", "ConditionCheck"]):
                case "Put":
                    writes.append({"Put": {"Item": {**key, "N": {"N": str(number)}}, **condition}})
                case "Update":
                    given = {"UpdateExpression": "SET N = :n ADD Times :one", **condition}
                    values = {":n": {"N": str(number)}, ":one": {"N": "1"}}
                    writes.append({"Update": {"Key": key, **given, "ExpressionAttributeValues": values}})
                case kind:
                    writes.append({kind: {"Key": key, **condition}})
        yield writes


def _after(table: Table) -> list[Any]:
    """For each transaction: how it was refused, and all that the table holds after it."""
    seen = []
    for writes in _transactions(7, 200):
        for write in writes:
            next(iter(write.values()))["TableName"] = table.name
        try:
            client: Any = table.client
            client.transact_write_items(TransactItems=writes)
            refused = []
        except ClientError as error:
            answer: Any = error.response
            refused = [each["Code"] for each in answer["CancellationReasons"]]
        items = [item for item in table.everything() if item["PK"] in "abcdef"]
        seen.append((refused, sorted(items, key=lambda item: str(item["SK"]))))
    return seen


def test_refused_transactions_leave_nothing_behind(corrected: Table) -> None:
    ours = _after(corrected)

    with MOTO.table() as plain:
        assert _after(plain) == ours
    with DYNOXIDE_ENGINE.table() as laptops:
        assert _after(laptops) == ours
    assert sum(bool(refused) for refused, _ in ours) > 100
    assert sum(not refused for refused, _ in ours) > 20


@pytest.mark.thorough
def test_the_laptops_cloud_leaves_the_same_behind(corrected: Table) -> None:
    with MINISTACK.table() as laptops:
        assert _after(laptops) == _after(corrected)


def _retried(table: Table) -> list[Any]:
    """A transaction, again with its token, another with that token, and what they left behind."""
    client: Any = table.client
    came = []
    for number in ("1", "1", "2"):
        values = {":n": {"N": number}}
        update = {"TableName": table.name, "Key": KEY, "UpdateExpression": "ADD N :n"}
        transaction = [{"Update": {**update, "ExpressionAttributeValues": values}}]
        try:
            client.transact_write_items(TransactItems=transaction, ClientRequestToken="token")
            came.append("")
        except ClientError as error:
            came.append(str(error.response["Error"]["Code"]))
    return [*came, (table.get({"PK": "a", "SK": "a"}) or {}).get("N")]


@pytest.mark.parametrize("laptops", LAPTOPS)
def test_a_transaction_that_is_sent_again_with_its_token_writes_once(corrected: Table, laptops: Engine) -> None:
    with laptops.table() as other:
        assert _retried(corrected) == _retried(other) == ["", "", "IdempotentParameterMismatchException", 1]


def test_a_refused_transaction_streams_nothing() -> None:
    from moto.dynamodb.models import dynamodb_backends  # noqa: PLC0415  # once moto is mocked

    with MOTO.bare_table() as bare, corrections.applied():
        name = f"{bare.name}-streamed"
        request: Any = create_table_request(name)
        bare.client.create_table(**request)
        shard = dynamodb_backends["123456789012"]["us-east-1"].tables[name].stream_shard
        assert shard is not None
        put: Any = {"Put": {"TableName": name, "Item": KEY}}
        refused: Any = {
            "ConditionCheck": {
                "TableName": name,
                "Key": {**KEY, "SK": {"S": "b"}},
                "ConditionExpression": "attribute_exists(PK)",
            }
        }
        with pytest.raises(ClientError):
            bare.client.transact_write_items(TransactItems=[put, refused])
        after_refusal = len(shard.items)
        bare.client.transact_write_items(TransactItems=[put])

        assert (after_refusal, len(shard.items)) == (0, 1)


NAMED: Any = {"ExpressionAttributeNames": {"#m": "M", "#n": "n"}, "ProjectionExpression": "SK, #m.#n, Nothing"}
FEED: Any = {
    "IndexName": "GSI1",
    "KeyConditionExpression": "GSI1PK = :p AND begins_with(GSI1SK, :s)",
    "ExpressionAttributeValues": {":p": {"S": "feed"}, ":s": {"S": "s"}},
}
PARTITION: Any = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}
READS: Any = {
    "a partition": ("query", PARTITION),
    "a partition from its end, two at a time": ("query", {**PARTITION, "ScanIndexForward": False, "Limit": 2}),
    "a partition after an item": ("query", {**PARTITION, "ExclusiveStartKey": {"PK": {"S": "a"}, "SK": {"S": "1"}}}),
    "no partition": ("query", {**PARTITION, "ExpressionAttributeValues": {":p": {"S": "none"}}}),
    "some attributes": ("query", {**PARTITION, "ProjectionExpression": "SK, N, B, Nothing"}),
    "a part of an attribute": ("query", {**PARTITION, **NAMED}),
    "how many": ("query", {**PARTITION, "Select": "COUNT"}),
    "an index": ("query", FEED),
    "an index from its end, two at a time": ("query", {**FEED, "ScanIndexForward": False, "Limit": 2}),
    "an index, filtered": ("query", {**FEED, "FilterExpression": "Tags <> :s AND NOT begins_with(T, :p)"}),
    "an item": ("get_item", {"Key": {"PK": {"S": "a"}, "SK": {"S": "2"}}}),
    "no item": ("get_item", {"Key": {"PK": {"S": "a"}, "SK": {"S": "none"}}}),
    "some attributes of an item": (
        "get_item",
        {"Key": {"PK": {"S": "b"}, "SK": {"S": "0"}}, "ProjectionExpression": "B, Tags, L"},
    ),
}


def _read(table: Table, operation: str, arguments: Any) -> Any:
    for at in "ab":
        for below in range(4):
            item: Any = {"PK": {"S": at}, "SK": {"S": str(below)}, "N": {"N": "1.5"}, "B": {"B": b"\x00\xff"}}
            item |= {"M": {"M": {"n": {"L": [{"BOOL": True}, {"NULL": True}]}}}, "L": {"L": [{"B": b"x"}, {"S": "é"}]}}
            if below:
                item |= {"Tags": {"SS": ["x"]}, "GSI1PK": {"S": "feed"}, "GSI1SK": {"S": f"s{3 - below}{at}"}}
            table.client.put_item(TableName=table.name, Item=item)
    answer = getattr(table.client, operation)(TableName=table.name, ReturnConsumedCapacity="TOTAL", **arguments)
    return {name: each for name, each in answer.items() if name not in ("ResponseMetadata", "ConsumedCapacity")}


@pytest.mark.parametrize("laptops", [pytest.param(MOTO, id="moto"), *LAPTOPS])
@pytest.mark.parametrize(("operation", "arguments"), READS.values(), ids=READS)
def test_a_read_finds_what_it_finds_on_the_laptop(laptops: Engine, operation: str, arguments: Any) -> None:
    with laptops.table() as other:
        expected = _read(other, operation, arguments)

    with MOTO.table() as table, corrections.applied():
        assert _read(table, operation, arguments) == expected


def test_all_is_as_it_was_afterwards() -> None:
    before = [vars(owner).get(name) for owner, name, _ in corrections.CORRECTIONS]

    with corrections.applied():
        within = [vars(owner).get(name) for owner, name, _ in corrections.CORRECTIONS]

    assert [vars(owner).get(name) for owner, name, _ in corrections.CORRECTIONS] == before
    assert all(one is not other for one, other in zip(before, within, strict=True))


def _units(table: Table) -> list[tuple[str, str]]:
    """The units of some writes: of a long item in an index, of one that moves there, and of none."""
    put: Any = {"TableName": table.name}
    indexed: Any = {**KEY, "GSI1PK": {"S": "p"}, "GSI1SK": {"S": "s"}}
    moved: Any = {"UpdateExpression": "SET GSI1SK = :t", "ExpressionAttributeValues": {":t": {"S": "t"}}}
    other: Any = {"PK": {"S": "b"}, "SK": {"S": "b"}}
    there: Any = {"ConditionCheck": {**put, "Key": other, "ConditionExpression": "attribute_exists(PK)"}}
    whole: Any = {"Put": {**put, "Item": indexed}}
    trace = Trace().attach(table)

    table.client.put_item(**put, Item={**indexed, "T": {"S": "x" * 1500}})
    table.client.update_item(**put, Key=KEY, **moved)
    table.client.update_item(**put, Key=other, **moved)
    table.client.transact_write_items(TransactItems=[whole, there])
    for _ in range(2):
        table.client.delete_item(**put, Key=other)

    return [(request.operation, str(request.capacity).strip("~")) for request in trace.requests]


def test_the_units_of_writes_are_those_of_the_laptop() -> None:
    with DYNOXIDE_ENGINE.table() as laptop:
        expected = _units(laptop)

    with MOTO.table() as table, corrections.applied():
        assert _units(table) == expected


def test_a_pool_runs_one_after_the_other_in_order() -> None:
    ran = list[int]()

    def twice(number: int) -> int:
        ran.append(number)
        return number * 2

    with InTurn(4) as pool:
        results = list(pool.map(twice, [1, 2, 3]))
        later = pool.submit(ran.append, 4)

    assert (results, ran, later.result()) == ([2, 4, 6], [1, 2, 3, 4], None)


def test_what_a_submitted_function_raises_comes_with_its_result() -> None:
    def fails() -> None:
        raise LookupError("gone")

    future = InTurn().submit(fails)

    with pytest.raises(LookupError, match="gone"):
        future.result()


@pytest.mark.parametrize("pool", [InTurn, ThreadPoolExecutor])
def test_a_round_trip_is_what_waits_for_no_other_request(pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "ThreadPoolExecutor", pool)

    with FAST.table() as table:

        def get(name: str) -> Any:
            return table.get({"PK": name, "SK": name})

        def one_after_another() -> None:
            get("1b")
            table.gather([lambda: get("2a"), lambda: get("2b")])

        get("0")
        trace = Trace().attach(table)
        table.gather([one_after_another, lambda: get("1a"), lambda: get("1c")])
        get("3")
        trace.detach(table)

    numbers = zip(waves(trace.requests), trace.requests, strict=True)
    assert sorted((number, request.partitions) for number, request in numbers) == [
        *((1, (name,)) for name in ("1a", "1b", "1c")), (2, ("2a",)), (2, ("2b",)), (3, ("3",)),
    ]  # fmt: skip
    assert trace.round_trips == 3
