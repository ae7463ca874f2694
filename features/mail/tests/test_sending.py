"""SES without botocore's model of it: what it refuses, for one mail or for all."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from features.mail.models import Mail
from features.mail.sending import Refused, Sender, connect_sender
from shared.errors import Unavailable
from tests.dynamodb.test_connections import KEYS, REGIONS
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.wire import answering

MAIL = Mail("ana@mail.example", "Subject", "text", "<p>text</p>")
ROLE = "arn:aws:sts::111122223333:assumed-role/mailer/mailer"


def refusing_mail(code: str, message: str) -> Sender:
    """A sender whom SES answers with an error."""
    sender = connect_sender("Big Time Deals <deals@deals.example>", "deals@deals.example", "mails", **FAKE_CREDENTIALS)

    answering(sender.client, 400, json.dumps({"message": message}).encode(), **{"x-amzn-ErrorType": code})
    return sender


def denied(resource: str) -> tuple[str, str]:
    asked = f"arn:aws:ses:us-east-1:111122223333:{resource}"
    return "AccessDeniedException", f"User `{ROLE}' is not authorized to perform `ses:SendEmail' on resource `{asked}'"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("MessageRejected", "Email address is not verified."),
        denied("identity/ana@mail.example"),
        denied("identity/mail.example"),
        ("AccessDeniedException", "Access denied."),
    ],
)
def test_what_ses_refuses_for_its_recipient_is_this_mail_alone(code: str, message: str) -> None:
    with pytest.raises(Refused):
        refusing_mail(code, message).send(MAIL)


@pytest.mark.parametrize("resource", ["identity/deals.example", "configuration-set/mails"])
def test_a_right_to_send_that_is_missing_is_no_mails_fault(resource: str) -> None:
    with pytest.raises(Unavailable):
        refusing_mail(*denied(resource)).send(MAIL)


@pytest.mark.parametrize("region", REGIONS)
def test_a_sender_asks_its_own_region(region: str) -> None:
    sender = connect_sender("deals@deals.example", "deals@deals.example", "set", region_name=region, **KEYS)

    assert urlsplit(sender.client.meta.endpoint_url).hostname == f"email.{region}.amazonaws.com"
