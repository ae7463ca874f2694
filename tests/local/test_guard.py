"""Who may use a local cloud, and where it is."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError

from local import __main__ as local
from local import cloud, guarded_ministack, invoke
from local.__main__ import main
from local.cloud import free_port
from local.settings import ROOT, AccessKey, Home, access_key, client_arguments, endpoint, make_folder
from shared.dynamodb.schema import create_table_request
from tests.support.probe import home

__all__ = ["home"]

PAGE = {"Origin": "https://any-page.example", "Referer": "https://any-page.example/"}
"""Headers by which a browser tells of a request that a page makes."""

GUESSED = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=00"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A running cloud with nothing deployed to it."""
    running = Home(tmp_path_factory.mktemp("guard") / "home")
    cloud.start(running, free_port())
    yield running
    cloud.kill(running)


@pytest.fixture
def page(running: Home) -> Iterator[httpx.Client]:
    """Simple requests, which a web page can send to the cloud without a preflight."""
    with httpx.Client(
        base_url=endpoint(cloud.last_port(running) or 0), headers=PAGE, timeout=120, trust_env=False
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("POST", "/_ministack/reset", ""),
        ("POST", "/_ministack/config", '{"stepfunctions._sfn_mock_config": {}}'),
        ("GET", "/_ministack/sqs/messages", ""),
        ("GET", "/_ministack/ses/messages", ""),
        ("GET", "/2015-03-31/functions/", ""),
        ("POST", "/2015-03-31/functions", '{"FunctionName": "mine"}'),
        ("POST", "/?Action=CreateUser&UserName=mallory", ""),
        ("GET", "/", ""),
        ("PUT", "/a-bucket/an-object", "text"),
        ("OPTIONS", "/2015-03-31/functions", ""),
    ],
)
def test_a_page_cannot_use_the_cloud(page: httpx.Client, method: str, path: str, content: str) -> None:
    answer = page.request(method, path, content=content, headers={"Content-Type": "text/plain"})

    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.needs("mail")
def test_what_was_mailed_is_shown_at_the_sites_own_name_alone(page: httpx.Client) -> None:
    ours = {"Host": "bigtimedeals.localhost"}

    assert "No mail yet." in page.get("/mail", headers=ours).text
    assert page.get("/mail/1", headers=ours).status_code == 404
    assert page.get("/mail").status_code == 403
    assert page.get("/mail", headers={"Host": "any-page.example"}).status_code == 403


@pytest.mark.parametrize("host", ["api.execute-api.localhost", "bigtimedeals.localhost"])
def test_the_name_of_the_site_opens_nothing_else(page: httpx.Client, host: str) -> None:
    answer = page.post("/_ministack/reset", headers={"Host": host})

    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/_aws/execute-api/none/v1/deals", "/_ministack/ready", "/", "/2015-03-31/functions"])
@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:4566", ""])
def test_a_name_that_a_page_lets_lead_here_opens_nothing(path: str, host: str) -> None:
    assert not guarded_ministack.admits("GET", path, host, "guessed", "own")
    assert guarded_ministack.admits("GET", path, "127.0.0.1:4566", "own", "own")


def test_the_sites_addresses_stay_open(page: httpx.Client) -> None:
    answer = page.get("/_aws/execute-api/none/v1/deals")

    assert answer.status_code == 404


@pytest.mark.parametrize("query", ["", "?X-Amz-Credential=local/20260101/us-east-1/lambda/aws4_request"])
def test_a_guessed_key_opens_nothing(page: httpx.Client, query: str) -> None:
    headers = {} if query else {"Authorization": GUESSED}

    administration = page.post(f"/_ministack/reset{query}", headers=headers)
    service = page.get(f"/2015-03-31/functions/{query}", headers=headers)

    assert administration.status_code == service.status_code == 403


def test_the_key_of_the_checkout_opens_the_cloud_and_another_does_not(running: Home) -> None:
    arguments = client_arguments(running, cloud.last_port(running) or 0)
    stranger = boto3.client("dynamodb", **arguments | {"aws_access_key_id": "local", "aws_secret_access_key": "local"})

    assert boto3.client("dynamodb", **arguments).list_tables()["TableNames"] == []
    with pytest.raises(ClientError, match="security token"):
        stranger.list_tables()


def test_the_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")

    made = access_key(home)

    assert isinstance(made, AccessKey)
    assert made == access_key(home)
    assert made != access_key(Home(tmp_path / "another"))
    assert stat.S_IMODE(home.key.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700


def test_reset_leaves_a_folder_of_something_else_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    mode = tmp_path.stat().st_mode
    monkeypatch.setenv("BTD_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["local", "reset"])

    assert main() == 1

    assert "holds something else" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    assert tmp_path.stat().st_mode == mode


def test_a_new_folder_in_a_new_folder_is_made_and_known_again(tmp_path: Path) -> None:
    home = Home(tmp_path / "new" / "home")
    key = access_key(home)

    make_folder(home)

    assert access_key(home) == key


def test_a_cloud_that_is_interrupted_while_it_starts_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Home] = []

    def interrupted(_home: Home, _port: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cloud, "start", interrupted)
    monkeypatch.setattr(cloud, "kill", ended.append)

    with pytest.raises(KeyboardInterrupt), invoke.undeployed("seed", tmp_path):
        pass

    assert len(ended) == 1


LISTED = "import boto3, os; print(boto3.client('dynamodb').describe_table(TableName=os.environ['TABLE_NAME'])['Table'])"


def test_a_shell_that_has_it_reaches_the_table_through_the_guard(home: Home) -> None:
    port = free_port()
    cloud.start(home, port)
    table = boto3.client("dynamodb", **client_arguments(home, port))
    table.create_table(**create_table_request("big-time-deals"))  # type: ignore[arg-type]  # as botocore takes it
    home.cloud.write_text(json.dumps({"table": "big-time-deals"}), encoding="utf-8")

    done = subprocess.run(
        ["sh", "-c", f'eval "$(make -s env)"; {sys.executable} -c "{LISTED}"'],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "BTD_HOME": str(home.folder), "AWS_PROFILE": "none", "NO_PROXY": "127.0.0.1"},
        check=True,
        capture_output=True,
        text=True,
    )

    assert "'TableName': 'big-time-deals'" in done.stdout


def test_without_a_cloud_it_prints_nothing_that_a_shell_would_run(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BTD_HOME", str(home.folder))
    monkeypatch.setattr(sys, "argv", ["local", "env"])

    assert local.main() == 1

    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "The local cloud is not running: make run starts it.\n")
