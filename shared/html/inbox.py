"""Messages in the inbox: the page that each leads to, and its reason."""

from __future__ import annotations

from shared import features, hooks
from shared.models.messages import AboutOther, Message

_NEWS = {news.thing: news for each in features.roles(hooks.Fields) for news in each.NEWS}


def place_of(message: Message) -> str:
    """The path of a message's subject."""
    about = message.about
    return f"{_NEWS[about.thing].page}/{about.id}" if isinstance(about, AboutOther) else f"/deals/{about.deal_id}"


def why(message: Message) -> str:
    """Why the reader got a message."""
    if isinstance(message.about, AboutOther):
        return _NEWS[message.about.thing].why
    met = ", ".join(filter(None, (message.about.watched, *(message.about.also or []))))
    return " · ".join(filter(None, ("Hot" if message.kind == "hot" else "", f"You watch {met}" if met else "")))
