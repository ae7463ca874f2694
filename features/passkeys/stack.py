"""The setting that editors need a passkey, for the functions that check passwords."""

from __future__ import annotations

from aws_cdk import Stack

from features.passkeys.rights import required
from infra.site import Site

CHECKING = ("accounts", "account")
"""The functions that check a password."""


def add(_stack: Stack, site: Site) -> None:
    """Tell them where editors need a passkey."""
    for name in CHECKING:
        if required(site.stage):
            site.by_name[name].function.add_environment("EDITORS_NEED_PASSKEYS", "true")
