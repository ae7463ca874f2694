"""Pages that anyone may read: front page, deals, categories, brands, search, feeds, and what crawlers ask for.

These pages are one and the same for everyone: this function reads no cookie and cannot write.
"""

from __future__ import annotations

from functions.pages.site import deal, feeds, pages, topics
from shared import features
from shared.html.app import serve

_OF_FEATURES = features.joining("site")

handler = serve(pages.routes, deal.routes, topics.routes, feeds.routes, *_OF_FEATURES, public=True)
