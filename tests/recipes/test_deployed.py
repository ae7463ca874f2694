"""A checkout and its cloud, from ``make run`` on: what the documents have one type, then all recipes at once: the grown
tree's types, its tests, and its site, on a cloud that had deals before."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from infra.settings import STAGES
from local import cloud
from local.cloud import free_port
from local.settings import ROOT, STAGE, Home, client_arguments, endpoint
from shared.html import cookies
from tests.recipes.conftest import RECIPES
from tests.support import recipes
from tests.support.commands import surroundings
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.thorough

DEAL = {"title": "Trail runner", "link": "https://shop.example/trail", "price": "31.90", "category": "shoes"}

BAND = """.venv/bin/python -c '
from cli.work import open_table
from shared.data.catalog import price_bands
print(*(deal.deal_id for deal in price_bands.read(open_table(), "31.90", limit=100)))'"""
CLICKS = """.venv/bin/python -c '
from cli.work import open_table
from shared.data.catalog import clicks, deals
table = open_table()
deal_id = deals.find(table, "1").deal_id
print(clicks.of(table, [deal_id])[deal_id])'"""
COUNT = """.venv/bin/python -c '
from cli.work import open_table
from shared.data.catalog import clicks, deals
table = open_table()
clicks.count(table, deals.find(table, "1").deal_id)'"""


@dataclass(frozen=True, slots=True)
class Cloud:
    """A local cloud of the copy's own, as ``make run`` starts it, and a deal from before the recipes."""

    tree: Path
    home: Home
    port: int
    deal_id: str = ""

    def type(self, command: str) -> str:
        """Type a command in the copy."""
        return recipes.run(self.tree, command, **surroundings(self.home, BTD_PORT=str(self.port), EMPTY=""))

    def visitor(self, home: Path | None = None) -> httpx.Client:
        """A client of the REST API, signed in as whom a file of the cloud names."""
        deployed = json.loads(self.home.cloud.read_text(encoding="utf-8"))
        http = httpx.Client(base_url=deployed["plainApiUrl"], timeout=PATIENCE, trust_env=False)
        if home:
            who = json.loads(home.read_text(encoding="utf-8"))
            answer = http.post("/sessions", json={name: who[name] for name in ("username", "password")})
            http.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        return http

    def page(self, path: str, form: dict[str, str] | None = None, token: str = "") -> str:
        """A page of the site, or what it answers to a form of its own."""
        domain = STAGES[STAGE].domain
        assert domain is not None
        answer = httpx.request(
            "POST" if form else "GET",
            f"{endpoint(self.port)}{path}",
            data=form,
            headers={
                "Host": f"{domain.name}:{self.port}",
                "Cookie": f"btd={token}; {cookies.HINT}=1",
                "Sec-Fetch-Site": "same-origin",
            },
            timeout=PATIENCE,
            trust_env=False,
        )
        assert answer.status_code in (200, 303), answer.text
        return answer.text or answer.headers["Location"]

    def invoke(self, part: str) -> dict[str, Any]:
        """The answer of the function whose name has a part."""
        client = boto3.client("lambda", **client_arguments(self.home, self.port))
        names = [each["FunctionName"] for each in client.list_functions(MaxItems=50)["Functions"]]
        (name,) = (name for name in names if part in name)
        return dict(json.loads(client.invoke(FunctionName=name, Payload=b"{}")["Payload"].read()))


