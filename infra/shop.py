"""What is watched of the shop."""

from __future__ import annotations

from aws_cdk import Stack

from infra.observability import MAXIMUM, of_function, only
from infra.options.shop import NO_TERMS, Shop
from infra.site import Site, Watched
from shared.runtime.shop_metrics import OLDEST_OPEN_ORDER, ORDERS_PLACED


def add(_stack: Stack, site: Site) -> None:
    """Have late orders watched, and orders drawn."""
    stage = site.stage
    waits = only(stage, OLDEST_OPEN_ORDER, MAXIMUM)
    bound = (stage.option(Shop) or NO_TERMS).stuck
    site.watched.append(Watched(kind="orders_are_stuck", metric=waits, bound=bound, essential=True))
    placed = [
        of_function(stage, ORDERS_PLACED, name).with_(label=f"{ORDERS_PLACED.name} {name}")
        for name in ORDERS_PLACED.services
    ]
    site.graphs += [("Oldest open order, s", [waits]), ("Orders", placed)]
