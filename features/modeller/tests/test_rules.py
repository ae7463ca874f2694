"""The modeller's arithmetic: a library to the cent, other models' findings, and models that can't be read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from features.modeller import evaluation, findings, parsing
from features.modeller.design import Index, Model, document
from features.modeller.evaluation import evaluated

STARTS = Path(parsing.__file__).with_name("starts")


@pytest.fixture(autouse=True)
def prices_of_2026(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prices of November 2026, with which the figures here were calculated."""
    prices = {"READ_DOLLARS": 0.125, "WRITE_DOLLARS": 0.625, "RCU_HOUR": 0.00013, "WCU_HOUR": 0.00065, "GB_MONTH": 0.25}
    for name, price in prices.items():
        monkeypatch.setattr(evaluation, name, price)
    evaluated.cache_clear()


def start(name: str) -> Any:
    return json.loads((STARTS / f"{name}.json").read_text(encoding="utf-8"))


def model(given: Any) -> Model:
    read = parsing.read(given)
    assert read.faults == {}
    return read.model


def library(**changes: Any) -> Any:
    return start("library") | changes


def test_the_library_costs_what_its_parts_cost() -> None:
    now = evaluated(model(library())).now

    assert {part: now.priced(part)[0] for part in now.PARTS} == {
        "reads": 98.12, "writes": 328.50, "index writes": 246.38, "storage": 233.03, "index storage": 230.58,
    }  # fmt: skip
    assert [now.total(mode) for mode in range(3)] == [1136.61, 741.35, 2796.66]


def test_the_library_has_one_partition_with_1200_of_1000_writes_a_second() -> None:
    loads = evaluated(model(library())).loads

    assert round(loads["GSI1", "STATUS#out"][1]) == 1200
    assert {at: round(writes) for at, (_, writes) in loads.items() if at[1] != "STATUS#out"} == {
        ("", "MEMBER#<MemberId>"): 61, ("", "BOOK#<Isbn>"): 30, ("GSI1", "STATUS#back"): 600,
    }  # fmt: skip


def test_each_change_of_the_library_saves_what_it_saves_alone_and_all_four_leave_388_dollars() -> None:
    found = findings.of(model(library()))

    assert {each.key: each.saving for each in found if each.mend.way} == {
        "write:GSI1:STATUS#out": 78.50, "size:Loan": 622.67, "unread:GSI1": 405.86, "filter:1": 59.13,
    }  # fmt: skip
    mended = findings.tried(model(library()), [each.key for each in found])
    assert evaluated(mended).now.total() == 388.34
    assert [each for each in findings.of(mended) if each.rank == findings.BREAKS] == []


def test_what_grows_with_the_data_is_storage_and_the_read_of_a_collection_without_end() -> None:
    now = evaluated(model(library()))
    due = next(each for each in now.model.patterns if each.name == "Loans due tomorrow")

    assert [now.bill(n).total() for n in evaluation.SIZES] == [671.79, 672.35, 1232.49]
    assert [(came.units, came.trips) for n in evaluation.SIZES for came in [now.read(due, n)]] == [
        (0.5, 1), (385.0, 4), (384_895.0, 3007),
    ]  # fmt: skip
    assert "endless:GSI1:Loan" in [each.key for each in findings.of(now.model)]


def test_a_model_reads_as_it_was_written() -> None:
    whole = model(library())
    mended = findings.tried(whole, [each.key for each in findings.of(whole)])
    named = [replace(whole, indexes=(Index("GSI1", None, (name,)),), patterns=()) for name in ("all", "keys")]

    for each in (whole, mended, *named):
        assert model(json.loads(json.dumps(document(each)))) == each


LIST: dict[str, Any] = {
    "name": "Orders in a list",
    "entities": [
        {"name": "Customer", "items": "1 million", "PK": "CUSTOMER#<CustomerId>", "SK": "CUSTOMER",
         "attributes": {"CustomerId": "id 8", "Name": "text 20", "Orders": "list 120 200"}},
    ],
    "patterns": [
        {"name": "A customer's orders", "request": "Get", "key": "PK = CUSTOMER#<CustomerId>, SK = CUSTOMER"},
        {"name": "Order", "request": "Write", "writes": ["Update Customer Orders 1 to 2"], "rate": "10"},
    ],
}  # fmt: skip


