"""``python -m tests.demo.firefox ADDRESS``: a reader's journey in Firefox. Prints why, where no Firefox can be driven.

A process of its own: Playwright starts one browser at a time in a thread.
"""

from __future__ import annotations

import re
import shutil
import sys

from playwright.sync_api import Error, expect, sync_playwright

from tests.support.waiting import PATIENCE


def main(address: str) -> str:
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        refusals = []
        for program in {None, shutil.which("firefox-esr")}:
            try:
                firefox = playwright.firefox.launch(executable_path=program, timeout=30_000)
            except Error as error:
                refusals.append(str(error).strip().splitlines()[0])
                continue
            page = firefox.new_page()
            page.set_default_timeout(PATIENCE * 1000)
            page.goto(address)
            site = page.frame_locator("#site")
            site.locator("main a[href*='/deals/']").first.click()
            site.locator("#took > summary").click()
            page.get_by_role("button", name="a reader").click()
            expect(page).to_have_url(re.compile("#/my/inbox"))
            page.reload()
            expect(page).to_have_url(re.compile("#/my/inbox"))
            firefox.close()
            return ""
    return f"Playwright has no Firefox here ({'; '.join(refusals)}): python -m playwright install firefox"


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1]))
