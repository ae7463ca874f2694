"""``btd teardown``: delete a stage with everything in it, also what its stack retains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from cli.commands import NoTable
from cli.output import note, show_rows
from shared.errors import Unavailable

KINDS = {"AWS::DynamoDB::Table": "table", "AWS::S3::Bucket": "bucket", "AWS::Logs::LogGroup": "log"}
"""What may outlive a stack, because it is retained."""


class Left(NamedTuple):
    """A resource that may outlive its stack."""

    kind: str
    name: str


class Stage:
    """A deployed stack and its resources, by clients of one region."""

    def __init__(self, stack: str, **arguments: Any) -> None:
        services: tuple[Any, ...] = ("cloudformation", "dynamodb", "logs", "s3")
        self._clients: dict[str, Any] = {name: boto3.client(name, **arguments) for name in services}
        # By its id, a stack is known also after it was deleted.
        self.stack = self._clients["cloudformation"].describe_stacks(StackName=stack)["Stacks"][0]["StackId"]

    def retained(self) -> list[Left]:
        """What may outlive the stack."""
        return [*self._within(self.stack)]

    def _within(self, stack: str) -> Iterator[Left]:
        pages = self._clients["cloudformation"].get_paginator("list_stack_resources").paginate(StackName=stack)
        for each in (each for page in pages for each in page["StackResourceSummaries"]):
            name = each.get("PhysicalResourceId")
            if name and each["ResourceType"] == "AWS::CloudFormation::Stack":
                yield from self._within(name)
            elif name and each["ResourceType"] in KINDS:
                yield Left(KINDS[each["ResourceType"]], name)

    def delete(self, retained: list[Left]) -> None:
        """Switch protections off, delete the stack and wait for it."""
        stacks = self._clients["cloudformation"]
        stacks.update_termination_protection(StackName=self.stack, EnableTerminationProtection=False)
        for each in retained:
            if each.kind == "table":
                unprotected = {"TableName": each.name, "DeletionProtectionEnabled": False}
                _if_there(lambda asked=unprotected: self._clients["dynamodb"].update_table(**asked))
        stacks.delete_stack(StackName=self.stack)
        stacks.get_waiter("stack_delete_complete").wait(StackName=self.stack)

    def remove(self, left: Left) -> bool:
        """Delete what the stack has retained. False if it went with the stack."""
        match left.kind:
            case "table":
                return _if_there(lambda: self._clients["dynamodb"].delete_table(TableName=left.name))
            case "log":
                return _if_there(lambda: self._clients["logs"].delete_log_group(logGroupName=left.name))
        return _if_there(lambda: self._empty(left.name))

    def _empty(self, bucket: str) -> None:
        s3 = self._clients["s3"]
        for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
            found = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
            if found:
                objects = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]
                s3.delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True})
        s3.delete_bucket(Bucket=bucket)


_GONE = {"ResourceNotFoundException", "NoSuchBucket", "404"}


def _if_there(request: Any) -> bool:
    """Send a request; returns False if its resource doesn't exist."""
    try:
        request()
    except ClientError as error:
        if error.response["Error"]["Code"] not in _GONE:
            raise
        return False
    return True


def teardown(
    confirm: Annotated[
        str | None, typer.Option(metavar="STACK", help="The stack's name, instead of a question.")
    ] = None,
) -> None:
    """Delete the stage of BTD_STACK with all its data: table, buckets, logs. DynamoDB keeps a backup for 35 days."""
    stack = os.environ.get("BTD_STACK")
    if not stack:
        raise NoTable("BTD_STACK names no stack.")
    again = stack
    try:
        stage = Stage(stack, region_name=os.environ.get("AWS_REGION"))
        again, retained = stage.stack, stage.retained()
        show_rows(["Kind", "Deleted with the stack"], [[*each] for each in retained])
        named = confirm if confirm is not None else typer.prompt(f"All of this is lost. Type {stack} to delete it")
        if named != stack:
            raise typer.BadParameter(f"That isn't {stack}: nothing was deleted.")
        stage.delete(retained)
        for each in retained:
            note(f"{'Deleted' if stage.remove(each) else 'Gone with the stack:'} the {each.kind} {each.name}.")
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"{stack} is not deleted whole: {error}. Go on with BTD_STACK={again}") from error
