"""The editor's desk: posting deals, editing them, telling everybody, and ordering what readers see first."""

from __future__ import annotations

from functions.pages.desk import brands, deals, drafts, hot, lists, log, pictures, today, together
from shared.html import forms
from shared.html.app import serve

handler = serve(
    *(
        today.routes,
        deals.routes,
        together.routes,
        drafts.routes,
        log.routes,
        pictures.routes,
        hot.routes,
        lists.routes,
        brands.routes,
    ),
    guards=[forms.ours_only],
)
