"""The types of mail's items, and what mail keeps in the items of users."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shared.data import item_types
from shared.data.entity import Entity, at, named
from shared.data.mail import keys
from shared.dynamodb.schema import GSI1
from shared.models.mail import MailSettings

ENTITIES = {
    "Mail": (
        Entity(
            keys.EMAIL_TOKEN,
            at(
                keys.email_token(named("TokenHash")),
                because="its key is made of the token in a mail, which is a key to an account",
            ),
            needs="Purpose",
            expires=True,
        ),
        Entity(
            keys.DIGEST_RECEIPT,
            at(keys.digest_receipt(named("AccountId"), named("Day")), because="it names who is mailed"),
            expires=True,
        ),
    )
}
"""By the groups of types."""

USER_PLACES = (
    at(
        keys.user_in_digests(named("Username"), named("DigestHour")),
        index=GSI1,
        because="members' mail settings are private",
        when=("DigestHour", range(24)),
    ),
)
"""Where users stand in indexes."""

USER_HIDES = {
    **dict.fromkeys(("VerifiedEmail", "StoppedEmail"), "a member's email address"),
    "StoppedBecause": "how a member's mailbox answers",
    **dict.fromkeys(("DigestHour", "DigestSince"), "when a member is mailed"),
    "DigestKey": "signs links that act for a member",
}
"""Hidden attributes that it keeps in the items of users."""

DESCRIBED: Mapping[str, tuple[tuple[type, ...], Mapping[str, type]]] = {
    item_types.USER: ((MailSettings,), {}),
    item_types.MESSAGE: ((), {"MailedAt": datetime}),
}
"""The models whose fields such items also have, and further attributes."""
