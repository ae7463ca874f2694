"""Pictures in the stack: the bucket, and what functions may do with its files and with a deal's picture."""

from __future__ import annotations

import re

import pytest

from features.pictures.rights import PILLOW
from infra.functions import FUNCTIONS
from tests.infra.conftest import Synthesized
from tests.infra.test_rights import who_may
from tests.support.rights import ANY_READ, DEAL, USER, Ask

PICTURE = ("PK", "SK", "Upload", "Picture", "Version", "UpdatedAt", "EditedBy")


def test_the_resizer_changes_a_deals_picture_and_nothing_else_of_it(prod: Synthesized) -> None:
    def may_update(attributes: tuple[str, ...], returning: str = "NONE") -> bool:
        return prod.policy("resizer").allows(Ask("UpdateItem", (DEAL,), "", attributes, returning))

    assert may_update(PICTURE)
    assert not [name for name in ("Price", "Link", "Status", "GSI1PK") if may_update((*PICTURE, name))]
    assert not may_update(PICTURE, "ALL_OLD")


def test_the_resizer_asks_of_an_account_whether_it_is_still_an_editors_and_sees_nothing_of_it(
    prod: Synthesized,
) -> None:
    policy = prod.policy("resizer")

    assert policy.allows(Ask("ConditionCheckItem", (USER,), "", ("AccountId", "Role")))
    assert not policy.allows(Ask("ConditionCheckItem", (USER,), "", ("AccountId", "Email")))
    assert "resizer" not in who_may(prod, ANY_READ, USER)


def test_pillow_is_only_where_pictures_are_made() -> None:
    """Which functions need pydantic and argon2, ``tests/functions/test_imports.py`` says."""
    assert [row.name for row in FUNCTIONS if row.artifact == PILLOW] == ["resizer"]


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
def test_each_function_does_with_a_file_what_it_must_and_none_deletes_a_picture(prod: Synthesized) -> None:
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
