"""Roles that a proof creates for its questions to IAM: short-lived, and removed even after a killed run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from botocore.config import Config
from botocore.exceptions import ClientError

from cli import proofs
from cli.proofs import Deployed, NotAsked
from shared.values import times

LASTS = timedelta(minutes=10)
"""A role's rights expire after this time even if nothing removes it. No proof takes longer."""

SECONDS = 30
"""How long IAM may take to know a new role."""

PATIENT = Config(retries={"mode": "standard", "total_max_attempts": 5})
"""For IAM, which throttles clients that create many roles."""

REFUSED = ("AccessDenied", "AccessDeniedException")


def allow(actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None) -> Any:
    """A statement that allows operations of DynamoDB."""
    named = {"Action": [f"dynamodb:{each}" for each in actions], "Resource": [*resources]}
    return {"Effect": "Allow", **named, **({"Condition": conditions} if conditions else {})}


def policy(*statements: Any) -> str:
    """A policy's document."""
    return json.dumps({"Version": "2012-10-17", "Statement": [*statements]}, separators=(",", ":"))


def path(site: Deployed) -> str:
    """The path of a stage's roles, by which they are found again."""
    return f"/btd-probe/{site.stage.stack_name}/"


@contextmanager
def roles(site: Deployed, documents: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """The ARNs of roles with these policies, by the caller's names. All are removed at the end."""
    iam, account = site.client("iam", config=PATIENT), site.client("sts").get_caller_identity()
    root = ":".join([*account["Arn"].split(":")[:2], "iam", "", account["Account"], "root"])
    trust = policy({"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": root}})
    until = (times.now() + LASTS).strftime("%Y-%m-%dT%H:%M:%SZ")
    late = {"DateGreaterThan": {"aws:CurrentTime": until}}
    ends = policy({"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": late})
    called = {name: f"btd-probe-{site.run}-{number}" for number, name in enumerate(documents)}
    arns: dict[str, str] = {}
    try:
        for name, each in documents.items():
            asked = {"RoleName": called[name], "Path": path(site), "AssumeRolePolicyDocument": trust}
            arns[name] = iam.create_role(**asked)["Role"]["Arn"]
            for part, document in enumerate((ends, *each)):
                iam.put_role_policy(RoleName=called[name], PolicyName=f"part-{part}", PolicyDocument=document)
        yield arns
    finally:
        for name in arns:
            _remove(iam, called[name])


def session(site: Deployed, arn: str, narrowed: str | None = None) -> Any:
    """A client of DynamoDB with a role's rights, or the part of them that a policy leaves. Raises NotAsked."""
    asked = {"RoleArn": arn, "RoleSessionName": "btd-probe", "DurationSeconds": 900}
    asked |= {"Policy": narrowed} if narrowed else {}
    sts = site.client("sts")
    given = proofs.wait(SECONDS, lambda: unless_refused(lambda: sts.assume_role(**asked)["Credentials"]))
    if not given:
        raise NotAsked("the role that the proof created can't be assumed")
    key = {"aws_access_key_id": given["AccessKeyId"], "aws_secret_access_key": given["SecretAccessKey"]}
    return site.client("dynamodb", **key, aws_session_token=given["SessionToken"])


def unless_refused(request: Callable[[], Any]) -> Any:
    """The answer to a request, or None if IAM refuses it."""
    try:
        return request()
    except ClientError as error:
        if error.response["Error"]["Code"] not in REFUSED:
            raise
        return None


def remove_all(site: Deployed) -> list[str]:
    """Remove the roles that killed runs left."""
    iam = site.client("iam")
    pages = iam.get_paginator("list_roles").paginate(PathPrefix=path(site))
    names = [role["RoleName"] for page in pages for role in page["Roles"]]
    for name in names:
        _remove(iam, name)
    return [f"the role {name}" for name in names]


def _remove(iam: Any, name: str) -> None:
    for each in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        iam.delete_role_policy(RoleName=name, PolicyName=each)
    iam.delete_role(RoleName=name)
