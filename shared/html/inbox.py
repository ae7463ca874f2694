"""Messages in the inbox: the page that each leads to, and its reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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


def address_of(alike: Sequence[Message]) -> tuple[str, str | None]:
    """The path of the messages of a row, which marks them read, and ``yes`` if it is to mark others than the first."""
    return f"/my/inbox/{alike[0].message_id}", "yes" if any(each.unread for each in alike[1:]) else None


def more_of(alike: Sequence[Message]) -> str:
    """How many colours and sizes the messages of one row are about; empty for one."""
    deals = {each.about.deal_id for each in alike if isinstance(each.about, AboutDeal)}
    return f"{len(deals)} colours and sizes" if len(deals) > 1 else ""


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


def part_that_stops(message: Message) -> str | None:
    """The part of the page of watches in which such messages are stopped, for a mail; None if it has none."""
    topic = topic_of(message)
    return f"row-{row_id(topic)}" if topic else _SETTINGS.get(message.kind)


def row_id(topic: Topic) -> str:
    """The id of a topic's row on the page of watches: ``brand-apple``."""
    return f"{topic.kind.label}-{topic.slug}"
