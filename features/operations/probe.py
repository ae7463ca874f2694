"""``btd probe``: prove a design's assumptions on a deployed stage; ``docs/ledger.md`` has the claims.

Each proof has limits of time and requests, and removes what it made. Together they take at most ten minutes.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache, partial
from typing import Annotated, Any

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

import cli.proofs
from cli.commands import AsJson, NoTable, local_cloud
from cli.output import note, show_json, show_rows
from cli.proofs import Deployed, Fails, NotHere, Proof, wait
from infra.rights import Right
from infra.settings import STAGES
from local.settings import STAGE
from shared import features, hooks
from shared.api.app import VERSION
from shared.data import keys
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, Index, key_names
from shared.errors import Unavailable
from shared.values import times
from tools import documents

ROLE_LASTS = timedelta(minutes=10)
"""A role's rights end by themselves after the longest run, should nobody remove it."""


def deployed() -> Deployed:
    """The stage of the stack in ``BTD_STACK``, or the running local cloud's. Raises NoTable."""
    named, addresses = os.environ.get("BTD_STACK"), {}
    reached: dict[str, Any] = {"region_name": os.environ.get("AWS_REGION")}
    if not named:
        cloud, reached = local_cloud("BTD_STACK names no stack")
        addresses = {"ApiUrl": f"{cloud['plainApiUrl']}/"}
    stage = next((each for each in STAGES.values() if each.stack_name == (named or STAGES[STAGE].stack_name)), None)
    if stage is None:
        raise NoTable(f"No stage of infra/settings.py has a stack {named}.")
    stacks = boto3.client("cloudformation", **reached).describe_stacks(StackName=stage.stack_name)["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stacks[0]["Outputs"]}
    return Deployed(stage, outputs | addresses, reached, secrets.token_hex(6))


def keys_of_indexes(site: Deployed) -> str:
    """A role that may query one partition of an index can query that one and no other. Makes such a role.

    And who may write some attributes only may send what our writes send (``Table.write``).
    """
    iam, sts, role = site.client("iam"), site.client("sts"), {"RoleName": f"btd-probe-{site.run}"}
    until = (times.now() + ROLE_LASTS).strftime("%Y-%m-%dT%H:%M:%SZ")
    account = sts.get_caller_identity()
    root = ":".join([*account["Arn"].split(":")[:2], "iam", "", account["Account"], "root"])
    table = site.table.client.describe_table(TableName=site.table.name)["Table"]["TableArn"]
    mine, others = keys.scratch("probe", site.run), keys.scratch("probe", "other")

    def policy(**statement: Any) -> str:
        return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]})

    def acting(allowed: str, seconds: int) -> Any:
        asked = {"RoleArn": arn, "RoleSessionName": "btd-probe", "Policy": allowed, "DurationSeconds": 900}
        given = wait(seconds, lambda: _unless_refused(lambda: sts.assume_role(**asked)["Credentials"]))
        if not given:
            raise Fails("the new role cannot be assumed")
        key = {"aws_access_key_id": given["AccessKeyId"], "aws_secret_access_key": given["SecretAccessKey"]}
        return site.client("dynamodb", **key, aws_session_token=given["SessionToken"])

    any_key = {"Action": ["dynamodb:Query", "dynamodb:UpdateItem"], "Resource": [table, f"{table}/index/*"]}
    everything = policy(**any_key)
    for_now = policy(**any_key, Condition={"DateLessThan": {"aws:CurrentTime": until}})
    trust = policy(Action="sts:AssumeRole", Principal={"AWS": root})
    arn, wrong = iam.create_role(**role, Path=_path(site), AssumeRolePolicyDocument=trust)["Role"]["Arn"], []
    try:
        iam.put_role_policy(**role, PolicyName="query", PolicyDocument=for_now)
        # IAM knows a new role after some seconds; only then does a refusal mean anything.
        if not wait(30, partial(_may_query, acting(everything, 30), site, None, mine)):
            raise Fails("a role that may query everything is refused")
        for index in (None, *INDEXES):
            where, called = (f"{table}/index/{index.name}", index.name) if index else (table, "the table")
            conditions = dict(Right("Query", (mine,), index).conditions)
            one = acting(policy(Action="dynamodb:Query", Resource=where, Condition=conditions), 5)
            wrong += [] if _may_query(one, site, index, mine) else [f"{called}: its own key is refused"]
            wrong += [f"{called}: any key is allowed"] if _may_query(one, site, index, others) else []
        conditions = dict(Right("UpdateItem", (mine,), attributes=("Version",)).conditions)
        one = acting(policy(Action="dynamodb:UpdateItem", Resource=table, Condition=conditions), 5)
        wrong += [] if _may_write(one, site, mine) else ["a write that asks what its condition met is refused"]
    finally:
        _remove_role(iam, role["RoleName"])
    if wrong:
        raise Fails("; ".join(wrong))
    return "in the table and in each index its own key is allowed, and another refused"


