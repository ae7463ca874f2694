"""A checkout and its cloud, from ``make run`` on: what the documents have one type, then all recipes at once: the grown
tree's types, its tests, and its site, on a cloud that had deals before."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from infra.settings import STAGES
from local import cloud
from local.cloud import free_port
from local.settings import ROOT, STAGE, Home, client_arguments, endpoint
from tests.recipes.conftest import COUNTS_WHAT_THERE_IS, RECIPES
from tests.support import recipes
from tests.support.cases import cases
from tests.support.commands import PATIENCE, eventually, surroundings

pytestmark = pytest.mark.thorough

DEAL = {"title": "Trail runner", "link": "https://shop.example/trail", "price": "31.90", "category": "shoes"}

BAND = """.venv/bin/python -c '
from cli.commands import open_table
from shared.data.catalog import price_bands
print(*(deal.deal_id for deal in price_bands.read(open_table(), "31.90", limit=100)))'"""


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
    request.getfixturevalue("grown")
    bare.type("make run")
    return replace(bare, deal_id=posted.json()["dealId"])


def test_each_command_that_readme_and_afternoon_print_runs_after_make_run(bare: Cloud) -> None:
    """In their order, in one shell, which stops at the first that fails."""
    lines = recipes.typed(*recipes.AFTER_MAKE_RUN)

    told = bare.type("\n".join(["set -e", *lines]))

    assert len(lines) > 20
    assert [int(status) for status in re.findall(r'"statusCode": (\d+)', told)] == [200, 401]
    assert '"hot": true' in bare.type(". .venv/bin/activate && btd deals show 1 --json")


