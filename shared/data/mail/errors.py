"""Errors about mailed links, and of stages that send no mail."""

from __future__ import annotations

from shared.errors import NotFound


class DeadLink(NotFound):
    text = "This link does not work: it was used before, has expired, or is not ours."


class NoMail(NotFound):
    text = "This site sends no mail."
