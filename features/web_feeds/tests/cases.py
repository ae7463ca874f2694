"""Feeds in tests of all pages."""

from __future__ import annotations

COSTS = {
    "/feed.atom": ("GetItem 1, Query {of_all}", 2),
    "/feed.atom?q=trail runner": ("BatchGetItem 2, Query 2", 3),
    "/brands/apple/feed.atom": ("GetItem 1, Query {of_brand}", 2),
    "/categories/shoes/feed.atom": ("GetItem 1, Query {of_category}", 2),
}

OF_NO_HEADER = ("/feed.atom",)

TRACED = ("/feed.atom", "/feed.json?q=trail", "/brands/apple/feed.atom", "/categories/shoes/feed.atom")

ASKED = (("", "/feed.atom"),)
