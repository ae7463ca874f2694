"""A member's own pages: the inbox, watches and alerts, what one saved; and the buttons that lead there."""

from __future__ import annotations

from functions.pages.mine import pages, told
from shared.html import deferred_actions, forms
from shared.html.app import Routes, serve

_ROUTES = Routes()
_ROUTES.pages = [*pages.routes.pages, *told.routes.pages]
deferred_actions.replay_after_sign_in(
    _ROUTES, "/my", pages.watch, pages.like, pages.save, pages.vote, told.alert_on_price, told.alert_on_words
)
handler = serve(_ROUTES, guards=[forms.ours_only])
