"""Models that were written to harm: what means something to the whole site, and what takes too long."""

from __future__ import annotations

import json
from typing import Any

import pytest

from features.modeller import modeller
from features.modeller.evaluation import matcher
from features.scratch import costs
from shared.dynamodb.schema import KEYS, USER_INDEX
from shared.dynamodb.table import Table
from tests.support.browsing import Browser, Seen

KEY = {"PK": "T#<TId>", "SK": "T", "items": "100", "name": "T"}


def model(attributes: object, *patterns: dict[str, Any], **more: object) -> dict[str, Any]:
    entity = {**KEY, "attributes": attributes, **more}
    asked = {"name": "P", "rate": "1 a second", "request": "Query", "key": "PK = T#<TId>"}
    return {"name": "M", "entities": [entity], "indexes": [], "patterns": [*patterns] or [asked]}


def opened(visitor: Browser, document: object) -> Seen:
    text = document if isinstance(document, str) else json.dumps(document)
    return visitor.post("/model", {"open": "1", "model": text})


def run(visitor: Browser, attributes: dict[str, str], **pattern: str) -> Seen:
    fields = {f"entities.0.{name}": text for name, text in KEY.items()}
    fields["entities.0.attributes"] = "\n".join(f"{name}: {spec}" for name, spec in attributes.items())
    asked = {"name": "P", "rate": "1", "request": "Query", "key": "PK = T#<TId>", **pattern}
    return visitor.post("/model", fields | {f"patterns.0.{name}": text for name, text in asked.items()} | {"run": "1"})


@pytest.mark.parametrize("name", KEYS)
def test_no_attribute_is_a_key_of_the_sites_table(visitor: Browser, table: Table, name: str) -> None:
    page = run(visitor, {"TId": "id 8", name: "one u1 u2", "Username": "one ana"})

    assert page.status == 422
    assert not [*table.everything(index=USER_INDEX)]


def test_what_the_site_reads_in_items_is_kept_under_other_names(visitor: Browser, table: Table) -> None:
    attributes = {"TId": "id 8", "Type": "one Deal", "ExpiresAt": "number 9", "times": "number 15", "Type_": "one a"}
    page = run(visitor, attributes, filter="Type = Deal and Type_ = a")

    assert page.status == 200
    assert "Items and units are those that the rules say." in page.words
    written = [item for item in table.everything() if item["SK"] == "T"]
    assert written
    assert {item.get("Type") for item in written} == {None}
    assert {item["Type_"] for item in written} == {"Deal"}
    assert all(item["ExpiresAt"] < 10**10 for item in written)


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"TId": "text 3000"}, "Size of PK has exceeded"),
        ({"TId": "id 8", "Text": "text 409550"}, "Item size has exceeded"),
    ],
)
def test_a_run_writes_no_item_that_the_table_refuses(
    visitor: Browser, table: Table, attributes: dict[str, str], why: str
) -> None:
    page = run(visitor, attributes)

    assert page.status == 200
    assert "Not sent: DynamoDB refuses an item that is there before." in page.words
    assert why in page.words
    assert not [item for item in table.everything() if item["SK"] == "T"]


@pytest.mark.parametrize(
    ("writes", "said"),
    [
        ("Update T A {now} to b", "A value has no braces."),
        (f"Update T A {'k' * 2040} to b", "Size of GSI1PK has exceeded"),
        (f"Delete T B {'k' * 1030}", "Size of SK has exceeded"),
    ],
)
def test_nor_one_before_a_write(visitor: Browser, table: Table, writes: str, said: str) -> None:
    fields = {f"entities.0.{name}": text for name, text in KEY.items()} | {"indexes.0.name": "GSI1", "run": "1"}
    fields |= {"entities.0.SK": "T<B>", "entities.0.GSI1PK": "X#<A>", "entities.0.GSI1SK": "<A>"}
    fields |= {"entities.0.attributes": "TId: id 8\nA: id 8\nB: id 8"}
    page = visitor.post("/model", fields | {"patterns.0.request": "Write", "patterns.0.writes": writes})

    assert page.status in (200, 422)
    assert said in page.words
    assert not [item for item in table.everything() if "A" in item]


