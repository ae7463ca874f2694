"""``btd restore-drill``: steps 1 to 6 of the runbook's restore, practised on a copy of the table.

The table itself is only read. Nothing reads the copy's stream, so deals that the drill posts and changes there are in
the same state as deals whose records were still in the stream at the restored moment.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from cli.commands import AsJson, open_table
from cli.output import note, say, show_json, show_rows
from features.operations import unannounced
from features.upkeep.checking import check_all, mend_all
from features.upkeep.repairs import repairing
from features.upkeep.runs import Number
from shared.data.catalog import deals, feeds, search, words
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.errors import DealsError
from shared.models.catalog import ALL_DEALS, Deal
from shared.values import identifiers, times
from shared.values.naming import counted

ROUNDS = 5
"""The most repairs of a copy, each after a check. One is enough if nothing else writes to it."""

POLL = 2.0
"""Seconds between two looks at whether the copy is there."""


class NotWhole(DealsError):
    """The copy still has faults after the repairs."""


@dataclass(slots=True)
class Drill:
    """The copy, and what each step took and found."""

    source: Table
    copy: Table
    segments: int
    rows: list[tuple[str, float, str]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[list[str]]:
        """Time a step. The caller adds its findings to the list."""
        found: list[str] = []
        began = time.monotonic()
        note(f"{name} …")
        yield found
        self.rows.append((name, (time.monotonic() - began) / 60, "; ".join(found)))

    def restore(self) -> datetime:
        """Restore to the latest possible moment; returns it."""
        client = self.source.client
        backups = client.describe_continuous_backups(TableName=self.source.name)["ContinuousBackupsDescription"]
        recovery = backups.get("PointInTimeRecoveryDescription", {})
        if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
            raise DealsError(f"{self.source.name} has no point-in-time recovery, so there is nothing to restore from.")
        now = times.now()
        latest: Any = recovery.get("LatestRestorableDateTime")  # seconds: our client converts nothing
        moment = now if latest is None else min(now, datetime.fromtimestamp(latest, UTC))
        client.restore_table_to_point_in_time(
            SourceTableName=self.source.name, TargetTableName=self.copy.name, RestoreDateTime=moment
        )
        while client.describe_table(TableName=self.copy.name)["Table"]["TableStatus"] != "ACTIVE":
            time.sleep(POLL)
        return moment

    def add_what_is_left_out(self) -> None:
        """Add stream, TTL, point-in-time recovery and deletion protection."""
        client, name = self.copy.client, self.copy.name
        client.update_table(
            TableName=name, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        )
        client.update_time_to_live(
            TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
        )
        client.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        client.update_table(TableName=name, DeletionProtectionEnabled=True)

    def fall_behind(self, number: int, now: datetime) -> int:
        """Post some deals and change as many others, which no reader of the stream follows; returns their number."""
        some = feeds.read(self.copy, ALL_DEALS, limit=min(number, 100), now=now).items
        if not some:
            return 0
        new = [_again(some[each % len(some)], now, each) for each in range(number)]
        deals.create_many(self.copy, new, now)
        for deal in some:
            deals.edit(self.copy, deal.deal_id, {"title": f"{deal.title} (drill)"}, now)
        return len(new) + len(some)

    def mend(self, now: datetime) -> tuple[int, int]:
        """Check and repair the copy until nothing is found; returns how many differences were repaired, and in how
        many rounds. Raises NotWhole."""
        total = 0
        for number in range(ROUNDS):
            with repairing(self.copy, str(number), now) as held:
                faults = check_all(self.copy, now, self.segments)
                if not faults:
                    return total, number
                mended, interrupted = mend_all(self.copy, [fault for fault in faults if fault.derived], held)
            if interrupted:
                raise KeyboardInterrupt("The copy is deleted. Run the command again.")
            total += len(mended)
            if not mended:
                raise NotWhole(f"{counted(len(faults), 'difference')} can't be repaired, such as {faults[0].key}.")
        raise NotWhole(f"The copy still has differences after {ROUNDS} repairs.")

    def read(self, now: datetime) -> str:
        """Read the copy as pages do: the newest deals, and a search for the newest one. Raises NotWhole."""
        newest = feeds.read(self.copy, ALL_DEALS, limit=24, now=now).items
        if not newest:
            return "no active deals"
        found = search.find(self.copy, words.asked(newest[0].title), limit=100).deal_ids
        if newest[0].deal_id not in found:
            raise NotWhole(f"A search doesn't find deal {newest[0].number}.")
        return f"{counted(len(newest), 'newest deal')}, and a search that finds the first"

    def lost(self) -> Counter[str]:
        """By type, the number of the table's items that the copy lacks: those written after the restored moment."""
        there = {(item["PK"], item["SK"]) for item in _everything(self.copy, self.segments, projection=KEYS_ONLY)}
        return Counter(
            str(item.get("Type"))
            for item in _everything(self.source, self.segments)
            if (item["PK"], item["SK"]) not in there and TTL_ATTRIBUTE not in item
        )

    def delete(self) -> None:
        """Delete the copy, if it is there."""
        client = self.copy.client
        with _missing_is_fine(client):
            client.update_table(TableName=self.copy.name, DeletionProtectionEnabled=False)
            client.delete_table(TableName=self.copy.name)


