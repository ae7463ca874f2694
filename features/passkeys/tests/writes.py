"""The writes of passkeys, for ``tests/interleave``."""

from __future__ import annotations

_NOT_TRIED = (
    "data.add",
    "data.begin",
    "data.count_try",
    "data.finish",
    "data.keep_challenge",
    "data.new_codes",
    "data.remove",
    "data.reset",
    "data.spend_challenge",
    "data.spend_code",
    "data.used",
)
DONT_WRITE_IN_ACTIONS = {f"features.passkeys.{name}": "it isn't tried with another writer yet" for name in _NOT_TRIED}
