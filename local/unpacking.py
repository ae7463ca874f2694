"""The code of functions on the local cloud, unpacked once: those of one artifact share its files.

MiniStack unpacks the zip anew for each execution environment: thousands of files, thirty times while a site is used.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ministack.core import lambda_runtime  # type: ignore[import-untyped]  # it has no types

_ONE_AT_A_TIME = threading.Lock()


class SharedZip(zipfile.ZipFile):
    """A zip whose files are unpacked by the first that asks; each folder they are unpacked to is a link to these."""

    def extractall(self, path: Any = None, *_: Any) -> None:
        """Put a link in place of an empty folder. Nobody may write to it, as on Lambda."""
        with open(str(self.filename), "rb") as file:  # noqa: PTH123  # for the digest
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        shared = Path(tempfile.gettempdir()) / f"unpacked-{digest}"
        with _ONE_AT_A_TIME:
            if not shared.exists():
                begun = shared.with_suffix(".begun")
                super().extractall(begun)
                begun.rename(shared)
        folder = Path(os.fspath(path))
        folder.rmdir()
        folder.symlink_to(shared)


def install() -> None:
    """Unpack in MiniStack's place."""
    lambda_runtime.zipfile = SimpleNamespace(**vars(zipfile) | {"ZipFile": SharedZip})
