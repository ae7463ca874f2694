"""The route of the deals that can be bought here, which the catalog's function answers."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from shared.api import documents
from shared.api.documents import compact
from shared.api.paths import PAGED, describe
from shared.data.orders import sold_here
from shared.http.answers import public
from shared.http.requests import paging
from shared.runtime.environment import table
from shared.values import times


def add(app: APIGatewayRestResolver) -> None:
    """Give an app the route."""

    @app.get("/sold-here", **describe("Deals that can be bought here", "DealList", query=PAGED, cached=True))
    def deals_sold_here() -> Response[Any]:
        now = times.now()
        return public(app, compact(documents.feed(sold_here.page(table(), now, **paging(app)), now)))
