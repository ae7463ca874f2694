"""The hosts to which pictures are sent."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from features.pictures.data.bucket import connect
from shared.dynamodb.client import ENDPOINTS_OF_S3
from tests.dynamodb.test_connections import KEYS, _on_aws, each_region  # noqa: F401  # a fixture
from tests.support.wire import answering


@each_region
def test_a_picture_is_sent_to_the_host_of_its_bucket_in_its_region(region: str) -> None:
    bucket = connect("pictures", region_name=region, **KEYS)
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

    form = connect("pictures", region_name="eu-south-2", **KEYS).form("uploads/x", 1, 60, {})

    assert form.url == "http://localhost:4566/pictures"
