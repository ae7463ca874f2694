"""The caller of the API: the bearer token of a request, and the caller that the authorizer names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.errors import Forbidden, NotSignedIn
from shared.http.event import MAX_TOKEN, Event, header, is_plain
from shared.models.members import Role

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, as the authorizer found out."""

    username: str
    account_id: str
    role: Role


def token_of(event: Mapping[str, Any]) -> str:
    """The token of ``Authorization: Bearer <token>`` (RFC 6750). Raises NotSignedIn where there is none."""
    scheme, _, token = (header(event, "authorization") or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not is_plain(token, MAX_TOKEN):
        raise NotSignedIn
    return token


def caller(event: Mapping[str, Any]) -> Caller:
    """The caller. Raises NotSignedIn where no authorizer names one."""
    named = (event.get("requestContext") or {}).get("authorizer") or {}
    if not named.get("username"):
        raise NotSignedIn
    return Caller(named["username"], named["accountId"], named["role"])


def calling(app: BaseRouter) -> Caller:
    """The caller of the route that answers now. Raises NotSignedIn."""
    return caller(app.current_event.raw_event)


def editors_only(event: Event) -> None:
    """Guard: the caller is an editor. Raises NotSignedIn, Forbidden."""
    if caller(event).role != "editor":
        raise Forbidden("Only editors may do this.")