_SERVE = """
import contextlib, io, json, sys, traceback
from awscli.clidriver import create_clidriver
driver = create_clidriver()
for line in sys.stdin:
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            words = json.loads(line)
            # A skeleton is made by each operation that a driver was asked for so far: it must be the only one.
            status = (create_clidriver() if "--generate-cli-skeleton" in words else driver).main(words)
        except SystemExit as exit:
            status = exit.code
        except BaseException:
            traceback.print_exc()
            status = 1
    print(json.dumps([status, told.getvalue()]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Aws:
    """A process of AWS's command line, which the CDK brings along as a layer of Lambda: it runs many commands."""

    process: subprocess.Popen[str]

    def __call__(self, *words: str) -> tuple[int, str]:
        """What a command ends with, and what it prints."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{json.dumps(words)}\n")
        stdin.flush()
        status, told = json.loads(stdout.readline())
        return status, told


@contextmanager
def aws_running(folder: Path, environment: Mapping[str, str]) -> Iterator[Aws]:
    """AWS's command line, unpacked into a folder, with the environment of its commands."""
    cdk = find_spec("aws_cdk")  # importing it would start Node.js
    assert cdk
    assert cdk.submodule_search_locations
    (packed,) = Path(cdk.submodule_search_locations[0]).glob("asset_awscli_v1/_jsii/*.tgz")
    with tarfile.open(packed) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        assert layer is not None
        zipfile.ZipFile(BytesIO(layer.read())).extractall(folder)
    kept = {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}
    with subprocess.Popen(
        [sys.executable, "-S", "-c", _SERVE], cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**kept, "PYTHONPATH": str(folder / "awscli"), "AWS_PAGER": "", "NO_PROXY": "*"},
    ) as process:  # fmt: skip
        try:
            yield Aws(process)
        finally:
            process.kill()


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell after ``eval "$(make env)"``, in which ``btd`` is found, and ``aws`` reaches the local cloud."""

    tree: Path
    environment: dict[str, str]
    aws: Aws

    def type(self, command: str) -> tuple[int, str, str]:
        """What a command ends with, what it prints, and what it says of errors."""
        if command.startswith("aws "):
            words = self._run("aws() { printf '%s\\0' \"$@\"; }; " + command).stdout.split("\0")
            return (*self.aws(*words[:-1], "--endpoint-url", self.environment["AWS_ENDPOINT_URL"]), "")
        done = self._run(command)
        return done.returncode, done.stdout, done.stderr

    def _run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command], cwd=self.tree, env=self.environment, check=False, capture_output=True, text=True,
            input="a long enough password\n" * 2,
        )  # fmt: skip

    def ask(self, command: str) -> Any:
        """What a command answers with, as JSON. It must succeed."""
        status, told, errors = self.type(command)
        assert status == 0, told + errors
        return json.loads(told)


@pytest.fixture(scope="module")
def shell(bare: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    told = bare.type('. .venv/bin/activate && eval "$(make env)" && env -0')
    environment = dict(line.split("=", 1) for line in told.split("\0") if line)
    with aws_running(tmp_path_factory.mktemp("aws"), environment) as aws:
        yield Shell(bare.tree, {**environment, "STACK": STAGES[STAGE].stack_name}, aws)


DEAD_LETTER = "4f6c2b1e-0f61-4c0e-9f3b-2f6f1f0f8c11"


@pytest.fixture(scope="module")
def names(shell: Shell) -> dict[str, Callable[[], str]]:
    """What each name of the documents of operations stands for on the local cloud; a dead letter is made for each
    command that names one."""
    stack = shell.environment["STACK"]
    (outputs,) = shell.ask(f"aws cloudformation describe-stacks --stack-name {stack} --query 'Stacks[].Outputs'")
    output = {each["OutputKey"]: each["OutputValue"] for each in outputs}
    functions = shell.ask("aws lambda list-functions --query 'Functions[].FunctionName'")
    (newest,) = shell.ask("btd deals latest --limit 1 --json")["result"]["items"]
    number = str(newest["dealNumber"])
    known = {
        "BigTimeDeals-prod": stack,
        **{
            name.upper(): next(each for each in functions if f"-{name}Function" in each)
            for name in ("Publisher", "Messenger", "Refresher", "Expiry", "Accounts")
        },
        "TABLE": output["TableName"],
        "APIID": output["ApiId"],
        "QUEUEURL": output["QueueUrl"],
        "DEADLETTERSURL": output["WorkDeadLettersUrl"],
        "DOMAIN": output["SiteUrl"].split("/")[2].partition(":")[0],
        "USERNAME": "member",
        "DEAL": number,
        "4711": number,
        "RULE": shell.ask(f"aws events list-rules --name-prefix {stack} --query 'Rules[].Name'")[0],
    }
    known["ARN"] = shell.ask(f"aws dynamodb describe-table --table-name {known['TABLE']} --query Table.TableArn")
    known["FUNCTION"] = known["EXPIRY"]
    of_messenger = f"aws lambda list-event-source-mappings --function-name {known['MESSENGER']}"
    known["UUID"] = shell.ask(f"{of_messenger} --query 'EventSourceMappings[].UUID'")[0]

    def dead_letter() -> str:
        queue = output["WorkDeadLettersUrl"]
        return str(shell.ask(f"aws sqs send-message --queue-url {queue} --message-body none")["MessageId"])

    return {**{name: partial(str, value) for name, value in known.items()}, DEAD_LETTER: dead_letter}


def test_each_command_that_the_documents_of_operations_print_runs(
    bare: Cloud, shell: Shell, names: dict[str, Callable[[], str]]
) -> None:
    """One by one, with what its names stand for, and those of other documents that have a pipe."""
    sample = (ROOT / "tests" / "sample" / "deals.jsonl").read_bytes()
    (bare.tree / "deals.jsonl").write_bytes(sample)
    (bare.tree / "deals.jsonl.gz").write_bytes(gzip.compress(sample))
    lines = recipes.typed(*recipes.OPERATIONS, *cases("OPERATED"))
    pipes = [line for line in recipes.typed(*recipes.OF_BTD) if not line.startswith("btd ")]
    named = re.compile(rf"(?<![\w#])({'|'.join(names)})(?!\w)")
    failed = {}

    for line in dict.fromkeys([*lines, *pipes]):
        if any(each in line for each in cases("AFTER_WORK")):
            eventually(lambda: bare.type("make status"), lambda told: "Functions still have" not in told)
        status, told, errors = shell.type(named.sub(lambda name: names[name[0]](), line))
        if status:
            failed[line] = told[-600:] + errors[-600:]

    assert len(lines) > 60
    assert failed == {}


def test_aws_command_line_takes_what_the_local_cloud_cannot_answer(shell: Shell) -> None:
    """It checks the words of each such command, and sends nothing."""
    lines = [
        line
        for name in (*recipes.OPERATIONS, *cases("OPERATED"))
        for line in recipes.shell_lines(name)
        if recipes.reason(line)
    ]
    of_aws = [line for line in lines if line.startswith("aws ")]

    refused = {line: told for line in of_aws if (told := shell.type(f"{line} --generate-cli-skeleton output"))[0]}

    assert of_aws
    assert refused == {}


def test_the_types_hold(site: Cloud) -> None:
    if (kept := ROOT / ".mypy_cache").exists():  # half a minute of work
        shutil.copytree(kept, site.tree / ".mypy_cache")

    recipes.run(site.tree, ".venv/bin/mypy -p functions -p shared -p infra -p cli")


_TESTS = re.compile(
    r"""\.venv/bin/pytest -q( (?:tests|features)/\S+| -m "not thorough"| -k (?P<chosen>\w+|"[^"]+"))+"""
)


