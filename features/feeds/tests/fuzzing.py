"""Change known files at random, and read each: ``python -m features.feeds.tests.fuzzing SEED FILES``.

It runs in a process of its own, for a fault may end it. The seed of each file is printed before it is read.
"""

from __future__ import annotations

import io
import json
import random
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from features.feeds.formats import Format
from features.feeds.reading import Feed
from features.feeds.shop import Shop
from features.feeds.tests.hostile import HOSTILE
from features.imports.importing import entry
from features.imports.json_lines import Record, WrongFile
from shared.errors import DealsError
from shared.values.times import from_iso

FILES = Path(__file__).resolve().parent / "files"
NOW = from_iso("2026-06-01T12:00:00Z")

MOST = 200_000
"""Bytes of a changed file."""

SECONDS = 3
"""Processor time that a file of that size may take."""

PIECES = (
    *(b"<", b">", b"<!--", b"]]>", b"<![CDATA[", b"</", b"<script>", b"<br>", b"xmlns:g='x'", b"&", b"&#0;", b"&nbsp;"),
    *(b'"', b"'", b"\\", b"\\ud800", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n", b"\t", b";"),
    *(b"|", b"{", b"}", b"[", b"]", b",", b":", b"1e999", b"-0", b"NaN", b"null", b"9" * 99, b"@graph", b"@type"),
)


def main() -> None:
    """Read so many changed files, from a seed on."""
    first, files = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
    signal.signal(signal.SIGVTALRM, _too_slow)
    known = [path.read_bytes() for path in sorted(FILES.iterdir())]
    known += [each.content for each in HOSTILE.values() if len(each.content) < MOST]
    read = 0
    for seed in range(first, first + files):
        print(f"seed {seed}", flush=True)
        read += _read(changed(random.Random(seed), known))
    print(f"{files} files, {read} records")


def changed(chance: random.Random, known: Sequence[bytes]) -> bytes:
    """One of the files after a few changes."""
    content = chance.choice(known)
    for _ in range(chance.randint(1, 6)):
        content = chance.choice(CHANGES)(chance, content, known)[:MOST]
    return content


def _part(chance: random.Random, content: bytes) -> tuple[int, int]:
    start = chance.randint(0, len(content))
    return start, min(len(content), start + chance.choice((1, 2, 8, 64, 1000)))


def _replaced(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _part(chance, content)
    return content[:start] + chance.randbytes(end - start) + content[end:]


def _inserted(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, _end = _part(chance, content)
    return content[:start] + chance.choice(PIECES) * chance.choice((1, 1, 2, 70, 5000)) + content[start:]


def _repeated(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _part(chance, content)
    return content[:start] + content[start:end] * chance.choice((2, 70, 3000)) + content[end:]


def _dropped(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _part(chance, content)
    return content[:start] + content[end:]


def _cut(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    return content[: chance.randint(0, len(content))]


def _spliced(chance: random.Random, content: bytes, known: Sequence[bytes]) -> bytes:
    start, end = _part(chance, other := chance.choice(known))
    at, _end = _part(chance, content)
    return content[:at] + other[start:end] + content[at:]


CHANGES: Sequence[Callable[[random.Random, bytes, Sequence[bytes]], bytes]] = (
    _replaced, _inserted, _inserted, _repeated, _dropped, _cut, _spliced,
)  # fmt: skip


def _read(content: bytes) -> int:
    """Read a file as its process does, and its deals as the command does; returns its records.

    Nothing but WrongFile may be raised, and what refuses a record.
    """
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    read = 0
    try:
        for record in Feed(io.BytesIO(content), Shop("up", "https://up.example"), Format.AUTO, NOW):
            assert isinstance(record, Record)
            told = Record(*json.loads(json.dumps(record)))
            read += 1
            if told.fields is not None:
                with suppress(DealsError, ValueError):
                    entry(told, NOW)
    except WrongFile:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return read


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise AssertionError(f"more than {SECONDS} s")


if __name__ == "__main__":
    main()
