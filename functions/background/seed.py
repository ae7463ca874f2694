"""The deployment's custom resource: plants what must be in the table before anything else."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

from shared.data.catalog import seeds
from shared.errors import DealsError
from shared.runtime.environment import logger, table
from shared.runtime.reporting import measured
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    """Seed the table when the resource is created or updated, and tell CloudFormation how it went."""
    status, reason = "FAILED", f"See log stream {context.log_stream_name}"
    try:
        if event["RequestType"] != "Delete":  # what was seeded goes with the table
            logger().info("seeded", items=seeds.plant(table(), times.now()), **measured())
        status = "SUCCESS"
    except DealsError as error:
        logger().error("seeding failed", exc_info=error)
        reason = str(error)
    finally:  # without an answer, CloudFormation waits until it times out
        _answer(event, status, reason)


def _answer(event: dict[str, Any], status: str, reason: str) -> None:
    """Tell CloudFormation how it went, at the signed address that takes one PUT without a content type."""
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
