"""A copy without some features: what it leaves out, and that what is left holds together."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared import features
from shared.features import FEATURES, Feature
from tools import fork
from tools.fork import Gone, Impossible

TOOLS = (".venv", "node_modules", ".venv-checkov", ".venv-sam", ".dynamodb-local", ".venv-demo")

SWIMMING = Feature(
    name="swimming", does="pools", owns="pools/laps.py docs/sport.md#in-water", routes=("/pool",), named=("swim",)
)

GONE = Gone.of([SWIMMING], ["pools/laps.py", "pools/open.py"])

TESTS = '''\
import pytest

from pools import laps, open
from pools.laps import Lane as Way, count

LENGTH = count(25)
"""How long it is."""

LANES = (open, laps, LENGTH)
PATHS = ["/run", "/pool", "/pool/1?deep=yes", "/pools"]
OF = {"run": 1, "swim": 2, "walk": ("/pool", 3)}
WAYS = (int("1"), Way(2))


@pytest.fixture
def lane() -> Way: ...


def test_a_lane_has_a_length(lane) -> None:
    assert lane


def test_a_length() -> None:
    assert LENGTH


@pytest.mark.needs("swimming")
def test_water() -> None: ...


@pytest.mark.parametrize("path", ["/run", "/pool"])
def test_opened(path: str) -> None:
    assert open
'''

LEFT = """\
import pytest

from pools import open


LANES = (open, )
PATHS = ["/run", "/pools"]
OF = {"run": 1, }
WAYS = (int("1"), )




@pytest.mark.parametrize("path", ["/run", ])
def test_opened(path: str) -> None:
    assert open
"""

DOCUMENT = """\
# Sport

One runs,<!-- swimming --> swims,<!-- end --> and walks.

- Running.
- Swimming ([laps](../pools/laps.py)),
  in water.
- `pools/laps.py` counts.

| Kind | Where |
|---|---|
| running | on land |
| swimming | [in water](#in-water) |

## In water

Deep.

### Deeper

Deeper.

## On land

Dry.
"""

SHORTER = """\
# Sport

One runs, and walks.

- Running.

| Kind | Where |
|---|---|
| running | on land |

## On land

Dry.
"""


def test_a_test_that_needs_what_is_gone_is_left_out_with_what_it_is_made_of() -> None:
    text, lost = fork.pruned(TESTS, GONE)

    assert re.sub(r"\n+", "\n", text) == re.sub(r"\n+", "\n", LEFT)
    assert lost == {"laps", "Way", "count", "LENGTH", "lane", *fork.of_tests(lost)}
    assert fork.of_tests(lost) == ["test_a_lane_has_a_length", "test_a_length", "test_water"]


def test_passages_sections_and_links_about_what_is_gone_are_left_out_of_documents() -> None:
    assert fork.shortened(DOCUMENT, "docs/sport.md", GONE) == SHORTER


def test_a_document_that_names_nothing_that_is_gone_stays_as_it_is() -> None:
    assert fork.shortened("# A\n\n\n\nB\n", "docs/a.md", GONE) == "# A\n\n\n\nB\n"


def test_a_line_of_settings_is_marked_with_the_name_of_its_feature() -> None:
    assert fork.without_lines('a = 1\nb = 2  # swimming\nc = "# swimming"\n', GONE) == 'a = 1\nc = "# swimming"\n'


def test_a_passage_of_settings_stands_between_the_name_of_its_feature_and_its_end() -> None:
    settings = "[a]\nx = 1\n\n# swimming\n[b]\nx = 2\n# end\n\n[c]\nx = 3\n"

    assert fork.without_lines(settings, GONE) == "[a]\nx = 1\n\n[c]\nx = 3\n"


def test_what_needs_a_feature_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    diving = Feature(name="diving", does="depths", owns="", needs=("swimming",))
    monkeypatch.setattr(fork, "FEATURES", (diving, SWIMMING))

    assert fork.removed(["swimming"]) == [diving, SWIMMING]
    assert fork.removed(["diving"]) == [diving]


def test_a_copy_that_cannot_be_made_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork, "FEATURES", (SWIMMING,))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").touch()

    for names, folder, reason in (
        (["flying"], "new", "There is no feature flying"),
        ([], "new", "Say what the copy is to be without"),
        (["swimming"], "mine", "is not empty"),
    ):
        with pytest.raises(Impossible, match=reason):
            fork.fork(names, tmp_path / folder)

    assert [str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*")] == ["mine", "mine/kept"]


@pytest.mark.parametrize("feature", FEATURES, ids=lambda each: each.name)
def test_a_record_names_files_sections_and_objects_that_are_there(feature: Feature) -> None:
    for own in feature.owns.split():
        path, _, section = own.partition("#")
        assert [*fork.ROOT.glob(path)], own
        if section:
            titles = re.findall(r"^#+ (.+)", (fork.ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
            assert section in map(fork.anchor, titles), own
    for name in re.findall(r"'([\w.]+:\w*)'", repr(feature)):
        assert features.imported(name), name
    assert {*feature.needs} <= {each.name for each in FEATURES}


def test_a_part_that_modules_of_a_place_may_not_have_is_refused_by_its_name() -> None:
    with pytest.raises(LookupError, match="'rows' have no part 'FUNCTION', but FUNCTIONS, MORE"):
        features.parts("rows", "FUNCTION")


def test_each_module_in_a_place_has_one_of_its_parts_at_least() -> None:
    parts = {each.name: each.metadata["parts"] for each in dataclasses.fields(Feature) if each.metadata}

    without = [
        module
        for place, names in parts.items()
        for module in features.of(place)
        if not any(hasattr(module, name) for name in names)
    ]

    assert without == []


def test_the_document_lists_the_features_as_their_records_describe_them() -> None:
    text = (fork.ROOT / "docs" / "forking.md").read_text(encoding="utf-8")

    listed = re.findall(r"^\| `(\w+)` \| (.+?) \|", text, re.MULTILINE)

    assert listed == [(each.name, each.does) for each in FEATURES]


ALONE = (*(f"tests/test_{name}.py" for name in ("architecture", "docs", "texts", "fork")), "tests/openapi")
"""What is asked of each copy, besides its types: imports, documents, titles of templates, the OpenAPI document."""

TOGETHER = (*ALONE, "tests/data", "tests/infra", "tests/html", "tests/functions")


@pytest.mark.thorough
@pytest.mark.parametrize("names", [*([each.name] for each in FEATURES), [each.name for each in FEATURES]], ids=" ".join)
def test_a_copy_holds_together(names: list[str], tmp_path: Path) -> None:
    to = tmp_path / "mine"
    fork.fork(names, to)
    for tool in TOOLS:
        if (fork.ROOT / tool).exists():
            (to / tool).symlink_to(fork.ROOT / tool)
    if (known := fork.ROOT / ".mypy_cache").exists():  # what has not changed needs no second look
        shutil.copytree(known, to / known.name)
    asked = [each for each in (TOGETHER if len(names) > 1 else ALONE) if (to / each).exists()]
    # As its owner does: tests that compare commits need one.
    for words in (
        ["add", "--all"],
        ["-c", "user.name=Owner", "-c", "user.email=owner@fork.example", "commit", "-qm", "Begin"],
    ):
        subprocess.run(["git", *words], cwd=to, check=True)

    for command in (
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["tools.links", "--check"],
        ["mypy"],
        ["pytest", "-q", "-m", "not thorough", *asked],
    ):
        done = subprocess.run([sys.executable, "-m", *command], cwd=to, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}:\n{done.stdout[-8000:]}{done.stderr[-2000:]}"
