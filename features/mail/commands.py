"""Mail on the command line: commands of ``btd users``, messages to redrive, and a proof of ``btd probe``."""

from __future__ import annotations

import re
import secrets
from typing import Annotated

import typer

from cli import members, output
from cli.commands import Username, Work
from cli.dead_letters import Kind
from cli.proofs import Deployed, Fails, NotHere, Proof, ask, wait
from features.mail.data import digests, mailing
from features.mail.data.mailing import MailWork, Report
from features.mail.models import is_stopped
from features.mail.rights import Mail
from shared.api import member_documents
from shared.data.members import users
from shared.models.members import User
from shared.values import identifiers, times
from shared.values.passwords import hash_password


def reset_link(work: Work, username: Username) -> output.Json:
    """Create a password reset link for a user whom mail doesn't reach. It works once, within an hour."""
    user = users.get(work.table, username, consistent=True)
    entropy = secrets.token_bytes(identifiers.BYTES)
    token = mailing.issue_token(work.table, user, "reset", times.now(), entropy)
    return {"path": f"/account/reset?token={token}"}


def mail_digest(
    work: Work,
    username: Username,
    hour: Annotated[int | None, typer.Option(min=0, max=23, help="The hour, in UTC; without it, never.")] = None,
) -> output.Json:
    """Choose the hour at which a user gets a daily mail with unread messages."""
    user = users.get(work.table, username, consistent=True)
    digests.choose_hour(work.table, user, hour, secrets.token_bytes(digests.KEY_BYTES), work.now)
    return {"username": username, "digestHour": hour}


def resume_mail(work: Work, username: Username) -> output.Json:
    """Resume mail to a user after a bounce or a complaint, when the mailbox works again."""
    mailing.resume(work.table, username)
    return member_documents.user(users.get(work.table, username, consistent=True))


def mail(site: Deployed) -> str:
    """The mailer sends to SES's simulator of mailboxes, whose bounce stops all mail to the account."""
    if site.stage.option(Mail) is None:
        raise NotHere("the stage sends no mail")
    table, name, address = site.table, f"probe-{site.run}", f"bounce+{site.run}@simulator.amazonses.com"
    users.create(table, User(name, address, "Probe", hash_password(secrets.token_hex(20)), "member", times.now()))
    try:
        work = MailWork("reset", address).to_json()
        site.client("sqs").send_message(QueueUrl=site.outputs["MailQueueUrl"], MessageBody=work)
        if site.stage.emulated and site.stage.domain:
            headers = {"Host": site.stage.domain.name}
            if not wait(
                60, lambda: address in ask("GET", f"{site.arguments['endpoint_url']}/mail", headers=headers)[1]
            ):
                raise Fails("no mail was sent")
            return "a mail was sent"
        if not wait(110, lambda: is_stopped(users.get(table, name, consistent=True))):
            raise Fails("no bounce came back: the mailer's log says whether it sent the mail")
        return "a mail was sent and bounced, which stopped all mail to its account"
    finally:
        members.removed(table, name)


OF_A_PROOF = re.compile(r"probe-[0-9a-f]+ bounce\+[0-9a-f]+@simulator\.amazonses\.com")
"""An account of a proof, by its name and its address, which is nobody's."""


def remove_accounts(site: Deployed) -> list[str]:
    """Remove the accounts that killed runs left."""
    if site.stage.option(Mail) is None:
        return []
    table = site.table
    names = [each.username for each in users.everyone(table) if OF_A_PROOF.fullmatch(f"{each.username} {each.email}")]
    for name in names:
        members.removed(table, name)
    return [f"the account {name}" for name in names]


SUBCOMMANDS = {"users": (reset_link, mail_digest, resume_mail)}

REDRIVEN = (
    Kind(MailWork.from_json, lambda work: (f"{work.kind} mail", []), "mail", "mailer"),
    Kind(Report.from_json, lambda report: (f"{report.because} of a mail", []), "mail", "mailer"),
)

PROOFS = {"mail": Proof(mail, 125, "whether SES takes the mail, and how it reports a bounce", tidy=remove_accounts)}