def _path(site: Deployed) -> str:
    """The path of a stage's roles, by which they are found again."""
    return f"/btd-probe/{site.stage.stack_name}/"


def _remove_role(iam: Any, name: str) -> None:
    for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        iam.delete_role_policy(RoleName=name, PolicyName=policy)
    iam.delete_role(RoleName=name)


def remove_roles(site: Deployed) -> list[str]:
    """Remove the roles that killed runs left."""
    iam = site.client("iam")
    pages = iam.get_paginator("list_roles").paginate(PathPrefix=_path(site))
    names = [role["RoleName"] for page in pages for role in page["Roles"]]
    for name in names:
        _remove_role(iam, name)
    return [f"the role {name}" for name in names]


def _unless_refused(request: Callable[[], Any]) -> Any:
    """The answer to a request, or None if IAM refuses it."""
    try:
        return request()
    except ClientError as error:
        if not error.response["Error"]["Code"].startswith("AccessDenied"):
            raise
        return None


def _may_query(client: Any, site: Deployed, index: Index | None, key: str) -> bool:
    """Whether a client may query an (empty) partition."""
    named = {"ExpressionAttributeNames": {"#key": key_names(index)[0]}, **({"IndexName": index.name} if index else {})}
    asked = {"KeyConditionExpression": "#key = :key", "ExpressionAttributeValues": {":key": {"S": key}}, **named}
    return _unless_refused(lambda: client.query(TableName=site.outputs["TableName"], **asked)) is not None


