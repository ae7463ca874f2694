"""Passkeys' paths."""

PRIVATE_PATHS = ("/passkeys",)
