"""The command line ``btd``: upkeep, accounts, and one command for each access pattern."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit code after SIGINT: 128 and the signal's number, as in shells."""


def start() -> None:
    """Load the commands, which takes half a second, and run the requested one.

    An interruption at any moment ends it with one line and exit code 130.
    """
    try:
        from cli.main import app  # noqa: PLC0415  # so that an interruption while this loads is reported, too

        app()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)
