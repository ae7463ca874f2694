"""``btd check``: find what differs from the items that it derives from, and repair it."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import Annotated, Any

import typer

from cli import output
from cli.commands import Work, answering
from cli.output import note, say, show_rows
from features.upkeep import repairs
from features.upkeep.runs import Number, Step, run_steps
from features.upkeep.survey import Survey, changing, lasting
from shared.data.invariants import Fault
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write
from shared.values.naming import counted

SHOWN = 40
"""Differences of one rule that are printed; ``--json`` prints all."""

MENDERS = 16
"""Deals whose differences are repaired at a time. Counts are repaired one by one, each in a transaction that requires
the same item; two at a time would get into each other's way."""


def _show(faults: Sequence[output.Json]) -> None:
    if not faults:
        say("The table holds what it should.")
        return
    rows = []
    of_rule = Counter[str]()
    for each in faults:
        of_rule[each["rule"]] += 1
        if of_rule[each["rule"]] <= SHOWN:
            item, mended = f"{each['PK']} / {each['SK']}", "mended" if each["mended"] else ""
            rows.append((each["rule"], item, _text(each["says"]), _text(each["shouldSay"]), mended))
    show_rows(("Rule", "Item", "Says", "Should say", ""), rows)
    for rule, number in of_rule.items():
        if number > SHOWN:
            say(f"{rule}: {number - SHOWN:,} more, which --json prints")


def _text(attributes: output.Json | None) -> str:
    if attributes is None:
        return "not there"
    return ", ".join(f"{name} {value}" for name, value in attributes.items()) or "nothing of that"


Mend = Annotated[bool, typer.Option("--mend", help="Repair the differences that still exist.")]


@answering(_show)
def check(work: Work, mend: Mend = False, segments: Number = 4) -> list[output.Json]:
    """Check counts, indexes, words, offers and accounts against the items that they derive from. It reads the whole
    table, and a second time if it finds a difference. If you interrupt it, repairs made so far stay."""
    with repairs.repairing(work.table, secrets.token_hex(8), work.now) if mend else nullcontext() as held:
        faults = check_all(work.table, work.now, segments)
        unknown = repairs.unknown(faults)
        possible = [fault for fault in faults if fault.derived and fault not in unknown]
        mended, interrupted = mend_all(work.table, possible, held) if held else ([], False)
    if interrupted:
        note("Interrupted. Run the command again to repair the rest.")
    if mend and len(mended) < len(faults):
        work.failed = _why_left(unknown)
    elif faults and not mend:
        work.failed = ""
    done = {id(fault) for fault in mended}
    return [_outcome(fault, id(fault) in done) for fault in faults]


def check_all(table: Table, now: datetime, segments: int) -> list[Fault]:
    """The faults that two parallel scans in a row have found. Raises KeyboardInterrupt."""

    def scanned(doing: str) -> list[Fault]:
        found = Survey(now)

        def pages(number: int) -> Iterator[Step]:
            start: Mapping[str, Any] | None = {}
            while start is not None:
                items, start = table.scan(segment=number, segments=segments, start=start)
                found.add(items)
                yield Step(len(items), 0)

        _, interrupted = run_steps(doing, table, segments, pages)
        if interrupted:
            raise KeyboardInterrupt("Nothing was repaired. Run the command again.")
        return found.faults()

    first = scanned("Checking")
    again = scanned("Checking again") if first else []
    lasts = lasting(first, again)
    if changed := changing(first, again, lasts):
        note(f"{counted(changed, 'item')} changed while the table was read. Run the command again to check them.")
    return lasts


def mend_all(table: Table, faults: Sequence[Fault], held: Write) -> tuple[list[Fault], bool]:
    """Repair differences; returns those repaired, and whether the user interrupted. Raises Overtaken."""
    mended: list[Fault] = []
    for groups, menders in zip(repairs.groups(faults), (1, MENDERS, MENDERS), strict=True):

        def steps(number: int, groups: list[list[Fault]] = groups, menders: int = menders) -> Iterator[Step]:
            for group in groups[number::menders]:
                if repairs.mend_group(table, group, held):
                    mended.extend(group)
                yield Step(len(group), 0)

        total = sum(map(len, groups))
        _, interrupted = run_steps("Repairing", table, menders, steps, total=total) if groups else (None, False)
        if interrupted:
            return mended, True
    return mended, False


def _why_left(unknown: Sequence[Fault]) -> str:
    """The reason why differences are left after a repair; empty where each difference shows its own."""
    if not unknown:
        return ""
    rules = ", ".join(sorted({fault.rule for fault in unknown}))
    return f"Repair the damaged items first: until then it isn't known what these should be: {rules}."


def _outcome(fault: Fault, mended: bool) -> output.Json:
    def says(item: output.Json | None) -> output.Json | None:
        return None if item is None else {name: item[name] for name in fault.attributes if name in item}

    return {"rule": fault.rule, **fault.key, "says": says(fault.found), "shouldSay": says(fault.due), "mended": mended}
