"""Facts about our API for schemathesis: who is calling, and what no schema can say. Read by its own process.

The environment names the site and the role (``tests/e2e/test_gateway.py``).
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import AuthContext, Case, CheckContext, Response
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

from local.settings import Home, client_arguments
from shared.data.members import sessions, users
from shared.dynamodb.client import connect
from shared.models.members import Role, User
from shared.values import identifiers, times
from tests.support.cases import cases_by_name

CLOUD = client_arguments(Home(Path(os.environ["FIRE_HOME"])), int(os.environ["FIRE_PORT"]))
TABLE = connect(os.environ["FIRE_TABLE"], **CLOUD)
ROLE = os.environ["FIRE_ROLE"]

ENDS_SESSIONS = {"/me", "/sessions", "/sessions/current"}
"""Paths below which a session may end, so that each request there has one of its own."""

UNSAYABLE = {
    "cursor",  # is what a list gave, and nothing else
    "from",  # is not above "to"
    "q",  # has a word that is not one of the most common
    "name",  # of a brand: has a slug, which depends on how its letters are transliterated
    "brand",  # the same
    "createdAt",  # is neither before KSUIDs nor in the future
    "expiresAt",  # is not before KSUIDs
    "ceiling",  # is above zero, and has the decimals of its currency
    "price",  # has the decimals of its currency
    "listPrice",  # the same
    "words",  # are there, where an alert is on them, and can be looked for
    "currentPassword",  # is the caller's
    "Idempotency-Key",  # is of this very request where it was used before
    "body",  # names the current password where it names a new one, or a new email address
    "password",  # is not among the first that are guessed
}
"""Fields for which a value may be refused that fits their schema."""

UNSAYABLE_AT: dict[str, set[str]] = cases_by_name("UNSAYABLE")
"""More of them, by a feature's path."""


def _somebody() -> User:
    name = f"fire-{secrets.token_hex(8)}"
    role: Role = "editor" if ROLE == "editor" else "member"
    user = User(name, f"{name}@mail.example", "Fire", password_hash="", role=role, created_at=times.now())
    users.create(TABLE, user)
    return user


def _token(user: User) -> str:
    return sessions.start(TABLE, user, times.now(), secrets.token_bytes(identifiers.BYTES))[0]


if ROLE != "anonymous":
    STAYING = _token(_somebody())

    @schemathesis.auth(refresh_interval=None)
    class Sessions:
        """The bearer tokens: one for all requests but those that may end it."""

        def get(self, _case: Case[Any], context: AuthContext) -> str:
            return _token(_somebody()) if context.operation.path in ENDS_SESSIONS else STAYING

        def set(self, case: Case[Any], token: str, _context: AuthContext) -> None:
            case.headers["Authorization"] = f"Bearer {token}"


def _undeclared_method(case: Case[Any]) -> bool:
    data = case.meta.phase.data if case.meta else None
    return isinstance(data, CoveragePhaseData) and data.scenario == CoverageScenario.UNSPECIFIED_HTTP_METHOD


@schemathesis.check
def what_fits_the_schema_is_taken(_context: CheckContext, response: Response, case: Case[Any]) -> None:
    """``positive_data_acceptance``, except for the fields whose rules no schema can say."""
    if case.meta is None or _undeclared_method(case) or not case.meta.generation.mode.is_positive:
        return
    if response.status_code in (400, 413, 415, 422):
        refused = {error["field"] for error in response.json().get("errors", [])}
        unsayable = UNSAYABLE | UNSAYABLE_AT.get(case.operation.path, set())
        assert refused, f"{case.body!r}: {response.text}"
        assert refused <= unsayable, f"{refused} of {case.body!r}: {response.text}"


@schemathesis.check
def methods_that_a_path_does_not_have_are_404(_context: CheckContext, response: Response, case: Case[Any]) -> None:
    """``unsupported_method``, except for the status: a REST API of API Gateway cannot tell a method from a path."""
    if _undeclared_method(case) and response.request.method not in ("OPTIONS", "HEAD"):
        assert response.status_code == 404, f"{response.request.method}: {response.status_code}"


@schemathesis.check
def every_answer_says_how_it_may_be_kept_and_read(_context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Browsers do not guess its type, and nobody stores an error or what is one caller's own."""
    headers: dict[str, Any] = response.headers
    assert headers.get("x-content-type-options") == ["nosniff"], headers
    public = "304" in case.operation.responses.status_codes and response.status_code in (200, 304)
    kept = headers.get("cache-control", [""])[0]
    assert public or kept == "no-store", f"{response.status_code}: Cache-Control {kept!r}"
