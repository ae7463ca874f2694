"""The metrics of mail."""

from __future__ import annotations

from shared.runtime.metrics import Metric

MAILS_SENT = Metric("MailsSent", "Count", ("mailer",))
MAILS_REFUSED = Metric("MailsRefused", "Count", ("mailer",))
"""Mails that SES accepted and refused. In its sandbox it refuses mail to addresses that aren't verified."""

METRICS = DELIVERY = (MAILS_SENT, MAILS_REFUSED)
