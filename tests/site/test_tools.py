"""The tools of these tests: they see what is wrong with a page, and where no browser can be had, fail with one line."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, cast

import pytest
from playwright.sync_api import Playwright

from tests.support import browser
from tests.support.quality import violations
from tests.support.windows import Visit

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


@pytest.mark.parametrize("user", [0, 1000], ids=["root", "somebody"])
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
