"""Mail's keys and item types, and its attributes and index places in User items."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from features.mail.models import MailSettings
from shared.data import keys
from shared.data.entity import Entity, at, named
from shared.data.keys import Item, Text
from shared.dynamodb.schema import GSI1

EMAIL_TOKEN = "EmailToken"  # noqa: S105  # a type's name
DIGEST_RECEIPT = "DigestReceipt"

user_in_digests = Item[str, int](GSI1SK="USER#{username}", GSI1PK="DIGEST#{hour:02}")
digests = Text[int]("DIGEST#{hour:02}")
digest_receipt = Item[str, str]("DIGESTRECEIPT#{account_id}#{day}")
"""The note that an account got its digest on a day like ``2026-06-04``."""
email_token = Item[str]("EMAILTOKEN#{token_hash}")
"""The hash of a mailed link's token."""


ENTITIES = {
    "Mail": (
        Entity(
            EMAIL_TOKEN,
            at(
                email_token(named("TokenHash")),
                because="its key is the hash of a token that gives access to an account",
            ),
            needs="Purpose",
            expires=True,
        ),
        Entity(
            DIGEST_RECEIPT,
            at(digest_receipt(named("AccountId"), named("Day")), because="it shows who gets mail"),
            expires=True,
        ),
    )
}
"""The item types, grouped by what they belong to."""

USER_PLACES = (
    at(
        user_in_digests(named("Username"), named("DigestHour")),
        index=GSI1,
        because="members' mail settings are private",
        when=("DigestHour", range(24)),
    ),
)
"""Users' places in indexes."""

USER_HIDES = {
    **dict.fromkeys(("VerifiedEmail", "StoppedEmail"), "a member's email address"),
    "StoppedBecause": "how a member's mailbox responds",
    **dict.fromkeys(("DigestHour", "DigestSince"), "when a member gets mail"),
    "DigestKey": "signs links that act for a member",
}
"""Hidden attributes that mail keeps in User items."""

DESCRIBED: Mapping[str, tuple[tuple[type, ...], Mapping[str, type]]] = {
    keys.USER: ((MailSettings,), {}),
    keys.MESSAGE: ((), {"MailedAt": datetime}),
}
"""The models whose fields such items also have, and further attributes."""
