"""The bucket of pictures: its client, and the forms with which browsers send files to it."""

from __future__ import annotations

import os
import secrets
from datetime import datetime
from functools import cache

from shared import services
from shared.runtime.environment import budget, credentials
from shared.services import Bucket, Form
from shared.values import identifiers
from shared.values.pictures import MAX_UPLOAD, UPLOADS


@cache
def bucket() -> Bucket:
    """The bucket that the environment names (``PICTURES_BUCKET``), connected once per execution environment."""
    return services.connect_bucket(os.environ["PICTURES_BUCKET"], budget(), **credentials())


UPLOAD_SECONDS = 3600
"""How long a form for an upload can be sent. Lambda's keys, which sign it, may end sooner; then a new form helps."""


def upload_form(deal_id: str, by: str, account_id: str, now: datetime, **fields: str) -> Form:
    """A form with which the browser of the editor ``by`` sends a picture for a deal; ``fields`` are further fields of
    S3's form."""
    key = f"{UPLOADS}{identifiers.random(now, secrets.token_bytes(16))}"
    noted = {"deal": deal_id, "editor": by, "account": account_id}
    metadata = {f"x-amz-meta-{name}": value for name, value in noted.items()}
    return bucket().form(key, MAX_UPLOAD, UPLOAD_SECONDS, {**metadata, **fields})
