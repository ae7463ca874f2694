"""A product's offers over time, and its deals' price verdicts.

Each deal has a copy under the hash of its product's identity (``links.product``). The stream writes it a second or two
after the deal (``functions/background/publisher.py``), which keeps the deal's own transaction small. A listed deal's
copy is also in the indexes by price and discount (for ``sorting.py``), an ended deal's by brand and category, whose
pages show it if they have nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from operator import attrgetter

from shared.data import bulk, keys
from shared.data.catalog import search
from shared.data.catalog.deals import CARDS, attributes, has_ended, is_listed, readable
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import ABSENT, Write, assign, forget, put_over
from shared.errors import AlreadyExists, DealsError
from shared.models.catalog import YESTERDAY, Deal, Topic, Verdict, feed_of
from shared.values import links

JUDGED = timedelta(days=60)
"""How far back a price is compared with others of its product."""

_JUDGED = Projection.of("PK", "SK", "Link", "Verdict")

MOST = 100
"""Offers that are read of a product, newest first. No product of the real deals has half as many."""


def offers(table: Table, link: str, *, consistent: bool = False) -> list[Deal]:
    """The newest offers of an address's product, newest first, with withdrawn ones. One Query."""
    found = offers_of(table, links.product_hash(link), consistent=consistent)
    # 1.1.0 filed an offer whose address has a query under the address without it, too.
    return [deal for deal in found if links.product(deal.link) == links.product(link)]


def offers_of(table: Table, product: str, *, consistent: bool = False) -> list[Deal]:
    """The offers in one product's partition, by its hash. One Query."""
    return readable(table.query(keys.product(product), newest_first=True, limit=MOST, consistent=consistent))


def ended(table: Table, topic: Topic, limit: int) -> list[Deal]:
    """The most recently posted ended deals of a brand or category, newest first. One Query of its feed's index."""
    return readable(table.query(keys.ended(topic), **CARDS[feed_of(topic).index], newest_first=True, limit=limit))


def file(table: Table, before: Deal | None, after: Deal | None, *, has_ended: bool = False) -> None:
    """Update a deal's offer as the stream says; repeating it changes nothing."""
    if before and not (after and links.product(before.link) == links.product(after.link)):
        key = keys.product_offer(links.product_hash(before.link), before.deal_id)
        table.write(forget(key, because="a repeated record finds it gone already"))
    if after:
        with suppress(AlreadyExists):  # a later version exists
            table.write(filing(after, has_ended=has_ended))


def file_new(table: Table, new: Sequence[tuple[Deal, Item]]) -> set[str]:
    """File new deals, as many in a transaction as fit, each with its item; returns the ids of those filed.

    Each transaction counts a word once for all its deals. If one fails (an already filed deal, a damaged count), its
    deals are filed one by one later, which is harmless for filed ones.
    """
    filed: set[str] = set()
    found_by = [frozenset(search.filed_under(deal) if is_listed(item) else ()) for deal, item in new]
    own = [1 + len(found) for found in found_by]
    for together in bulk.together(zip(new, own, found_by, strict=True)):
        if len(together) > 1:
            writes = [filing(deal, has_ended=has_ended(item)) for deal, item in together]
            try:
                table.transact(*writes, *search.filing([deal for deal, item in together if is_listed(item)]))
            except DealsError:
                continue
            filed |= {deal.deal_id for deal, _ in together}
    return filed


def judge_anew(table: Table, before: Deal | None, after: Deal | None) -> set[str]:
    """Update the verdicts that a change of a filed deal concerns; most changes concern none. Returns the deals' ids."""
    if _compared(before) == _compared(after):
        return set()
    moved = before and after and links.product(before.link) != links.product(after.link)
    concerned = filter(None, (before, after) if moved else (after or before,))
    return set().union(*(follow(table, deal, is_new=before is None) for deal in concerned))


def _compared(deal: Deal | None) -> object:
    """The parts of an offer that others are compared with; None for a retracted one."""
    if deal is None or deal.is_retracted:
        return None
    return links.product(deal.link), deal.variant, deal.units, deal.currency, deal.created_at, deal.over_at


