"""The command line ``btd``: imports, accounts, and one command for each access pattern."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit code of what SIGINT ended: 128 and the signal's number, as a shell counts it."""


def start() -> None:
    """Load the commands, which takes half a second, and run the one that was asked for.

    An interruption ends it with one line and exit code 130, at any moment.
    """
    try:
        from cli.main import app  # noqa: PLC0415  # so that an interruption while this loads is reported, too

        app()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)
