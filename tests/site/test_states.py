"""Every state of every page is valid, and what looks at them finds faults."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from playwright.sync_api import Playwright

from shared.learn import exercises, lessons
from tests.site.conftest import Windows, client_of, found
from tests.site.states import OF_EDITORS, OF_MEMBERS, OF_NICK, PUBLIC, RARE, USUAL, State, in_every_tier
from tests.site.test_own_pages import table_paths
from tests.support import browser
from tests.support.browser import Visit
from tests.support.preview import Preview
from tests.support.quality import invalid_html, too_low, violations


@pytest.mark.parametrize("name", in_every_tier(USUAL | RARE, "front page", "deal", "category", "search", "sign in"))
def test_a_page_is_accessible_no_wider_than_its_window_and_easy_to_hit(
    windows: Windows, every_page: dict[str, State], name: str
) -> None:
    page = windows.show(every_page[name])

    assert page.locator("h1").count() == 1
    assert violations(page) == []
    assert too_low(page) == []


FROM_OUR_PAGES = {"Sec-Fetch-Site": "same-origin"}


def answer(site: Preview, people: dict[str, str], state: State) -> httpx.Response:
    """The answer that brings a page into a state."""
    with client_of(site, people.get(state.who, "")) as client, found(site, state):
        if state.form is None:
            return client.get(state.path)
        return client.post(state.path, data=dict(state.form), headers=FROM_OUR_PAGES)


def test_html_validate_finds_nothing(
    site: Preview,
    people: dict[str, str],
    every_page: dict[str, State],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    plain = {name: answer(site, people, every_page[name]) for name in PUBLIC | RARE}
    request.getfixturevalue("shown")
    took = {name: answer(site, people, every_page[name]) for name in OF_MEMBERS | OF_EDITORS | OF_NICK}
    took |= {
        f"of the table {kind}": answer(site, people, State(path, who="eddy"))
        for kind, path in table_paths(site, people["eddy"]).items()
    }
    taught = {path: State(path) for path in ("/learn", "/learn/two-years", "/learn/pattern-12?value=1")}
    taught |= {f"/learn/{each.slug}": State(f"/learn/{each.slug}") for each in lessons.groups()[0].lessons}
    taught["sizes that are none"] = State("/learn/units?size=0&number=x")
    for slug, value in (("sparse-index", ""), ("hierarchy", "?")):
        taught[f"run {slug}"] = State(f"/learn/{slug}", form={"value": value})
    for name, typed in (("run", exercises.find("exercise-first-page").broken), ("refused", "Query")):
        taught[f"exercise {name}"] = State("/learn/exercise-first-page", form={"request": typed})
    answers = plain | took | {name: answer(site, people, state) for name, state in taught.items()}

    wrong = {name: each.status_code for name, each in plain.items() if each.status_code != every_page[name].status}
    assert wrong == {}
    assert all("Cost of this page" in each.text for each in took.values())
    assert invalid_html({name: each.text for name, each in answers.items()}, tmp_path)[-6000:] == ""


PAGE = "<!doctype html><html lang=en><title>A page</title><main><h1>A page</h1><p>Text</p></main>"
FAULTS = {
    "light": ("color-contrast", "@media (prefers-color-scheme: light) { .light { color: #ccc; background: #fff } }"),
    "dark": ("color-contrast", "@media (prefers-color-scheme: dark) { .dark { color: #ccc; background: #fff } }"),
    "ltr": ("is wider than the screen", ".ltr { position: absolute; right: -50px }"),
    "rtl": ("is wider than the screen", ".rtl { position: absolute; left: -50px }"),
}
"""What is found in one scheme or in one direction of writing, and the style that makes it."""


def test_a_page_has_the_faults_that_it_has_and_no_others(visit: Visit) -> None:
    page = visit("about:blank")

    page.set_content(PAGE)
    assert violations(page) == []
    for where, (_, style) in FAULTS.items():
        page.add_style_tag(content=f"p {{ margin: 0 }} {style}")
        page.evaluate(
            "name => document.querySelector('p').insertAdjacentHTML('afterend', `<p class=${name}>Text`)", where
        )

    found = violations(page)

    assert {(each[1], each[2], each[3]) for each in found} == {
        (where, width, fault) for where, (fault, _) in FAULTS.items() for width in (320, 1280)
    }
    assert all(each[1] in each[4] for each in found if each[3] == "color-contrast")


class WithoutBrowser:
    """Playwright, which has downloaded none."""

    class chromium:  # noqa: N801  # named as there
        executable_path = "/nowhere/chromium"


@pytest.mark.parametrize("user", [0, 1000], ids=["root", "someone"])
def test_without_any_browser_the_tests_fail_with_one_line(monkeypatch: pytest.MonkeyPatch, user: int) -> None:
    tried: list[list[str]] = []

    def fails(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        tried.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(subprocess, "run", fails)

    with pytest.raises(pytest.fail.Exception) as failed:
        browser._launch(cast("Playwright", WithoutBrowser))

    assert str(failed.value) == "No Chrome or Chromium is installed, and none could be downloaded or installed."
    assert tried[0][-2:] == ["install", "chromium"]  # playwright's own download first
    assert [command[0] for command in tried[1:]] == (["apt-get", "apt-get"] if user == 0 else [])
