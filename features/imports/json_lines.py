"""Read deals from JSON Lines, record by record: the one format that ``btd import`` reads by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from shared.errors import DealsError
from shared.http.requests import parse_object

MAX_LINE = 64 * 1024
"""Bytes of a line: a deal has at most 8 KB, and JSON may take six bytes for a character."""


class WrongFile(DealsError):
    """A file that can't be read, or not to its end; the text gives the reason and a remedy."""


class Record(NamedTuple):
    """A record of a file: its number, the bytes read for it, and its fields, its fault, or why it is skipped. An empty
    line has only the first two. ``source_id`` is set, if known, even with a fault."""

    number: int
    size: int
    fields: dict[str, Any] | None = None
    fault: str = ""
    left_out: str = ""
    source_id: str = ""


def records(file: BinaryIO) -> Iterator[Record]:
    """A file's lines in order; a byte order mark is skipped, and so is the rest of an overlong line."""
    for number, (line, size) in enumerate(_lines(file), start=1):
        try:
            fields = _document(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
        except ValueError as error:
            yield Record(number, size, fault=str(error))
            continue
        own = (fields or {}).get("sourceId")
        yield Record(number, size, fields, source_id=own if isinstance(own, str) else "")


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """A file's lines and their lengths in bytes; of an overlong line only its start."""
    while line := file.readline(MAX_LINE + 1):
        length = len(line)
        while not line.endswith(b"\n") and length > MAX_LINE and (more := file.readline(MAX_LINE)):
            length += len(more)
            if more.endswith(b"\n"):
                break
        yield line, length


def _document(line: bytes) -> dict[str, Any] | None:
    """A line's object, None for an empty line. Raises ValueError."""
    if len(line) > MAX_LINE:
        raise ValueError(f"must have at most {MAX_LINE // 1024} KB")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ValueError("must be UTF-8") from error
    if not text.strip():
        return None
    try:
        document = parse_object(text)
    except json.JSONDecodeError as error:
        raise ValueError("must be JSON") from error
    except ValueError as error:
        raise ValueError(f"must be JSON: {error}") from error
    if document is None:
        raise ValueError("must be a JSON object")
    return document
