"""Creating the table without CloudFormation: for tests, and for TTL, which the local cloud leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def create_table(client: DynamoDBClient, name: str) -> None:
    """Create the table as the stack does, wait until it is there, and enable TTL."""
    client.create_table(**create_table_request(name))  # type: ignore[arg-type]  # the schema is declared as plain data
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    enable_ttl(client, name)


def enable_ttl(client: DynamoDBClient, name: str) -> bool:
    """Enable TTL where it is not enabled; returns whether it had to."""
    status = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"].get("TimeToLiveStatus")
    if status in ("ENABLED", "ENABLING"):
        return False
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
    )
    return True
