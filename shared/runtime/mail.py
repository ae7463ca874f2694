"""Mail, for the functions that ask for it and for the one that sends it: none on a stage without the setting."""

from __future__ import annotations

import os
from functools import cache

from shared import ses, sqs
from shared.runtime.environment import budget, credentials
from shared.ses import Sender
from shared.sqs import Queue


def is_sent() -> bool:
    """Whether this stage sends mail."""
    return "MAIL_QUEUE_URL" in os.environ


@cache
def mail_queue() -> Queue | None:
    """The queue of what is to be mailed, connected at first use; None on a stage that sends no mail."""
    return sqs.connect(os.environ["MAIL_QUEUE_URL"], budget(), **credentials()) if is_sent() else None


@cache
def sender() -> Sender:
    """Whom this stage's mails are from."""
    address, reply_to = os.environ["MAIL_SENDER"], os.environ["MAIL_REPLY_TO"]
    return ses.connect(address, reply_to, os.environ["MAIL_CONFIGURATION_SET"], budget(), **credentials())
