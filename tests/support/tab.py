"""The demo's site in a browser's tab: its pages, asked for by their paths, and their buttons."""

from __future__ import annotations

import re

from playwright.sync_api import Frame, FrameLocator, Page

from tests.support.commands import until

GO = """path => {
  const site = document.getElementById("site").contentWindow;
  site.old = true;
  if (location.hash === "#" + path) site.location.reload();
  else location.hash = path;
}"""
CAME = """path => {
  const site = document.getElementById("site").contentWindow;
  return !site.old && site.location.href.includes(path) && site.document.readyState === "complete";
}"""
TAKES_OVER = """() => {
  const site = document.getElementById("site").contentDocument;
  return [...site.querySelectorAll("form[data-state]")].every(form => form.onsubmit);
}"""


def site_of(page: Page) -> Frame:
    """The frame with the site."""
    return next(each for each in page.frames if "/demo/site" in each.url)


def site_in(page: Page) -> FrameLocator:
    """The site's page, whichever it is when something is looked for."""
    return page.frame_locator("#site")


def where(page: Page) -> str:
    """The address of the site's page, as the browser has it now."""
    return str(page.evaluate("document.getElementById('site').contentWindow.location.href"))


def at(page: Page, path: str) -> Frame:
    """The site at a path, as if that were typed into the address: its page is asked for, also where it is there."""
    page.evaluate(GO, path)
    assert until(lambda: bool(page.evaluate(CAME, f"/demo/site{path}")))
    return site_of(page)


def press(page: Page, name: str | re.Pattern[str]) -> None:
    """Press a button of the site's page, when its script is there."""
    assert until(lambda: bool(page.evaluate(TAKES_OVER)))
    site_in(page).get_by_role("button", name=name, exact=True).first.click()


def first_deal(page: Page) -> str:
    """The path of the first deal of the front page."""
    link = at(page, "/").locator("main a[href*='/deals/']").first.get_attribute("href")
    return str(link).partition("/site")[2]
