"""The demo in CPython: its site, its clock, what is kept and its archives."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from demo import packing
from demo.site import fits
from infra.functions import of_stage
from infra.settings import STAGES
from tests.support.commands import printed_by


@pytest.fixture(scope="module")
def seen() -> Any:
    return printed_by("tests.demo.probe", "tab")


def test_pages_answer_below_the_demos_address(seen: Any) -> None:
    assert seen["front"]["status"] == 200
    assert 'href="/demo/site/deals' in seen["front"]["text"]
    assert seen["nothing"] == 404
    assert seen["signed out"].startswith("/demo/site/account/sign-in")


def test_a_page_shows_its_requests_and_units(seen: Any) -> None:
    assert "requests" in seen["front"]["timing"]
    assert "round trips" in seen["front"]["timing"]


def test_a_deal_comes_to_readers_and_into_the_search_though_the_tab_was_closed_right_after_it(seen: Any) -> None:
    assert (seen["form"], seen["posted"]["status"]) == (200, 303)
    assert "Tab runner" in seen["inbox"]
    assert "Tab runner" in seen["search"]


def test_what_was_kept_and_the_changes_since_are_the_whole_table(seen: Any) -> None:
    assert seen["kept"]
    assert 0 < seen["changes"] < seen["items"]
    assert seen["session after"] == 200


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


def test_pyodides_own_list_of_packages_is_left_out(parts: Path) -> None:
    packing.write(parts / "built")

    (module,) = (parts / "built").rglob("build.mjs")

    assert '"abi_version": "1"' in module.read_text()
    assert "numpy" not in module.read_text()


def test_the_functions_are_those_of_the_laptops_pages_and_of_what_follows_a_write() -> None:
    rows = packing.rows()

    pages = {row.pages for row in of_stage(STAGES["local"]) if row.pages is not None}
    assert {row["pages"] for row in rows["functions"].values()} - {None} == pages
    assert {name for name, row in rows["functions"].items() if row["reads"]} == {"publisher", "refresher"}
    assert {name for name, row in rows["functions"].items() if row["each_minute"]} == {"expiry", "refresher", "remover"}
    assert "MAIL_QUEUE_URL" not in rows["variables"]
    assert rows["variables"]["SHOWS_WORK"] == "true"


def test_nothing_of_the_demo_names_another_host() -> None:
    for file in packing.HERE.iterdir():
        code = re.sub(r"^\s*//.*$", "", file.read_text(), flags=re.MULTILINE)

        assert re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", code) == []
