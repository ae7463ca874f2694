"""Members' routes for their private feed."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from features.private_feeds.data import feed_keys
from shared.api import documents
from shared.api.app import calling, of_members
from shared.http.answers import json_answer, nothing
from shared.runtime.environment import table
from shared.values import identifiers, times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


@router.get("/me/feed", **of_members("Get the state of your private feed", "PrivateFeed"))
def my_feed() -> Response[Any]:
    key = feed_keys.of(table(), calling(router).username)
    return json_answer(
        {"createdAt": documents.time(key.made_at if key else None), "ended": key is not None and key.ended}
    )


@router.post("/me/feed", **of_members("Create a key for your private feed", "FeedKey", status=201, errors=[409]))
def make_feed() -> Response[Any]:
    """Make a new key, which replaces the one before. The feed is at the site's ``/my/messages.atom?key=``."""
    own, now, entropy = calling(router), times.now(), secrets.token_bytes(identifiers.BYTES)
    key = feed_keys.make(table(), own.username, own.account_id, now, entropy, generation=own.generation)
    return json_answer({"key": key, "createdAt": times.to_iso(now)}, HTTPStatus.CREATED)


@router.delete("/me/feed", **of_members("Revoke your private feed", None, status=204, errors=[409]))
def revoke_feed() -> Response[Any]:
    feed_keys.revoke(table(), calling(router).username, calling(router).account_id)
    return nothing()
