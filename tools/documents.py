"""The project's documents: which there are, the rows of access patterns in them, and the claims about AWS.

A feature's document is the ``README.md`` of its folder. It may hold a table of access patterns with the columns of
docs/patterns.md, and claims as docs/ledger.md has them, each under a heading of the third level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FEATURES = ROOT / "features"
PATTERNS = DOCS / "patterns.md"
LEDGER = DOCS / "ledger.md"

PATTERN = re.compile(r"^\| (\d+) \|.*$", re.MULTILINE)
"""A row of a table of access patterns."""

_BLOCK = re.compile(r"^(````.*?^````|```.*?^```)$", re.MULTILINE | re.DOTALL)

CLAIM = re.compile(
    r"^###? (?P<id>[a-z-]+)\n\n(?P<says>.+)\n\n- (?P<state>bet|seen|documented): (?P<pages>.+)\n"
    r"- what rests on it: `(?P<rests>.+)`\n- proof: `(?P<proof>.+)`$",
    re.MULTILINE,
)
"""A claim: its name, a sentence, its state with the pages that say it, the file that relies on it, and its proof."""


def of_features() -> dict[str, Path]:
    """The features' documents, by the names of their folders."""
    return {file.parent.name: file for file in sorted(FEATURES.glob("*/README.md"))}


def all_documents() -> list[Path]:
    """Every document: those beside README.md, in docs/, and of the features."""
    return [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md")), *of_features().values()]


def outside_blocks(change: Callable[[str], str], text: str) -> str:
    """Change a document's text outside of its blocks of code."""
    return "".join(part if part.startswith("```") else change(part) for part in _BLOCK.split(text))


def pattern_rows() -> dict[int, str]:
    """The rows of all access patterns by their numbers, the core's and the features', as their documents have them."""
    rows = (row for file in (PATTERNS, *of_features().values()) for row in PATTERN.finditer(_text(file)))
    return dict(sorted((int(row[1]), row[0]) for row in rows))


def claims() -> Iterator[re.Match[str]]:
    """The claims about AWS: the ledger's, then the features'."""
    for file in (LEDGER, *of_features().values()):
        yield from CLAIM.finditer(_text(file))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
