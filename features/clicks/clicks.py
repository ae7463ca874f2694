"""``/go/{number}``: count a click and redirect to the shop. The target comes from the table, never from the request.

Only a GET with which a browser opens the address as a page counts (``Request.opens_page``), not one of a picture or
script. Links on other sites don't count, nor does a second click on a deal from an address within the hour: others
could make a deal look popular.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from features.clicks.data import clicks
from shared.data.catalog import deals
from shared.html import pages
from shared.html.pages import Answer, Request, Routes, serve
from shared.http.requests import address, header
from shared.models.catalog import Status
from shared.runtime.environment import table
from shared.values import links

_BOT = re.compile(r"bot|crawl|spider|slurp|preview|monitor|fetch|curl|wget|python|headless|lighthouse", re.IGNORECASE)
"""Words in the User-Agent of bots."""

_OURS = (None, "same-origin", "none")
"""``Sec-Fetch-Site`` for links on our pages and for typed addresses; None in older browsers."""

routes = Routes()


@routes.get("/go/<number>")
def go(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    if deal.status(request.now) is not Status.ACTIVE:
        return pages.redirect(f"/deals/{deal.page_id}")
    if _is_readers(request) and clicks.is_first(table(), deal.deal_id, address(request.event), request.now):
        clicks.count(table(), deal.deal_id)
    return Answer(
        "", status=HTTPStatus.FOUND, headers={"Location": links.encoded(deal.link), "X-Robots-Tag": "noindex"}
    )


def _is_readers(request: Request) -> bool:
    """Whether a reader seems to follow one of our links."""
    agent = header(request.event, "user-agent") or ""
    is_bot = not agent or _BOT.search(agent)
    return request.opens_page and not is_bot and header(request.event, "sec-fetch-site") in _OURS


handler = serve(routes)
