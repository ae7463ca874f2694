"""Where no browser is and none can be had, the tests fail with one line and never skip."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, cast

import pytest
from playwright.sync_api import Playwright

from tests.support import browser


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
