"""The modeller's page: its start models, what a form changes, what Run compares, and its files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from features.modeller import engine, modeller, parsing
from features.modeller.evaluation import evaluated
from shared.data import keys
from shared.dynamodb.table import Table
from tests.support.browsing import Browser, Seen

STARTS = sorted(modeller.starts())


def form_of(page: Seen) -> dict[str, str]:
    """The fields of a page's model, as a browser sends them."""
    form = next(each for each in page.document.iter("form") if each.get("id") == "model")
    fields = {}
    for each in form.iter():
        name = each.get("name")
        if (
            each.tag not in ("input", "textarea", "select")
            or not name
            or (each.get("type") == "checkbox" and each.get("checked") is None)
        ):
            continue
        if each.tag == "select":
            fields[name] = next(one.get("value") for one in each.iter("option") if one.get("selected") is not None)
        else:
            fields[name] = (each.text or "").removeprefix("\n") if each.tag == "textarea" else each.get("value", "on")
    return fields


def library(visitor: Browser) -> dict[str, str]:
    return form_of(visitor.get("/model?start=library"))


def test_the_first_page_offers_each_start_model(visitor: Browser) -> None:
    page = visitor.get("/model")

    assert page.status == 200
    for name in STARTS:
        assert f'href="/model?start={name}"' in page.text
    assert visitor.get("/model?start=nothing").status == 404


@pytest.mark.parametrize("name", STARTS)
def test_a_start_model_is_drawn_and_its_form_sends_the_same_model(visitor: Browser, name: str) -> None:
    page = visitor.get(f"/model?start={name}")
    fields = form_of(page)
    again = visitor.post("/model", fields)

    assert (page.status, again.status) == (200, 200)
    assert parsing.from_link(fields["was"]).model == parsing.from_link(form_of(again)["was"]).model


def test_a_change_is_tried_priced_and_undone(visitor: Browser) -> None:
    tried = visitor.post("/model", library(visitor) | {"try": "size:Loan"})
    undone = visitor.post("/model", form_of(tried) | {"undo": "1"})

    assert "−$622.67" in tried.words
    assert "$514 a month" in tried.words
    assert "$1,137 a month" in undone.words


def test_a_guided_reader_keeps_the_guide_after_a_change(visitor: Browser) -> None:
    page = visitor.get("/model?start=library&guide=1")
    tried = visitor.post("/model", form_of(page) | {"try": "size:Loan"})

    assert "Ten minutes: a wrong design" in tried.words
    assert "Ten minutes: a wrong design" in visitor.post("/model", form_of(tried) | {"undo": "1"}).words


def test_a_change_that_was_tried_is_told_once(visitor: Browser) -> None:
    tried = visitor.post("/model", library(visitor) | {"try": "write:GSI1:STATUS#out"})
    again = visitor.post("/model", form_of(tried))

    assert "by One partition is too busy: STATUS#out" in tried.words
    assert "no change" not in again.words


def test_all_changes_together_leave_nothing_that_breaks(visitor: Browser) -> None:
    page = visitor.get("/model?start=library")
    button = next(each for each in page.document.iter("button") if each.get("name") == "try-all")
    tried = visitor.post("/model", form_of(page) | {"try-all": button.get("value")})

    assert "$388 a month" in tried.words
    assert "Nothing breaks" in tried.words


def test_an_edit_of_a_field_is_told_with_what_it_costs(visitor: Browser) -> None:
    page = visitor.post("/model", library(visitor) | {"patterns.4.rate": "30 a second"})

    assert "+$65.69 by Borrow a book: rate 25 a second → 30 a second" in page.words