@pytest.mark.parametrize(
    "document",
    [
        model({"TId": "one {long}{long}"}),
        model({"TId": "id 8", "A": "one {scratch}"}),
        model({"TId": "id 8", **{f"A{at}": "text 400000" for at in range(60)}}),
        model({"TId": "id 8", "A": "list 5000 999999", "B": "list 5000 999999"}),
        model({"TId": "id 8", "A": "text 999999", "B": "text 999999", "C": "text 999999"}),
        model({"TId": "id 8", "D": "day", "A": "after D 999999", "B": "after A 999999", "C": "after B 999999"}),
        model(5),
        model([1]),
        model({"TId": "id 8", "N": "number 3"}, {"name": "P", "key": "PK = T#<TId>", "filter": "N = ²"}),
        model({"TId": "id 8", "N": "number 3"}, {"name": "P", "request": "Write", "writes": ["Update T N ²"]}),
        model({"TId": "id 8", "N": "number 3"}, {"request": "Write", "writes": ["Update T N " + "9" * 5000]}),
        model({"TId": "id 8"}, {"name": "P", "rate": "9" * 400, "key": "PK = T#<TId>", "limit": "9" * 400}),
        model({"TId": "id 8"}, {"name": "P", "rate": 10**400, "key": "PK = T#<TId>"}),
        model({"TId": "id 8"}, items="9" * 400),
        model({"TId": f"one {' '.join(f'{at}#' for at in range(8))}"}),
        model({"TId": "id 8"}, {"key": "PK = T#<TId>", "index": "GSI1"}, PK="T#<Nothing>", GSI1PK="T#<TId>")
        | {"indexes": [{"name": "GSI1"}]},
        model({"TId": "list 5 5"}),
        model({"TId": "id 8"}, name="keys", items="9 a Nothing"),
        model({"TId": "id 8", "D": "day"}, {"key": "PK = T#<TId>, SK < <D>"}, SK="<D>"),
        model({"TId": "id 8", "D": "day"}, {"key": "PK = T#<TId>, SK between D# and D#<D>"}, SK="D#<D>#<TId>"),
        model({"TId": "id 8", "D": "day"}, PK="<D>#<D>", SK="<TId>")
        | {"entities": [{**KEY, "attributes": {"TId": "id 8"}}, {**KEY, "name": "U", "PK": "<D>#<D>", "SK": "<TId>",
                         "attributes": {"TId": "id 8", "D": "day"}}]},
        {"name": "a\ud800b"},
        '{"name": ' + "[" * 900 + "]" * 900 + "}",
        '{"entities": [{"name": ' + "[" * 900 + "]" * 900 + "}]}",
        {"name": {"a": [1]}, "peak": {"a": 1}, "entities": {"a": 1}, "indexes": [1], "patterns": None},
        {**model({"TId": "id 8"}), "peak": float("nan")},
        "[" * 5_000 + "]" * 5_000 + "x",
        model({"TId": "id 8"}, {"name": "P", "key": "PK = T#<TId>", "filter": "TId = a" + " " * 20_000 + "b"}),
        model({"TId": "id 8"}, {"name": "P", "key": f"PK = T#{'<TId>' * 2_000}="}),
        model({"TId": "id 64"}, {"name": "P", "key": f"PK = T#{'<TId>' * 20}="}),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_used_has_a_sentence(visitor: Browser, document: object) -> None:
    page = opened(visitor, document)

    assert page.status in (200, 422), page.words[:300]


def test_a_network_draws_as_much_as_an_hours_units_allow(visitor: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "MOST_AN_HOUR", 2 * modeller.DRAWING)
    drawn = [opened(visitor, model({"TId": "id 8"})).status for _ in range(2)]

    visitor.cookies.clear()  # another visitor of the same network
    refused = [opened(visitor, {}).status, visitor.post("/model/export", {"as": "json"}).status]

    assert (drawn, refused) == ([200, 200], [429, 429])


@pytest.mark.parametrize(
    ("template", "key", "fits"),
    [
        ("<A><B>#<C>", "xy#z", True), ("<A><B>#<C>", "x#z", False), ("<A>b<C>", "abbc", True),
        ("<A>ab<B>ab", "xabab", False), ("<A>ab<B>ab", "xabyab", True), ("a<A>", "a#", False),
        ("<A>x#y<B>", "xxx#yz", True),
    ],
)  # fmt: skip
def test_a_template_fits_the_keys_that_it_makes(template: str, key: str, fits: bool) -> None:
    assert bool(matcher(template).fullmatch(key)) == fits


def test_files_are_no_larger_than_a_function_may_answer_and_are_python(visitor: Browser) -> None:
    fields = {f"entities.0.{name}": text for name, text in KEY.items()}
    fields |= {"entities.0.name": "Lambda", "entities.0.attributes": "TId: id 8\nA: list 2000 2000", "name": '\\"""\\'}
    files = {kind: visitor.post("/model/export", fields | {"as": kind}).text for kind in ("workbench", "keys", "cdk")}

    assert len(files["workbench"]) < 1_000_000
    for kind in ("keys", "cdk"):
        compile(files[kind], kind, "exec")
