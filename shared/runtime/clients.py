"""What functions reach besides the table: the queue of the fan-out, mail, and the bucket of pictures.

Mail has a queue for the functions that ask for it and a sender for the one that sends it: none on a stage without the
setting.
"""

from __future__ import annotations

import os
import secrets
from datetime import datetime
from functools import cache

from shared import services
from shared.runtime.environment import budget, credentials
from shared.services import Bucket, Form, Queue, Sender
from shared.values import identifiers
from shared.values.pictures import MAX_UPLOAD, UPLOADS


@cache
def queue() -> Queue:
    """The queue that the environment names (``QUEUE_URL``), connected once per execution environment."""
    return services.connect_queue(os.environ["QUEUE_URL"], budget(), **credentials())


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
    return services.connect_sender(address, reply_to, os.environ["MAIL_CONFIGURATION_SET"], budget(), **credentials())


@cache
def bucket() -> Bucket:
    """The bucket that the environment names (``PICTURES_BUCKET``), connected once per execution environment."""
    return services.connect_bucket(os.environ["PICTURES_BUCKET"], budget(), **credentials())


UPLOAD_SECONDS = 3600
"""How long a form for an upload can be sent. Lambda's keys, which sign it, may end sooner; then a new form helps."""


def upload_form(deal_id: str, by: str, account_id: str, now: datetime, **fields: str) -> Form:
    """A form by which the browser of the editor ``by`` sends a picture for a deal; ``fields`` are more of S3's."""
    key = f"{UPLOADS}{identifiers.random(now, secrets.token_bytes(16))}"
    noted = {"deal": deal_id, "editor": by, "account": account_id}
    metadata = {f"x-amz-meta-{name}": value for name, value in noted.items()}
    return bucket().form(key, MAX_UPLOAD, UPLOAD_SECONDS, {**metadata, **fields})
