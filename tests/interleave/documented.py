"""Refusals and differences that the documents name (``docs/failures.md``)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from shared.data import keys
from tests.interleave.world import Outcome
from tests.support.cases import cases_by_name

REFUSALS = frozenset({"EditedMeanwhile", "AccountChanged", "Busy"})
"""Errors by which an action says that another was faster; it has done nothing, and can be repeated."""

DIFFERS: Mapping[frozenset[str], str] = {
    frozenset({"crash", "mend deal"}): "a damaged deal that is saved again is signed again",
    **cases_by_name("WRITES_DIFFER"),
}
"""By the names of two actions (of one, for all others; or with ``crash``), why they may leave something else than one
after the other would."""

COUNTED = frozenset({"FeaturedVersion", "SignOuts", "Version"})
"""Attributes that count how often something was written."""


def reason(*names: str) -> str:
    """Why these may differ, or nothing."""
    several = frozenset(names)
    return next((why for those, why in DIFFERS.items() if those <= several), "")


def counted_again(left: Outcome, due: Outcome) -> str:
    """Why a repeated action may differ: if only in what counts attempts and repetitions."""
    if _uncounted(left) == _uncounted(due):
        return "a repeated action is counted again"
    return ""


def _uncounted(outcome: Outcome) -> list[str]:
    """The items without such counts."""
    read = [json.loads(item) for item in outcome.items if item.startswith("{")]
    rest = [item for item in outcome.items if not item.startswith("{")]
    kept = [item for item in read if item["Type"]["S"] != keys.ATTEMPTS]
    return rest + [str({name: value for name, value in item.items() if name not in COUNTED}) for item in kept]
