"""The hosts that each client asks on AWS, in five regions: the oldest one, and some that were opened since 2019."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from shared import services
from shared.dynamodb.client import ENDPOINTS_OF_S3, connect
from tests.support.wire import answering

REGIONS = ("us-east-1", "eu-central-1", "af-south-1", "eu-south-2", "ap-southeast-4")
KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}

each_region = pytest.mark.parametrize("region", REGIONS)


@pytest.fixture(autouse=True)
def _on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENDPOINTS_OF_S3:
        monkeypatch.delenv(name, raising=False)


@each_region
def test_each_client_asks_its_own_region(region: str) -> None:
    connected = (
        connect("deals", region_name=region, **KEYS),
        services.connect_queue("https://queue", region_name=region, **KEYS),
        services.connect_sender("deals@deals.example", "deals@deals.example", "set", region_name=region, **KEYS),
    )

    hosts = [urlsplit(each.client.meta.endpoint_url).hostname for each in connected]

    assert hosts == [f"{name}.{region}.amazonaws.com" for name in ("dynamodb", "sqs", "email")]


@each_region
def test_a_picture_is_sent_to_the_host_of_its_bucket_in_its_region(region: str) -> None:
    bucket = services.connect_bucket("pictures", region_name=region, **KEYS)
    asked = answering(bucket.client, 204)

    bucket.remove("uploads/x")
    form = bucket.form("uploads/x", 1, 60, {})

    hosts = {urlsplit(url).hostname for url in (*asked, form.url)}
    assert hosts == {f"pictures.s3.{region}.amazonaws.com"}


@pytest.mark.parametrize("variable", ENDPOINTS_OF_S3)
def test_an_endpoint_that_the_environment_names_has_no_host_for_each_bucket(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://localhost:4566")

    form = services.connect_bucket("pictures", region_name="eu-south-2", **KEYS).form("uploads/x", 1, 60, {})

    assert form.url == "http://localhost:4566/pictures"
