"""The front page in HTML by a service: FastAPI and Jinja2, on the deals of ``fastapi_postgres``."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from cards import card
from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates
from fastapi_postgres import Database, Deal, Featured, app
from sqlalchemy import select

templates = Jinja2Templates([Path(__file__).parent / "templates", os.environ["AROUND"]])


@app.get("/", response_class=HTMLResponse)
async def front_page_in_html(request: Request, session: Database, latest: int) -> HTMLResponse:
    running = (Deal.expiresAt.is_(None)) | (Deal.expiresAt > datetime.now(UTC).isoformat())
    picks = await session.scalars(
        select(Deal).join(Featured, Featured.dealId == Deal.dealId).where(running).order_by(Featured.position)
    )
    newest = await session.scalars(
        select(Deal).where(running).order_by(Deal.createdAt.desc(), Deal.dealId.desc()).limit(latest)
    )
    days = [
        {"name": name, "cards": list(cards)}
        for name, cards in groupby(map(card, newest), key=lambda shown: shown["day"])
    ]
    return templates.TemplateResponse(request, "front.html", {"picks": [card(deal) for deal in picks], "days": days})
