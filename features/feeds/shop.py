"""What an import knows about a shop's file: the source of its ids, the shop's address, currency and categories."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from features.feeds.rules import LeftOut
from features.feeds.texts import plain
from shared.errors import Invalid
from shared.models.catalog import CATEGORIES
from shared.values import links

LEAVE_OUT = "leave out"
"""What a map says of a category that isn't imported."""

MOST_PARTS = 16
"""Parts of a category's path; Google's taxonomy has seven at most."""

_NAMES = {name.lower(): slug for slug, name in CATEGORIES.items()} | {slug: slug for slug in CATEGORIES}


@dataclass(frozen=True, slots=True)
class Shop:
    """``source`` prefixes the ids of the file's deals; ``address`` is the shop's, for files without addresses;
    ``currency`` is that of amounts without one; ``categories`` maps the file's to ours, and ``default`` is that of
    records whose category has no other."""

    source: str = ""
    address: str = ""
    currency: str = ""
    categories: Mapping[str, str] = field(default_factory=dict)
    default: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    """The number of records of each unmapped category; without a name, of those without a category."""

    def category(self, *names: str) -> str:
        """The category of the first name that is mapped, or that contains one of ours.

        Raises LeftOut, and ValueError if there is none, and counts that name.
        """
        given = [plain(name) for name in names if name.strip()]
        for name in given or [""]:
            path = _path(name)
            known = (self.categories.get(" > ".join(path[:length])) for length in range(len(path), 0, -1))
            own = (_NAMES[part] for part in reversed(path) if part in _NAMES)
            if slug := next(filter(None, known), None) or next(own, None):
                if slug == LEAVE_OUT:
                    raise LeftOut("its category is left out")
                return slug
        if self.default:
            return self.default
        self.unknown[given[0] if given else ""] += 1
        if not given:
            raise ValueError("must be given (--category)")
        raise ValueError(f"{given[0][:60]!r} is not mapped to one of ours (--categories)")

    def identity(self, own: str, link: str) -> str:
        """A record's ``sourceId``: its own id after its source's name, or else its shop's."""
        return f"{self.source or links.host(link)}:{own.strip()}"


def categories(path: Path) -> dict[str, str]:
    """Read a map of categories from TOML. Raises Invalid, which says what is wrong."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid(f"{path} is not a map of categories in TOML: {error}.") from error
    wrong = [name for name, slug in read.items() if slug not in ("", LEAVE_OUT, *CATEGORIES)]
    if wrong:
        raise Invalid(f"{path}: {wrong[0]!r} must be one of {', '.join(CATEGORIES)}, {LEAVE_OUT!r}, or empty.")
    return {" > ".join(_path(name)): slug for name, slug in read.items() if slug}


def template(unknown: Counter[str]) -> str:
    """A map to fill in, as TOML: each unmapped category, with its number of records."""
    lines = [f'{json.dumps(name, ensure_ascii=False)} = ""  # {count}' for name, count in unknown.most_common()]
    choice = f"# Write one of these between the quotes: {', '.join(CATEGORIES)}, {LEAVE_OUT}."
    return "\n".join([choice, *lines, ""])


def _path(category: str) -> list[str]:
    """A category's parts in lower case, the widest first: Google writes ``Apparel > Shoes``. Of many, the first."""
    parts = [part.strip().lower() for part in re.split(r"[>/|;]", category) if part.strip()]
    return parts[:MOST_PARTS] or [""]
