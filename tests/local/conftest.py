"""A local cloud of a test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local import cloud
from local.settings import Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """The folder of a cloud, which ends with the test where that starts one."""
    home = Home(tmp_path / "cloud's")  # as a user may call a folder
    yield home
    cloud.kill(home)
