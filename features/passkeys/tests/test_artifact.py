"""The built function of passkeys, run by Lambda's own runtime client: its libraries are compiled for the target."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from features.passkeys import cookie, data
from features.passkeys.tests.authenticator import Authenticator
from features.passkeys.tests.test_passkeys import options
from shared.data.members import users
from shared.http import requests
from shared.values import times
from tests.invoke.conftest import Place, code, function, place  # noqa: F401  # fixtures
from tests.support.browsing import ORIGIN, Browser
from tests.support.factories import a_user
from tools.invoke import Function, running

pytestmark = pytest.mark.thorough  # it builds the artifact


def half(place: Place, site: dict[str, Callable[[Any, Any], Any]], entropy: bytes) -> Browser:
    """A browser in which Eddy's password was right."""
    eddy = users.get(place.table, "eddy", consistent=True)
    token = data.begin(place.table, eddy, times.now(), entropy * 32)
    return Browser(site, {requests.name(cookie.COOKIE): token})


def test_registering_and_using_a_passkey(place: Place, function: Callable[[str], Function]) -> None:
    users.create(place.table, a_user("eddy"))
    place.environment.update({"SITE_ORIGIN": ORIGIN, "SITE_BASE": ""})
    own = Authenticator()
    with running(function("passkeys")) as runtime:
        site = {"/passkeys": lambda event, _: runtime.invoke(json.dumps(event).encode()).payload}
        first = half(place, site, b"1")
        made = first.post("/passkeys/first", {"credential": own.creates(options(first.get("/passkeys/sign-in")))})
        again = half(place, site, b"2")
        done = again.post("/passkeys/sign-in", {"credential": own.proves(options(again.get("/passkeys/sign-in")))})

    assert "Save these codes now" in made.words
    assert done.status == 303
    assert data.of_user(place.table, "eddy")[0].sign_count == 1
