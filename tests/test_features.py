"""Folders of features: how they are found, and the sentences about those that can't work."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest

import cli.main  # noqa: F401  # it asks for all features' commands, which none of these may do first
import features as package
from cli import main
from infra import bundling, functions
from local.settings import ROOT
from shared import features, hooks
from shared.data.catalog import attributes
from tools import folders

Write = Callable[..., None]

INIT = '"""Pools."""\n\nDOES = "pools"\nNEEDS = ()\n'


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes a file of a feature's folder beside the project's."""
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / "features")])
    monkeypatch.setattr(features, "FOLDER", tmp_path / "features")
    known = {*sys.modules}

    def written(path: str, text: str) -> None:
        file = tmp_path / "features" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    yield written
    for name in {*sys.modules} - known:
        if name.startswith("features."):
            del sys.modules[name]


def test_a_module_has_the_role_that_its_name_or_joins_says(write: Write) -> None:
    write("swimming/__init__.py", f'{INIT}JOINS = {{"editing": "pages"}}\n')
    write("swimming/items.py", "ENTITIES = {}\n")
    write("swimming/pages.py", "THEN = 'pool'\n\ndef before_posting(typed):\n    raise ValueError(typed)\n")
    write("swimming/templates/in-pages.html", "")

    found = features.found()["swimming"]
    pages = hooks.Editing(importlib.import_module("features.swimming.pages"))

    assert found == {
        "items": "features.swimming.items",
        "editing": "features.swimming.pages",
        "templates/in-pages.html": "swimming/templates/in-pages.html",
    }
    assert pages.THEN == "pool"
    assert pages.routes is None
    with pytest.raises(ValueError, match="typed"):
        pages.before_posting({"typed": "yes"})


def test_a_module_is_refused_whose_role_is_asked_for_before_its_import_has_ended(write: Write) -> None:
    """As by a function of the core that the module imports, which would miss what the module defines later."""
    write("swimming/__init__.py", f'{INIT}JOINS = {{"editing": "pages"}}\n')
    write(
        "swimming/pages.py", "import sys\nfrom shared import hooks\nhooks.Editing(sys.modules[__name__])\nroutes = []\n"
    )

    with pytest.raises(hooks.Broken, match=r"^features/swimming/pages\.py is still being imported: "):
        importlib.import_module("features.swimming.pages")


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"": INIT + 'JOINS = {"editing": "pages"}'},
            "features/swimming/pages.py is missing, by which it joins editing.",
        ),
        ({"": INIT + 'JOINS = {"editng": "pages"}'}, "features/swimming/__init__.py joins editng, but can join "),
        (
            {"": INIT.replace("()", '("water",)')},
            "features/swimming/__init__.py needs features/water",
        ),
        ({"": '"""Pools."""'}, "features/swimming/__init__.py lacks DOES."),
        ({"": INIT + "JOIN = {}"}, "features/swimming/__init__.py has no use for JOIN = {}."),
        ({"": INIT.replace("()", '"water"')}, "features/swimming/__init__.py has no use for NEEDS = 'water'."),
        ({"pages": ""}, "features/swimming/__init__.py is missing, which says what the feature does and needs."),
        ({"": "DOES = ("}, "features/swimming/__init__.py can't be imported: '(' was never closed ("),
        ({"": INIT, "removal": "REMOVER = {}"}, "features/swimming/removal.py lacks REMOVERS, which its role needs."),
    ],
    ids=[
        "no module",
        "no such function",
        "no such feature",
        "no description",
        "unknown constant",
        "no tuple",
        "no package",
        "no Python",
        "no required name",
    ],
)
def test_a_folder_that_cannot_be_read_ends_the_program_with_a_sentence(
    files: dict[str, str], sentence: str, write: Write
) -> None:
    for name, text in files.items():
        write(f"swimming/{name or '__init__'}.py", text)

    with pytest.raises(hooks.Broken, match=re.escape(sentence)):
        hooks.Removal(importlib.import_module(features.found()["swimming"]["removal"]))


