"""Creating a brand, and the list of all brands."""

from __future__ import annotations

from datetime import datetime

from shared.data import keys
from shared.data.catalog import topics
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put_new, update
from shared.errors import BrandExists, BrandsAreFull, NotSeeded, TooLarge
from shared.models.catalog import BRAND, Topic


def create(table: Table, slug: str, name: str, now: datetime) -> None:
    """Create a brand and add its name to the list of brands. Raises BrandsAreFull, and BrandExists also for a name
    in other letters."""
    try:
        table.transact(
            put_new(topics.new_item(Topic(BRAND, slug), name, now), refused=BrandExists(slug)),
            update(
                keys.brands(),
                "SET Brands.#slug = :name",
                names={"#slug": slug},
                values={":name": name},
                refused=NotSeeded(),
            ),
        )
    except TooLarge as error:
        raise BrandsAreFull from error


def names(table: Table, *, consistent: bool = False) -> dict[str, str]:
    """All brands, slug to name, by slug. One GetItem; 400 KB hold about 9,000 brands."""
    container = table.get(keys.brands(), consistent=consistent)
    return damage.read_or(container, _names, otherwise={}) if container else {}


def _names(container: Item) -> dict[str, str]:
    named = damage.attribute(container, "Brands", dict)
    if not all(isinstance(name, str) for name in named.values()):
        damage.note(damage.named(container))
    return {slug: name for slug, name in sorted(named.items()) if isinstance(name, str)}
