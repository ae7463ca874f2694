"""A member's own pages: inbox, watches, alerts and likes, and the state of the buttons on public pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from functions.pages.mine import following, inbox, watches
from functions.pages.mine.following import like, topic_at, watch
from functions.pages.mine.watches import alert_on_price, alert_on_words
from shared import features, hooks
from shared.data.catalog import deals
from shared.data.members import alerts, follows
from shared.errors import DealsError
from shared.html import cookies, forms, pages
from shared.html.pages import Answer, Request, Routes, serve
from shared.runtime.environment import table
from shared.values import money

routes = Routes()


@routes.get("/my")
def mine(_request: Request) -> Answer:
    return pages.redirect("/my/inbox")


@routes.get("/my/status")
def status(request: Request) -> Answer:
    """The reader's own state, for the script: counts in the header, and which of a deal's or a topic's buttons are on.

    ``?deal=`` is a deal's number or id, ``?topic=`` is ``brand/<slug>`` or ``category/<slug>``. Empty without a
    session.
    """
    session = cookies.session_of(table(), request)
    if session is None:
        return pages.json_answer({})
    asked: dict[str, Callable[[], Any]] = {}
    if "deal" in request.query:
        asked["of deal"] = partial(_states_of, request.query["deal"], session.username)
    if "topic" in request.query:
        topic, _ = topic_at(*request.query["topic"].partition("/")[::2])
        asked["watching"] = partial(follows.is_watched, table(), topic, session.username)
        asked["liked"] = partial(follows.is_liked, table(), topic, session.username)
    found, head = cookies.beside_head(request, *asked.values())
    states = dict(zip(asked, found, strict=True))
    return pages.json_answer({**head, **states.pop("of deal", {}), **states})


def _states_of(number: str, username: str) -> dict[str, bool | str]:
    """The states of a deal's buttons, and the price of the reader's alert. Two round trips."""
    try:
        place = deals.place_of(table(), number)
        product = place.product or deals.place(deals.get(table(), place.deal_id)).product
    except DealsError:
        return {}
    asked: list[Callable[[], Any]] = [
        *(partial(each.states_of, table(), place.deal_id, username) for each in _OF_FEATURES),
        partial(alerts.limits_on, table(), username, product),
    ]
    *found, alert = table().gather(asked)
    own: dict[str, bool | str] = features.joined(zip([each.file for each in _OF_FEATURES], found, strict=True))
    if alert and alert.ceiling:
        own |= {"alert": money.text(alert.ceiling, alert.currency or ""), "ceiling": alert.ceiling}
    return own


_OF_FEATURES = features.roles(hooks.Mine)

for each in (following.routes, inbox.routes, watches.routes, *pages.routes_of(_OF_FEATURES)):
    routes.pages += each.pages
_REPLAYED = (watch, like, alert_on_price, alert_on_words)
cookies.replay_after_sign_in(routes, "/my", *_REPLAYED, *chain.from_iterable(each.REPLAYED for each in _OF_FEATURES))
handler = serve(routes, guards=[forms.ours_only])
