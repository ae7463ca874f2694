"""``btd backfill`` and ``btd index``: write what this release expects of existing items, while the site runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import typer

from features.upkeep import derived, settling
from features.upkeep.runs import FromStart, Number, Run, Step, run_all
from shared.data import keys
from shared.data.catalog import offers
from shared.data.catalog.deals import from_item, has_ended, is_listed, ours, to_item_listed
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, Write, change, delete_as, forget, put_over
from shared.errors import DealsError
from shared.values import links
from shared.values.naming import counted


class _Changed(DealsError):
    """This release has changed the item meanwhile, so it has the new attributes."""


Rewriting = tuple[Item, list[Item]]
"""An item as read, and the items that replace it, possibly under other keys."""


def _deal(_: Table, item: Item) -> Rewriting:
    """A deal stays listed or unlisted, as the feeds' counts have it."""
    known = ours(item)
    new = to_item_listed(from_item(known), listed=is_listed(known))
    return known, [new if new == known else new | {"Version": known["Version"] + 1}]


REWRITES: Mapping[str, Callable[[Table, Item], Rewriting]] = {
    keys.DEAL: _deal,
}
"""How an item is rewritten, for each type that can be."""


def _settle_offer(table: Table, item: Item) -> bool:
    """Write an offer as its deal is; delete one in the place of another product, or without a deal."""

    def write(of_deal: Item, held: Write) -> bool:
        deal = from_item(of_deal)
        is_elsewhere = item["PK"] != keys.product(links.product_hash(deal.link))
        if is_elsewhere:
            table.transact(held, forget(keys.primary(item), because="the deal is checked"))
        return settling.settle_offer(table, deal, held, has_ended=has_ended(of_deal)) or is_elsewhere

    written = derived.settle(table, keys.id_in(item["SK"]), write)
    if written is None:
        with suppress(_Changed):
            table.write(delete_as(item, refused=_Changed()))
    return written is not False


DERIVED: Mapping[str, Callable[[Table, Item], bool]] = {keys.PRODUCT_OFFER: _settle_offer}
"""How an item that derives from a deal is written again, for each type that can be; returns whether it was."""

TYPES = (*REWRITES, *DERIVED)


def backfill(
    item_type: Annotated[str, typer.Argument(metavar="TYPE", help=f"One of: {', '.join(TYPES)}.")],
    segments: Number = 4,
    from_start: FromStart = False,
) -> None:
    """Rewrite existing items of a type in the form of this release. An interrupted run resumes where it stopped."""
    if item_type not in TYPES:
        raise typer.BadParameter(f"must be one of {', '.join(TYPES)}, not {item_type!r}.", param_hint="TYPE")
    run_all(
        "Rewriting",
        item_type,
        segments,
        partial(run_backfill, item_type=item_type),
        done=lambda rewritten: f"{rewritten:,} rewritten",
        from_start=from_start,
    )


def run_backfill(table: Table, run: Run, segment: int, *, item_type: str) -> Iterator[Step]:
    """Rewrite one segment's items of a type, page by page, from where the last run stopped; damaged ones stay."""

    def rewrite(item: Item) -> bool:
        if item_type in DERIVED:
            return DERIVED[item_type](table, item)
        return _write(table, *REWRITES[item_type](table, item))

    def work(items: list[Item]) -> int:
        return sum(damage.each((item for item in items if item.get("Type") == item_type), rewrite))

    return run.scan(table, segment, work)


def _write(table: Table, old: Item, new: list[Item]) -> bool:
    """Write the differences; returns whether there were any and no one else was faster."""
    here = keys.primary(old)
    version = "Version" if "Version" in old else None
    writes = [
        change(old, item, version=version, refused=_Changed())
        if keys.primary(item) == here
        else put_over(item, *_before(item), refused=_Changed())
        for item in new
        if item != old
    ]
    if here not in map(keys.primary, new):
        writes.append(delete_as(old, refused=_Changed()))
    # Even if a later version's copy exists, the earlier one is deleted.
    parts = [[write] for write in writes] if version or len(writes) < 2 else [writes]
    written = 0
    for part in parts:
        with suppress(_Changed):
            (table.write if len(part) == 1 else table.transact)(*part)
            written += 1
    return written > 0


def _before(item: Item) -> tuple[str, Mapping[str, Any]]:
    """The condition of a move: the new place is empty, or has an earlier version."""
    if "Version" not in item:
        return ABSENT, {}
    return f"{ABSENT} OR Version < :version", {":version": item["Version"]}


def index(segments: Number = 4, from_start: FromStart = False) -> None:
    """Write the words and offers of existing deals, as the stream does for new ones, while the site runs. An
    interrupted run resumes where it stopped."""
    run_all(
        "Indexing",
        "Words",
        segments,
        index_steps,
        done=lambda deals: f"{counted(deals, 'deal')} indexed",
        from_start=from_start,
    )


def index_steps(table: Table, run: Run, segment: int) -> Iterator[Step]:
    """Index one segment's deals page by page, from where the last run stopped."""

    def work(items: list[Item]) -> int:
        deals = (item for item in items if item.get("Type") == keys.DEAL)
        return sum(damage.each(deals, partial(_index, table)))

    return run.scan(table, segment, work)


def _index(table: Table, item: Item) -> bool:
    """Write a deal's words, offer and verdict, and the other deals' verdicts. Raises DamagedDeal."""

    deal = settling.settle(table, keys.id_in(item["PK"]))
    for deal_id in offers.judge_anew(table, None, deal):
        settling.settle(table, deal_id)
    return deal is not None
