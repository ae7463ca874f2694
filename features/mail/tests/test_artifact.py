"""The built mailer, run by Lambda's own runtime client."""

from __future__ import annotations

import boto3
import pytest

from features.mail.tests.post_office import VARIABLES
from tests.invoke.conftest import Place, code, function, invoke, place  # noqa: F401  # fixtures
from tests.invoke.test_events import NO_FAILURES, Invoke, text_of
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.factories import join

pytestmark = pytest.mark.thorough  # it builds the artifact


def test_mailing_a_link(place: Place, invoke: Invoke) -> None:
    join(place.table, "ana")
    endpoint = place.table.client.meta.endpoint_url
    ses = boto3.client("sesv2", endpoint_url=endpoint, **FAKE_CREDENTIALS)  # type: ignore[call-overload]  # all given
    ses.create_email_identity(EmailIdentity="mail.example")
    place.environment.update(VARIABLES)

    answer = invoke("mailer", text_of("mailer-work"))

    assert answer.payload == NO_FAILURES
    assert '"outcome":"sent"' in answer.log
