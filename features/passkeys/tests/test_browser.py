"""Passkeys in a real browser, whose authenticator is virtual (https://chromedevtools.github.io/devtools-protocol/tot/WebAuthn/)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from shared.data.members import users
from shared.values import passwords
from tests.support.browser import patient, press
from tests.support.factories import a_user
from tests.support.preview import Preview, looked_at, started

pytestmark = pytest.mark.thorough

PASSWORD = "correct horse battery"


@pytest.fixture
def site() -> Iterator[Preview]:
    """The site under a name: an address has no passkeys."""
    with started(most=3) as preview:
        named = replace(preview, origin=preview.origin.replace("127.0.0.1", "localhost"))
        users.create(named.table, a_user("eddy", password_hash=passwords.hash_password(PASSWORD), role="editor"))
        with looked_at(named):
            yield named


@pytest.fixture
def page(chromium: Browser, site: Preview) -> Iterator[Page]:
    """A page of a browser with an authenticator whose user is there and verified."""
    context = patient(chromium.new_context(base_url=site.origin, service_workers="block"))
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasUserVerification": True, "isUserVerified": True}
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options | {"automaticPresenceSimulation": True}})
    yield page
    context.close()


def give_password(page: Page) -> None:
    page.goto("/account/sign-in?next=%2Fpasskeys")
    page.get_by_label("Username or email address").fill("eddy")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")


def test_an_editor_registers_a_passkey_and_signs_in_with_it_and_with_a_code(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITORS_NEED_PASSKEYS", "true")
    give_password(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Create a passkey")
    page.get_by_label("Name").fill("Work laptop")
    press(page, "Create a passkey")
    codes = page.locator("main code").all_inner_texts()
    assert len(codes) == 10
    page.get_by_role("link", name="I’ve saved them").click()
    expect(page.get_by_role("cell", name="Work laptop", exact=True)).to_be_visible()

    page.context.clear_cookies()
    give_password(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Use your passkey")
    press(page, "Use your passkey")
    expect(page.get_by_text("10 of 10 codes are left.")).to_be_visible()

    page.context.clear_cookies()
    give_password(page)
    page.get_by_label("Recovery code").fill(codes[0])
    press(page, "Use a recovery code")
    expect(page.get_by_text("that recovery code no longer works")).to_be_visible()
    expect(page.get_by_text("9 of 10 codes are left.")).to_be_visible()


def test_a_device_that_has_a_passkey_says_so_instead_of_making_another(page: Page) -> None:
    give_password(page)
    press(page, "Create a passkey")
    page.goto("/passkeys")

    page.get_by_role("button", name="Create a passkey").click()

    expect(page.get_by_text("This device has a passkey for this account already.")).to_be_visible()
