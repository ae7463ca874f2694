"""The demo on a host that publishes a new build while browsers keep its files for ten minutes, as GitHub Pages does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from demo import packing
from tests.demo.conftest import Host, Quiet, served
from tests.demo.test_browser import opened

pytestmark = pytest.mark.thorough

LINE = "runs in this tab."
NEXT = "runs in this tab, and is the next build."


class _KeptForTenMinutes(Quiet):
    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()


@pytest.fixture
def next_build(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another build, whose page around the site differs in a sentence."""
    shutil.copytree(packing.HERE, tmp_path / "browser")
    page = tmp_path / "browser" / "index.html"
    page.write_text(page.read_text(encoding="utf-8").replace(LINE, NEXT), encoding="utf-8")
    monkeypatch.setattr(packing, "HERE", tmp_path / "browser")
    packing.write(tmp_path / "next")
    return tmp_path / "next"


@pytest.fixture
def host(folder: Path, tmp_path: Path) -> Iterator[tuple[Host, Path]]:
    """A host, and the link that says which build it publishes."""
    (tmp_path / "host" / "name").mkdir(parents=True)
    published = tmp_path / "host" / "name" / "demo"
    published.symlink_to((folder / "name" / "demo").resolve())
    with served(tmp_path / "host", _KeptForTenMinutes) as host:
        yield host, published


def publish(published: Path, build: Path) -> None:
    published.unlink()
    published.symlink_to(build)


def test_each_visit_after_a_publication_shows_the_new_build(
    context: BrowserContext, host: tuple[Host, Path], next_build: Path
) -> None:
    demo, published = host
    page = opened(context, demo)
    expect(page.locator("#line")).to_contain_text(LINE)
    page.close()
    publish(published, next_build)

    for _ in range(2):
        page = opened(context, demo)
        expect(page.locator("#line")).to_contain_text(NEXT)
        page.get_by_role("button", name="an editor").click()
        expect(page.frame_locator("#site").get_by_role("heading", level=1)).to_be_visible()
        page.close()


def test_a_tab_of_the_build_before_goes_on_and_another_joins_it(
    context: BrowserContext, host: tuple[Host, Path], next_build: Path
) -> None:
    demo, published = host
    first = opened(context, demo)
    publish(published, next_build)

    second = opened(context, demo)

    expect(second.locator("#line")).to_contain_text(LINE)
    first.close()
    second.close()
    expect(opened(context, demo).locator("#line")).to_contain_text(NEXT)


def test_a_tab_that_was_closed_before_the_rest_came_is_whole_on_the_next_visit(
    context: BrowserContext, host: tuple[Host, Path], next_build: Path, folder: Path, tmp_path: Path
) -> None:
    demo, published = host
    shutil.copytree(published.resolve(), tmp_path / "cut")
    for file in (tmp_path / "cut").rglob("rest.packed"):
        file.unlink()
    publish(published, tmp_path / "cut")
    opened(context, demo).close()
    publish(published, next_build)

    page = opened(context, demo)

    page.get_by_role("button", name="an editor").click()
    expect(page.frame_locator("#site").get_by_role("heading", level=1)).to_be_visible()


def test_a_browser_that_stores_nothing_is_told_so(context: BrowserContext, host: tuple[Host, Path]) -> None:
    """Firefox throws for each of these where the storage of a site is blocked."""
    refused = "throw new DOMException('The operation is insecure.', 'SecurityError')"
    context.add_init_script(
        f"self.BroadcastChannel = class {{ constructor() {{ {refused}; }} }};"
        f"ServiceWorkerContainer.prototype.register = async () => {{ {refused}; }};"
    )
    page = context.new_page()
    page.goto(host[0].demo)

    expect(page.locator("#step")).to_contain_text("Allow the page to store data")
    expect(page.locator("#bar")).to_be_hidden()
