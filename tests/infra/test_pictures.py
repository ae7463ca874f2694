"""The bucket of pictures, and who may do what with its files."""

from __future__ import annotations

import re

import pytest

from tests.infra.conftest import Synthesized


@pytest.mark.thorough
def test_a_picture_goes_when_no_deal_names_it_and_an_upload_goes_in_any_case(prod: Synthesized) -> None:
    bucket = prod.only("AWS::S3::Bucket", "PictureFiles")

    rules = bucket["LifecycleConfiguration"]["Rules"]
    gone = {(rule.get("Prefix"), str(rule.get("TagFilters"))): rule["ExpirationInDays"] for rule in rules[:2]}
    assert gone == {
        ("uploads/", "None"): 1,
        ("pictures/", "[{'Key': 'replaced', 'Value': 'yes'}]"): 1,
    }
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    (told,) = bucket["NotificationConfiguration"]["QueueConfigurations"]
    assert told["Filter"]["S3Key"]["Rules"] == [{"Name": "prefix", "Value": "uploads/"}]


@pytest.mark.thorough
def test_each_function_does_with_a_file_what_it_must_and_nobody_deletes_a_picture(prod: Synthesized) -> None:
    allowed = {
        module: {(action, re.sub(r".*?(uploads|pictures)/.*", r"\1", resource)) for action, resource in rights}
        for module in prod.modules()
        if (rights := [right for right in prod.allowed(module) if right[0].startswith("s3:")])
    }

    assert allowed == {
        "pictures": {("s3:GetObject", "pictures")},
        "editors": {("s3:PutObject", "uploads")},
        "desk": {("s3:PutObject", "uploads")},
        "publisher": {("s3:PutObjectTagging", "pictures")},
        "resizer": {
            ("s3:GetObject", "uploads"),
            ("s3:DeleteObject", "uploads"),
            ("s3:PutObject", "pictures"),
            ("s3:PutObjectTagging", "pictures"),
        },
    }
