"""The news of a deal or an order, and the message that tells one user of it. No table is needed for that."""

from __future__ import annotations

from datetime import datetime

from shared import settings
from shared.models.alerts import Alert, WordsAlert
from shared.models.catalog import CATEGORIES, Deal
from shared.models.messages import AboutDeal, AboutOrder, Announcement, DealNews, Message
from shared.values import identifiers, money


def of_deal(
    deal: Deal,
    kind: DealNews,
    correlation_id: str | None = None,
    watched: str | None = None,
    *also: str,
    fell: bool = False,
) -> Announcement:
    """The announcement of a deal. It is announced when it is posted, when its price falls, and when it becomes hot.

    A deal that becomes hot within an hour is still the same announcement: nobody is told twice. ``watched`` names the
    brand or category that it was announced for, as an editor may have moved it since, or the first alert that it meets,
    and ``also`` the other alerts.
    """
    match kind:
        case "brand":
            watched = watched or deal.brand_name
            subject = f"New from {watched}: {deal.title}"
        case "category":
            watched = watched or CATEGORIES[deal.category]
            subject = f"New in {watched}: {deal.title}"
        case "hot":
            subject = f"Hot: {deal.title}"
        case "words":
            subject = f"New: {deal.title}"
        case "price":
            subject = f"{money.text(deal.price, deal.currency)}: {deal.title}"
    at = deal.changed_at if fell else deal.created_at
    becomes_hot_later = deal.hot_at is not None and deal.hot_at - deal.created_at > settings.SAME_ANNOUNCEMENT
    if kind == "hot" and deal.hot_at is not None and becomes_hot_later:
        at = deal.hot_at
    names = watched, list(also) or None
    about = AboutDeal(deal.deal_id, deal.title, deal.brand, deal.brand_name, deal.price, deal.currency, *names)
    return Announcement(kind, subject, about, at, correlation_id, about_price=fell)


def name_of(alert: Alert) -> str:
    """The name of an alert in the messages that it causes."""
    if isinstance(alert, WordsAlert):
        return f"“{alert.limits.words}”"
    return f"this product at {money.text(alert.limits.ceiling or '0.00', alert.limits.currency or '')} or less"


def message_id(announcement: Announcement, username: str) -> str:
    """The id of the message that tells a user an announcement: the same one however often it is sent.

    It holds the announcement's time, so that the newest announcements are at the top of the inbox. A deal is announced
    once whatever the reason, and again at a lower price; each new status of an order is told.
    """
    match announcement.about:
        case AboutDeal(deal_id=deal_id, price=price):
            identity = [deal_id, *([price] if announcement.about_price else [])]
        case AboutOrder(order_id=order_id):
            identity = [order_id, announcement.kind, announcement.at.isoformat()]  # a status may be told again
    return identifiers.derived(announcement.at, "message", *identity, username)


def compose(announcement: Announcement, username: str, shown_at: datetime | None = None) -> Message:
    """The message that tells a user of something, at once or from a time on. It has the announcement's time."""
    return Message(
        message_id=message_id(announcement, username),
        username=username,
        kind=announcement.kind,
        subject=announcement.subject,
        about=announcement.about,
        created_at=announcement.at,
        correlation_id=announcement.correlation_id,
        shown_at=shown_at,
    )
