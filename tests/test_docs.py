"""The documents keep up with the code: they have every pattern, route and key, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from infra.routes import ROUTES
from shared.data import keys
from tools import links

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DATA_MODEL = (ROOT / "docs" / "data-model.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

ROWS = re.findall(r"^\| (\d+) \|.*$", README, re.MULTILINE)
LINKED = links.LINK.findall(README)
LINKS = [
    (page, target)
    for page in PAGES
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    if not target.startswith(("http:", "https:"))
]


def test_the_readme_has_each_access_pattern() -> None:
    assert [int(row) for row in ROWS] == list(range(1, 42))


@pytest.mark.parametrize(("module", "function", "path", "line"), sorted(set(LINKED)))
def test_a_link_leads_to_the_line_that_it_names(module: str, function: str, path: str, line: str) -> None:
    assert Path(path).stem == module
    assert line == str(links.line_of(path, function)), "run python -m tools.links"


def test_the_readme_shows_the_code_of_a_like_as_it_is() -> None:
    (shown,) = re.findall(r"```python\n(.*?)\n```", README, re.DOTALL)

    assert shown in (ROOT / "shared" / "data" / "members" / "follows.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_the_readme_has_each_route(route: object) -> None:
    method, path = route.method, f"/v1{route.path}"  # type: ignore[attr-defined]  # a row of the table

    mentions = re.findall(rf"`([A-Z, ]+) {re.escape(path)}(?:\?[^`]*)?`", README)

    assert any(method in mention.split(", ") for mention in mentions)


def test_the_data_model_has_each_key() -> None:
    spelled = (ROOT / "shared" / "data" / "keys.py").read_text(encoding="utf-8")
    prefixes = set(re.findall(r'"([A-Z]{3,})[#"]', spelled))

    assert keys.deals()["PK"] in prefixes
    assert not [prefix for prefix in prefixes if f"`{prefix}" not in DATA_MODEL]


@pytest.mark.parametrize(("page", "target"), LINKS, ids=lambda value: getattr(value, "name", value))
def test_a_link_leads_somewhere(page: Path, target: str) -> None:
    assert (page.parent / target).exists()