def test_the_tests_that_the_recipes_name_pass(site: Cloud) -> None:
    """Each file in one run, with those of other recipes: most of a run's time is its start."""
    files_of: dict[str, list[str]] = {}
    for command in (each for recipe in RECIPES.values() for each in recipes.commands(recipe) if "pytest" in each):
        found = _TESTS.fullmatch(command)
        assert found, command
        files_of.setdefault(found["chosen"] or '""', []).extend(re.findall(r"(?:tests|features)/\S+", command))

    for chosen, files in files_of.items():
        named = [file for file in dict.fromkeys(files) if file not in COUNTS_WHAT_THERE_IS]
        recipes.run(site.tree, f'.venv/bin/pytest -q -m "not thorough" {" ".join(named)} -k {chosen}')


ASKED_FOR_MORE = {
    "A new attribute",
    "A new background function",
}
"""Recipes whose tests are below: they type the recipe's commands, and look at what changed."""


@pytest.mark.parametrize(
    "command",
    [
        command
        for name, recipe in RECIPES.items()
        for command in recipes.commands(recipe, deployed=True)
        if name not in ASKED_FOR_MORE
    ],
)
def test_a_command_of_a_recipe_runs_once_it_is_deployed(site: Cloud, command: str) -> None:
    assert site.type(command)


def test_the_new_index_answers_with_deals_from_before_it(site: Cloud) -> None:
    before = site.type(BAND)

    for command in cases("BACKFILLS"):
        site.type(command)

    assert site.deal_id not in before
    assert not cases("BACKFILLS") or site.deal_id in site.type(BAND)


def test_the_new_attribute_is_sent_and_shown_everywhere(site: Cloud) -> None:
    editor = site.visitor(site.home.editor)
    assert editor.get("/deals/1").json()["rating"] is None

    (command,) = recipes.commands(RECIPES["A new attribute"], deployed=True)
    site.type(command)
    posted = editor.post("/deals", json={**DEAL, "brand": "apple", "rating": 3}).json()

    assert editor.get("/deals/1").json()["rating"] == 5
    assert editor.get(f"/deals/{posted['dealId']}").json()["rating"] == 3
    assert editor.patch("/deals/1", json={"rating": 6}).status_code == 422
    assert "<dd>5 of 5</dd>" in site.page("/deals/1")
    rated = [{"field": "rating", "from": None, "to": "5"}]
    eventually(
        lambda: editor.get("/deals/1/log").json()["items"], lambda log: rated in [each["changes"] for each in log]
    )


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
