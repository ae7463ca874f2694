"""Pages for crawlers in tests of all pages."""

from __future__ import annotations

COSTS = {"/sitemap.xml": ("GetItem 1, Query 1", 1), "/robots.txt": ("", 0)}

OF_NO_HEADER = ("/sitemap.xml", "/robots.txt")

TRACED = ("/sitemap.xml", "/sitemap-{month}.xml")
