"""A site to fire at, and who is there."""

from __future__ import annotations

from tests.support.visiting import editor, member, site

__all__ = ["editor", "member", "site"]
