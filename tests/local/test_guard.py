"""The local cloud answers its checkout and the site's visitors, and no web page that the developer happens to visit."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError

from local import cloud, guarded_ministack
from local.cloud import free_port
from local.settings import AccessKey, Home, access_key, client_arguments, endpoint

PAGE = {"Origin": "https://any-page.example", "Referer": "https://any-page.example/"}
"""Headers by which a browser tells of a request that a page makes."""

GUESSED = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=00"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A running cloud with nothing deployed to it."""
    home = Home(tmp_path_factory.mktemp("guard") / "home")
    cloud.start(home, free_port())
    yield home
    cloud.kill(home)


@pytest.fixture
def page(home: Home) -> Iterator[httpx.Client]:
    """Simple requests, which a web page can send to the cloud without a preflight."""
    with httpx.Client(
        base_url=endpoint(cloud.last_port(home) or 0), headers=PAGE, timeout=120, trust_env=False
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


def test_the_key_of_the_checkout_opens_the_cloud_and_another_does_not(home: Home) -> None:
    arguments = client_arguments(home, cloud.last_port(home) or 0)
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
