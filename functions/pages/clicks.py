"""``/go/{number}``: on to the shop, with one click counted. Where it leads is in the table, never in the request.

A click is a GET by which a browser opens the address as a page. Browsers say so themselves (``Sec-Fetch-Mode`` and
``Sec-Fetch-Dest``: https://www.w3.org/TR/fetch-metadata/), so an address that some page names as a picture, or that a
script asks for, is not counted. Of older browsers, which say nothing, each GET is one. Where the answer is lost, the
write is tried again, and the click may count twice.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from shared.data.catalog import clicks, deals
from shared.html import pages, views
from shared.html.app import PageApp, Request
from shared.html.pages import Answer
from shared.http.event import header
from shared.models.catalog import Status
from shared.runtime.environment import table

_BOT = re.compile(r"bot|crawl|spider|slurp|preview|monitor|fetch|curl|wget|python|headless|lighthouse", re.IGNORECASE)
"""Words by which bots name themselves in User-Agent."""

app = PageApp()


@app.get("/go/{number}")
def go(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    if deal.status(request.now) is not Status.ACTIVE:
        return pages.redirect(f"/deals/{views.number(deal)}")
    # Nobody follows a link by HEAD.
    if request.event["httpMethod"] == "GET" and _is_reader(request):
        clicks.count(table(), deal.deal_id)
    return Answer("", status=HTTPStatus.FOUND, headers={"Location": deal.link, "X-Robots-Tag": "noindex"})


def _is_reader(request: Request) -> bool:
    """Whether a reader opens the link as a page, and not a bot, a browser that prefetches, or some page's picture."""
    agent = header(request.event, "user-agent") or ""
    purpose = header(request.event, "sec-purpose") or header(request.event, "purpose") or ""
    is_bot = not agent or bool(_BOT.search(agent))
    is_navigation = header(request.event, "sec-fetch-mode") in (None, "navigate")
    is_document = header(request.event, "sec-fetch-dest") in (None, "document")
    return is_navigation and is_document and not is_bot and "prefetch" not in purpose


handler = app.handler
