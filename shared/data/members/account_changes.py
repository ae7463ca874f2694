"""What a write changed of an account, by its record in the stream: events for the audit, without names or addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared.data import keys

_EVENTS = {"Role": "role", "Generation": "password", "SignOuts": "sessions-ended", "Email": "email"}
"""Attributes of an account whose change is an event. A new password changes the generation of its sessions."""


def is_account(record: Mapping[str, Any]) -> bool:
    """Whether a stream record is of a User item, or of what its removal leaves in its place."""
    return _text(_image(record, "NewImage"), "Type") in (keys.USER, keys.REMOVAL)


def events_of(record: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The events in a record of an account: the event, the account's id, and what else the audit says."""
    before, after = _image(record, "OldImage"), _image(record, "NewImage")
    if _text(after, "Type") == keys.REMOVAL:
        if _text(before, "Type") == keys.USER:
            yield "removed", _text(before, "AccountId"), {}
        return
    if _text(before, "Type") != keys.USER:
        yield "created", _text(after, "AccountId"), {"role": _role(after)}
        return
    for attribute, event in _EVENTS.items():
        if attribute == "Role":
            if _role(before) != _role(after):
                yield event, _text(after, "AccountId"), {"role": _role(after)}
        elif before.get(attribute) != after.get(attribute):
            yield event, _text(after, "AccountId"), {}


def _image(record: Mapping[str, Any], which: str) -> Mapping[str, Any]:
    image: Mapping[str, Any] = record["dynamodb"].get(which, {})
    return image


def _text(image: Mapping[str, Any], name: str) -> str:
    return str(image.get(name, {}).get("S", ""))


def _role(image: Mapping[str, Any]) -> str:
    return _text(image, "Role") or "member"