def test_a_wrong_field_has_its_sentence_and_the_rest_is_drawn(visitor: Browser) -> None:
    wrong = {"patterns.1.key": "PK = <script>", "entities.3.PK": "BOOK#<Nothing>", "entities.0.name": "<b>Member</b>"}
    page = visitor.post("/model", library(visitor) | wrong)

    assert page.status == 422
    assert "Hold has no attribute Nothing." in page.words
    assert "<b>Member" not in page.text
    assert "a month, on demand" in page.words
    described = {each.get("aria-describedby") for each in page.document.iter("input") if each.get("aria-invalid")}
    assert {"e-entities-3-PK", "e-entities-0-name"} <= described
    assert {each.get("id") for each in page.document.iter("p")} >= described


@pytest.mark.parametrize("kind", ["entities", "indexes", "patterns"])
def test_rows_are_added_up_to_the_most_and_removed(visitor: Browser, kind: str) -> None:
    page = visitor.post("/model", library(visitor) | {"add": kind})
    before, after = (parsing.from_link(fields["was"]).document for fields in (library(visitor), form_of(page)))
    removed = visitor.post("/model", form_of(page) | {"remove": f"{kind}.{len(after[kind]) - 1}"})

    assert len(after[kind]) == len(before[kind]) + 1
    assert parsing.from_link(form_of(removed)["was"]).document[kind] == before[kind]
    fields = library(visitor) | {f"{kind}.{at}.name": f"N{at}" for at in range(40)}
    assert "at most" in visitor.post("/model", fields | {"add": kind}).words


def test_what_names_an_entity_or_an_index_follows_its_new_name(visitor: Browser) -> None:
    renamed = {"entities.0.name": "Reader", "entities.2.name": "Lending", "indexes.0.name": "ByState"}
    fields = form_of(visitor.post("/model", library(visitor) | renamed))
    added = form_of(visitor.post("/model", fields | {"add": "entities"}))
    own = form_of(visitor.post("/model", added | {"entities.4.name": "Fine"}))

    assert (fields["entities.2.items"], fields["patterns.4.writes"].split("\n")[0]) == (
        "40 a Reader",
        "Put Lending Status out",
    )
    assert fields["entities.2.attributes"].startswith("MemberId: of Reader\nIsbn: of Book\n")
    assert (fields["entities.2.ByStatePK"], fields["patterns.3.index"]) == ("STATUS#<Status>", "ByState")
    assert (own["entities.4.PK"], own["entities.4.SK"]) == ("FINE#<FineId>", "FINE")
    assert own["entities.4.attributes"].startswith("FineId: id 8")
    assert parsing.from_link(own["was"]).faults == {}


def test_a_change_leaves_what_cannot_be_read_as_it_was_written(visitor: Browser) -> None:
    wrong = {"patterns.0.key": "MEMBER#1", "entities.3.PK": "BOOK#<Nothing>", "entities.2.expires": "Never"}
    wrong |= {"patterns.6.key": "HOLD", "patterns.7.key": "LOAN"}
    fields = form_of(visitor.post("/model", library(visitor) | wrong | {"try": "size:Loan"}))

    assert {name: fields[name] for name in wrong} == wrong
    assert "Summary" not in fields["entities.2.attributes"]
    rows = [{name.rsplit(".", 1)[0] for name in each if "." in name} for each in (fields, library(visitor) | wrong)]
    assert rows[0] == rows[1]


def test_a_large_model_is_edited_and_the_change_undone(visitor: Browser) -> None:
    attributes = {"Id": "id 8"} | {f"Attribute{at}": "text 100" for at in range(12)}
    entities = [{"name": f"Thing{at}", "PK": f"THING{at}#<Id>", "attributes": attributes} for at in range(12)]
    asked = {"request": "Query", "rate": "10 a second", "returns": "Attribute0, Attribute1"}
    patterns = [asked | {"name": f"A pattern, number {at}", "key": f"PK = THING{at % 12}#<Id>"} for at in range(20)]
    page = visitor.post("/model", {"open": "1", "model": json.dumps({"entities": entities, "patterns": patterns})})
    for peak in ("2", "3"):
        page = visitor.post("/model", form_of(page) | {"peak": peak})

    assert page.status == 200
    undone = visitor.post("/model", form_of(page) | {"undo": "1"})
    assert form_of(undone)["peak"] == "2"


