"""The proof that SES takes the mail and reports a bounce."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from cli.proofs import Deployed, Fails
from features.mail import commands as mail
from features.mail.data import mailing
from features.mail.rights import Mail
from shared.data.members import users
from shared.dynamodb.table import Table
from tests.cli.conftest import bare_table, table  # noqa: F401  # fixtures
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK, Engine
from tests.support.factories import a_user
from tests.support.proofs import DEV, OUTPUTS, Aws, answers, meets, refusal  # noqa: F401  # fixtures


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


def test_a_bounce_that_stops_mail_to_the_account_proves_the_mail_and_the_account_is_removed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = dataclasses.replace(DEV, options=(Mail(sender="deals@deals.example", postal_address="1 Main Street"),))
    bounces = True

    def send_message(**asked: Any) -> Any:
        address = json.loads(asked["MessageBody"])["to"]
        if bounces:
            mailing.stop(table, address, "bounce")
        return {}

    aws = Aws(send_message=send_message)
    monkeypatch.setattr(Deployed, "client", lambda _, service, **more: aws(service, **more))
    reached = {**FAKE_CREDENTIALS, "endpoint_url": table.client.meta.endpoint_url}
    site = Deployed(stage, {**OUTPUTS, "TableName": table.name}, reached, "0123")

    assert "bounced" in mail.mail(site)
    assert list(users.everyone(table)) == []

    bounces = False
    monkeypatch.setattr(mail, "wait", lambda _seconds, look: look())
    with pytest.raises(Fails, match="no bounce"):
        mail.mail(site)
    assert list(users.everyone(table)) == []


def test_the_account_that_a_killed_run_left_is_removed_and_a_members_is_not(table: Table) -> None:
    stage = dataclasses.replace(DEV, options=(Mail(sender="deals@deals.example", postal_address="1 Main Street"),))
    reached = {**FAKE_CREDENTIALS, "endpoint_url": table.client.meta.endpoint_url}
    site = Deployed(stage, {**OUTPUTS, "TableName": table.name}, reached, "0123")
    for name, email in (("probe-0a1b", "bounce+0a1b@simulator.amazonses.com"), ("probe-2c3d", "ana@mail.example")):
        users.create(table, dataclasses.replace(a_user(name), email=email))

    assert mail.remove_accounts(site) == ["the account probe-0a1b"]
    assert [user.username for user in users.everyone(table)] == ["probe-2c3d"]
