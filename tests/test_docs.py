"""The documents against the code, and the ledger of statements about AWS."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from infra.functions import ROUTES
from shared.data import keys
from shared.models.catalog import ALL_DEALS
from tests.support.cases import cases
from tools import documents, links

ROOT = Path(__file__).resolve().parent.parent


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


README = text_of("README.md")
PATTERNS = documents.pattern_rows()
PAGES = documents.all_documents()
RECIPES = {ROOT / path for path in ("docs/growing.md", "CONTRIBUTING.md", *dict(cases("RECIPES")))}
"""Documents with steps that ``tests/recipes`` follows on a copy of the tree."""


def prose(page: Path) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^(````.*?^````|```.*?^```)$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


LINKED = {
    (found["module"], found["name"], str((page.parent / found["path"]).resolve().relative_to(ROOT)), found["line"])
    for page in PAGES
    for found in links.LINK.finditer(prose(page))
}
LINKS = [
    (page, target)
    for page in PAGES
    for target in re.findall(r'\]\(([^)#"]+?)(?:#[^)]*)?\)', prose(page))
    if not target.startswith(("http:", "https:"))
]


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a document that are in a language."""
    return re.findall(rf"```{language}\n(.*?)\n```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_access_patterns_are_numbered_and_their_number_is_stated() -> None:
    tables = [documents.PATTERNS, *documents.of_features().values()]
    rows = [found[1] for page in tables for found in documents.PATTERN.finditer(page.read_text(encoding="utf-8"))]

    assert sorted(map(int, rows)) == [*PATTERNS]
    assert f"[{len(rows)} access patterns " in README
    assert f"[All {len(rows)}]" in README
    assert f"{len(rows)} patterns." in text_of("docs/patterns.md")


def test_the_readme_has_at_most_150_lines_besides_its_table_and_the_patterns_of_the_classic_example() -> None:
    rows = [found[0] for found in documents.PATTERN.finditer(README)]

    assert len(links.FEATURES.sub("", README).splitlines()) <= 150
    assert len(rows) == 23
    assert [row.replace("](shared", "](../shared") for row in rows] == [*PATTERNS.values()][:23]


def test_the_files_that_the_documents_name_are_there() -> None:
    folders = [path.name for path in ROOT.iterdir() if path.is_dir() and (path / "__init__.py").exists()]
    name = re.compile(rf"`((?:{'|'.join([*folders, 'web', 'tests', 'events', 'docs', 'requirements'])})/[\w./-]+)`")

    named = {(page, path) for page in PAGES for path in name.findall(page.read_text(encoding="utf-8"))}

    missing = [(page, path) for page, path in sorted(named) if not (ROOT / path).exists()]
    # Recipes make files, and the change log tells of features that may have been deleted since.
    assert [each for each in missing if each[0] not in RECIPES | {ROOT / "CHANGELOG.md"}] == []


@pytest.mark.parametrize(("module", "function", "path", "line"), sorted(LINKED))
def test_a_link_leads_to_the_line_that_it_names(module: str, function: str, path: str, line: str) -> None:
    assert module in (Path(path).stem, Path(path).with_suffix("").as_posix().removesuffix("/data").rpartition("/")[2])
    assert line == str(links.line_of(ROOT / path, function)), "run make format"


def test_the_code_that_the_documents_show_is_in_the_project() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "shared").rglob("*.py"))

    core = [page for page in PAGES if page not in RECIPES and documents.FEATURES not in page.parents]
    shown = [block for page in core for block in blocks(page, "python")]

    assert shown
    assert [block for block in shown if block not in code] == []


def test_what_the_documents_type_into_a_shell_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    typed = [block for page in PAGES if page not in RECIPES for block in blocks(page, "sh")]
    lines = [line for block in typed for line in block.splitlines()]

    made = {word for line in lines for word in re.findall(r"(?:^|&& |\| )make ((?:[a-z-]+ ?)+)", line)}
    modules = {name for line in lines for name in re.findall(r"python3? -m ([\w.]+)", line)}

    assert {target for words in made for target in words.split()} <= targets
    assert [name for name in modules - {"venv", "pip"} if importlib.util.find_spec(name) is None] == []


