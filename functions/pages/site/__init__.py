"""Pages that anyone may read: front page, deals, categories, brands, search, feeds, and what crawlers ask for.

These pages are one and the same for everybody: this function reads no cookie and cannot write.
"""

from __future__ import annotations

from functions.pages.site import deal, feeds, pages, topics
from shared.html.app import serve

handler = serve(pages.routes, deal.routes, topics.routes, feeds.routes, public=True)
