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


def removed(names: Iterable[str]) -> list[str]:
    """Some features, and those that can't do without them. Ends the program for an unknown one, or for none."""
    gone = set(names)
    if not gone or gone - INSTALLED.keys():
        sys.exit(f"WITHOUT={' '.join(sorted(gone))!r} must name features. There are: {', '.join(INSTALLED)}.")
    while more := {each for each in INSTALLED if gone & {*import_module(f"features.{each}").NEEDS}} - gone:
        gone |= more
    return sorted(gone)


def fork(names: Iterable[str], to: Path) -> list[str]:
    """Write the copy into a new folder outside the project; returns what it is without. Else ends the program."""
    gone = removed(names)
    if to.exists() or to.resolve().is_relative_to(ROOT):
        sys.exit(f"{to} can't be the copy's folder: name a new one, outside of {ROOT}.")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if listed.returncode:
        sys.exit(f"{ROOT} is no git repository, which would say which of its files are the project's.")
    folders = tuple(f"features/{each}/" for each in gone)
    for path in listed.stdout.splitlines():
        if not path.startswith(folders) and (ROOT / path).is_file():
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, to / path)
    subprocess.run(["git", "init", "--quiet"], cwd=to, check=True)  # tests ask it which files there are
    environment = {**os.environ, "PYTHONPATH": str(to)}
    if subprocess.run([sys.executable, "-m", "tools.generated"], cwd=to, env=environment, check=False).returncode:
        sys.exit(f"The files that are made from others can't be written again in {to}: see above.")
    return gone


def main(to: str = "", *names: str) -> None:
    """Write the copy, and say what to do next."""
    if not to:
        sys.exit('Say where the copy goes: make fork WITHOUT="NAME" TO=../mine')
    gone = fork(" ".join(names).replace(",", " ").split(), Path(to).expanduser())
    print(f"{to} is this project without {', '.join(gone)}. Next: cd {to} && make test")


if __name__ == "__main__":
    main(*sys.argv[1:])