def test_a_link_that_was_cut_shows_its_whole_parts(visitor: Browser) -> None:
    page = visitor.post("/model", {"open": "1", "model": json.dumps(modeller.starts()["library"])[:1500]})

    assert page.status == 422
    assert "ends too early" in page.words
    assert "a month, on demand" in page.words
    link = form_of(visitor.get("/model?start=library"))["was"]
    assert visitor.post("/model", {"open": "1", "link": link}).status == 200
    cut = visitor.post("/model", {"open": "1", "link": link[: len(link) * 2 // 3]})
    assert "ends too early or isn't a model; its first 4 entities are shown" in cut.words


@pytest.mark.parametrize("name", [name for name in STARTS if name != "empty"])
def test_run_finds_on_the_engine_what_the_rules_say(visitor: Browser, table: Table, name: str) -> None:
    before = {item["PK"] for item in table.everything()}
    page = visitor.post("/model", form_of(visitor.get(f"/model?start={name}")) | {"run": "1"})

    assert page.status == 200
    assert "Items and units are those that the rules say." in page.words
    assert ("Not sent: it reads the whole table" in page.words) == (name == "devices")
    written = [item for item in table.everything() if item["PK"] not in before]
    assert {item["PK"].startswith((keys.scratches(), "ATTEMPTS")) for item in written} == {True}
    assert all("ExpiresAt" in item for item in written)


def run_of(visitor: Browser, model: dict[str, Any], **changed: str) -> Seen:
    form = form_of(visitor.post("/model", {"open": "1", "model": json.dumps(model)}))
    return visitor.post("/model", form | changed | {"run": "1"})


def test_an_example_of_a_key_is_run_on_items_that_lie_there(visitor: Browser) -> None:
    changed = {
        "patterns.0.key": "PK = MEMBER#12345678, SK = MEMBER",
        "patterns.1.key": "PK = MEMBER#12345678, SK between LOAN# and LOAN#<Out>",
        "patterns.2.key": "PK = MEMBER#12345678, SK > MEMBER~",
    }
    page = run_of(visitor, dict(modeller.starts()["library"]), **changed)

    assert page.status == 200
    assert "5 patterns were run. Items and units are those that the rules say." in page.words
    assert page.words.count("Not sent: no generated item lies there.") == 1
    broken = run_of(visitor, dict(modeller.starts()["library"]), **{"entities.2.PK": "MEMBER#<Nothing>"})
    assert "Not sent: an entity that it writes has no key that can be used." in broken.words


def test_run_sends_writes_and_shows_what_they_leave(visitor: Browser) -> None:
    page = run_of(visitor, dict(modeller.starts()["library"]))

    assert "6 patterns were run. Items and units are those that the rules say." in page.words
    borrowed = next(each for each in page.document.iter("section") if "Borrow a book" in str(each.get("aria-label")))
    words = " ".join("".join(borrowed.itertext()).split())
    assert "By the rules 8 WRU. The engine says 8 WRU for 1 request." in words
    assert "1 MEMBER#" in words
    assert "2 BOOK#" in words
    assert 'TransactWriteItems( TransactItems=[ { "Put"' in words


def test_writes_that_the_rules_price_otherwise_than_the_engine_are_told(
    visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "units_written", lambda *_, **__: {})
    page = run_of(visitor, dict(modeller.starts()["library"]))

    assert "2 differ from the rules." in page.words
    assert "By the rules it takes 0 units here; the engine says 8 WRU." in page.words


KINDS = ["Put Thing", "Delete Thing", "Update Thing Text long to short", "Check Thing", "Update Thing State on to off"]


@pytest.mark.parametrize("request_of", ["Write", "Transaction"])
def test_each_kind_of_write_runs_as_the_rules_say(visitor: Browser, request_of: str) -> None:
    entity = {
        "name": "Thing", "items": "1,000", "PK": "THING#<ThingId>", "SK": "THING", "GSI1PK": "<State>",
        "GSI2PK": "ON", "GSI2SK": "<ThingId>",
        "attributes": {"ThingId": "id 8", "State": "one on off", "Text": "one long", "More": "text 2000"},
    }  # fmt: skip
    indexes = [{"name": "GSI1", "copies": "keys"}, {"name": "GSI2", "while": "State = on"}]
    patterns = [{"name": each, "rate": "1", "request": request_of, "writes": [each]} for each in KINDS]
    page = run_of(visitor, {"name": "Things", "entities": [entity], "indexes": indexes, "patterns": patterns})

    assert "5 patterns were run. Items and units are those that the rules say." in page.words


def test_writes_that_cost_much_are_not_sent(visitor: Browser, table: Table) -> None:
    entity = {"name": "Log", "items": "1,000", "PK": "LOG#<Id>", "attributes": {"Id": "id 8", "Text": "text 9000"}}
    patterns = [{"name": "Write logs", "rate": "1", "request": "Write", "writes": ["Put Log"] * 25}]
    before = table.everything()
    page = run_of(visitor, {"name": "Logs", "entities": [entity], "indexes": [], "patterns": patterns})

    assert "Not sent: it could take 225 write units here, and the most is 100." in page.words
    assert "0 patterns were run." in page.words
    assert [*table.everything()] == [*before]


def test_a_network_can_run_models_only_so_often(visitor: Browser) -> None:
    form = library(visitor) | {"run": "1"}

    assert 429 in [visitor.post("/model", form).status for _ in range(80)]


def exported(visitor: Browser, kind: str) -> Seen:
    return visitor.post("/model/export", library(visitor) | {"as": kind})


def test_the_json_of_a_model_opens_as_the_same_model(visitor: Browser) -> None:
    saved = exported(visitor, "json")

    assert saved.headers["Content-Disposition"] == ['attachment; filename="library.json"']
    assert evaluated(parsing.from_text(saved.text).model).now.total() == 1136.61
    assert "$1,137 a month" in visitor.post("/model", {"open": "1", "model": saved.text}).words


def test_the_workbench_model_has_each_entity_with_its_keys(visitor: Browser) -> None:
    table: Any = exported(visitor, "workbench").json["DataModel"][0]

    assert [each["FacetName"] for each in table["TableFacets"]] == ["Member", "Book", "Loan", "Hold"]
    assert table["GlobalSecondaryIndexes"][0]["KeyAttributes"]["SortKey"]["AttributeName"] == "GSI1SK"
    assert table["TableFacets"][2]["TableData"][0]["PK"]["S"].startswith("MEMBER")


def test_the_keys_as_python_make_the_keys_of_the_model(visitor: Browser) -> None:
    names: dict[str, Any] = {}
    exec(exported(visitor, "keys").text, names)  # it is what a visitor gets

    assert names["loan"]("1", "2026-11-27", "9") == {"PK": "MEMBER#1", "SK": "LOAN#2026-11-27#9"}
    assert names["loan_in_gsi1"]("out", "2026-12-01") == {"GSI1PK": "STATUS#out", "GSI1SK": "2026-12-01"}


def test_the_cdk_table_synthesizes_with_its_index(visitor: Browser) -> None:
    from aws_cdk import App  # noqa: PLC0415  # it takes seconds to import
    from aws_cdk.assertions import Template  # noqa: PLC0415

    names: dict[str, Any] = {}
    exec(exported(visitor, "cdk").text, names)
    template = Template.from_stack(names["LibraryStack"](App(), "Library"))

    template.has_resource_properties("AWS::DynamoDB::GlobalTable", {"KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"},
    ]})  # fmt: skip
    table = next(iter(template.find_resources("AWS::DynamoDB::GlobalTable").values()))
    assert [each["IndexName"] for each in table["Properties"]["GlobalSecondaryIndexes"]] == ["GSI1"]
