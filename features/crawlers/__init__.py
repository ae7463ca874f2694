"""Sitemaps, ``robots.txt`` and structured data: what search engines ask a site for."""

DOES = "sitemaps of all listed deals, what crawlers leave out, and deals as structured data"
NEEDS = ()
JOINS = {"site": "pages"}
