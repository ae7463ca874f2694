"""Refusals and differences that the documents name (``docs/failures.md``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from shared.data import invariants, keys
from shared.data.invariants import Fault
from tests.interleave.world import LEFT, REFUSED, Outcome
from tests.support.cases import cases, cases_by_name

REFUSALS = {"EditedMeanwhile", "AccountChanged", "Busy", "NotSignedIn", *cases("REFUSED_WRITES")}
"""Errors by which an action says that another was faster; it has done nothing."""

HARMLESS: Mapping[str, str] = {
    keys.ATTEMPTS: "an attempt is counted again when an action is repeated",
    **cases_by_name("HARMLESS_WRITES"),
}
"""Types of items that may be there although what wrote them was refused or repeated, each with the reason."""

COUNTED = frozenset({"FeaturedVersion", "SignOuts", "Version"})
"""Attributes that count how often something was done."""

DIFFERS: Mapping[frozenset[str], str] = {
    frozenset({"read all messages", "deliver"}): "of a delivery, those that were sent before are read",
    frozenset({"withdraw new", "deliver"}): "of a delivery, those that were sent before the deal was withdrawn stay",
    frozenset({"mend deal"}): "the stream can't read a damaged deal's record; its words follow with the next edit",
    **cases_by_name("WRITES_DIFFER"),
}
"""By the names of two actions (of one, for all others; or with ``crash``), why they may leave something else than one
after the other would."""


LEFT_OVER = "a message that was delivered while its account was removed: the name's next owner doesn't get it"


def excuse(fault: Fault) -> str:
    """Why a document says that a fault may be left, or nothing."""
    return LEFT_OVER if fault.rule == invariants.PARTNERS and fault.key["PK"].startswith(keys.messages("")) else ""


def reason(*names: str) -> str:
    """Why these may differ, or nothing."""
    several = frozenset(names)
    return next((why for those, why in DIFFERS.items() if those <= several), "")


def alike(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes are the same but for what is harmless. A refusal may have another reason, if the other
    action has come half way; a repair may leave something for the next one."""
    return harmless(one) == harmless(other) and _kinds(one.results) == _kinds(other.results)


def _kinds(results: Iterable[str]) -> list[str]:
    kinds = {REFUSED: REFUSED, LEFT: "done"}
    return [next((kind for prefix, kind in kinds.items() if each.startswith(prefix)), each) for each in results]


def harmless(outcome: Outcome, *, counted: frozenset[str] = frozenset()) -> list[str]:
    """The items without harmless ones and without some attributes."""
    read = [json.loads(item) for item in outcome.items if item.startswith("{")]
    rest = [item for item in outcome.items if not item.startswith("{")]
    kept = [item for item in read if item["Type"]["S"] not in HARMLESS]
    return rest + [str({name: value for name, value in item.items() if name not in counted}) for item in kept]
