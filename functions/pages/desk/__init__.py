"""The editor's desk: posting deals, editing them, notifying all members, and ordering what readers see first."""

from __future__ import annotations

from functions.pages.desk import deal_form, deals, lists, today
from shared.html import forms
from shared.html.pages import serve

_MODULES = (today, deals, deal_form, lists, *deals.OF_FEATURES)

handler = serve(*(module.routes for module in _MODULES), guards=[forms.ours_only])
