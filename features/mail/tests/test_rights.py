"""What the mailer may do."""

from __future__ import annotations

from features.mail import items as mail_keys
from features.mail.rights import MAILER
from shared.data import keys
from tests.infra.conftest import Synthesized
from tests.infra.test_rights import who_may
from tests.support.rights import ANY_READ, ANY_WRITE, USER, Ask, policy_of


def test_a_mailed_token_is_made_by_the_mailer_which_cannot_use_it(dev: Synthesized) -> None:
    """Its stage sends mail; the roles of all others are the same."""
    token = mail_keys.email_token("9f86d081")["PK"]
    mailer = policy_of(MAILER)

    assert who_may(dev, ANY_READ, token) == {"accounts", "account"}
    assert who_may(dev, ANY_WRITE, token) == {"accounts", "account"}
    assert mailer.allows(Ask("PutItem", (token,)))
    assert not mailer.allows(Ask("GetItem", (token,)))
    assert not any(mailer.allows(Ask(operation, (USER,))) for operation in ("GetItem", "UpdateItem", "DeleteItem"))
    assert not mailer.allows(Ask("GetItem", (USER,), "", ("Addresses",)))
    assert not mailer.allows(Ask("GetItem", (keys.password("ana")["PK"],)))


def test_the_mailer_marks_messages_as_mailed_and_changes_nothing_else_of_them() -> None:
    def may_update(*attributes: str, returning: str = "NONE") -> bool:
        asked = Ask("UpdateItem", (keys.messages("ana"),), "", ("PK", *attributes), returning)
        return policy_of(MAILER).allows(asked)

    assert may_update("MailedAt")
    assert not [name for name in ("ReadAt", "Subject", "Price", "GSI1PK") if may_update("MailedAt", name)]
    assert not may_update("MailedAt", returning="ALL_OLD")


def test_the_mailer_stops_mail_and_is_not_given_the_rest_of_an_account() -> None:
    assert not policy_of(MAILER).allows(Ask("UpdateItem", (USER,), "", ("Email", "StoppedEmail"), "ALL_OLD"))
    assert policy_of(MAILER).allows(Ask("UpdateItem", (USER,), "", ("Email", "StoppedEmail")))
