"""Members, their messages and watches as the API's JSON: one function for each schema that is made of one object."""

from __future__ import annotations

from shared.api.documents import Json, brand
from shared.models.catalog import Topic
from shared.models.members import Alert, Limits, Pace, PriceAlert, Session, User
from shared.models.messages import AboutOther, Message
from shared.values.stored import api_names
from shared.values.times import to_iso

_LIMITS = api_names(Limits)
"""The fields of these, which are shown as they are."""


def watched(topic: Topic, within: Limits) -> Json:
    return {**followed(topic), "limits": limits(within)}


def followed(topic: Topic) -> Json:
    return {"kind": topic.kind.label, topic.kind.label: topic.slug}


def limits(limits: Limits) -> Json:
    return {name: getattr(limits, field) for name, field in _LIMITS.items()}


def alert(alert: Alert) -> Json:
    of = {"deal": {"dealId": alert.deal_id, "title": alert.title}} if isinstance(alert, PriceAlert) else {}
    return {"alertId": alert.alert_id, **of, "limits": limits(alert.limits), "createdAt": to_iso(alert.created_at)}


def session_token(token: str, session: Session) -> Json:
    return {"token": token, "expiresAt": to_iso(session.expires_at)}


def session(session: Session, own: str, here: str) -> Json:
    """A session; ``own`` is the id of the caller's session, ``here`` its network."""
    return {
        "sessionId": session.session_id,
        "browser": session.browser,
        "program": session.program,
        "createdAt": to_iso(session.created_at),
        "usedAt": to_iso(session.used_at) if session.used_at else None,
        "expiresAt": to_iso(session.expires_at),
        "current": session.session_id == own,
        "sameNetwork": session.network == here if session.network else None,
    }


def user(user: User) -> Json:
    return {
        "username": user.username,
        "email": user.email,
        "name": user.name,
        "role": user.role,
        "createdAt": to_iso(user.created_at),
        "hotPace": user.hot_pace or Pace.AT_ONCE,
    }


def message(message: Message) -> Json:
    of = message.about
    if isinstance(of, AboutOther):
        about: Json = {of.thing: {f"{of.thing}Id": of.id}}
    else:
        about = {"deal": {"dealId": of.deal_id, "title": of.title, "brand": brand(of.brand, of.brand_name)}}
    return {
        "messageId": message.message_id,
        "kind": message.kind,
        "subject": message.subject,
        **about,
        "createdAt": to_iso(message.created_at),
        "unread": message.unread,
    }
