"""``btd seed`` and ``btd sweep``, which the deployed system does by itself, and ``btd check`` of its invariants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from cli import views
from cli.output import progress, say, show_rows
from cli.work import Work, answering
from shared.data import checking
from shared.data.catalog import endings, seeds
from shared.data.checking import Fault

BATCH = 500
"""Ended deals that one sweep looks at."""


@answering()
def seed(work: Work) -> views.Json:
    """Create the eight categories and the containers where they are missing."""
    return {"created": seeds.plant(work.table, work.now)}


@answering()
def sweep(work: Work) -> views.Json:
    """Take the deals that have ended by now out of the feeds."""
    swept = 0
    while (just_swept := endings.sweep(work.table, work.now, most=BATCH)) == BATCH:
        swept += just_swept
    return {"swept": swept + just_swept}


def _show(faults: Sequence[views.Json]) -> None:
    if not faults:
        say("The table holds what it should.")
        return
    rows = []
    for each in faults:
        item, mended = f"{each['PK']} / {each['SK']}", "mended" if each["mended"] else ""
        rows.append((each["rule"], item, _text(each["says"]), _text(each["shouldSay"]), mended))
    show_rows(("Rule", "Item", "Says", "Should say", ""), rows)


def _text(attributes: views.Json | None) -> str:
    if attributes is None:
        return "not there"
    return ", ".join(f"{name} {value}" for name, value in attributes.items()) or "nothing of that"


Mend = Annotated[bool, typer.Option("--mend", help="Write what other items say, where that is still the difference.")]


@answering(_show)
def check(work: Work, mend: Mend = False) -> list[views.Json]:
    """Hold counts, indexes, words, offers, accounts and stock against the items that they follow from. Reads the whole
    table, twice where it finds something."""
    with progress("Checking", work.table.roughly() or None) as advance:
        faults = checking.check(work.table, work.now, advance)
    unreadable = any(fault.rule == checking.DAMAGE for fault in faults)
    mended = [mend and not unreadable and checking.mend(work.table, fault) for fault in faults]
    if not all(mended):
        why = "Nothing was mended: repair the damaged items first, as others are counted by what they say."
        work.failed = why if mend and unreadable else ""
    return [_told(*each) for each in zip(faults, mended, strict=True)]


def _told(fault: Fault, mended: bool) -> views.Json:
    def says(item: views.Json | None) -> views.Json | None:
        return None if item is None else {name: item[name] for name in fault.attributes if name in item}

    return {"rule": fault.rule, **fault.key, "says": says(fault.found), "shouldSay": says(fault.due), "mended": mended}
