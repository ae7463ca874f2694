"""Making pictures of what editors send. What is served is only ever made here, of pixels: no byte of an upload reaches
a reader. A child process decodes (``shared/decoder.py``), so whatever a file does there, it becomes a refusal here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shared.values.pictures import MAX_UPLOAD, Picture

UNREADABLE = "It can't be read as a picture. Send JPEG, PNG, WebP, GIF or AVIF."
TOO_SLOW = "It takes too long to read. Export it again as a plain JPEG or PNG."

_GIVEN = ("PATH", "LD_LIBRARY_PATH")
"""The variables that a child gets, which Lambda's Python needs to start: none has credentials."""


class Refused(Exception):
    """An upload that can't become a picture; its text is for the editor who sent it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a child: seconds of processor time, bytes of memory, and seconds until it is killed.

    Each is several times what the largest picture takes, and less than its function has (``infra/functions.py``).
    """

    processor: int = 20
    memory: int = 1_200_000_000
    deadline: float = 40


@dataclass(frozen=True, slots=True)
class Made:
    """A picture, and its files in the bucket by name."""

    picture: Picture
    files: Mapping[str, bytes]


def make(content: bytes, deal_id: str, limits: Limits = Limits()) -> Made:
    """The picture that is made of a file, whose format is what its content says. Raises Refused.

    A deal's id is part of the hash, so that no two deals share files and what one no longer names may be removed.
    """
    if len(content) > MAX_UPLOAD:
        raise Refused(f"It has more than {MAX_UPLOAD // 1_000_000} MB.")
    made = json.loads(_decoded(content, limits))
    if "refused" in made:
        raise Refused(made["refused"])
    files = [base64.b64decode(each) for each in made["files"]]
    digest = hashlib.sha256(deal_id.encode() + b"".join(files)).hexdigest()[:20]
    picture = Picture.parse("{} {}x{} {}".format(digest, *made["size"], made["colour"]))
    return Made(picture, dict(zip(picture.files, files, strict=True)))


def _decoded(content: bytes, limits: Limits) -> bytes:
    """The answer of a child. Raises Refused where it is killed or breaks, and CalledProcessError if it can't start."""
    try:
        child = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "shared.decoder", f"{limits.processor}", f"{limits.memory}"],
            input=content,
            stdout=subprocess.PIPE,
            timeout=limits.deadline,
            check=False,
            cwd=Path(__file__).parents[1],
            env={name: os.environ[name] for name in _GIVEN if name in os.environ},
        )
    except subprocess.TimeoutExpired as error:
        raise Refused(TOO_SLOW) from error
    if child.returncode < 0:  # a signal ended it
        raise Refused(TOO_SLOW if -child.returncode in (signal.SIGXCPU, signal.SIGKILL) else UNREADABLE)
    child.check_returncode()
    return child.stdout
