"""The textbook in tests of all features."""

from __future__ import annotations

ASKED = (("", "/learn"), ("", "/learn/item-collection"), ("", "/learn/indexes-and-projections"))
TRIED = (("/learn/item-collection", "main form.run button", "#came .sent"),)
IMPORTS = {"learn": ("minijinja",)}