@contextmanager
def _missing_is_fine(client: Any) -> Iterator[None]:
    try:
        yield
    except client.exceptions.ResourceNotFoundException:
        return


def _everything(table: Table, segments: int, **how: Any) -> list[Any]:
    def read(segment: int) -> list[Any]:
        found: list[Any] = []
        start: Mapping[str, Any] | None = {}
        while start is not None:
            items, start = table.scan(segment=segment, segments=segments, start=start, **how)
            found += items
        return found

    parts = table.gather([lambda number=number: read(number) for number in range(segments)])  # type: ignore[misc]
    return [item for part in parts for item in part]


def _again(deal: Deal, now: datetime, number: int) -> Deal:
    """A new deal with the fields of an existing one."""
    created = now - timedelta(seconds=number)
    none = ("number", "source_id", "ended_from", "verdict", "price_before")
    fresh: Mapping[str, Any] = {**dict.fromkeys(none), "version": 1}
    return replace(
        deal,
        deal_id=identifiers.random(created, number.to_bytes(16, "big")),
        title=f"{deal.title} {number}",
        created_at=created,
        **fresh,
    )


def restore_drill(
    behind: Annotated[int, typer.Option(min=0, max=5000, help="Deals whose stream records the restore loses.")] = 200,
    segments: Number = 4,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the copy, whose name is printed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Practise restoring the table, on a copy, and print the minutes of each step, and what would be lost. The table
    is only read. In AWS, a restore costs what docs/cost.md says for each GB."""
    source = open_table()
    if not yes:
        typer.confirm(f"Restore {source.name} to a new table and work on that?", abort=True, err=True)
    name = f"{source.name[:200]}-drill-{times.now():%Y%m%d%H%M%S}"
    drill = Drill(source, replace(source, name=name), segments)
    try:
        result = _do(drill, behind)
    finally:
        if keep:
            note(f"The copy is {name}.")
        else:
            drill.delete()
    if as_json:
        show_json({"result": result})
        return
    show_rows(("Step", "Minutes", "Result"), [(step, f"{minutes:.1f}", found) for step, minutes, found in drill.rows])
    say(f"Recovery time (RTO): {result['rtoMinutes']:.1f} minutes, without closing, deploying and opening the site.")
    say(f"Lost (RPO): writes of {result['rpoSeconds']:.0f} seconds{result['lost']}.")
    say(f"{counted(result['unannounced'], 'deal')} whose news nobody gets: btd unannounced listed them before step 4.")


def _do(drill: Drill, behind: int) -> dict[str, Any]:
    """Run the steps; returns the items lost and the minutes taken."""
    with drill.step("1. Close the site") as found:
        closed = times.now()
        found.append("not done in a drill")
    with drill.step("2. Restore") as found:
        moment = drill.restore()
        found.append(f"to {times.to_iso(moment)}")
    began = time.monotonic()
    late = drill.fall_behind(behind, closed)
    aside = time.monotonic() - began
    with drill.step("3. Add what a restore leaves out") as found:
        drill.add_what_is_left_out()
        found.append("stream, TTL, point-in-time recovery, deletion protection")
    now = times.now()
    with drill.step("4. Check it") as found:
        unheard = unannounced.find(drill.copy, now, drill.segments)
        mended, rounds = drill.mend(now)
        found.append(f"{counted(late, 'change')} not followed by the stream")
        found.append(f"{counted(mended, 'difference')} repaired, in {counted(rounds, 'round')}")
    with drill.step("5. Point at it") as found:
        found.append(drill.read(now))
    with drill.step("6. Open the site") as found:
        swept = feeds.sweep(drill.copy, now, most=500)
        left = check_all(drill.copy, times.now(), drill.segments)
        if left:
            raise NotWhole(f"{counted(len(left), 'difference')} at the end, such as {left[0].rule}: {left[0].key}.")
        found.append(f"{swept} swept; the check finds nothing")
    lost = drill.lost()
    return {
        "steps": [{"step": step, "minutes": minutes, "found": found} for step, minutes, found in drill.rows],
        "rtoMinutes": sum(minutes for _, minutes, _ in drill.rows),
        "asideMinutes": aside / 60,
        "rpoSeconds": max(0.0, (closed - moment).total_seconds()),
        "lost": "".join(f", {number} {kind}" for kind, number in sorted(lost.items())),
        "unannounced": len(unheard),
    }
