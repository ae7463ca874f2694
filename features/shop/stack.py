"""The alarm on late orders, and the graphs of orders."""

from __future__ import annotations

from aws_cdk import Stack

from features.shop.metrics import OLDEST_OPEN_ORDER, ORDERS_PLACED
from features.shop.rights import NO_TERMS, Shop
from infra.site import MAXIMUM, Site, Watched, of_function, only


def add(_stack: Stack, site: Site) -> None:
    """Add the alarm on late orders, and the graph of orders."""
    stage = site.stage
    waits = only(stage, OLDEST_OPEN_ORDER, MAXIMUM)
    bound = (stage.option(Shop) or NO_TERMS).stuck
    site.watched.append(
        Watched(kind="orders_are_stuck", metric=waits, bound=bound, essential=True, document="features/shop/README.md")
    )
    placed = [
        of_function(stage, ORDERS_PLACED, name).with_(label=f"{ORDERS_PLACED.name} {name}")
        for name in ORDERS_PLACED.services
    ]
    site.graphs += [("Oldest open order, s", [waits]), ("Orders", placed)]
