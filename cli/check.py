"""``btd check``: the table held against its invariants, and mended where others of its items tell how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from cli import views
from cli.output import progress, say, show_rows
from cli.work import Work, answering
from shared.data import checking
from shared.data.checking import Fault


def _show(faults: Sequence[views.Json]) -> None:
    if not faults:
        say("The table holds what it should.")
        return
    show_rows(
        ("Rule", "Item", "Says", "Should say", ""),
        [
            (
                each["rule"],
                f"{each['PK']} / {each['SK']}",
                _text(each["says"]),
                _text(each["shouldSay"]),
                "mended" if each["mended"] else "",
            )
            for each in faults
        ],
    )


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