@pytest.fixture(scope="module", autouse=True)  # before the copy grows
def bare(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """The cloud that ``make run`` leaves in a new checkout."""
    bare = Cloud(tree, Home(tmp_path_factory.mktemp("grown") / "home"), free_port())
    try:
        bare.type("make run")
        yield bare
    finally:
        cloud.kill(bare.home)


@pytest.fixture(scope="module")
def site(bare: Cloud, request: pytest.FixtureRequest) -> Cloud:
    """The same cloud, to which the copy was deployed again after the recipes."""
    editor = bare.visitor(bare.home.editor)
    assert editor.post("/brands", json={"name": "Apple"}).status_code in (201, 409)  # which the import brings, too
    posted = editor.post("/deals", json={**DEAL, "brand": "Apple"})
    bare.type(COUNT)
    request.getfixturevalue("grown")
    bare.type("make run")
    return replace(bare, deal_id=posted.json()["dealId"])


ELSEWHERE = {
    "make run": "the cloud of this test",
    "make test": "these tests",
    "make install": "the copy is installed",
    "node_modules/.bin/cdk ": "an account at AWS",
    ".venv-sam/bin/sam ": "Docker",
}
"""How the commands begin that are not typed here, and what each is or needs."""

PRINTED = [
    line
    for page in ("README.md", "docs/afternoon.md")
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
    if not line.startswith(tuple(ELSEWHERE))
]


def test_each_command_that_readme_and_afternoon_print_runs_after_make_run(bare: Cloud) -> None:
    """In their order, in one shell, which stops at the first that fails; what both documents have made is made once."""
    lines = [line for at, line in enumerate(PRINTED) if line not in PRINTED[:at] or not line.startswith("make synth")]

    told = bare.type("\n".join(["set -e", *lines]))

    assert len(lines) > 25
    assert [int(status) for status in re.findall(r'"statusCode": (\d+)', told)] == [200, 401]
    assert '"hot": true' in bare.type(". .venv/bin/activate && btd deals show 1 --json")


def test_the_types_hold(site: Cloud) -> None:
    if (kept := ROOT / ".mypy_cache").exists():  # half a minute of work
        shutil.copytree(kept, site.tree / ".mypy_cache")

    recipes.run(site.tree, ".venv/bin/mypy -p functions -p shared -p infra -p cli")


@pytest.mark.parametrize("name", RECIPES)
def test_the_tests_that_a_recipe_names_pass(site: Cloud, name: str) -> None:
    for command in recipes.commands(RECIPES[name]):
        if "pytest" in command:
            recipes.run(site.tree, command)


def test_the_new_index_answers_with_deals_from_before_it(site: Cloud) -> None:
    before = site.type(BAND)
    (command,) = recipes.commands(RECIPES["A new index that existing items need attributes for"], deployed=True)

    site.type(command)

    assert site.deal_id not in before
    assert site.deal_id in site.type(BAND)


def test_the_new_attribute_is_sent_and_shown_everywhere(site: Cloud) -> None:
    editor = site.visitor(site.home.editor)
    token = editor.headers["Authorization"].removeprefix("Bearer ")
    form = {**DEAL, "brand": "apple", "currency": "USD", "rating": "4", "key": "recipe"}
    assert editor.get("/deals/1").json()["rating"] is None

    (command,) = recipes.commands(RECIPES["A new attribute"], deployed=True)
    site.type(command)
    posted = editor.post("/deals", json={**DEAL, "brand": "apple", "rating": 3}).json()
    draft = editor.post("/me/drafts", json={"rating": 2}).json()
    address = site.page("/desk/deals", form, token)

    assert editor.get("/deals/1").json()["rating"] == 5
    assert editor.get(f"/deals/{posted['dealId']}").json()["rating"] == 3
    assert editor.get(f"/deals/{address.partition('?')[0].rpartition('/')[2]}").json()["rating"] == 4
    assert editor.get(f"/me/drafts/{draft['draftId']}").json()["rating"] == 2
    assert editor.patch("/deals/1", json={"rating": 6}).status_code == 422
    assert "<dd>5 of 5</dd>" in site.page("/deals/1")
    assert "<dd>4 of 5</dd>" in site.page("/desk/deals/preview", form, token)
    rated = [{"field": "rating", "from": None, "to": "5"}]
    eventually(
        lambda: editor.get("/deals/1/log").json()["items"], lambda log: rated in [each["changes"] for each in log]
    )


def test_what_was_counted_before_the_split_is_not_lost(site: Cloud) -> None:
    """The first click was counted before the recipes; the copy reads the new form alone."""
    (command,) = recipes.commands(RECIPES["The third release drops the old form"], deployed=True)

    site.type(command)
    site.type(command)

    assert site.type(CLICKS).split()[-1] == "1"


def test_the_new_page_is_there(site: Cloud) -> None:
    likes = site.visitor().get("/categories/shoes").json()["likes"]
    assert f">Shoes</a> ({likes})" in site.page("/categories")
    assert 'href="/categories"' in site.page("/")


def test_the_new_route_answers_members(site: Cloud) -> None:
    ana, bags = site.visitor(site.home.member), {"kind": "category", "category": "bags"}
    before = ana.get("/me/likes").json()["items"]
    assert ana.put("/categories/bags/like").status_code == 200

    answer = ana.get("/me/likes").json()

    assert [each for each in answer["items"] if each not in before] == [bags]
    assert (len(answer["items"]), answer["next"]) == (len(before) + 1, None)
    assert site.visitor().get("/me/likes").status_code == 401


def test_the_new_function_is_invoked(site: Cloud) -> None:
    (command,) = recipes.commands(RECIPES["A new background function"], deployed=True)

    typed = site.type(command)

    assert site.invoke("Tally")["listed"] >= 1
    assert '"listed":' in typed
