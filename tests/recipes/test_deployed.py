"""What grew by all recipes at once: its types, its tests, and its site, on a cloud that had deals before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from infra.settings import STAGES
from local import cloud
from local.ports import free_port
from local.settings import STAGE, Home, client_arguments, endpoint
from tests.recipes.conftest import RECIPES
from tests.support import recipes
from tests.support.commands import surroundings
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.thorough

DEAL = {"title": "Trail runner", "link": "https://shop.example/trail", "price": "31.90", "category": "shoes"}


@dataclass(frozen=True, slots=True)
class Cloud:
    """A local cloud of the copy's own, as ``make run`` starts it."""

    tree: Path
    home: Home
    port: int

    def type(self, command: str) -> str:
        """Type a command in the copy."""
        return recipes.run(self.tree, command, **surroundings(self.home, BTD_PORT=str(self.port)))

    def run(self) -> None:
        """Start the cloud, or deploy what changed: ``make run`` without a look at what is installed."""
        self.type("make -o install run")

    @property
    def description(self) -> dict[str, str]:
        """What it tells of itself."""
        return dict(json.loads(self.home.cloud.read_text(encoding="utf-8")))

    def visitor(self, home: Path | None = None) -> httpx.Client:
        """A client of the REST API, signed in as whom a file of the cloud names."""
        http = httpx.Client(base_url=self.description["plainApiUrl"], timeout=PATIENCE, trust_env=False)
        if home:
            who = json.loads(home.read_text(encoding="utf-8"))
            answer = http.post("/sessions", json={name: who[name] for name in ("username", "password")})
            http.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        return http

    def page(self, path: str) -> str:
        """A page of the site."""
        domain = STAGES[STAGE].domain
        assert domain is not None
        answer = httpx.get(
            f"{endpoint(self.port)}{path}",
            headers={"Host": f"{domain.name}:{self.port}"},
            timeout=PATIENCE,
            trust_env=False,
        )
        assert answer.status_code == 200, answer.text
        return answer.text

    def client(self, service: str) -> Any:
        """A client of one of its services."""
        return boto3.client(service, **client_arguments(self.home, self.port))


@dataclass(frozen=True, slots=True)
class Grown(Cloud):
    """A cloud to which the copy was deployed before and after the recipes, with a deal from before."""

    deal_id: str


@pytest.fixture(scope="module")
def site(tree: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Grown]:
    bare = Cloud(tree, Home(tmp_path_factory.mktemp("grown") / "home"), free_port())
    try:
        bare.run()
        editor = bare.visitor(bare.home.editor)
        assert editor.post("/brands", json={"name": "Apple"}).status_code == 201
        posted = editor.post("/deals", json={**DEAL, "brand": "Apple"})
        request.getfixturevalue("grown")
        bare.run()
        yield Grown(tree, bare.home, bare.port, posted.json()["dealId"])
    finally:
        cloud.kill(bare.home)


def test_the_types_hold(grown: Path) -> None:
    recipes.run(grown, ".venv/bin/mypy -p functions -p shared -p infra -p cli")


@pytest.mark.parametrize("name", RECIPES)
def test_the_tests_that_a_recipe_names_pass(grown: Path, name: str) -> None:
    for command in recipes.commands(RECIPES[name]):
        if "pytest" in command:
            recipes.run(grown, command)


def test_the_new_page_is_there(site: Grown) -> None:
    assert ">Shoes</a> (0)" in site.page("/categories")
    assert 'href="/categories"' in site.page("/")


def test_the_new_route_answers_members(site: Grown) -> None:
    ana = site.visitor(site.home.member)
    assert ana.put("/categories/shoes/like").status_code == 200

    answer = ana.get("/me/likes")

    assert answer.json() == {"items": [{"kind": "category", "category": "shoes"}], "next": None}
    assert site.visitor().get("/me/likes").status_code == 401


def test_the_new_function_is_invoked(site: Grown) -> None:
    (command,) = recipes.commands(RECIPES["A new background function"], deployed=True)

    typed = site.type(command.replace("make ", "make -o install "))

    functions = site.client("lambda")
    (name,) = (
        each["FunctionName"]
        for each in functions.list_functions(MaxItems=50)["Functions"]
        if "Tally" in each["FunctionName"]
    )
    answer = functions.invoke(FunctionName=name, Payload=b"{}")["Payload"].read()
    assert json.loads(answer) == {"listed": 1}
    assert '"listed": 1' in typed or '"listed":1' in typed
