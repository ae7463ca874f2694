"""The actions of upkeep, for ``tests/interleave``."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from unittest import mock

from features.upkeep import backfills, repairs, runs
from features.upkeep.runs import Run
from features.upkeep.survey import lasting, survey
from shared.data import keys
from shared.data.catalog import feed_counts, offers, search
from shared.data.invariants import Fault
from shared.dynamodb.writes import assign, forget, put
from shared.models.catalog import ALL_DEALS
from shared.values import links
from tests.interleave.beginning import ENDED, FIRST, LATER, SECOND
from tests.interleave.world import repaired
from tests.support.factories import APPLE

if TYPE_CHECKING:
    from tests.interleave.processes import Process

INDEXING = Run("Words", 1, LATER)
BY_HAND = "it is damage"


def prepare(at: Process) -> None:
    """An index was interrupted after its second page."""
    interrupted = backfills.index_steps(at.table, INDEXING, 0)
    next(interrupted)
    next(interrupted)


def damage(at: Process) -> None:
    """Damage by hand what derives from other items, or leave it out, or leave what should have gone."""
    table = at.table
    moved = replace(FIRST, link=SECOND.link)
    stray_word = keys.word_of_deal("stray", FIRST.deal_id)
    writes = [
        assign(keys.topic(APPLE), {"LikesCount": 7}, refused=None),
        assign(keys.word_count("boot"), {"Deals": 9}, refused=None),
        assign(keys.word_count("trail"), {"Deals": "one"}, refused=None),
        assign(keys.periods(ALL_DEALS, "2050-06-15"), {"Day15": "five"}, refused=None),
        assign(keys.account("ana"), {"Alerts": 5}, refused=None),
        assign(keys.deal(FIRST.deal_id), {"Verdict": "1900 2050-06-01 1900 2100"}, refused=None),
        assign(keys.deal(SECOND.deal_id), {"GSI1SK": "DEAL#odd"}, refused=None),
        put(offers.to_item(moved, has_ended=False), because=BY_HAND),
        put({**search.items_of(FIRST)["runner"], **stray_word}, because=BY_HAND),
        put(
            {**keys.word_count("stray"), "Type": keys.WORD_COUNT, "Word": "stray", "Forms": {"stray"}, "Deals": 1},
            because=BY_HAND,
        ),
        *(
            forget(key, because=BY_HAND)
            for key in (
                keys.word_of_deal("runner", FIRST.deal_id),
                keys.product_offer(links.product_hash(SECOND.link), SECOND.deal_id),
                keys.primary(feed_counts.note_of(ENDED) or {}),
                keys.deal_number(1),
            )
        ),
    ]
    for write in writes:
        table.write(write)


def check_and_mend(at: Process) -> str:
    """``btd check --mend``, which names what it leaves; all else, if another begins."""
    mended: list[Fault] = []
    with suppress(repairs.Overtaken), repairs.repairing(at.table, str(at.seed), LATER) as held:
        first = survey(at.table.everything(), LATER)
        faults = lasting(first, survey(at.table.everything(), LATER)) if first else []
        unknown = repairs.unknown(faults)
        for groups in repairs.groups([fault for fault in faults if fault not in unknown]):
            for group in groups:
                if repairs.mend_group(at.table, group, held):
                    mended += group
    return repaired(fault for fault in first if fault not in mended)


def backfill(at: Process, type_: str) -> None:
    list(backfills.run_backfill(at.table, Run(type_, 1, LATER), 0, item_type=type_))


def index(at: Process) -> None:
    list(backfills.index_steps(at.table, INDEXING, 0))


def index_from_start(at: Process) -> None:
    INDEXING.forget(at.table)
    index(at)


def in_pages() -> AbstractContextManager[object]:
    """Work on all items in several pages, so that it has checkpoints."""
    return mock.patch.object(runs, "PAGE", 30)


WRITES = {
    "check and mend": check_and_mend,
    "backfill deals": partial(backfill, type_=keys.DEAL),
    "backfill offers": partial(backfill, type_=keys.PRODUCT_OFFER),
    "index": index,
    "index from the start": index_from_start,
}
PENDING_WRITES = {
    "check and mend early": check_and_mend,
    "index early": index_from_start,
    "backfill offers early": WRITES["backfill offers"],
}
DAMAGED_WRITES = {"mend damage": check_and_mend}
BEFORE_WRITES = (prepare,)
LEFT_DAMAGED = (damage,)
AROUND_WRITES = (in_pages,)
WRITES_DIFFER = {
    frozenset({"index", "withdraw new"}): "a withdrawn deal keeps its last verdict, which nobody sees; reopened, it is "
    "judged again",
    frozenset({"mend damage", "backfill deals"}): "a deal's version rises if the second one rewrites it: only a number",
}
WRITES_ONCE_FAILED = (("mend damage", "post"), ("mend damage", "edit title"))
WRITES_COMPARED = (("index early", "edit category"), ("backfill deals", "publish"))
