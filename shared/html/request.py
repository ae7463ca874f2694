"""A request for a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from shared.http.requests import DONE, Event, brought, correlation_id, header

if TYPE_CHECKING:
    from shared.models.members import Role, Session  # public pages start without the models of accounts


@dataclass(frozen=True, slots=True)
class Request:
    """A request as pages know it: its path without the site's prefix, its query, and the time it came."""

    event: Event = field(repr=False)
    path: str
    query: Mapping[str, str]
    now: datetime

    @property
    def correlation_id(self) -> str:
        """The id that the gateway gave the request."""
        return correlation_id(self.event)

    @property
    def username(self) -> str | None:
        """Who is signed in. None until the page asks (``cookies.session_of``)."""
        username: str | None = (self.event["requestContext"].get("authorizer") or {}).get("username")
        return username

    @property
    def account_id(self) -> str | None:
        """The id of the account that is signed in. None until the page asks."""
        account_id: str | None = (self.event["requestContext"].get("authorizer") or {}).get("accountId")
        return account_id

    @property
    def role(self) -> Role | None:
        """The role of who is signed in. None until the page asks."""
        role: Role | None = (self.event["requestContext"].get("authorizer") or {}).get("role")
        return role

    def belongs_to(self, session: Session) -> None:
        """Note who is signed in, where API Gateway notes it for functions that have an authorizer."""
        who = {"username": session.username, "accountId": session.account_id, "role": session.role}
        self.event["requestContext"]["authorizer"] = who

    @property
    def said(self) -> str | None:
        """The code of what this browser has just done, as the address says; None where it did not, or not just now."""
        code = self.query.get("said", "")
        return code if self.has_done(code) else None

    def has_done(self, code: str) -> bool:
        """Whether this browser has just done what a code stands for."""
        return (DONE, code) in brought(self.event)

    @property
    def wants_json(self) -> bool:
        """Whether it was sent by a script, which asks for JSON, rather than by a browser, which asks for pages."""
        return (header(self.event, "accept") or "").startswith("application/json")

    @property
    def opens_page(self) -> bool:
        """Whether a reader opens the address as a page: no HEAD, no prefetch, and no picture or script of some page.

        Browsers say so themselves: https://www.w3.org/TR/fetch-metadata/. Of older ones, which say nothing, each GET is
        a reader's.
        """
        asked = self.event["requestContext"]["httpMethod"]
        purpose = header(self.event, "sec-purpose") or header(self.event, "purpose") or ""
        is_navigation = header(self.event, "sec-fetch-mode") in (None, "navigate")
        is_document = header(self.event, "sec-fetch-dest") in (None, "document")
        return asked == "GET" and is_navigation and is_document and "prefetch" not in purpose
