"""What passkeys add to accounts."""

from __future__ import annotations

from features.passkeys.models import Factors

ACCOUNT = Factors
