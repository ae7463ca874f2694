"""The keys of passkeys, recovery codes, half-sessions and challenges, and their item types."""

from __future__ import annotations

from shared.data.keys import Item, Text

PASSKEY = "Passkey"
RECOVERY_CODES = "RecoveryCodes"
HALF_SESSION = "HalfSession"
CHALLENGE = "Challenge"

passkey = Item[str, str](PK="PASSKEYS#{username}", SK="PASSKEY#{passkey_id}")
recovery_codes = Item[str](PK="PASSKEYS#{username}", SK="CODES")
passkeys = Text[str]("PASSKEYS#{username}")
"""A user's passkeys, and the hashes of the recovery codes."""
half_session = Item[str]("HALFSESSION#{token_hash}")
"""What a right password opens: the second step of signing in, and nothing else."""
challenge = Item[str]("CHALLENGE#{challenge_hash}")
