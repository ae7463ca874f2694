"""Sitemaps and ``robots.txt``: what search engines ask a site for."""

DOES = "sitemaps of all listed deals, and what crawlers leave out"
NEEDS = ()
JOINS = {"site": "pages"}
