"""What is to be mailed, as the bodies of the queue's messages have it.

No body holds a token: the mailer makes it, so a token is nowhere but in the mail. Asking for a link to a new password
queues the address that was typed, and whether anybody has it is found out afterwards: the answer, and the time that it
takes, are the same for everyone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["reset", "verify"]


@dataclass(frozen=True, slots=True)
class MailWork:
    """A mail to send: a ``reset`` to an address that was typed, or a ``verify`` to an account's, by name and id."""

    kind: Kind
    to: str
    account_id: str = ""

    def to_json(self) -> str:
        """The work as the body of a queue's message."""
        return json.dumps({"kind": self.kind, "to": self.to, "accountId": self.account_id})

    @classmethod
    def from_json(cls, body: str) -> MailWork:
        """The work that a queue's message asks for. Raises ValueError for any other body."""
        try:
            fields = json.loads(body)
            if fields["kind"] not in get_args(Kind):
                raise ValueError(f"no kind of mail: {fields['kind']!r}")
            return cls(fields["kind"], str(fields["to"]), str(fields["accountId"]))
        except (KeyError, TypeError) as error:
            raise ValueError("not a mail to send") from error