def filing(deal: Deal, *, has_ended: bool = False) -> Write:
    """The write of a deal's offer. Refused with AlreadyExists if a later version exists."""
    later = f"{ABSENT} OR Version <= :version"
    return put_over(to_item(deal, has_ended=has_ended), later, {":version": deal.version}, refused=AlreadyExists())


def to_item(deal: Deal, *, has_ended: bool) -> Item:
    """A deal's offer. A withdrawn one is in no index; an ended one stays among prices until the sweep unlists it."""
    key = keys.product_offer(links.product_hash(deal.link), deal.deal_id)
    item = {**key, "Type": keys.PRODUCT_OFFER, **attributes(deal)}
    if deal.withdrawn_at is not None:
        return item
    if has_ended:
        return item | keys.offer_of_ended(deal.deal_id, deal.brand, deal.category)
    return item | keys.offer_of_listed(
        deal.deal_id,
        brand=deal.brand,
        category=deal.category,
        price=deal.units,
        currency=deal.currency,
        percent=deal.discount_percent,
    )


def follow(table: Table, changed: Deal, *, is_new: bool = False) -> set[str]:
    """Update the verdicts that a new, changed or ended offer concerns: its own, and those of later offers.

    Returns the ids of the deals whose verdict it has written.

    Stream readers run in parallel and may repeat: each reads again after writing, so the last writer has seen the last
    change. A first offer takes one consistent Query; others also a BatchGetItem of the affected deals, and an update
    for each verdict that differs.
    """
    written: set[str] = set()
    while True:
        found = offers(table, changed.link, consistent=True)
        if is_new and not written and len(found) < 2:
            return written
        concerned = [each for each in found if not each.withdrawn_at and changed.created_at <= each.created_at]
        due = {each.deal_id: str(judged) if (judged := judge(each, found)) else None for each in concerned}
        current = table.get_many([keys.deal(deal_id) for deal_id in due], consistent=True, projection=_JUDGED)
        of_it = [each for each in current if links.product(str(each.get("Link"))) == links.product(changed.link)]
        wrong = [each for each in of_it if each.get("Verdict") != due[keys.id_in(each["PK"])]]
        if not wrong:
            return written
        for each in wrong:
            right = {"Verdict": due[keys.id_in(each["PK"])]}
            same, link = "Link = :link", {":link": each["Link"]}
            with suppress(AlreadyExists):  # it has another product by now, or is gone
                table.write(assign(keys.primary(each), right, condition=same, values=link, refused=AlreadyExists()))
                written.add(keys.id_in(each["PK"]))


def judge(deal: Deal, found: Iterable[Deal]) -> Verdict | None:
    """A deal's verdict among its product's offers; None without another offer of that time, variant and currency.

    Offers of that time are those posted in the ``JUDGED`` before the deal, and those that ended in it.
    """
    since = deal.created_at - JUDGED
    others = [
        each
        for each in found
        if each.deal_id != deal.deal_id
        and not each.is_retracted
        and each.currency == deal.currency
        and each.is_alike(deal)
        and each.created_at <= deal.created_at
        and since <= max(each.created_at, each.over_at or each.created_at)
    ]
    if not others:
        return None
    prices = sorted(each.units for each in others)
    outside = len(prices) // 4
    cheapest = min(others, key=lambda each: (each.units, -each.created_at.timestamp()))
    before = [each for each in others if _was_open_before(each, deal)]
    return Verdict(
        cheapest.units,
        cheapest.created_at.date(),
        (prices[outside], prices[-1 - outside]),
        max(before, key=attrgetter("created_at", "deal_id")).units if before else None,
    )


def _was_open_before(other: Deal, deal: Deal) -> bool:
    """Whether an offer was open on the day before a deal was posted."""
    is_over = other.over_at is not None and other.over_at < deal.created_at - YESTERDAY
    return other.created_at.date() < deal.created_at.date() and not is_over
