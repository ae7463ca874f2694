"""The desk's links, and the paths that crawlers leave out."""

from __future__ import annotations

TABS = {
    "desk": (
        ("/desk", "Today"),
        ("/desk/deals/new", "Post a deal"),
        ("/desk/deals", "Deals"),
        ("/desk/front-page", "Front page"),
        ("/desk/brands", "Brands"),
    ),
    "editors": (("/desk", "Desk"),),
}
EDITS = "/desk/deals/"
PRIVATE_PATHS = ("/desk",)
