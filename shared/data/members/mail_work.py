"""Orders to mail something, and reports of mails: the bodies of the queue's messages.

No body holds a token: the mailer makes it, so a token is nowhere but in the mail. Asking for a link to a new password
queues the address that was typed, and whether anybody has it is found out afterwards: the answer, and the time that it
takes, are the same for everyone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from shared.models.members import Trouble

Kind = Literal["reset", "verify", "password", "email", "digests", "digest"]


@dataclass(frozen=True, slots=True)
class MailWork:
    """A mail to be sent: a ``reset`` to an address that was typed, a ``verify`` to an account's, by name and id.

    ``password`` and ``email`` are notices to the address that an account had when that of it was changed.
    ``digests`` are those of an hour that began at a time (``at``), to the readers after a name (``to``), and
    ``digest`` is that of one reader, after a failure that was that reader's alone.
    """

    kind: Kind
    to: str
    account_id: str = ""
    at: str = ""

    def to_json(self) -> str:
        """The work as the body of a queue's message."""
        return json.dumps({"kind": self.kind, "to": self.to, "accountId": self.account_id, "at": self.at})

    @classmethod
    def from_json(cls, body: str) -> MailWork:
        """The work that a queue's message asks for. Raises ValueError for any other body."""
        try:
            fields = json.loads(body)
            if fields["kind"] not in get_args(Kind):
                raise ValueError(f"no kind of mail: {fields['kind']!r}")
            return cls(fields["kind"], str(fields["to"]), str(fields["accountId"]), str(fields["at"]))
        except (KeyError, TypeError) as error:
            raise ValueError("not a mail to send") from error


_REPORTED: Mapping[str, tuple[Trouble, str]] = {
    "Bounce": ("bounce", "bouncedRecipients"),
    "Complaint": ("complaint", "complainedRecipients"),
}
"""By SES's name of an event: the field that has it, and in that the addresses."""


@dataclass(frozen=True, slots=True)
class Report:
    """SES's report of a mail: nothing may be sent to these addresses any more, for a reason."""

    because: Trouble
    addresses: Sequence[str]

    @classmethod
    def from_json(cls, body: str) -> Report:
        """The report that a message of SES's topic is. Raises ValueError for any other body.

        A bounce that is not for good (a full mailbox, a holiday) names nobody.
        https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
        """
        try:
            told = json.loads(body)
            because, recipients = _REPORTED[told["eventType"]]
            lasts = because == "complaint" or told["bounce"]["bounceType"] == "Permanent"
            return cls(because, [str(each["emailAddress"]) for each in told[because][recipients]] if lasts else [])
        except (KeyError, TypeError) as error:
            raise ValueError("not a report of SES that was asked for") from error


def read(body: str) -> MailWork | Report:
    """Read the body of a message of the queue. Raises ValueError."""
    try:
        return MailWork.from_json(body)
    except ValueError:
        return Report.from_json(body)
