"""A name of one's own for this checkout: ``make adopt NAME="Corner Bargains"``.

The name is in the titles of pages, mail and the API, in the names of stacks, alarms and metrics, and in the site's
address on the laptop. It is replaced in all tracked files but the licence and the change log, which are about this
project. Afterwards the new name is the one that this module replaces, so a name of several words can be changed again.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

NAME = "Big Time Deals"
"""The name of this checkout."""

LONGEST = 20
"""Characters of a name: it is in a page's head on a phone, and in lines of code."""

KEPT = ("CHANGELOG.md", "LICENSE")

SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda name: name,
    lambda name: "".join(word[0].upper() + word[1:] for word in name.split()),
    lambda name: name.lower().replace(" ", "-"),
    lambda name: name.lower().replace(" ", ""),
)
"""How a name is written: for people; for stacks and metrics; for packages and tables; for hosts and databases."""


class Impossible(Exception):
    """The name can't be taken, for the reason that the message gives."""


def check(name: str) -> None:
    """Raise Impossible for a name that can't be a stack's, a host's or a page's."""
    if not name:
        raise Impossible('Say which name: make adopt NAME="Corner Bargains"')
    if not re.fullmatch("[A-Z][A-Za-z0-9]*( [A-Za-z0-9]+)*", name) or len(name) > LONGEST:
        raise Impossible(
            f"{name!r} can't be the name: it needs a capital first, then letters (A to Z), digits and single spaces, "
            f"at most {LONGEST} in all."
        )
    if name == NAME:
        raise Impossible(f"This checkout is {name} already.")
    if " " not in NAME:
        raise Impossible(f"{NAME} may be a word of other texts, too: take back the commit that brought it first.")


def renamed(text: str, name: str) -> str:
    """A text with another name in each of its spellings."""
    new = {spell(NAME): spell(name) for spell in SPELLINGS}
    return re.sub("|".join(map(re.escape, new)), lambda found: new[found[0]], text)


def adopt(name: str, root: Path = ROOT) -> list[str]:
    """Write the name into a checkout; returns the paths that have changed. Raises Impossible before it writes any."""
    check(name)
    if _git(root, "status", "--porcelain"):
        raise Impossible(
            "This checkout has changes that aren't committed: commit them first, to see what this changes."
        )
    changed = []
    for path in filter(None, _git(root, "ls-files", "-z").split("\0")):
        file = root / path
        if not file.is_file():  # a link to a folder
            continue
        try:
            text = file.read_bytes().decode()
        except UnicodeDecodeError:  # a picture
            continue
        if path not in KEPT and (new := renamed(text, name)) != text:
            file.write_bytes(new.encode())
            changed.append(path)
    return changed


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=False, capture_output=True, text=True)
    if done.returncode:
        raise Impossible("This folder is no git repository, which would say which files are the project's.")
    return done.stdout


def main(name: str = "") -> int:
    """Write the name, and say what to do next. Returns an exit code."""
    try:
        changed = adopt(" ".join(name.split()))
    except Impossible as reason:
        print(reason, file=sys.stderr)
        return 2
    print(f"{len(changed)} files have the name now. Next: make install format, then make test, and commit.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