def test_an_attribute_of_deals_has_one_owner(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("swimming/__init__.py", INIT)
    write("swimming/fields.py", 'from shared.values.stored import Attribute\nSTORED = (Attribute("Price", set),)\n')
    monkeypatch.setattr(features, "INSTALLED", features.found())

    with pytest.raises(hooks.Broken, match=r"^features/swimming/fields\.py has Price, which the core has, too\.$"):
        attributes.declared()


ADDED = {
    "__init__": INIT + 'JOINS = {"mine": "pages"}\n',
    "items": """
from shared.data.entity import Entity, at, named
from shared.data.keys import Item

lane = Item[str](PK="DEAL#{deal_id}", SK="DEAL#{deal_id}")
ENTITIES = {"Pools": (Entity("Deal", at(lane(named("DealId"))), remover=True),)}
COLLECTIONS = {"Lanes": "LANES"}
ENTITY = 3
USED = 4
_OWN = USED
""",
    "rights": """
from infra.rows import Function

FUNCTIONS = (Function(name="catalog", access=()),)
MORE = {"catalogue": ()}
ROUTES = (("members", "signed in", "GET /me/watches"), ("lifeguard", "signed in", "GET /me/lanes/{lane}"))
""",
    "pages": """
from shared.html.pages import Routes

routes = Routes()

@routes.get("/my/inbox")
def inbox(request):
    return request

def states_off(table):
    return table
""",
    "commands": """
from cli.commands import group

GROUPS = (group("deals", "Pools."),)

def show(work):
    return {}

SUBCOMMANDS = {"brands": (show,), "brand": (show,)}
REPLACES = {"seeds": show}
""",
    "api": "from features.swimming import pages\n",
    "iterms": "",
    "data/__init__": "from features.swimming import api\n",
    "tests/test_iterms": "from features.swimming import iterms\n",
    "deal_page": """
def ask(table, deal_id):
    return None

def shown(asked, deal, now):
    return {"lanes": asked}
""",
    "metrics": """
from shared.runtime.metrics import Metric

METRICS = (Metric("CacheHits", "Count"),)
""",
    "assets/brands.css": "",
}
"""A feature whose names clash with those of the core and of another, are misspelled, or name what isn't there."""

SAUNA = """
from shared.data.entity import Entity, at, named
from shared.data.keys import Item

bench = Item[str](PK="DEAL#{deal_id}", SK="BENCH")
ENTITIES = {"Sauna": (Entity("Bench", at(bench(named("DealId")))),)}
COLLECTIONS = {"Lanes": "LANES"}
"""

CLASHES = [
    "features/swimming/items.py defines ENTITY, which nothing uses and Items doesn't have: it has ENTITIES, ",
    "features/swimming/pages.py defines states_off, which nothing uses and Mine doesn't have: it has routes, ",
    "features/swimming/api.py has no effect: no role has that name, JOINS doesn't have it, and nothing imports it.",
    "features/swimming/iterms.py has no effect: no role has that name, JOINS doesn't have it, and nothing imports it.",
    "features/swimming/catalog.py is missing, which features/swimming/rights.py says is a function.",
    "features/swimming/items.py has Lanes, which features/sauna/items.py has, too (COLLECTIONS).",
    "features/swimming/deal_page.py has lanes, which features/sauna/deal_page.py has, too (shown).",
    "features/swimming/README.md is missing, which describes the feature.",
    "features/swimming/rights.py names the function catalogue, which isn't there.",
    "features/swimming/rights.py names the function lifeguard, which isn't there.",
    "features/swimming/commands.py names the group of commands brand, which isn't there.",
    "features/swimming/commands.py names the command seeds, which isn't there.",
    "features/swimming/items.py names the remover of Deal, which isn't there.",
    "features/swimming/items.py has the item type Deal, which the core has, too.",
    "features/swimming/items.py has the key DEAL#* DEAL#*, which the core has, too.",
    "features/swimming/items.py has the partition DEAL#*, which features/sauna/items.py has, too.",
    "features/swimming/rights.py has the function catalog, which infra/rows/core.py has, too.",
    "features/swimming/rights.py has the route GET /me/watches, which infra/rows/core.py has, too.",
    "features/swimming/commands.py has the command deals, which the core has, too.",
    "features/swimming/commands.py has the command brands show, which the core has, too.",
    "features/swimming/metrics.py has the metric CacheHits, which the core has, too.",
    "features/swimming/pages.py has the page GET /my/inbox, which functions/pages/mine/inbox.py has, too.",
    "features/swimming has the asset brands.css, which the core has, too.",
]

BROKEN = {
    "__init__": INIT,
    "fields": 'from shared.values.stored import Attribute\nSTORED = (Attribute("Lane", int), "Depth")\n',
    "items": "ENTITIES = {\n",
    "account_fields": 'ACCOUNT = "Lane"\n',
    "navigation": 'TABS = {"lists": ("/lanes", "Lanes")}\n',
    "metrics": 'METRICS = ("Lanes",)\n',
    "templates/lanes.html": "{% if lane %}",
}
"""A feature whose files can't be read, or hold values of other types than their roles'."""

SENTENCES = [
    "features/swimming/templates/lanes.html can't be parsed: syntax error: ",
    "features/swimming/fields.py has STORED = (Attribute(name='Lane', ",
    "features/swimming/account_fields.py has ACCOUNT = 'Lane', which is no type | None.",
    "features/swimming/navigation.py has TABS = {'lists': ('/lanes', 'Lanes')}, which is no Added[str, ",
    "features/swimming/metrics.py has METRICS = ('Lanes',), which is no tuple[Metric, ...].",
    "features/swimming/items.py:1 can't be parsed: '{' was never closed.",
    "features/swimming/fields.py can't be used: TypeError: must be called with a dataclass",
    "features/swimming/fields.py can't be used: TypeError: Lane needs a type of its own, such as an Enum.",
]
"""Those about values come before errors, which may follow from them."""

ASK = """
import sys
import features
features.__path__[:] = [sys.argv[1]]
from tools import folders
print(*folders.faults(), sep="\\n")
folders.check()
"""


@pytest.mark.parametrize(("added", "faults"), [(ADDED, CLASHES), (BROKEN, SENTENCES)], ids=["clashes", "broken"])
def test_faults_are_told_by_file_before_anything_starts(
    added: dict[str, str], faults: list[str], tmp_path: Path, write: Write
) -> None:
    for name, text in added.items():
        write(f"swimming/{name}" if "." in name else f"swimming/{name}.py", text)
    write("sauna/__init__.py", INIT)
    write("sauna/README.md", "# Sauna")
    write("sauna/items.py", SAUNA)
    write("sauna/deal_page.py", ADDED["deal_page"])
    shutil.copytree(ROOT / "features", tmp_path / "features", dirs_exist_ok=True)
    for name in ("functions", "shared", "web"):
        (tmp_path / name).symlink_to(ROOT / name)

    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "features")], cwd=ROOT, capture_output=True, text=True, check=False
    )

    told = done.stdout.splitlines()
    assert [line[: len(fault)] for line, fault in zip(told, faults, strict=True)] == faults, done.stderr
    assert (done.stderr.strip(), done.returncode) == (told[0], 1)


