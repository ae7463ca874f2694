"""The deployment's custom resource: writes the items that a new table needs."""

from __future__ import annotations

import json
import time
import urllib.request
from typing import TYPE_CHECKING, Any

from shared.data.catalog import topics
from shared.errors import DealsError, Unavailable
from shared.runtime.environment import logger, table
from shared.runtime.metrics import measured
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


FOR_AN_ANSWER = 12_000
"""Milliseconds reserved for the answer to CloudFormation."""

PAUSE = 2.0
"""Seconds between attempts."""


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    """Seed the table when the resource is created or updated, and report the outcome to CloudFormation."""
    status, reason = "FAILED", f"See log stream {context.log_stream_name}"
    try:
        if event["RequestType"] != "Delete":  # seeded items are deleted with the table
            logger().info("seeded", items=_planted(context), **measured())
        status = "SUCCESS"
    except DealsError as error:
        logger().error("seeding failed", exc_info=error)
        reason = str(error)
    finally:  # CloudFormation waits for an answer until it times out
        _answer(event, status, reason)


def _planted(context: LambdaContext) -> int:
    """Plant the seeds, with retries while the table refuses: a first deployment's role is seconds old and not known
    everywhere yet (docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html, "eventually consistent")."""
    while True:
        try:
            return topics.plant_seeds(table(), times.now())
        except Unavailable:
            if context.get_remaining_time_in_millis() < FOR_AN_ANSWER:
                raise
            time.sleep(PAUSE)


def _answer(event: dict[str, Any], status: str, reason: str) -> None:
    """Report the outcome to CloudFormation by a PUT to its signed address.

    The signature covers no content type (as AWS's examples send it; the page doesn't say).
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
    """
    answer = {
        "Status": status,
        "Reason": reason,
        "PhysicalResourceId": event.get("PhysicalResourceId", "seeds"),
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    request = urllib.request.Request(  # noqa: S310  # the address is CloudFormation's
        event["ResponseURL"], json.dumps(answer).encode(), {"Content-Type": ""}, method="PUT"
    )
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310  # the same
        pass
