"""The newest deals by FastAPI in a function: Mangum between API Gateway and the app, boto3's resource."""

from __future__ import annotations

import os

import boto3
from boto3.dynamodb.conditions import Key
from fastapi import FastAPI
from mangum import Mangum
from pydantic import BaseModel, Field

app = FastAPI()
table = boto3.resource("dynamodb").Table(os.environ["TABLE_NAME"])


class Deal(BaseModel):
    dealId: str = Field(validation_alias="DealId")
    title: str = Field(validation_alias="Title")
    link: str = Field(validation_alias="Link")
    price: str = Field(validation_alias="Price")
    listPrice: str | None = Field(validation_alias="ListPrice", default=None)
    brand: str = Field(validation_alias="Brand")
    brandName: str = Field(validation_alias="BrandName")
    category: str = Field(validation_alias="Category")
    createdAt: str = Field(validation_alias="CreatedAt")


class Page(BaseModel):
    items: list[Deal]
    next: str | None = None


class FrontPage(BaseModel):
    featured: list[Deal]
    latest: Page


@app.get("/front-page")
def front_page() -> FrontPage:
    answer = table.query(
        IndexName="GSI1",
        KeyConditionExpression=Key("GSI1PK").eq(os.environ["FEED"]),
        ScanIndexForward=False,
        Limit=25,
    )
    return FrontPage(featured=[], latest=Page(items=[Deal.model_validate(item) for item in answer["Items"]]))


handler = Mangum(app, lifespan="off")
