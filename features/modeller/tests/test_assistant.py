"""The tools of an assistant: the figures of the page, and what a client of the protocol gets."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from features.modeller import assistant, modeller
from local.settings import ROOT


def library() -> dict[str, Any]:
    return json.loads(json.dumps(modeller.starts()["library"]))  # type: ignore[no-any-return]


def test_a_model_has_the_figures_of_its_page() -> None:
    found = assistant.evaluate_model(library())

    assert found["faults"] == {}
    assert found["month"] == {"on_demand": 1136.61, "provisioned": 741.35, "for_the_peak": 2796.66}
    assert found["after_all_changes"] == 388.34
    assert [(each["rank"], each["saves"]) for each in found["findings"]] == [
        ("breaks", 78.5), ("overpays", 622.67), ("overpays", 405.86), ("overpays", 59.13), ("worth a look", None),
    ]  # fmt: skip


def test_a_model_that_is_none_has_its_faults() -> None:
    assert "at most 12" in assistant.evaluate_model({"entities": [{}] * 13})["faults"]["entities"]


def test_a_request_is_explained_by_its_bytes_or_refused_in_the_words_of_aws() -> None:
    item = {"PK": "a", "SK": "b", "Text": "x" * 5000}
    query: dict[str, Any] = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": "a"}}

    assert assistant.explain({"Query": query}, [item, item])["units"] == "1.5 RRU"
    assert (
        assistant.explain({"Scan": {"FilterExpression": "attribute_exists(Body)"}}, [item, item])["units"] == "1.5 RRU"
    )
    assert (
        assistant.explain({"GetItem": {"Key": {"PK": "a", "SK": "b"}, "ConsistentRead": True}}, [item])["units"]
        == "2 RRU"
    )
    assert assistant.explain({"PutItem": {"Item": {**item, "GSI1PK": "c", "GSI1SK": "d"}}})["units"] == "10 WRU"
    filtered = query | {"FilterExpression": "SK = :p"}
    assert "non-primary key attributes" in assistant.explain({"Query": filtered})["refused"]


def test_what_is_no_request_is_refused_in_a_sentence() -> None:
    key = {"PK": "a", "SK": "b"}
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    odd: tuple[Any, ...] = (None, [], {"Item": {**key, "Price": float("nan")}}, {"Item": {**key, "Price": deep}}, {})

    assert [assistant.explain({"PutItem": each})["refused"][:15] for each in odd] == ["Write a request"] * len(odd)
    assert assistant.explain({"PutItem": {"Item": {**key, "Price": 19.99}}})["units"] == "1 WRU"


def test_an_update_is_explained_by_the_items_before_and_after_it() -> None:
    key = {"PK": "a", "SK": "b"}
    update = {"Key": key, "UpdateExpression": "SET GSI1PK = :d", "ExpressionAttributeValues": {":d": "d"}}
    before, after = ({**key, "GSI1PK": place, "GSI1SK": "e"} for place in ("c", "d"))

    assert assistant.explain({"UpdateItem": update}, [before, after])["units"] == "3 WRU"
    assert assistant.explain({"UpdateItem": update}, [after])["units"] == "2 WRU"
    assert "the item after it" in assistant.explain({"UpdateItem": update})["refused"]


CLIENT = """
import asyncio, json, site, sys
site.addsitedir(sys.argv[1])
from mcp import Client, StdioServerParameters

async def main():
    given = json.loads(sys.argv[2])
    async with Client(StdioServerParameters(command=sys.executable, args=["-m", "cli.main", "mcp"])) as client:
        names = [each.name for each in (await client.list_tools()).tools]
        found = await client.call_tool("evaluate_model", {"model": given})
        patterns = await client.call_tool("patterns", {})
        print(json.dumps([names, json.loads(found.content[0].text), len(patterns.content)]))

asyncio.run(main())
"""


@pytest.mark.thorough
def test_a_client_of_the_protocol_calls_the_tools() -> None:
    subprocess.run(["make", "--silent", "mcp"], cwd=ROOT, check=True, timeout=1200)
    folder = next(assistant.OWN.glob("lib/python*/site-packages"))
    asked = [sys.executable, "-c", CLIENT, str(folder), json.dumps(library())]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr[-3000:]
    names, found, count = json.loads(done.stdout)
    assert {"patterns", "explain", "evaluate_model"} <= {*names}
    assert found == json.loads(json.dumps(assistant.evaluate_model(library())))
    assert count > 0
