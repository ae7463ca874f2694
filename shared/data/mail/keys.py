"""The keys of mail, and the types of its items."""

from __future__ import annotations

from shared.data.keys import Item, Text

EMAIL_TOKEN = "EmailToken"  # noqa: S105  # a type's name
DIGEST_RECEIPT = "DigestReceipt"

user_in_digests = Item[str, int](GSI1SK="USER#{username}", GSI1PK="DIGEST#{hour:02}")
digests = Text[int]("DIGEST#{hour:02}")
digest_receipt = Item[str, str]("DIGESTRECEIPT#{account_id}#{day}")
"""The note that an account was mailed its messages on a day like ``2026-06-04``."""
email_token = Item[str]("EMAILTOKEN#{token_hash}")
"""The note that a link was mailed."""
