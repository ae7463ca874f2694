"""Mail in tests of the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import timedelta

from features.mail.data.mailing import MailWork
from features.mail.rights import Mail
from features.mail.tests import post_office
from shared.values import times
from tests.e2e.conftest import Plumbing, ministack
from tests.support import factories
from tests.support.commands import until
from tests.support.site import PASSWORD, Site, Visitor

OPTIONS = (Mail(sender="deals@deals.example", postal_address="1 Main Street, Springfield"),)
KEPT = ("MailQueueC3051223", "MailQueueDeadLettersQueue09E22A43")
PRIVATE = ("DigestKey",)
UNUSED = (("mailer", "DeleteItem"),)
"""A receipt of a mail that was not sent goes again: MiniStack's SES is never too busy."""
ELSEWHERE = (("accounts", "sqs", "SendMessageBatch"),)
NOT_TYPED = {"aws sesv2 delete-suppressed-destination ": "MiniStack has no such list"}
OPEN_WRITES = ("/email-verifications",)
COMMANDS = {
    "Mailed links: reset a password, confirm an address": ("users reset-link ana", ["GetItem", "PutItem"]),
    "Daily mail of messages": ("users mail-digest ana --hour 7", ["GetItem", "UpdateItem"]),
    "Daily mail of messages, after a bounce": ("users resume-mail ana", ["UpdateItem", "GetItem"]),
}


def _be_mailed(site: Site, _member: Visitor, _other: Visitor, _deal_ids: Sequence[str]) -> None:
    """Verify an address, forget a password, get the day's messages, and a mail that comes back."""
    member, hour = site.member("mailed"), times.now().replace(minute=0, second=0)
    queue = Plumbing.of(site).queue("MailQueueUrl")
    assert member.post("/me/email-verifications").status_code == 204
    assert site.visitor().post("/password-resets", json={"email": member.email}).status_code == 204
    new = {"token": _mailed(site, member.email, "new password"), "password": PASSWORD[::-1]}
    assert site.visitor().post("/passwords", json=new).status_code == 204
    again = site.signs_in(member.username, PASSWORD[::-1])
    assert again.patch("/me", json={"digestHour": hour.hour}).json()["emailVerified"]

    factories.send(site.table, factories.a_message(username=member.username, now=hour - timedelta(hours=1)))
    queue.send([MailWork("digests", "", at=times.to_iso(hour)).to_json()])
    _mailed(site, member.email, "unread message")
    came_back = {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": member.email}]}
    queue.send([json.dumps({"eventType": "Bounce", "bounce": came_back})])
    assert until(lambda: again.get("/me").json()["mailStopped"] == "bounce")


def _mailed(site: Site, address: str, about: str) -> str:
    """The token of the mail that comes to an address about something, as MiniStack keeps it."""

    def found() -> list[str]:
        kept = ministack(site, "GET", "ses/messages")
        mails = [mail for of_account in kept.json()["messages"].values() for mail in of_account]
        return [mail["BodyText"] for mail in mails if mail["To"] == [address] and about in mail["Subject"]]

    assert until(lambda: bool(found()))
    return str(re.findall(r"token=(\S+)", found()[0])[0])


USES = (_be_mailed,)

EVERYONES = {"forgot password": "/account/forgot"}
MEMBERS = {
    "new password": "/account/reset?token={mailed-reset}",
    "verifying": "/account/verify?token={mailed-verification}",
    "no mail": "/account/unsubscribe?token={unsubscribing}",
}
KNOWN = {
    "unsubscribing": lambda table: post_office.unsubscribing(table, "ana", times.now()),
    "mailed-reset": lambda table: post_office.token(table, "ana", "reset", times.now()),
    "mailed-verification": lambda table: post_office.token(table, "ana", "verify", times.now()),
}
IMPORTS = {"mailer": ("minijinja",)}
PROVEN = {"mail-is-sent": ("works", "")}
