"""``btd seed``, ``sweep``, ``check``, ``backfill``, ``index`` and ``query``: the whole table.

A deployed system seeds and sweeps by itself. A backfill writes what this release expects of existing items. Work on all
items is a parallel scan, page by page in each segment.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from cli import output
from cli.commands import Work, answering, open_table
from cli.output import note, progress, say, show_rows, summary
from shared.data import invariants, keys
from shared.data.catalog import derived, feeds, offers, settling, topics
from shared.data.catalog.deals import from_item, has_ended, is_listed, ours, to_item_listed
from shared.data.invariants import Fault
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, SORT_KEY, Key
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import ABSENT, Write, change, delete_as, forget, put, put_over
from shared.errors import DealsError
from shared.values import links, times
from shared.values.naming import counted
from shared.values.times import to_iso

ROOT = Path(__file__).parents[1]

PAGE = 200

Number = Annotated[int, typer.Option(min=1, max=64, help="The number of table segments read in parallel.")]


class Step(NamedTuple):
    """One page of a segment: how many items were examined, and how many were rewritten."""

    seen: int
    rewritten: int


@cache
def release() -> str:
    """The project's version, and a hash of the code that decides what is written."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    sources = sorted(path for folder in ("cli", "shared", "features") for path in (ROOT / folder).rglob("*.py"))
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    return f"{version} ({code.hexdigest()[:12]})"


@dataclass(frozen=True, slots=True)
class Run:
    """Work on all items, which is remembered under a name, page by page in each segment of the table.

    ``began`` is when it began. An interrupted run is continued by the same code only: what an earlier release has done
    isn't what this one would do.
    """

    name: str
    segments: int
    began: datetime

    def remembered(self, table: Table) -> list[Item]:
        """The positions of interrupted runs, also of other releases."""
        return table.get_many([self._place(number) for number in range(self.segments)], consistent=True)

    def forget(self, table: Table) -> None:
        """Begin at the start."""
        for number in range(self.segments):
            table.write(forget(self._place(number), because="one run at a time works on a segment"))

    def scan(self, table: Table, segment: int, work: Callable[[list[Item]], int]) -> Iterator[Step]:
        """Process one segment, from where the last run stopped; ``work`` returns how much it did."""
        place = self._place(segment)
        last = table.get(place, consistent=True) or {}
        same = is_of_this_release(last)
        start: Mapping[str, Any] | None = json.loads(last["Start"]) if same else None
        began = last["BeganAt"] if same else to_iso(self.began)
        while True:
            items, start = table.scan(segment=segment, segments=self.segments, start=start, limit=PAGE)
            yield Step(len(items), work(items))
            if start is None:
                table.write(forget(place, because="the segment is done; another run starts over"))
                return
            position = {"Start": json.dumps(start), "Release": release(), "BeganAt": began}
            reached = {**place, "Type": keys.BACKFILL, **position}
            table.write(put(reached, because="one run at a time works on a segment"))

    def _place(self, segment: int) -> Key:
        return keys.backfill(self.name, segment, self.segments)


def is_of_this_release(position: Item) -> bool:
    """Whether an interrupted run's position is one that this code continues from."""
    return bool(position.get("Release") == release() and position.get("BeganAt"))


FromStart = Annotated[bool, typer.Option("--from-start", help="Begin at the start, and not where a run stopped.")]


def run_all(
    doing: str,
    name: str,
    segments: int,
    steps: Callable[[Table, Run, int], Iterator[Step]],
    *,
    done: Callable[[int], str],
    from_start: bool,
) -> None:
    """Process all segments of the open table, with a progress bar, a sum, and a note on interruption.

    ``steps`` gives a segment's steps. ``done`` puts a number of rewritten items into words. Raises NoTable,
    Unavailable, KeyboardInterrupt.
    """
    table = open_table()
    trace = Trace(detailed=False).attach(table)
    run = Run(name, segments, times.now())
    if from_start:
        run.forget(table)
    for sentence in continued(run.remembered(table), segments):
        say(sentence)
    (seen, rewritten), interrupted = run_steps(doing, table, segments, lambda number: steps(table, run, number))
    say(f"{counted(seen, 'item')} looked at, {done(rewritten)}")
    say(summary(trace))
    if interrupted:
        raise KeyboardInterrupt("Run the command again, with as many segments, to continue.")


