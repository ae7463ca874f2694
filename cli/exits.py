"""Exit codes of ``btd``."""

from __future__ import annotations

INTERRUPTED = 130
"""The exit code of what SIGINT ended: 128 and the signal's number, as a shell counts it."""
