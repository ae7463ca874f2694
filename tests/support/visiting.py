"""Fixtures of tests that visit a deployed site: the site, one for each folder that imports them, and who is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.site import Site, Visitor, deployed, fresh


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with deployed(tmp_path_factory.mktemp("cloud")) as site:
        yield site


@pytest.fixture(scope="session")
def visitor(site: Site) -> Visitor:
    return site.visitor()


@pytest.fixture(scope="session")
def member(site: Site) -> Visitor:
    return site.member()


@pytest.fixture(scope="session")
def editor(site: Site) -> Visitor:
    return site.editor()


@pytest.fixture
def brand(editor: Visitor) -> str:
    """A new brand of a test's own."""
    slug = fresh("brand")
    assert editor.post("/brands", json={"name": slug.title()}).status_code == 201
    return slug
