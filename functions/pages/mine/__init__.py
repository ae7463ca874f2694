"""A member's own pages: the inbox, watches and alerts, what one saved; and the buttons that lead there."""

from __future__ import annotations

from functions.pages.mine import alerts_pages, pages
from shared.html import cookies, forms
from shared.html.app import Routes, serve

_ROUTES = Routes()
_ROUTES.pages = [*pages.routes.pages, *alerts_pages.routes.pages]
cookies.replay_after_sign_in(
    _ROUTES,
    "/my",
    pages.watch,
    pages.like,
    pages.save,
    pages.vote,
    alerts_pages.alert_on_price,
    alerts_pages.alert_on_words,
)
handler = serve(_ROUTES, guards=[forms.ours_only])
