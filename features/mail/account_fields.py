"""What mail adds to accounts."""

from __future__ import annotations

from features.mail.models import MailSettings

ACCOUNT = MailSettings
