"""``/go/{number}``: on to the shop, with one click counted. Where it leads is in the table, never in the request.

A click is a GET by which a browser opens the address as a page (``Request.opens_page``), so an address that some page
names as a picture, or that a script asks for, is not counted. Where the answer is lost, the write is tried again, and
the click may count twice.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from shared.data.catalog import clicks, deals
from shared.html import pages, views
from shared.html.app import Routes, serve
from shared.html.pages import Answer
from shared.html.request import Request
from shared.http.event import header
from shared.models.catalog import Status
from shared.runtime.environment import table

_BOT = re.compile(r"bot|crawl|spider|slurp|preview|monitor|fetch|curl|wget|python|headless|lighthouse", re.IGNORECASE)
"""Words by which bots name themselves in User-Agent."""

routes = Routes()


@routes.get("/go/<number>")
def go(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    if deal.status(request.now) is not Status.ACTIVE:
        return pages.redirect(f"/deals/{views.number(deal)}")
    if request.opens_page and not _is_bot(request):
        clicks.count(table(), deal.deal_id)
    return Answer("", status=HTTPStatus.FOUND, headers={"Location": deal.link, "X-Robots-Tag": "noindex"})


def _is_bot(request: Request) -> bool:
    agent = header(request.event, "user-agent") or ""
    return not agent or bool(_BOT.search(agent))


handler = serve(routes)