def test_a_list_that_grows_in_an_item_becomes_items_of_their_own() -> None:
    found = findings.of(model(LIST))

    assert [(each.kind, each.rank) for each in found] == [("list", findings.OVERPAYS)]
    changed = found[0].mend.way(model(LIST)) if found[0].mend.way else model(LIST)
    assert [each.name for each in changed.entities] == ["Customer", "Order"]
    assert evaluated(changed).written(changed.patterns[1]) == {("", "CUSTOMER#<CustomerId>"): 1}
    assert changed.patterns[0].operation == "Query"
    alone = LIST | {"entities": [LIST["entities"][0] | {"SK": ""}], "patterns": LIST["patterns"][1:]}
    assert [(each.mend.way, each.note[:26]) for each in findings.of(model(alone))] == [
        (None, "Give the table a sort key,")
    ]
    with_another = LIST | {"entities": [*LIST["entities"], OTHER | {"name": "Order"}]}
    changed = findings.tried(model(with_another), ["size:Customer"])
    assert [each.name for each in changed.entities] == ["Customer", "OrderItem", "Order"]


def test_an_item_of_more_than_400_kb_breaks() -> None:
    entity = LIST["entities"][0] | {"attributes": {"CustomerId": "id 8", "Orders": "list 2500 200"}}

    assert [(each.kind, each.rank) for each in findings.of(model(LIST | {"entities": [entity]}))] == [
        ("too-large", findings.BREAKS)
    ]


def test_a_pattern_without_an_index_is_a_scan_and_gets_one() -> None:
    asked = {"name": "Books by an author", "rate": "2", "request": "Query", "key": "PK = AUTHOR#<Author>"}
    whole = model(library(patterns=[asked]))
    found = findings.of(whole)[0]

    assert (found.kind, found.rank) == ("no-key", findings.BREAKS)
    assert "$12.96 a request" in found.text
    changed = found.mend.way(whole) if found.mend.way else whole
    assert changed.patterns[0].index == "GSI2"
    assert evaluated(changed).answered(changed.patterns[0])


def test_an_index_that_nobody_reads_is_removed_with_its_writes() -> None:
    patterns = [each for each in library()["patterns"] if each.get("index") != "GSI1"]
    whole = model(library(patterns=patterns))
    found = next(each for each in findings.of(whole) if each.kind == "index")

    changed = found.mend.way(whole) if found.mend.way else whole
    assert changed.indexes == ()
    assert evaluated(changed).now.amounts["index writes"] == 0


def test_a_busy_collection_gets_shards_and_its_readers_ask_each() -> None:
    chat = {
        "peak": 10,
        "entities": [{"name": "Post", "items": "1 million", "PK": "BOARD", "SK": "<At>#<PostId>",
                      "attributes": {"PostId": "id 9", "At": "time", "Text": "text 300"}}],
        "patterns": [{"name": "Newest", "rate": "5", "request": "Query", "key": "PK = BOARD", "limit": 20},
                     {"name": "Write", "rate": "150", "request": "Write", "writes": ["Put Post"]}],
    }  # fmt: skip
    whole = model(chat)
    found = findings.of(whole)[0]

    assert (found.kind, found.bar and found.bar.limit) == ("busy-write", 1000)
    changed = findings.tried(whole, [found.key])
    assert changed.patterns[0].times == 5
    assert max(writes for _, writes in evaluated(changed).loads.values()) == 300


