"""``make interleave``: try all pairs of actions and all crash points, in parts that can be continued.

Each run goes on where the last one stopped, for ``MINUTES``, and tries again what broke; ``AGAIN=yes`` begins anew.
``SWITCHES`` (2) bounds the switches, ``WORKERS`` is the number of processes, ``ONLY`` names actions, separated by
commas. ``REPLAY`` shows one run instead: two actions and a schedule, or an action and a crash, as a break is printed:
``REPLAY="like | leave | 0:1:3"``.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

from tests.interleave import actions
from tests.interleave.exploring import SWITCHES, difference
from tests.interleave.stepping import Crash, Schedule
from tests.interleave.trying import Line, attempt, explorer

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "build" / "interleave.jsonl"
"""What was tried: a line for each pair, with its names, and for each action, with one."""

SHOWN = 600
"""Characters of a difference to print."""


def main() -> int:
    if replay := os.environ.get("REPLAY"):
        show(*(part.strip() for part in replay.split("|")))
        return 0
    switches = int(os.environ.get("SWITCHES") or SWITCHES)
    if os.environ.get("AGAIN"):
        LOG.unlink(missing_ok=True)
    tried = lines()
    whole = [line for line in tried if len(line["names"]) == 1 or line["switches"] >= switches]
    done = {tuple(line["names"]) for line in whole if not line["breaks"]}
    todo = [names for names in wanted() if tuple(names) not in done]
    code = commit()
    ends = time.monotonic() + 60 * float(os.environ.get("MINUTES") or 15)
    LOG.parent.mkdir(exist_ok=True)
    print(f"{len(todo):,} of {len(todo) + len(done):,} pairs and actions are left; {switches} switches", flush=True)
    with LOG.open("a", encoding="utf-8") as log:
        for line in worked(todo, switches, ends):
            log.write(json.dumps({**line, "commit": code}) + "\n")
            log.flush()
            tell(line)
    return summary(switches)


def wanted() -> list[list[str]]:
    """All actions, whose crash points are tried, and all pairs."""
    only = [name.strip() for name in os.environ.get("ONLY", "").split(",") if name.strip()]
    names, pending = list(actions.actions()), actions.pending().keys() | actions.damaged().keys()
    pairs = actions.pairs()
    random.Random(0).shuffle(pairs)  # so that a part of them is a fair sample
    pairs.sort(key=lambda pair: bool(pending & set(pair)))  # they take five times as long
    return [each for each in [*([name] for name in names), *pairs] if not only or set(each) & set(only)]


def worked(todo: list[list[str]], switches: int, ends: float) -> Iterator[Line]:
    """The results, as they come, until time is over."""
    workers = int(os.environ.get("WORKERS") or 2)
    left = iter(todo)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        running: set[Future[Line]] = set()
        while True:
            if time.monotonic() < ends:
                some = itertools.islice(left, 2 * workers - len(running))
                running |= {pool.submit(attempt, names, switches) for names in some}
            if not running:
                return
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (each.result() for each in ended)


def lines() -> list[Line]:
    """What was tried before, the last of each."""
    if not LOG.exists():
        return []
    read = [json.loads(line) for line in LOG.read_text(encoding="utf-8").splitlines()]
    return list({tuple(line["names"]): line for line in read}.values())


def tell(line: Line) -> None:
    """Print what broke, each with what replays it."""
    for what, where in line["breaks"].items():
        print(f'REPLAY="{" | ".join([*line["names"], where])}": {what[:SHOWN]}', flush=True)


def summary(switches: int) -> int:
    """Print the sums of what was tried so far; returns the exit code."""
    known = {tuple(names) for names in wanted()}
    tried = [line for line in lines() if tuple(line["names"]) in known]
    pairs = [line for line in tried if len(line["names"]) == 2]
    crashes = [line for line in tried if len(line["names"]) == 1]
    broken = [line for line in tried if line["breaks"]]
    refused = sum((Counter(line["refused"]) for line in pairs), Counter[str]())
    differs = sum((Counter(line["differs"]) for line in tried), Counter[str]())
    whole = [line for line in pairs if line["switches"] >= switches]
    met = sum(bool(line["runs"]) for line in pairs)
    print(f"{len(whole):,} of {len(known) - len(actions.actions()):,} pairs with {switches} switches")
    print(f"{len(pairs):,} pairs in all, of which {met:,} meet: {sum(line['runs'] for line in pairs):,} schedules")
    print(f"{len(crashes):,} actions: {sum(line['runs'] for line in crashes):,} crash points")
    print(f"{sum(line['seconds'] for line in tried) / 60:.0f} minutes of one process")
    print(f"refused because of the other: {dict(refused.most_common())}")
    print(f"differences that the documents name: {dict(differs)}")
    dearest = max(pairs, key=lambda line: (line["requests"], line["units"]), default=None)
    if dearest:
        print(f"a conflict cost at most {dearest['requests']} requests more ({' | '.join(dearest['names'])}),")
        print(f"and at most {max(line['units'] for line in pairs):g} units more")
    code = commit()
    if stale := sum(line["commit"] != code for line in tried):
        print(f"{stale:,} of these were tried with other code")
    print(f"{len(broken):,} broke" if broken else "nothing broke")
    return 1 if broken else 0


def commit() -> str:
    """The code that is tried."""
    tree = subprocess.run(
        ["git", "ls-files", "-s", "shared", "functions", "cli", "features", "tests/interleave"],
        cwd=ROOT, capture_output=True, check=False, text=True,
    )  # fmt: skip
    return sha256(tree.stdout.encode()).hexdigest()[:12]


def show(*parts: str) -> None:
    """Print the requests of one run, what it left, and what is wrong with that."""
    own = explorer()
    *names, where = parts
    own.begin(*names)
    world = own.world
    if len(names) == 1:
        crash = Crash(int(where[:-1]), after=where.endswith("+"))
        world.alone(own.actions[names[0]], crash=crash)
        print("ended after", [request.name for request in world.actors[0].made])
        outcome = world.outcome(world.alone(own.actions[names[0]], again=True))
        print("again", [request.name for request in world.actors[0].made])
        due = own.only(names[0], 0, own.begin(*names))
    else:
        both = [own.actions[name] for name in names]
        due, _ = world.settled(world.together(both, Schedule(0)))
        schedule = Schedule.read(where.rstrip("b"))
        outcome = world.together(both, schedule, backwards=where.endswith("b"))
        for number, request in world.ledger.made:
            changed = sorted(" / ".join(dict.fromkeys(token[1:])) for token in request.writes if token[0] == "item")
            print(f"{names[number]}: {request.name} {', '.join(changed)}")
    if len(names) == 1:
        world.alone(own.actions[names[0]], crash=crash)
        world.alone(own.actions[names[0]], again=True)
    left, faults = world.settled(outcome)
    print(f"results: {outcome.results}")
    print(f"compared with {'the first order' if len(names) == 2 else 'an undisturbed run'}: {difference(left, due)}")
    for fault in faults:
        print(f"{fault.rule}: {fault.key} {fault.attributes} {fault.found} {fault.due}")


if __name__ == "__main__":
    sys.exit(main())
