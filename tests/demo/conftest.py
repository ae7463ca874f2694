"""The built demo on a host of static files, below a path, as a project's pages are."""

from __future__ import annotations

import functools
import http.server
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from demo import packing
from infra.bundling import digest_of
from local.settings import ROOT
from tests.support.browser import patient


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@dataclass
class Host:
    """A host of static files, with the demo below ``/name/``, which can be switched off."""

    server: http.server.ThreadingHTTPServer

    @property
    def demo(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/name/demo/"

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo, built where that of this code is not there."""
    known = digest_of(*packing.CODE)
    if not any(known in page.read_text() for page in packing.BUILT.glob("index.html")):
        subprocess.run(["make", "demo"], cwd=ROOT, check=True)
    folder = tmp_path_factory.mktemp("host")
    (folder / "name").mkdir()
    (folder / "name" / "demo").symlink_to(packing.BUILT)
    return folder


@contextmanager
def served(folder: Path, handler: type[Quiet] = Quiet) -> Iterator[Host]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Host(server)
    server.shutdown()
    server.server_close()


@pytest.fixture
def host(folder: Path) -> Iterator[Host]:
    with served(folder) as host:
        yield host


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = patient(chromium.new_context())
    yield context
    context.close()
