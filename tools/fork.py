"""A copy of this project without some of its features: ``make fork WITHOUT="NAME NAME" TO=../mine``.

It is a copy of the tracked files less the folders of those features, and of those that need them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from shared.features import INSTALLED

ROOT = Path(__file__).resolve().parent.parent


class Impossible(Exception):
    """The copy can't be made, for the reason that the message gives."""


def removed(names: Iterable[str]) -> list[str]:
    """Some features, and those that can't do without them. Raises Impossible for an unknown one, or for none."""
    gone = set(names)
    if unknown := sorted(gone - INSTALLED.keys()):
        raise Impossible(f"There is no feature {', '.join(unknown)}. There are: {', '.join(INSTALLED)}.")
    if not gone:
        raise Impossible(f"Say what the copy is to be without: {', '.join(INSTALLED)}.")
    while more := {each for each in INSTALLED if gone & {*import_module(f"features.{each}").NEEDS}} - gone:
        gone |= more
    return sorted(gone)


def fork(names: Iterable[str], to: Path) -> list[str]:
    """Write the copy into a new folder outside the project; returns what it is without. Raises Impossible."""
    gone = removed(names)
    if to.resolve().is_relative_to(ROOT):
        raise Impossible(f"{to} is inside the project: name a folder outside of {ROOT}.")
    if to.exists():
        raise Impossible(f"{to} is there already: name a new folder.")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=False, capture_output=True, text=True)
    if listed.returncode:
        raise Impossible("This folder is no git repository, which would say which of its files are the project's.")
    folders = tuple(f"features/{each}/" for each in gone)
    for path in listed.stdout.splitlines():
        if not path.startswith(folders) and (ROOT / path).is_file():
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, to / path)
    subprocess.run(["git", "init", "--quiet"], cwd=to, check=True)  # tests ask it which files there are
    environment = {**os.environ, "PYTHONPATH": str(to)}
    if subprocess.run([sys.executable, "-m", "tools.generated"], cwd=to, env=environment, check=False).returncode:
        raise Impossible(f"The files that are made from others can't be written again in {to}: see above.")
    return gone


def main(to: str = "", *names: str) -> int:
    """Write the copy, and say what to do next. Returns an exit code."""
    if not to:
        print('Say where the copy goes: make fork WITHOUT="NAME" TO=../mine', file=sys.stderr)
        return 2
    try:
        gone = fork(" ".join(names).replace(",", " ").split(), Path(to).expanduser())
    except Impossible as reason:
        print(reason, file=sys.stderr)
        return 2
    print(f"{to} is this project without {', '.join(gone)}. Next: cd {to} && make test")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
