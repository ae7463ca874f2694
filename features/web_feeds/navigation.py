"""The addresses of feeds."""

FEEDS = {"atom": "/feed.atom", "json": "/feed.json"}
