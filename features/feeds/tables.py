"""Tables of text: rows of columns between separators, as spreadsheets and shops write them.

A quotation mark that nothing closes must not swallow the rows behind it: a value may have several lines only if its row
then has all of its columns.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from features.feeds.source import MAX_RECORD, Lines

SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}

MOST_OPEN = 100
"""Rows with an open quotation mark after which a file isn't read any further: each is looked for its end."""

MOST_TRIES = 50
"""Lines that may close what a row opens."""

csv.field_size_limit(2 * MAX_RECORD)


class Row(NamedTuple):
    """A row: its number as a spreadsheet counts, its values, and what is wrong with it as a whole."""

    number: int
    values: list[str]
    fault: str = ""


class Rows:
    """The rows of a table below its head. ``ends`` says whether the last line read has its end."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._back: deque[str] = deque()
        self._open = self._number = 0
        self.separator = ","
        self.names: list[str] = []
        self.ends = True

    def first(self) -> str:
        """The head's first line. Templates begin with comments, and Excel's files with ``sep=;``."""
        while line := self._line():
            self._number += 1
            if line.strip() and not line.lstrip('"').startswith("#") and not line.lower().startswith("sep="):
                return line
        return ""

    def named(self, line: str, separator: str) -> list[str]:
        """The names of the columns, if that is the separator of the head's first line."""
        return self._values([line], separator) or line.rstrip("\r\n").split(separator)

    def begin(self, line: str, separator: str) -> None:
        """Read the head whole: its names may have several lines."""
        self.separator = separator
        lines, found = [line], self._values([line], separator)
        while found is None and len(lines) < 50 and (more := self._line()):
            lines.append(more)
            found = self._values(lines, separator)
        self.names = found or self.named(line, separator)

    def __iter__(self) -> Iterator[Row]:
        while line := self._line():
            self._number += 1
            if line.strip():
                yield Row(self._number, *self._row(line))

    def _row(self, line: str) -> tuple[list[str], str]:
        """The values of the row that begins with a line, and its fault."""
        if '"' not in line:
            return self._split(line), ""
        values = self._values([line], self.separator) or self._of_several(line)
        if values is not None:
            return values, ""
        (loose,) = csv.reader([line], delimiter=self.separator)
        if len(loose) == len(self.names) and not any("\n" in value for value in loose):
            return loose, ""  # the mark is within a value, such as that of an inch
        self._open += 1
        if self._open > MOST_OPEN:
            raise csv.Error(f"more than {MOST_OPEN} rows have a quotation mark that nothing closes")
        return self._split(line), "a quotation mark opens, and nothing closes it"

    def _of_several(self, line: str) -> list[str] | None:
        """The values of a row of several lines, or None if no lines close what the first one opens."""
        lines, tries, size = [line], 0, len(line)
        while size <= MAX_RECORD and tries < MOST_TRIES and (more := self._line()):
            lines.append(more)
            size += len(more)
            if '"' in more:
                tries += 1
                values = self._values(lines, self.separator)
                if values and len(values) == len(self.names):
                    return values
                if values:
                    break
        self._back.extendleft(reversed(lines[1:]))
        self.ends = True
        return None

    def _values(self, lines: Sequence[str], separator: str) -> list[str] | None:
        """The values of the one row that some lines are; None if they are none, or several."""
        try:
            rows = list(csv.reader(lines, delimiter=separator, strict=True))
        except csv.Error:
            return None
        return rows[0] if len(rows) == 1 else None

    def _split(self, line: str) -> list[str]:
        return line.rstrip("\r\n").split(self.separator)

    def _line(self) -> str:
        line = self._back.popleft() if self._back else next(self._lines, "")
        if line:
            self.ends = line.endswith(("\n", "\r"))
        return line
