"""A forgotten password and its mail, in a browser on a deployed site."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import site  # noqa: F401  # a fixture
from tests.e2e.test_browser import seen_by_reloading, tells
from tests.support.browser import Visit, press
from tests.support.site import Site

pytestmark = pytest.mark.e2e


def test_a_member_forgets_the_password_and_returns(visit: Visit, site: Site) -> None:
    member = site.member("forgetful")
    page = visit("/account/sign-in")

    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email address").fill(member.email)
    press(page, "Send the link")
    page.get_by_role("link", name="/mail").click()
    mailed = page.get_by_role("row", name=f"Your link to a new password {member.email}").get_by_role("link").first
    assert seen_by_reloading(page, mailed)
    mailed.click()
    page.get_by_role("link", name="Choose a new password").click()
    page.get_by_label("New password").fill("another horse battery")
    press(page, "Change the password")
    tells(page, "Your password was changed, and you’re signed out everywhere. Sign in with the new password.")
    page.get_by_label("Username").fill(member.username)
    page.get_by_label("Password").fill("another horse battery")
    press(page, "Sign in")

    expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
    assert member.get("/me").status_code == 401
