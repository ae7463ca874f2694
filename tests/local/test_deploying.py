"""Deployments to the local cloud: from what they are made, and how an update goes on after one that failed.

Functions of one artifact share its files on the local cloud.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from ministack.core import lambda_runtime  # type: ignore[import-untyped]  # it has no types

from local import cloud, deploy, ministack_patches
from local.cloud import free_port
from local.deploy import _DEPLOYED_FROM
from local.settings import ROOT, Home, Trouble, client_arguments

ANSWERING = """
import json, urllib.request
def handler(event, context):
    status = "FAILED" if event["RequestType"] in %r else "SUCCESS"
    kept = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    answer = kept | {"Status": status, "Reason": "as the test wants it", "PhysicalResourceId": "step"}
    urllib.request.urlopen(urllib.request.Request(event["ResponseURL"], json.dumps(answer).encode(), method="PUT"))
"""


def test_the_document_names_what_the_digest_is_made_of() -> None:
    document = (ROOT / "docs" / "local-cloud.md").read_text(encoding="utf-8")

    sources = [name + ("/" if (ROOT / name).is_dir() else "") for name in _DEPLOYED_FROM]

    named = [name for name in sources if "lock" not in name and not name.startswith("requirements/")]
    assert [name for name in named if f"`{name}`" not in document] == []


def test_a_watched_stage_follows_each_folder_that_is_deployed() -> None:
    watched = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["watch"]["include"]

    assert {f"{name}/**" for name in _DEPLOYED_FROM if (ROOT / name).is_dir()} <= set(watched)


def a_stack(folder: Path, version: str, *, refuses: tuple[str, ...] = ()) -> Path:
    """A synthesized stack of a table, and of a step that fails in some kinds of deployment."""
    app = cdk.App(outdir=str(folder / version), builtin_cloud_formation_validation=False)
    stack = cdk.Stack(app, "Stack", synthesizer=cdk.LegacyStackSynthesizer(), analytics_reporting=False)
    key = dynamodb.Attribute(name="PK", type=dynamodb.AttributeType.STRING)
    dynamodb.Table(stack, "Table", table_name="kept", partition_key=key, removal_policy=cdk.RemovalPolicy.DESTROY)
    function = lambda_.Function(
        stack,
        "Function",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline(ANSWERING % (refuses,)),
    )
    cdk.CustomResource(stack, "Step", service_token=function.function_arn, properties={"Version": version})
    cdk.CfnOutput(stack, "Version", value=version)
    app.synth()
    return folder / version


@pytest.mark.thorough
def test_an_update_that_cannot_even_be_taken_back_hinders_no_later_one_and_loses_no_data(
    home: Home, tmp_path: Path
) -> None:
    there, _ = cloud.start(home, free_port())
    arguments = client_arguments(home, there.port)
    item = {"PK": {"S": "one"}}
    # Nothing but the answer decides: the step that refuses to be updated refuses to be brought back, too.
    deploy.deploy(home, there.port, "first", app=a_stack(tmp_path, "first", refuses=("Update",)))
    boto3.client("dynamodb", **arguments).put_item(TableName="kept", Item=item)

    with pytest.raises(Trouble, match="cdk deploy failed"):
        deploy.deploy(home, there.port, "second", app=a_stack(tmp_path, "second", refuses=("Update",)))
    (left,) = boto3.client("cloudformation", **arguments).describe_stacks()["Stacks"]
    told = deploy.deploy(home, there.port, "third", app=a_stack(tmp_path, "third"))

    assert left["StackStatus"] == "UPDATE_ROLLBACK_FAILED"
    assert told == {"Version": "third"}
    assert boto3.client("dynamodb", **arguments).scan(TableName="kept")["Items"] == [item]


def unpacked(folder: Path, name: str, text: str) -> Path:
    """A module's folder as MiniStack makes it, of a zip of its own."""
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        archive.writestr("handler.py", text)
    code = folder / name / "code"
    code.mkdir(parents=True)
    with lambda_runtime.zipfile.ZipFile(folder / f"{name}.zip") as archive:
        archive.extractall(code)
    return code


def test_the_same_code_is_unpacked_once_and_outlives_each_that_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(lambda_runtime, "zipfile", lambda_runtime.zipfile)
    ministack_patches.share_unpacked()

    one, two, changed = (unpacked(tmp_path, *each) for each in (("one", "1"), ("two", "1"), ("changed", "2")))
    shutil.rmtree(one.parent)

    assert (two / "handler.py").read_text() == "1"
    assert (changed / "handler.py").read_text() == "2"
    assert len(list(tmp_path.glob("unpacked-*"))) == 2
