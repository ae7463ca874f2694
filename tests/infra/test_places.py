"""Where a stage may be deployed, and what its synthesis says before anything is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Annotations, Match

from infra import places
from infra.settings import STAGES
from infra.stacks import DealsStack
from infra.stage import Option
from local.settings import ROOT
from shared.services import regions
from tests.infra.conftest import UNCOPIED, Assembly

PROD = STAGES["prod"]
KEY = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
OURS = replace(PROD, account="111122223333", region="eu-central-1", tags=(("team", "deals"),), key_arn=KEY)


def test_a_stage_is_given_what_cdk_json_says_of_it() -> None:
    given = {"prod": {"account": "111122223333", "region": "eu-central-1", "tags": {"team": "deals"}, "key_arn": KEY}}

    assert places.placed(PROD, given) == OURS
    assert places.placed(STAGES["dev"], given) == STAGES["dev"]
    assert places.placed(PROD, None) == PROD


def test_a_stack_belongs_to_the_account_and_region_of_its_stage_and_has_its_tags() -> None:
    stack = DealsStack(cdk.App(context=UNCOPIED, builtin_cloud_formation_validation=False), stage=OURS)

    assert (stack.account, stack.region) == ("111122223333", "eu-central-1")
    assert stack.tags.tag_values() == {"team": "deals"}


class OfMail(Option):
    """A feature's setting, which needs a service that isn't everywhere."""

    services = ("ses",)


@pytest.mark.parametrize(
    ("stage", "environment", "said"),
    [
        (OURS, {"CDK_DEFAULT_ACCOUNT": "444455556666"}, "of account 444455556666, and stage prod belongs to 1111"),
        (replace(OURS, region="eu-nowhere-1", key_arn=None), {}, "no region eu-nowhere-1"),
        (PROD, {"CDK_DEFAULT_REGION": "eu-nowhere-1"}, "no region eu-nowhere-1"),
        (
            replace(OURS, region="ap-east-2", key_arn=None, options=(OfMail(),)),
            {},
            "needs ses, which ap-east-2",
        ),
        (replace(OURS, region="ap-east-2", key_arn=None, snap_start=True), {}, "has snap_start, and ap-east-2"),
    ],
)
def test_a_place_where_a_stage_cannot_be_is_refused(stage: object, environment: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        places.refuse(stage, regions, environment)  # type: ignore[arg-type]


def test_the_own_account_and_a_region_with_everything_are_taken() -> None:
    places.refuse(OURS, regions, {"CDK_DEFAULT_ACCOUNT": "111122223333", "CDK_DEFAULT_REGION": "us-west-2"})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: replace(PROD, account="1111"), "twelve digits"),
        (lambda: replace(OURS, key_arn=KEY.replace(":key/", ":alias/")), "ARN of a key in KMS"),
        (
            lambda: replace(OURS, key_arn=KEY.replace("eu-central-1", "eu-west-1")),
            "stage's region, eu-central-1",
        ),
        (
            lambda: replace(OURS, key_arn=KEY.replace("111122223333", "444455556666")),
            "stage's account, 111122223333",
        ),
        (lambda: places.placed(PROD, {"prod": {"acount": "111122223333"}}), "cdk.json has acount for stage prod"),
        (
            lambda: places.placed(PROD, {"prod": {"account": 111122223333}}),
            'as a text, "111122223333", with its quotes',
        ),
        (
            lambda: places.placed(PROD, {"prod": {"tags": {"cost-center": 42}}}),
            'cost-center for stage prod as a text, "42"',
        ),
        (lambda: places.placed(PROD, {"prod": {"tags": ["deals"]}}), "tags for stage prod as names with texts"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()


def test_a_stage_with_data_says_what_it_lacks(assemblies: Callable[[str], Assembly]) -> None:
    stack = assemblies("prod").app.node.find_child(PROD.stack_name)

    assert isinstance(stack, cdk.Stack)
    for what in ("account", "region", "domain"):
        assert Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(f"has no {what}"))
    complete = replace(OURS, site_origin="https://deals.example")
    assert places.lacks(complete) == places.lacks(STAGES["dev"]) == []


def test_a_stack_of_too_many_resources_is_refused_in_one_sentence() -> None:
    app = cdk.App()
    stack = cdk.Stack(app, "Much")
    for number in range(places.MOST_RESOURCES + 1):
        sqs.CfnQueue(stack, f"Queue{number}")

    with pytest.raises(ValueError, match="Much would have 501 resources"):
        places.count(app)


@pytest.mark.parametrize(
    ("context", "said"),
    [
        pytest.param({"stage": "prdo"}, "There is no stage 'prdo'", marks=pytest.mark.thorough),
        ({"stage": "dev", "stages": {"dev": {"account": "12"}}}, "account must have twelve digits"),
        pytest.param({"stages": {"prdo": {}}}, "cdk.json has a stage 'prdo'", marks=pytest.mark.thorough),
    ],
)
def test_the_app_ends_with_one_sentence(context: dict[str, object], said: str) -> None:
    source = f"import aws_cdk, runpy; App = aws_cdk.App; aws_cdk.App = lambda: App(context={context}); "
    done = subprocess.run(
        [sys.executable, "-c", source + "runpy.run_path('app.py')"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20,22,24", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )

    assert done.returncode == 1
    assert re.fullmatch(rf".*{re.escape(said)}.*\n", done.stderr), done.stderr