def continued(positions: Sequence[Item], segments: int) -> Iterator[str]:
    """Sentences about the interrupted runs whose positions are known."""
    own = [each for each in positions if is_of_this_release(each)]
    if own:
        began = min(each["BeganAt"] for each in own)
        yield (
            f"Continues the run that began at {began}, in {len(own)} of {counted(segments, 'segment')}. "
            "--from-start begins at the start."
        )
    for name in sorted({str(each.get("Release", "an earlier release")) for each in positions if each not in own}):
        yield f"A run of {name} was interrupted. It isn't continued: this one begins at the start."


def run_steps(
    doing: str,
    table: Table,
    segments: int,
    steps: Callable[[int], Iterator[Step]],
    *,
    begun: int = 0,
    total: int | None = None,
) -> tuple[Step, bool]:
    """Process each segment in its own thread; returns the steps' sum, and whether the user interrupted.

    ``begun`` is how many items were done before, of ``total`` or else of those in the table. Raises Unavailable.
    """
    stop = threading.Event()
    parts: list[Future[list[Step]]] = []
    interrupted = False
    with progress(doing, total or table.roughly() or None) as advance:
        advance(begun)

        def work(number: int) -> list[Step]:
            done = []
            for step in steps(number):
                done.append(step)
                advance(step.seen)
                if stop.is_set():
                    break
            return done

        with ThreadPoolExecutor(segments) as pool:
            try:
                parts.extend(pool.submit(work, number) for number in range(segments))
                wait(parts, return_when=FIRST_EXCEPTION)
            except KeyboardInterrupt:
                interrupted = True
            stop.set()  # running work ends after its page, whose end is stored
    done = [step for part in parts for step in part.result()]
    return Step(sum(step.seen for step in done), sum(step.rewritten for step in done)), interrupted


BATCH = 500
"""Ended deals that one sweep examines."""


@answering()
def seed(work: Work) -> output.Json:
    """Create the eight categories and the container items that are missing."""
    return {"created": topics.plant_seeds(work.table, work.now)}


@answering()
def sweep(work: Work) -> output.Json:
    """Remove ended deals from the feeds."""
    swept = 0
    while (just_swept := feeds.sweep(work.table, work.now, most=BATCH)) == BATCH:
        swept += just_swept
    return {"swept": swept + just_swept}


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
    with invariants.repairing(work.table, secrets.token_hex(8), work.now) if mend else nullcontext() as held:
        faults = check_all(work.table, work.now, segments)
        unknown = invariants.unknown(faults)
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
        found = invariants.Survey(now)

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
    if changed := invariants.changing(first, again):
        note(f"{counted(changed, 'item')} changed while the table was read. Run the command again to check them.")
    return invariants.lasting(first, again)


def mend_all(table: Table, faults: Sequence[Fault], held: Write) -> tuple[list[Fault], bool]:
    """Repair differences; returns those repaired, and whether the user interrupted. Raises Overtaken."""
    mended: list[Fault] = []
    for groups, menders in zip(invariants.groups(faults), (1, MENDERS, MENDERS), strict=True):

        def steps(number: int, groups: list[list[Fault]] = groups, menders: int = menders) -> Iterator[Step]:
            for group in groups[number::menders]:
                if invariants.mend_group(table, group, held):
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
        return offers.settle(table, deal, held, has_ended=has_ended(of_deal)) or is_elsewhere

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


_INDEXES = {index.name: index for index in INDEXES}
_SECRET = {"PasswordHash"}


def _rows(items: list[output.Json]) -> None:
    show_rows(
        [PARTITION_KEY, SORT_KEY, "Type", "Attributes"],
        ((item[PARTITION_KEY], item[SORT_KEY], item.get("Type", ""), _attributes(item)) for item in items),
    )


def _attributes(item: output.Json) -> str:
    return ", ".join(f"{name} {item[name]}" for name in sorted(item) if name not in {*KEYS, "Type"})


@answering(_rows)
def query(
    work: Work,
    partition: Annotated[str, typer.Argument(help="The whole partition key.")],
    index: Annotated[str | None, typer.Option(help=f"An index instead of the table: {', '.join(_INDEXES)}.")] = None,
    begins_with: Annotated[str | None, typer.Option(help="The prefix of the sort keys.")] = None,
    backward: Annotated[bool, typer.Option(help="From the last sort key to the first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The most items to show.")] = 100,
) -> list[output.Json]:
    """Show an item collection, item by item, without password hashes."""
    if index and index not in _INDEXES:
        raise typer.BadParameter(f"There is no index {index!r}.")
    of = _INDEXES[index] if index else None
    if begins_with and of is not None and of.sort_key is None:
        raise typer.BadParameter(f"{of.name} has no sort key.")
    found = work.table.query(partition, index=of, prefix=begins_with, newest_first=backward, limit=limit)
    return [{name: value for name, value in item.items() if name not in _SECRET} for item in found]
