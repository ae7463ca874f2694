"""The newest deals by a function as Powertools' guide has it: Logger, Tracer, Metrics, pydantic, boto3's resource."""

from __future__ import annotations

import os
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.utilities.typing import LambdaContext
from boto3.dynamodb.conditions import Key
from pydantic import BaseModel, Field

logger = Logger()
tracer = Tracer()
metrics = Metrics(namespace="Peer")
app = APIGatewayRestResolver(enable_validation=True)
table = boto3.resource("dynamodb").Table(os.environ["TABLE_NAME"])


class Deal(BaseModel):
    dealId: str = Field(alias="DealId")
    title: str = Field(alias="Title")
    link: str = Field(alias="Link")
    price: str = Field(alias="Price")
    listPrice: str | None = Field(alias="ListPrice", default=None)
    brand: str = Field(alias="Brand")
    brandName: str = Field(alias="BrandName")
    category: str = Field(alias="Category")
    createdAt: str = Field(alias="CreatedAt")


class Page(BaseModel):
    items: list[Deal]
    next: str | None = None


@app.get("/front-page")
@tracer.capture_method
def front_page() -> dict[str, Any]:
    answer = table.query(
        IndexName="GSI1",
        KeyConditionExpression=Key("GSI1PK").eq(os.environ["FEED"]),
        ScanIndexForward=False,
        Limit=25,
    )
    page = Page(items=[Deal.model_validate(item) for item in answer["Items"]])
    return {"featured": [], "latest": page.model_dump()}


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    return app.resolve(event, context)
