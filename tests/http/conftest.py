"""The context of a call, for the tests of HTTP."""

from __future__ import annotations

from tests.support.events import context

__all__ = ["context"]
