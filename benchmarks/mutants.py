"""The mutants that ``make mutants`` made of the data layer, and how many of them a test killed, by module."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from benchmarks.harness import markdown, record

ROOT = Path("mutants")
KILLED = {1, 3, 24, -24, 36, 152, 255}
"""mutmut's codes of a mutant that a test failed on, or that took far too long."""


def main() -> None:
    """Write the table of docs/benchmarks.md, and list what survived. An interrupted run goes on where it was."""
    rows: list[tuple[str, Counter[str]]] = []
    for file in sorted(ROOT.glob("**/*.py.meta")):
        codes = json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
        rows.append((str(file.relative_to(ROOT)).removesuffix(".meta"), Counter(map(_outcome, codes.values()))))
        print(*(name for name, code in codes.items() if _outcome(code) == "survived"), sep="\n")
    total: Counter[str] = sum((outcomes for _, outcomes in rows), Counter())
    table = []
    for name, outcomes in [*rows, ("all", total)]:
        tried = outcomes["killed"] + outcomes["survived"]
        share = f"{outcomes['killed'] / tried:.1%}" if tried else ""
        table.append([name, str(outcomes.total()), str(tried), str(outcomes["killed"]), share])
    record("mutants", markdown(["Module", "Mutants", "Tried", "Killed", "Share"], table))


def _outcome(code: int | None) -> str:
    return "untried" if code is None else "killed" if code in KILLED else "survived"


if __name__ == "__main__":
    main()