def _may_write(client: Any, site: Deployed, key: str) -> bool:
    """Whether a client may send one of our writes, whose condition then fails: the item doesn't exist."""
    asked = {"UpdateExpression": "SET Version = :one", "ConditionExpression": f"attribute_exists({PARTITION_KEY})"}
    returned = {"ReturnValues": "NONE", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    at = {"TableName": site.outputs["TableName"], "Key": {PARTITION_KEY: {"S": key}, SORT_KEY: {"S": key}}}
    write = partial(client.update_item, **at, **asked, **returned, ExpressionAttributeValues={":one": {"N": "1"}})
    try:
        return _unless_refused(write) is not None
    except ClientError as error:
        if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
            raise
    return True


def throttle(site: Deployed) -> str:
    """The gateway itself limits how often one signs in, and says so in our words."""
    api = f"{site.outputs['SiteUrl']}{VERSION}/" if site.stage.closes_apis else site.outputs["ApiUrl"]
    sessions = f"{api}sessions"
    number = 4 if site.stage.emulated else min(60, 2 * site.stage.sign_in_burst + 10)
    wrong = {"body": b"{", "headers": {"Content-Type": "application/json"}}  # no password is hashed for an invalid body
    with ThreadPoolExecutor(number) as pool:
        answers = [*pool.map(lambda _: cli.proofs.ask("POST", sessions, **wrong), range(number))]
    found = f"{number} attempts at once: {dict(Counter(status for status, _ in answers))}"
    if not any(status == 429 and "slow down" in text for status, text in answers):
        raise Fails(found)
    return found


def conflict(site: Deployed) -> str:
    """Transactions that meet on an item are cancelled as TransactionConflict; the others count once each."""
    client, name, place = site.client("dynamodb"), site.outputs["TableName"], {"S": keys.scratch("probe", site.run)}
    at = {"TableName": name, "Key": {PARTITION_KEY: place, SORT_KEY: place}}
    gone = {"N": str(int((times.now() + timedelta(hours=1)).timestamp()))}
    adds = {"UpdateExpression": f"ADD Version :one SET {TTL_ATTRIBUTE} = :gone"}
    update = {**at, **adds, "ExpressionAttributeValues": {":one": {"N": "1"}, ":gone": gone}}

    def add(_: int) -> str:
        try:
            client.transact_write_items(TransactItems=[{"Update": update}])
        except client.exceptions.TransactionCanceledException as error:
            return str(error.response["CancellationReasons"][0]["Code"])
        return "written"

    ends: Counter[str] = Counter()
    try:
        with ThreadPoolExecutor(8) as pool:
            while "TransactionConflict" not in ends and ends.total() < 200:
                ends.update(pool.map(add, range(20)))
        counted = client.get_item(**at, ConsistentRead=True)["Item"]["Version"]["N"]
    finally:
        client.delete_item(**at)
    found = f"{dict(ends)}; the item counts {counted}"
    if int(counted) != ends["written"] or "TransactionConflict" not in ends:
        raise Fails(found)
    return found


def starts(site: Deployed) -> str:
    """INIT of each function takes less than the ten seconds that Lambda gives it, as the logs of a day say."""
    client, since = site.client("logs"), int((times.now() - timedelta(days=1)).timestamp() * 1000)
    slowest: dict[str, float] = {}
    for group in client.describe_log_groups(logGroupNamePattern=site.stage.stack_name, limit=50)["logGroups"]:
        asked = {"logGroupName": group["logGroupName"], "filterPattern": '"Init Duration"', "startTime": since}
        lines = [each["message"] for each in client.filter_log_events(**asked, limit=100)["events"]]
        if took := [float(text) for line in lines for text in re.findall(r"Init Duration: ([\d.]+) ms", line)]:
            slowest[group["logGroupName"].removeprefix(f"{site.stage.stack_name}-").partition("Log")[0]] = max(took)
    if not slowest:
        raise NotHere("no log of the last day has a start: open some pages, and probe again")
    found = ", ".join(f"{name} {took:.0f} ms" for name, took in sorted(slowest.items()))
    if max(slowest.values()) >= 10_000:
        raise Fails(found)
    return found


@cache
def proofs() -> dict[str, Proof]:
    """The proofs of the core and of all features, by their names."""
    return {
        "keys": Proof(keys_of_indexes, 120, "MiniStack passes no keys to IAM", blind=True, tidy=remove_roles),
        "throttle": Proof(throttle, 30, "MiniStack throttles no single methods", blind=True),
        "conflict": Proof(conflict, 60, "MiniStack runs one transaction at a time", blind=True),
        "starts": Proof(starts, 60, "Lambda's processors and its INIT are not this machine's"),
        **features.merge(each.PROOFS for each in features.roles(hooks.Commands)),
    }


def probe(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="PROOF", help="Proofs to run; without any, all of them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test on a deployed stage what the design relies on, and show the ledger of claims with the results."""
    known = proofs()
    if unknown := {*(names or ())} - {*known}:
        raise typer.BadParameter(f"There is no proof {', '.join(sorted(unknown))}: choose one of {', '.join(known)}.")
    try:
        site = deployed()
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"The stack cannot be read: {error}") from error
    note(f"Probing {site.stage.stack_name}, for ten minutes at most; what this makes is removed again.")
    for name, proof in known.items():
        _tidy(name, proof, site)
    results = {f"btd probe {name}": _result(known[name], site) for name in names or known}
    rows = []
    for claim in documents.claims():
        result = results.get(claim["proof"], {"result": "", "found": claim["proof"]})
        rows.append({"claim": claim["id"], "state": claim["state"], **result})
    if as_json:
        show_json({"result": rows})
    else:
        show_rows(["Claim", "State", "Result", "Found, or what would prove it"], [[*row.values()] for row in rows])
    if any(each["result"] == "fails" for each in results.values()):
        raise typer.Exit(1)


def _tidy(name: str, proof: Proof, site: Deployed) -> None:
    """Remove what a killed run of a proof left, whichever proofs are asked for. A failure is said, and no more."""
    try:
        for left in proof.tidy(site):
            note(f"Removed what an earlier run left: {left}.")
    except Exception as error:  # noqa: BLE001  # the proofs are still worth running
        note(f"What earlier runs of {name} left was not removed: {type(error).__name__}: {error}")


def _result(proof: Proof, site: Deployed) -> dict[str, str]:
    """A proof's result and finding. A proof that raises an error has failed, and the others go on.

    On the local cloud, ``works`` proves nothing about AWS.
    """
    here = site.stage.emulated
    try:
        result, found = "works" if here else "holds", proof.prove(site)
    except NotHere as reason:
        result, found = "unknown", str(reason)
    except Fails as reason:
        result, found = "unknown" if here and proof.blind else "fails", str(reason)
    except Exception as error:  # noqa: BLE001  # whatever it is, the other proofs are still worth running
        result, found = "fails", f"{type(error).__name__}: {error}"
    return {"result": result, "found": f"{found}. Not shown here: {proof.emulator}" if here else found}
