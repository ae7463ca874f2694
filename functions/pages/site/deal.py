"""A deal's page: its price beside others, other colours, and more deals of its brand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any

from functions.pages.site import listing
from functions.pages.site.listing import public_page
from shared import features, hooks
from shared.data.catalog import deal_pages, deals
from shared.html import pages, views
from shared.html.links import link
from shared.html.pages import Answer, Request, Routes
from shared.models.catalog import Deal, Status
from shared.runtime.environment import table
from shared.values import identifiers, money
from shared.values.times import to_http

SIBLINGS = 8
COLOURS = 12
WHOLE = 20
"""From this price on, suggested prices have no cents."""

routes = Routes()


@routes.get("/deals/<number>")
def one_deal(request: Request, number: str) -> Answer:
    if identifiers.is_ksuid(number) and (named := deals.get(table(), number).number) is not None:
        return pages.moved(f"/deals/{named}")
    found = deal_pages.read(table(), number, request.now)
    deal, now = found.deal, request.now
    status = deal.status(now)
    if deal.number is not None and number != str(deal.number):
        return pages.moved(f"/deals/{deal.number}")
    siblings = views.cards(found.of_brand, now, most=SIBLINGS)
    cheaper = _cheaper(found, now)
    for shown in (siblings, cheaper):
        views.leave_out(shown)
    query = listing.query_of(deal_pages.below(deal))
    return public_page(
        "deal.html",
        request,
        status=HTTPStatus.GONE if status is Status.WITHDRAWN else HTTPStatus.OK,
        d=views.head(deal, now),
        old=_old(deal, now),
        ended=views.day(deal.ends_at, now) if status is Status.EXPIRED and deal.ends_at else None,
        again=_again(deal, found.offers, now),
        verdict=_verdict(deal, now),
        proposed=_proposed(deal),
        others=[views.card(each, now) for each in found.variants[:COLOURS]],  # each colour has its own page
        siblings=siblings,
        cheaper=cheaper,
        all_cheaper=link(f"/categories/{deal.category}", **query),
        **_of_features(found, now),
        description=views.summary(deal),
        robots=None if status is Status.ACTIVE else "noindex",
        more_headers={"Last-Modified": to_http(deal.seen_changing_at(now))},
    )


def _cheaper(found: deal_pages.DealPage, now: datetime) -> list[views.Card]:
    """The cards of similar deals that cost less, each with how much less."""
    shown = views.cards(found.cheaper, now, most=SIBLINGS)
    units, currency = found.deal.units, found.deal.currency
    for each in shown:
        less = money.of_units(units - money.units(each["price"], currency), currency)
        each["remark"] = f"{views.money(less, currency)} less"
    return shown


def _of_features(found: deal_pages.DealPage, now: datetime) -> dict[str, Any]:
    """The values that features add to the page."""
    shown = zip(features.roles(hooks.DealPage), found.asked, strict=True)
    return features.joined((each.file, each.shown(asked, found, now)) for each, asked in shown)


def _old(deal: Deal, now: datetime) -> dict[str, Any] | None:
    """When an editor last checked an active deal's price, if that is long ago."""
    age = now - deal.changed_at
    if age < views.OLD or deal.status(now) is not Status.ACTIVE:
        return None
    return {"day": views.day(deal.changed_at, now), "days": age.days}


def _again(deal: Deal, found: Sequence[Deal], now: datetime) -> Mapping[str, Any] | None:
    """The cheapest active offer of an ended deal's product, or None."""
    others = [each for each in found if each.deal_id != deal.deal_id and each.status(now) is Status.ACTIVE]
    if deal.status(now) is not Status.EXPIRED or not others:
        return None
    return views.head(min(others, key=lambda each: (each.currency != deal.currency, each.units)), now)


def _verdict(deal: Deal, now: datetime) -> dict[str, Any] | None:
    """A deal's price compared with its product's others of 60 days; None if there are none."""
    judged = deal.verdict
    if judged is None or deal.status(now) is Status.WITHDRAWN:
        return None
    cheapest = views.money(money.of_units(judged.cheapest, deal.currency), deal.currency)
    return {
        "lowest": deal.is_lowest,
        "cheaper": None if deal.is_lowest else {"price": cheapest, "day": views.day(judged.day, deal.created_at)},
        "usual": views.usual(deal),
    }


def _proposed(deal: Deal) -> str:
    """A suggested price for an alert: a tenth below the deal's, from 20 on in whole units of its currency."""
    proposed = money.of_units(deal.units * 9 // 10, deal.currency)
    whole = proposed.partition(".")[0]
    return whole if int(whole) >= WHOLE or not money.decimals(deal.currency) else proposed
