"""Imports in tests of all features."""

from __future__ import annotations

OPERATED = ("features/imports/README.md",)
