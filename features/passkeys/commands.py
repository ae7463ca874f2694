"""Passkeys on the command line: help for users who have lost theirs."""

from __future__ import annotations

from cli import output
from cli.commands import Username, Work
from features.passkeys import data


def reset_passkeys(work: Work, username: Username) -> output.Json:
    """Remove a user's passkeys and recovery codes, and end the sessions. An editor registers a new one at sign-in."""
    removed = data.reset(work.table, username)
    return {"username": username, "removed": removed}


SUBCOMMANDS = {"users": (reset_passkeys,)}
