"""A small site in a browser, for what script does on public pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.preview import Preview, started


@pytest.fixture(scope="session")
def site() -> Iterator[Preview]:
    """The running site. Each test writes only to deals and members that no other one looks at."""
    with started(most=60) as preview:
        yield preview
