"""Messages in the inbox: the page that each leads to, and its reason."""

from __future__ import annotations

from collections.abc import Collection

from shared import features, hooks
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, Topic
from shared.models.messages import AboutDeal, AboutOther, Message

_NEWS = {news.thing: news for each in features.roles(hooks.Fields) for news in each.NEWS}


def place_of(message: Message) -> str:
    """The path of a message's subject."""
    about = message.about
    return f"{_NEWS[about.thing].page}/{about.id}" if isinstance(about, AboutOther) else f"/deals/{about.deal_id}"


def why(message: Message, *, still: bool = True) -> str:
    """Why the reader got a message; ``still``: the reader watches its topic today."""
    if isinstance(message.about, AboutOther):
        return _NEWS[message.about.thing].why
    met = ", ".join(filter(None, (message.about.watched, *(message.about.also or []))))
    watch = "You watch" if still else "You watched"
    return " · ".join(filter(None, ("Hot" if message.kind == "hot" else "", f"{watch} {met}" if met else "")))


def topic_of(message: Message) -> Topic | None:
    """The brand or category whose watch sent a message; None if something else did."""
    about = message.about
    if isinstance(about, AboutDeal) and message.kind == "brand" and about.watched == about.brand_name:
        return Topic(BRAND, about.brand)
    if isinstance(about, AboutDeal) and message.kind == "category":
        return next((Topic(CATEGORY, slug) for slug, name in CATEGORIES.items() if name == about.watched), None)
    return None


_SETTINGS = {"words": "alerts", "price": "alerts", "hot": "hot"}
"""Where the page of watches has what sends a kind of messages."""


def stops(message: Message, watched: Collection[Topic]) -> dict[str, str] | None:
    """How to stop such messages: a watched ``kind`` and ``slug``, or the ``part`` of the page of watches; or None."""
    topic = topic_of(message)
    if topic is None:
        part = _SETTINGS.get(message.kind)
        return {"part": part, "name": _ALL[part]} if part else None
    name = message.about.watched if isinstance(message.about, AboutDeal) else None
    return {"kind": topic.kind.label, "slug": topic.slug, "name": name or topic.slug} if topic in watched else None


_ALL = {"alerts": "your alerts", "hot": "hot deals"}
