"""A hostile file costs no more than itself: it is refused in a sentence, and so is a record; other records go in."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from features.feeds.files import FeedFile
from features.feeds.formats import Format
from features.feeds.reading import Feed
from features.feeds.shop import Shop
from features.feeds.tests.hostile import GOOD, HEAD, HOSTILE, Hostile
from features.imports.json_lines import Record, WrongFile
from local.settings import ROOT
from shared.values.times import from_iso

FILES = Path(__file__).resolve().parent / "files"
NOW = from_iso("2026-06-01T12:00:00Z")
SHOP = "https://up.example"

FUZZ_FILES = os.environ.get("FUZZ_FILES", "1000")


def read(content: bytes) -> tuple[FeedFile, list[Record], str]:
    """A file's reading, its records, and why it was read no further."""
    found: list[Record] = []
    feed = FeedFile(io.BytesIO(content), Shop("up", SHOP), Format.AUTO, NOW)
    try:
        found.extend(feed)
    except WrongFile as error:
        return feed, found, str(error)
    return feed, found, ""


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_harms_itself_alone(hostile: Hostile) -> None:
    _, found, stopped = read(hostile.content)

    faults = [record.fault for record in found if record.fault]
    assert len([record for record in found if record.fields]) == hostile.good, (stopped, faults)
    assert hostile.said in (stopped or " ".join(faults)), (stopped, faults)
    assert len(stopped) < 300


@pytest.mark.thorough
def test_a_file_is_read_in_its_own_process_as_in_this_one() -> None:
    for path in sorted(FILES.glob("*.[!t]*")):
        here = Feed(io.BytesIO(path.read_bytes()), Shop("up", SHOP), Format.AUTO, NOW)
        expected = list(here)

        feed, found, stopped = read(path.read_bytes())

        assert (found, stopped) == (expected, ""), path.name
        known = ("form", "encoding", "separator", "read", "faults", "currencies", "gone")
        assert {name: getattr(feed, name) for name in known} == {name: getattr(here, name) for name in known}


ANSWERS = ("", "[[]]", "{}", "[1, 2, 3]", '[1, 2, [], "", "", "", false]', "[" * 5000, "9" * 5000, '[["", "sheet"]]')


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_a_reader_that_is_taken_over_answers_is_checked(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{answer}'\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))

    _, found, stopped = read(HEAD + GOOD)

    assert (found, stopped) == ([], "The file cannot be read at all: it breaks what reads it.")


@pytest.mark.thorough
def test_files_that_are_changed_at_random_raise_nothing_unforeseen() -> None:
    """FUZZ_FILES says how many, FUZZ_SEED from where on: to repeat a fault, name the seed that it printed."""
    seed = os.environ.get("FUZZ_SEED", "1")
    command = [sys.executable, "-m", "features.feeds.tests.fuzzing", seed, FUZZ_FILES]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, f"{done.stdout[-100:]}\n{done.stderr[-3000:]}"
