"""The item types of passkeys, and their attribute in User items."""

from __future__ import annotations

from features.passkeys import keys
from shared.data.entity import Entity, at, named

_USERNAME = named("Username")

ENTITIES = {
    "Passkeys": (
        Entity(
            keys.PASSKEY,
            at(keys.passkey(_USERNAME, named("PasskeyId")), because="it shows how somebody signs in"),
            needs="Name CredentialId PublicKey SignCount CreatedAt",
            says={"Username": "<Username>"},
            owned=True,
        ),
        Entity(
            keys.RECOVERY_CODES,
            at(keys.recovery_codes(_USERNAME), because="it holds the hashes of codes that sign a user in"),
            needs="CreatedAt",
            says={"Username": "<Username>"},
            owned=True,
        ),
        Entity(
            keys.HALF_SESSION,
            at(keys.half_session(named("TokenHash")), because="its key is the hash of a token"),
            expires=True,
        ),
        Entity(
            keys.CHALLENGE,
            at(keys.challenge(named("ChallengeHash")), because="its key is the hash of a challenge"),
            needs="Purpose Owner",
            expires=True,
        ),
    )
}

USER_HIDES = {"Passkeys": "whether a member has a second factor"}