WRITTEN = ("CHANGELOG.md", "README.md", "docs/ledger.md", "docs/nosql-workbench.json", "functions/api/openapi.json")
"""What is made from the features' files, what tells of the past, and the ledger, whose proofs are commands."""


NOTHING = "(?!)"
"""A pattern that no text meets."""


def words() -> re.Pattern[str]:
    """What names a feature: its folder, its commands, and the routes of the API and pages that only features have."""
    of_core, *of_features = (
        {route.path for route in functions.routes_of(each)} for each in features.roles(hooks.Rights)
    )
    pages = {file: {page.split()[1] for page in found} for file, found in folders.pages().items()}
    own = {path for file, paths in pages.items() if file.startswith("features/") for path in paths}
    others = {path for file, paths in pages.items() if file.startswith("functions/pages/") for path in paths}
    starts = {start(path) for path in own.union(*of_features)} - {start(path) for path in others | of_core}
    routes = "|".join(re.escape(each) for each in sorted(starts, reverse=True)) or NOTHING
    of_btd = [folders.commands(of) for of in main.OF_FEATURES]
    commands = "|".join(chain(*of_btd)) or NOTHING
    names = "|".join(features.INSTALLED) or NOTHING
    named = rf"\bfeatures[./](?:{names})\b|\bbtd (?:{commands})(?![\w-])"
    return re.compile(rf"{named}|(?<![\w<./-])(?:{routes})(?![\w-])")


def start(path: str) -> str:
    """A path up to its first part that is a value."""
    return re.split("[*{]", path)[0].rstrip("/")


def tracked() -> list[str]:
    """The project's files."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]


def test_the_core_names_no_feature() -> None:
    named, found = words(), list[str]()
    for path in tracked():
        if not path.startswith("features/") and path not in WRITTEN:
            try:
                text = (ROOT / path).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            for number, line in enumerate(text.splitlines(), 1):
                found += [f"{path}:{number} {each[0]}" for each in named.finditer(line)]

    assert found == []


def test_the_change_log_links_to_no_feature() -> None:
    """It is not edited where a folder is deleted."""
    assert "](features/" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_function_is_the_module_of_the_feature_that_declares_it() -> None:
    """Another feature may have a module of that name."""
    found = {
        row.name: (bundling.module_of(row.name), f"{module.__name__.rpartition('.')[0]}.{row.name}")
        for module in features.modules("rights")
        if module.__name__.startswith("features.")
        for row in hooks.Rights(module).FUNCTIONS
    }

    assert {name: each for name, each in found.items() if each[0] != each[1]} == {}


def test_templates_use_files_of_the_core_and_of_features_that_theirs_needs() -> None:
    """Else a page fails where the other folder is deleted."""
    core = {file.name for file in (ROOT / "web").rglob("*.*")}
    foreign = []
    for name in features.INSTALLED:
        folders_ = [name, *importlib.import_module(f"features.{name}").NEEDS]
        there = core.union(*({file.name for file in (ROOT / "features" / each).rglob("*.*")} for each in folders_))
        for file in (ROOT / "features" / name / "templates").rglob("*.html"):
            text = file.read_text(encoding="utf-8")
            used = {
                *re.findall(r"asset\('([^']+)'\)", text),
                *re.findall(r'(?:from|include|extends) "([^"]+[.]html)"', text),
            }
            foreign += [f"{file.name}: {each}" for each in used if each.rpartition("/")[2] not in there]

    assert foreign == []


def test_no_folder_of_this_project_has_a_fault() -> None:
    assert [*folders.faults()] == []
