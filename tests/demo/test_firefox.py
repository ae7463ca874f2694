"""The built demo in Firefox: a reader's and an editor's journey, without a network once it is there.

Mozilla's own driver, as playwright drives only a Firefox that it has built. Skipped where no Firefox is installed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from marionette_driver import By
from marionette_driver.marionette import Marionette

from tests.demo.conftest import served
from tests.support.cases import cases
from tests.support.commands import PATIENCE, until

pytestmark = pytest.mark.thorough

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")

STATE = """
const frame = document.getElementById("site"), site = frame && !frame.hidden && frame.contentWindow;
if (!site || site.document.readyState !== "complete" || site.document.documentElement.dataset.old) return null;
return [site.location.pathname + site.location.search, site.document.querySelector("main")?.innerText ?? ""];
"""
"""The address and the text of the site's page; nothing while it is on its way.

The mark of the page before is an attribute, for each script here has windows' properties of its own.
"""

GO = """
const page = document.getElementById("site")?.contentDocument;
if (!page) return false;
page.documentElement.dataset.old = "yes";
if (location.hash === "#" + arguments[0]) page.location.reload();
else location.hash = arguments[0];
return true;
"""
"""Leads the site to a path, also to where it is; false while there is no site, as in a tab that is being loaded."""


class Tab:
    """A tab of Firefox with the demo."""

    def __init__(self, firefox: Marionette, address: str) -> None:
        self.firefox = firefox
        firefox.navigate(address)
        self.shows(lambda path, _: bool(path))

    def state(self) -> tuple[str, str]:
        """The path and the text of the site's page; nothing while another is on its way."""
        self.firefox.switch_to_frame()
        found: list[str] | None = self.firefox.execute_script(STATE)
        return (found[0].partition("/demo/site")[2], found[1]) if found else ("", "")

    def shows(self, is_right: Callable[[str, str], bool]) -> None:
        """Wait until the site's page is the right one."""
        assert until(lambda: is_right(*self.state())), self.state()

    def goes(self, path: str) -> str:
        """Go to a path, as a link would, and read its page."""
        self.firefox.switch_to_frame()
        assert until(lambda: bool(self.firefox.execute_script(GO, [path])))
        self.shows(lambda now, _: now == path)
        return self.state()[1]

    def reloads(self) -> None:
        """Reload the tab as a reader does: the driver's own way passes by what is kept for it."""
        self.firefox.switch_to_frame()
        marked = "document.getElementById('site').contentDocument.documentElement.dataset.old = 'yes'"
        self.firefox.execute_script(f"{marked}; location.reload()")

    def has(self, selector: str) -> bool:
        """Whether the site's page has what a selector finds."""
        self.firefox.switch_to_frame()
        found = "return !!document.getElementById('site')?.contentDocument?.querySelector(arguments[0])"
        return bool(self.firefox.execute_script(found, [selector]))

    def clicks(self, selector: str, *, outside: bool = False) -> None:
        """Click something on the site's page, or ``outside`` of it."""
        self.element(selector, outside=outside).click()

    def types(self, selector: str, text: str) -> None:
        """Type into a field of the site's page."""
        self.element(selector).clear()
        self.element(selector).send_keys(text)

    def element(self, selector: str, *, outside: bool = False) -> Any:
        """What a selector finds first."""
        self.firefox.switch_to_frame()
        if not outside:
            self.firefox.switch_to_frame(self.firefox.find_element(By.ID, "site"))
        return self.firefox.find_element(By.CSS_SELECTOR, selector)


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Marionette]:
    if PROGRAM is None:
        pytest.skip("No Firefox is installed here (on Debian: apt install firefox-esr).")
    firefox = Marionette(bin=PROGRAM, headless=True, workspace=str(tmp_path), gecko_log=str(tmp_path / "log"))
    firefox.start_session()
    firefox.timeout.script = firefox.timeout.page_load = PATIENCE
    yield firefox
    firefox.quit()
    firefox.cleanup()


def test_a_firefox_that_stores_nothing_is_told_so(firefox: Marionette, folder: Path) -> None:
    firefox.set_pref("network.cookie.cookieBehavior", 2)  # "block all cookies", and all else that a page stores
    with served(folder) as host:
        firefox.navigate(host.demo)
        said = "return document.getElementById('step').innerText"

        assert until(lambda: "Allow the page to store data" in firefox.execute_script(said))


def test_what_members_do_reaches_their_pages_though_the_network_is_gone(firefox: Marionette, folder: Path) -> None:
    with served(folder) as host:
        tab = Tab(firefox, host.demo)
        tab.clicks("[data-as=member]", outside=True)
        tab.shows(lambda path, _: path.startswith("/my/inbox"))
        host.end()

    for do in cases("IN_FIREFOX"):
        do(tab)
    tab.reloads()
    tab.shows(lambda path, _: path.startswith("/my/inbox"))

    for path, button, then in cases("TRIED"):
        tab.goes(path)
        tab.clicks(button)
        assert until(partial(tab.has, then))
