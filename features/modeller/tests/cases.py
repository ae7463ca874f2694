"""The modeller in tests of all features."""

from __future__ import annotations

ASKED = (("", "/model"), ("", "/model?start=library"))
TRIED = (("/model?start=library", "main button[name=run]", "#came"),)
IMPORTS = {"modeller": ("minijinja",)}
