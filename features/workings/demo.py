"""The workings in the demo."""

from __future__ import annotations

PACKED = ("/table",)
