"""The queue of mail for the functions that ask for it, and a sender for the one that sends it.

A stage without the setting has neither.
"""

from __future__ import annotations

import os
from functools import cache

from shared import services, ses
from shared.runtime.environment import budget, credentials
from shared.runtime.metrics import Metric
from shared.services import Queue
from shared.ses import Sender

MAILS_SENT = Metric("MailsSent", "Count", ("mailer",))
MAILS_REFUSED = Metric("MailsRefused", "Count", ("mailer",))
"""Mails that SES took, and those that it did not: in its sandbox it takes none to addresses that are not verified."""

METRICS = (MAILS_SENT, MAILS_REFUSED)


def is_sent() -> bool:
    """Whether this stage sends mail."""
    return "MAIL_QUEUE_URL" in os.environ


@cache
def mail_queue() -> Queue | None:
    """The queue of what is to be mailed, connected at first use; None on a stage that sends no mail."""
    return services.connect_queue(os.environ["MAIL_QUEUE_URL"], budget(), **credentials()) if is_sent() else None


@cache
def sender() -> Sender:
    """Whom this stage's mails are from."""
    address, reply_to = os.environ["MAIL_SENDER"], os.environ["MAIL_REPLY_TO"]
    return ses.connect_sender(address, reply_to, os.environ["MAIL_CONFIGURATION_SET"], budget(), **credentials())
