"""The core's proofs about the gateway, transactions and Lambda. Those about IAM are in ``rights_proofs.py``."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from botocore.exceptions import ClientError

import cli.proofs
from cli.proofs import Deployed, Fails, NotAsked, NotHere, Proof
from shared.api.app import VERSION
from shared.data import keys
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE
from shared.values import times


def throttle(site: Deployed) -> str:
    """The gateway throttles sign-ins, and answers with our text."""
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


def _items(site: Deployed) -> dict[str, Any]:
    """The table and key of this run's item. All runs share a partition, so the next finds what a killed one left."""
    key = {PARTITION_KEY: {"S": keys.scratch("probe", "conflict")}, SORT_KEY: {"S": site.run}}
    return {"TableName": site.outputs["TableName"], "Key": key}


def conflict(site: Deployed) -> str:
    """Transactions that meet on an item are cancelled as TransactionConflict; the others count once each.

    With a token, one that is sent twice counts once. One of 101 writes is refused.
    """
    client, at = site.client("dynamodb"), _items(site)
    gone = {"N": str(int((times.now() + timedelta(hours=1)).timestamp()))}
    adds = {"UpdateExpression": f"ADD Version :one SET {TTL_ATTRIBUTE} = :gone"}
    update = {**at, **adds, "ExpressionAttributeValues": {":one": {"N": "1"}, ":gone": gone}}

    def add(**token: str) -> str:
        try:
            client.transact_write_items(TransactItems=[{"Update": update}], **token)
        except client.exceptions.TransactionCanceledException as error:
            return str(error.response["CancellationReasons"][0]["Code"])
        return "written"

    ends: Counter[str] = Counter()
    try:
        with ThreadPoolExecutor(8) as pool:
            while "TransactionConflict" not in ends and ends.total() < 200:
                ends.update(pool.map(lambda _: add(), range(20)))
        twice = [add(ClientRequestToken=site.run) for _ in range(2)]
        counted = int(client.get_item(**at, ConsistentRead=True)["Item"]["Version"]["N"])
    finally:
        client.delete_item(**at)
    found = f"{dict(ends)}, and one twice; the item counts {counted}"
    if twice != ["written", "written"] or counted != ends["written"] + 1 or "TransactionConflict" not in ends:
        raise Fails(found)
    if _takes(client, site, 101):
        raise Fails(f"{found}; a transaction of 101 writes is taken")
    return found


def _takes(client: Any, site: Deployed, writes: int) -> bool:
    """Whether DynamoDB accepts a transaction of this many writes. Each has a condition that fails."""
    at, absent = _items(site), {"ConditionExpression": f"attribute_exists({PARTITION_KEY})"}
    places = [{**at, "Key": {**at["Key"], SORT_KEY: {"S": f"{site.run}-{number}"}}} for number in range(writes)]
    try:
        client.transact_write_items(TransactItems=[{"Delete": {**each, **absent}} for each in places])
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("ValidationException", "TransactionCanceledException"):
            raise
        return error.response["Error"]["Code"] != "ValidationException"
    return True


def remove_items(site: Deployed) -> list[str]:
    """Remove the items that killed runs left."""
    client, at = site.client("dynamodb"), _items(site)
    asked = {"KeyConditionExpression": "#key = :partition", "ExpressionAttributeNames": {"#key": PARTITION_KEY}}
    partition = {":partition": at["Key"][PARTITION_KEY]}
    pages = client.get_paginator("query").paginate(
        TableName=at["TableName"], **asked, ExpressionAttributeValues=partition
    )
    left = [item[SORT_KEY]["S"] for page in pages for item in page["Items"]]
    for each in left:
        client.delete_item(**{**at, "Key": {**at["Key"], SORT_KEY: {"S": each}}})
    return [f"the item of run {each}" for each in left]


INIT = re.compile(r"Init Duration: ([\d.]+) ms(.*Status: timeout)?")
INIT_LASTS = 10_000
"""The milliseconds that Lambda gives to INIT. One that it ended says a little less, and "timeout"."""


def starts(site: Deployed) -> str:
    """INIT of each function takes less than the ten seconds that Lambda gives it, according to the logs of a day."""
    client, since = site.client("logs"), int((times.now() - timedelta(days=1)).timestamp() * 1000)
    until = time.monotonic() + STARTS_SECONDS
    slowest: dict[str, float] = {}
    groups = client.get_paginator("describe_log_groups").paginate(logGroupNamePattern=site.stage.stack_name)
    for group in (each["logGroupName"] for page in groups for each in page["logGroups"]):
        asked = {"logGroupName": group, "filterPattern": '"Init Duration"', "startTime": since}
        for page in client.get_paginator("filter_log_events").paginate(**asked):
            if time.monotonic() > until:
                raise NotAsked(f"the logs of a day are not read in {STARTS_SECONDS} seconds; so far: {_told(slowest)}")
            name = group.removeprefix(f"{site.stage.stack_name}-").partition("Log")[0]
            for took in _took(each["message"] for each in page["events"]):
                slowest[name] = max(took, slowest.get(name, 0))
    if not slowest:
        raise NotHere("no log of the last day has a start: open some pages, and probe again")
    if max(slowest.values()) >= INIT_LASTS:
        raise Fails(_told(slowest))
    return _told(slowest)


STARTS_SECONDS = 60


def _took(lines: Iterator[str]) -> Iterator[float]:
    """The milliseconds of each INIT in some log lines."""
    for line in lines:
        for took, ended in INIT.findall(line):
            yield INIT_LASTS if ended else float(took)


def _told(slowest: dict[str, float]) -> str:
    return ", ".join(f"{name} {took:.0f} ms" for name, took in sorted(slowest.items())) or "none"


PROOFS = {
    "throttle": Proof(throttle, 30, "MiniStack throttles no single methods", blind=True),
    "conflict": Proof(conflict, 60, "MiniStack runs one transaction at a time", blind=True, tidy=remove_items),
    "starts": Proof(starts, STARTS_SECONDS, "Lambda's processors and its INIT are not this machine's"),
}