def test_what_is_read_in_an_afternoon_is_ten_files_that_are_short_enough() -> None:
    heading = r"^## \d+\. .*\n\n\[`([^`]+)`\]\([^)]+\)(?:, up to \[`[^`]+`\]\([^)]+#L(\d+)\))?"
    read = re.findall(heading, text_of("docs/afternoon.md"), re.MULTILINE)

    lines = {name: int(until) - 1 if until else len(text_of(name).splitlines()) for name, until in read}

    assert len(lines) == 10
    assert sum(lines.values()) <= 1500, lines


OWN_ACCOUNT = re.findall("^Your own account .*$", text_of("docs/patterns.md"), re.MULTILINE)[0]
"""The sentence with the routes that no pattern stands for."""


ROUTED = "\n".join((*PATTERNS.values(), OWN_ACCOUNT, *map(Path.read_text, documents.of_features().values())))


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_the_patterns_have_each_route(route: object) -> None:
    method, path = route.method, f"/v1{route.path}"  # type: ignore[attr-defined]  # a row of the table

    mentions = re.findall(rf"`([A-Z, ]+) {re.escape(path)}(?:\?[^`]*)?`", ROUTED)

    assert any(method in mention.split(", ") for mention in mentions)


def test_the_data_model_has_each_key() -> None:
    prefixes = set(re.findall(r'"([A-Z]{3,})[#"]', text_of("shared/data/keys.py")))
    data_model = text_of("docs/data-model.md")

    assert keys.counts(ALL_DEALS) in prefixes
    assert not [prefix for prefix in prefixes if f"`{prefix}" not in data_model]


@pytest.mark.parametrize(("page", "target"), LINKS, ids=lambda value: getattr(value, "name", value))
def test_a_link_leads_somewhere(page: Path, target: str) -> None:
    assert (page.parent / target).exists()


TEXT = documents.LEDGER.read_text(encoding="utf-8")
CLAIMS: list[dict[str, Any]] = [
    {**found.groupdict(), "pages": re.findall(r"\]\(([^)]+)\)", found["pages"])} for found in documents.claims()
]
PAGE = re.compile(r"(?<![\w.-])(?:docs\.aws\.amazon\.com|aws\.amazon\.com|repost\.aws)/[\w./-]+")
PACKAGES = ("cli", "features", "functions", "infra", "local", "shared", "tools")
FILES = [
    *(page for page in PAGES if page != documents.LEDGER),
    *(ROOT / "features").rglob("*.toml"),
    *(file for name in PACKAGES for file in (ROOT / name).rglob("*.py") if "tests" not in file.parts),
]


def test_each_section_of_the_ledger_is_a_claim_and_its_table_counts_them() -> None:
    counted = dict(re.findall(r"^\| (bet|seen|documented) \| .* \| (\d+) \|$", TEXT, re.MULTILINE))

    assert [claim["id"] for claim in CLAIMS][: TEXT.count("\n## ")] == re.findall("^## (.+)$", TEXT, re.MULTILINE)
    assert counted == {state: str(number) for state, number in Counter(claim["state"] for claim in CLAIMS).items()}


def test_each_page_of_aws_that_is_named_anywhere_belongs_to_a_claim() -> None:
    claimed = {page.removeprefix("https://").rstrip("/") for claim in CLAIMS for page in claim["pages"]}

    named = {
        (str(file.relative_to(ROOT)), page.rstrip("./"))
        for file in FILES
        # An address that is too long for its line goes on at the next one's beginning.
        for page in PAGE.findall(re.sub(r"/\n\s*(?:# )?(?=[a-z-]+\.html)", "/", file.read_text(encoding="utf-8")))
    }

    assert [(file, page) for file, page in sorted(named) if page not in claimed] == [], "give docs/ledger.md a claim"


def test_claims_have_names_of_their_own_and_bets_come_first() -> None:
    names = [claim["id"] for claim in CLAIMS]
    states = [claim["state"] for claim in CLAIMS][: TEXT.count("\n## ")]

    assert len({*names}) == len(names)
    assert states == sorted(states, key=["bet", "seen", "documented"].index)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_a_claim_says_what_rests_on_it_and_which_command_proves_it(claim: dict[str, Any]) -> None:
    assert (ROOT / claim["rests"]).is_file()
    assert claim["says"].endswith(".")
    assert claim["pages"]
