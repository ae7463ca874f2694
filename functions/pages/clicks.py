"""``/go/{number}``: on to the shop, with one click counted. Where it leads is in the table, never in the request."""

from __future__ import annotations

import re
from http import HTTPStatus

from shared.data.catalog import clicks, deals
from shared.html import pages
from shared.html.app import PageApp, Request
from shared.html.pages import Answer
from shared.http.event import header
from shared.models.catalog import Status
from shared.runtime.environment import table

_BOT = re.compile(r"bot|crawl|spider|slurp|preview|monitor|fetch|curl|wget|python|headless|lighthouse", re.IGNORECASE)
"""What those who are no readers call themselves."""

app = PageApp()


@app.get("/go/{number}")
def go(request: Request, number: str) -> Answer:
    deal = deals.find(table(), number)
    if deal.status(request.now) is not Status.ACTIVE:
        return pages.redirect(f"/deals/{deal.number or deal.deal_id}")
    # A HEAD asks what is there, and nobody follows.
    if request.event["httpMethod"] == "GET" and _is_reader(request):
        clicks.count(table(), deal.deal_id)
    return Answer("", status=HTTPStatus.FOUND, headers={"Location": deal.link, "X-Robots-Tag": "noindex"})


def _is_reader(request: Request) -> bool:
    """Whether a request is of somebody who goes there, and not of a bot or of a browser that only gets ready."""
    agent = header(request.event, "user-agent") or ""
    purpose = header(request.event, "sec-purpose") or header(request.event, "purpose") or ""
    return bool(agent) and not _BOT.search(agent) and "prefetch" not in purpose


handler = app.handler
