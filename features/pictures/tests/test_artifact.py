"""The built resizer, run by Lambda's own runtime client."""

from __future__ import annotations

import json

import pytest

from features.pictures.data import uploads
from features.pictures.data.bucket import connect
from features.pictures.models import Picture
from shared.data.catalog import deals
from shared.models.catalog import Deal
from tests.invoke.conftest import Place, code, function, invoke, place  # noqa: F401  # fixtures
from tests.invoke.test_events import NO_FAILURES, Invoke, deal, text_of  # noqa: F401  # a fixture
from tests.support.engines import FAKE_CREDENTIALS
from tests.support.factories import plain_picture
from tests.support.surroundings import event

pytestmark = pytest.mark.thorough  # it builds the artifact


def test_making_a_picture_of_an_upload(place: Place, invoke: Invoke, deal: Deal) -> None:
    bucket = connect(
        place.environment["PICTURES_BUCKET"], endpoint_url=place.table.client.meta.endpoint_url, **FAKE_CREDENTIALS
    )
    upload = json.loads(event("resizer-upload")["Records"][0]["body"])["Records"][0]["s3"]["object"]["key"]
    bucket.write(upload, plain_picture(), "image/png", **{uploads.UPLOADED_FOR: deal.deal_id})

    assert invoke("resizer", text_of("resizer-upload")).payload == NO_FAILURES
    made = deals.get(place.table, deal.deal_id).own(Picture)
    assert made is not None
    assert (made.width, made.height) == (40, 30)
