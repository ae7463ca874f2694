"""What the tests of HTTP share: a call's context."""

from __future__ import annotations

from tests.support.events import context

__all__ = ["context"]
