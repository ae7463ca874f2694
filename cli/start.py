"""Start the command ``btd``: an interruption ends it with one line and exit code 130, at any moment."""

from __future__ import annotations

import sys

from cli import INTERRUPTED


def main() -> None:
    """Load the commands, which takes half a second, and run the one that was asked for."""
    try:
        from cli.main import app  # noqa: PLC0415  # so that an interruption while this loads is reported, too

        app()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