GAMES: dict[str, Any] = {
    "entities": [
        {"name": "Player", "items": "5 million", "PK": "PLAYER#<PlayerId>", "SK": "PLAYER",
         "attributes": {"PlayerId": "id 9"}},
        {"name": "Score", "items": "2 a Player", "PK": "PLAYER#<PlayerId>", "SK": "SCORE#<Game>",
         "GSI1PK": "GAME#<Game>", "GSI1SK": "<Points>#<PlayerId>",
         "attributes": {"PlayerId": "of Player", "Game": "one chess go", "Points": "number 7", "Team": "id 3"}},
        {"name": "Club", "items": "50", "PK": "CITY#<City>", "SK": "<Since>#<ClubId>",
         "attributes": {"ClubId": "id 4", "City": "one bonn cork lyon nice turin", "Since": "day"}},
    ],
    "indexes": [{"name": "GSI1"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "index", "items", "label"),
    [
        ("PK = PLAYER#123456789", "", 3, "PLAYER#<PlayerId>"),
        ("PK = PLAYER#123456789, SK = SCORE#go", "", 1, "PLAYER#<PlayerId>"),
        ("PK = GAME#go, SK > <Points>", "GSI1", 2_500_000, "GAME#go"),
        ("PK = GAME#go, SK < <Points>", "GSI1", 2_500_000, "GAME#go"),
        ("PK = GAME#go, SK between <Points> and 9999999~", "GSI1", 2_500_000, "GAME#go"),
        ("PK = CITY#turin", "", 10, "CITY#turin"),
        ("PK = CITY#nice, SK begins_with <today-3>", "", 10 / 365, "CITY#nice"),
        ("PK = CITY#nice, SK > <tomorrow>", "", 0, "CITY#nice"),
        ("PK = CITY#rome", "", 15_000_050, "CITY#rome"),
        ("PK = PLAYER#<PlayerId>, SK begins_with GOAL#", "", 15_000_050, "PLAYER#<PlayerId>"),
    ],
)
def test_an_example_of_a_key_is_read_as_its_template_is(key: str, index: str, items: float, label: str) -> None:
    now = evaluated(model(GAMES | {"patterns": [{"request": "Query", "key": key, "index": index}]}))
    (pattern,) = now.model.patterns

    assert now.read(pattern, now.model.size).items == pytest.approx(items, rel=0.02)
    assert now.label(pattern) == label
    assert now.answered(pattern) == (items < 10_000_000)


def test_a_filter_on_one_of_many_values_is_mended_by_a_key_that_has_it() -> None:
    asked = {"rate": "9", "request": "Query", "index": "GSI1", "key": "PK = GAME#go", "filter": "Team = 123"}
    whole = model(GAMES | {"patterns": [asked]})
    found = next(each for each in findings.of(whole) if each.kind == "filter")
    changed = findings.tried(whole, [found.key])

    assert (changed.patterns[0].pk, changed.patterns[0].terms) == ("GAME#go#123", ())
    assert dict(changed.entity("Score").keys)["GSI2"] == ("GAME#<Game>#<Team>", "<Points>#<PlayerId>")
    assert changed.index("GSI2").only is None
    assert evaluated(changed).answered(changed.patterns[0])


def test_conditions_may_be_written_as_dynamodb_has_them() -> None:
    written = {"key": 'PK = GAME#go AND begins_with(SK, "9")', "filter": 'contains(Team, "1") and PlayerId = "7"'}
    plain = {"key": "PK = GAME#go, SK begins_with 9", "filter": "Team contains 1, PlayerId = 7"}
    asked = [{"request": "Query", "index": "GSI1", "rate": "7 a week", **each} for each in (written, plain)]
    first, second = model(GAMES | {"patterns": asked}).patterns

    assert (first.pk, first.sk, first.terms) == (second.pk, second.sk, second.terms)
    assert first.rate == pytest.approx(1 / 86_400)


def test_what_a_filter_compares_stays_in_a_narrower_index() -> None:
    asked = {"request": "Query", "index": "GSI1", "key": "PK = GAME#go", "filter": "Team > 123", "returns": "PlayerId"}
    two = asked | {"filter": "Team = 123 and Points > 5", "rate": "9"}
    changed = [findings.tried(whole, [each.key for each in findings.of(whole)])
               for whole in (model(GAMES | {"patterns": [each]}) for each in (asked, two))]  # fmt: skip

    assert changed[0].index("GSI1").copies == ("PlayerId", "Team")
    assert changed[1].index("GSI2").copies == ("PlayerId", "Points")


def test_a_page_of_a_scan_is_no_scan_of_the_table() -> None:
    patterns = [{"name": name, "request": "Scan", "limit": limit} for name, limit in (("page", "25"), ("all", ""))]

    assert [each.key for each in findings.of(model(GAMES | {"patterns": patterns})) if each.kind == "scan"] == [
        "scan:1"
    ]


def test_shards_of_a_counter_leave_the_number_of_what_belongs_to_it() -> None:
    pages = {
        "peak": 100,
        "entities": [{"name": "Page", "items": "10", "PK": "PAGE#<Page>", "SK": "PAGE",
                      "attributes": {"Page": "id 4", "Hits": "number 6"}},
                     {"name": "Note", "items": "5 a Page", "PK": "NOTE#<Page>", "SK": "<Note>",
                      "attributes": {"Page": "of Page", "Note": "id 6"}}],
        "patterns": [{"name": "Hit", "rate": "30", "request": "Write", "writes": ["Update Page Hits 1 to 2"],
                      "busiest": "50%"}],
    }  # fmt: skip
    whole = model(pages)
    changed = findings.tried(whole, [findings.of(whole)[0].key])

    assert [each.count for each in changed.entities] == [50, 50]
    assert model(json.loads(json.dumps(document(changed)))) == changed


def test_a_second_ttl_attribute_is_worth_a_look() -> None:
    things = [
        {"name": name, "items": "10", "PK": f"{name}#<Id>", "SK": "A", "expires": expires,
         "attributes": {"Id": "id 4", expires: "number 9"}}
        for name, expires in (("One", "Until"), ("Two", "Until"), ("Three", "Ends"))
    ]  # fmt: skip
    found = [each for each in findings.of(model({"entities": things})) if each.kind == "ttl"]

    assert [(each.key, each.title) for each in found] == [("ttl:Three", "Three never expires")]
    assert "it is Until. DynamoDB doesn’t look at Ends." in found[0].text


def test_numbers_may_be_numbers_of_json_of_any_size() -> None:
    given = {"peak": 12.5, "entities": [THING | {"items": 20_000_000, "attributes": {"Id": "id 9"}}],
             "patterns": [{"request": "Query", "key": "PK = THING#<Id>", "rate": 2, "limit": 1_000_000}]}  # fmt: skip
    read = model(given)

    assert (read.peak, read.size) == (12.5, 20_000_000)
    assert (read.patterns[0].rate, read.patterns[0].limit) == (2, 1_000_000)


THING = {"name": "Thing", "items": "10", "PK": "THING#<Id>", "SK": "THING", "attributes": {"Id": "id 4"}}
OTHER = THING | {"name": "Other", "PK": "OTHER#<Id>"}
GET = {"name": "One", "request": "Get", "key": "PK = THING#<Id>, SK = THING"}


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        ({"entities": [THING | {"PK": "THING#<Nr>"}]}, "entities.0.PK", "Thing has no attribute Nr."),
        ({"entities": [THING | {"PK": ""}]}, "entities.0.PK", "A partition key is needed"),
        ({"entities": [THING | {"PK": "THINGS"}]}, "entities.0.SK", "10 items of Thing have only 1 key"),
        ({"entities": [THING | {"items": "20,000"}]}, "entities.0.SK", "20,000 items of Thing have only 10,000 keys"),
        ({"entities": [THING], "patterns": [GET | {"key": "PK = THING#<Id>"}]}, "patterns.0.key", "names it, too"),
        ({"entities": [THING, THING | {"name": "Other"}]}, "entities.1.SK", "Other and Thing have the same keys"),
        ({"entities": [OTHER | {"SK": ""}, THING]}, "entities.0.SK", "The table has a sort key: write a template"),
        (
            {"entities": [OTHER | {"GSI1PK": "ALL"}, THING | {"GSI1PK": "ALL", "GSI1SK": "<Id>"}], "indexes": [{}]},
            "entities.0.GSI1SK",
            "GSI1 has a sort key, so an item without one isn't in it",
        ),
        ({"entities": [THING | {"name": "<b>"}]}, "entities.0.name", "Use a letter, then letters"),
        ({"entities": [THING | {"name": ""}, THING, THING]}, "entities.2.name", "Thing is there twice"),
        (
            {"entities": [THING, THING | {"attributes": {"Id": "of Thing"}}], "patterns": [GET]},
            "entities.1.name",
            "Thing is there twice",
        ),
        (
            {"entities": [THING | {"PK": "<Nr>"}], "patterns": [GET | {"key": "PK = THING#<Id>"}]},
            "entities.0.PK",
            "Thing has no attribute Nr.",
        ),
        ({"entities": [THING | {"items": "3 a Shop"}]}, "entities.0.items", "Write how many there are"),
        ({"entities": [THING | {"attributes": {"Id": "id"}}]}, "entities.0.attributes", "'Id': write its name"),
        ({"entities": [THING], "patterns": [GET | {"name": "<b>"}]}, "patterns.0.name", "without < and >"),
        ({"entities": [THING], "patterns": [GET | {"rate": "often"}]}, "patterns.0.rate", "Write a rate"),
        ({"entities": [THING], "patterns": [GET | {"filter": "Id = 4"}]}, "patterns.0.filter", "GetItem has no"),
        (
            {"entities": [THING], "patterns": [GET | {"request": "Query", "filter": "SK = 4"}]},
            "patterns.0.filter",
            "Filter Expression can only contain non-primary key attributes",
        ),
        (
            {"entities": [THING | {"GSI1PK": "ALL"}], "indexes": [{}],
             "patterns": [{"request": "Query", "index": "GSI1", "key": "PK = ALL", "consistent": True}]},
            "patterns.0.consistent",
            "Consistent reads are not supported on global secondary indexes",
        ),
        (
            {"entities": [THING | {"GSI1PK": "ALL"}], "indexes": [{"copies": "keys"}],
             "patterns": [{"request": "Query", "index": "GSI1", "key": "PK = ALL", "filter": "Id = 4"}]},
            "patterns.0.filter",
            "Global secondary index GSI1 does not project [Id]",
        ),
        (
            {"entities": [THING | {"GSI1PK": "ALL"}], "indexes": [{}],
             "patterns": [{"request": "Query", "key": "GSI1PK = ALL"}]},
            "patterns.0.key",
            "GSI1PK is a key of GSI1, and this reads the table.",
        ),
        ({"entities": [THING], "patterns": [{"request": "Query", "key": "SK = A"}]}, "patterns.0.key", "Write the"),
        (
            {"entities": [THING], "patterns": [{"request": "Write", "writes": ["Put Nothing"]}]},
            "patterns.0.writes",
            "There is no entity Nothing.",
        ),
        (
            {"entities": [THING], "patterns": [{"request": "Write", "writes": ["Update Thing Id 5"]}]},
            "patterns.0.writes",
            "Write what an update changes, from and to: Update Thing Id 1 to 2.",
        ),
        (
            {"entities": [THING], "patterns": [{"request": "Write", "writes": ["Update Thing Id 5 to 6"]}]},
            "patterns.0.writes",
            "Id is part of the table's key",
        ),
        ({"entities": [THING] * 13}, "entities", "at most 12 entities"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_has_a_sentence_at_its_field(given: Any, field: str, sentence: str) -> None:
    faults = parsing.read(given).faults

    assert sentence in faults[field]
    assert all(part.isprintable() for part in faults.values())


def test_a_fault_in_one_row_leaves_the_others() -> None:
    given = library()
    given["entities"][3]["PK"] = "BOOK#<Nothing>"
    given["patterns"][0]["key"] = "nothing"
    read = parsing.read(given)

    assert {*read.faults} == {"entities.3.PK", "patterns.0.key"}
    assert [each.at for each in read.model.patterns] == [1, 2, 3, 4, 5]
    assert 1000 < evaluated(read.model).now.total() < 1200
    given["patterns"][2]["filter"] = "Placed = x"
    given["entities"][2]["PK"] = "MEMBER#<Nobody>"
    few = parsing.read(given).model  # a pattern of an entity that can't be read is no Scan
    assert evaluated(few).now.total() < 1200
    assert [each.kind for each in findings.of(few) if each.rank == findings.BREAKS] == []


@pytest.mark.parametrize("end", [-1, -400, 1200, 700])
def test_a_text_that_is_cut_anywhere_shows_its_whole_parts(end: int) -> None:
    text = json.dumps(library())
    read = parsing.from_text(text[:end])

    assert "ends too early" in read.faults["model"]
    assert len(read.model.entities) >= 1 + (end < 0) * 3
    assert evaluated(read.model).now.total() > 0


@pytest.mark.parametrize(
    "text", ["", "[]", "nothing", '{"entities": {}}', '{"entities": [[]]}', "[" * 5000, "x" * 70_000]
)
def test_a_text_that_is_no_model_is_an_empty_one_with_a_sentence(text: str) -> None:
    read = parsing.from_text(text)

    assert read.model.entities == ()
    assert read.faults != {}
    assert findings.of(read.model) == []
