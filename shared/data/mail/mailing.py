"""Mail: what is to be sent, tokens of mailed links, limits, SES's reports, and addresses that get no more mail.

The bodies of the queue's messages hold no token: the mailer makes it, so a token is nowhere but in the mail. Asking for
a link to a new password queues the address that was typed, and whether an account has it is found out afterwards: the
answer, and the time that it takes, are the same for everyone.

Who has the token of a mailed link can read what comes to an account's email address. A token is the account's name and
256 random bits. The table knows only a hash, made of the token, what it is for, and the account as it was: its id, its
address and the generation of its sessions. So a new password, a sign-out everywhere, another address or another owner
of the name makes a token worthless, and its item has no name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, get_args

from shared.data import account_checks
from shared.data import keys as core_keys
from shared.data.mail import keys
from shared.data.members import rate_limits, sessions, users
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, put_new, update
from shared.errors import AlreadyExists, NoSuchUser, NotFound, Unavailable
from shared.models.mail import Trouble, is_stopped, is_verified
from shared.models.members import User
from shared.services import Queue
from shared.values import identifiers
from shared.values.naming import normalise_email, normalise_username

RESETS_PER_EMAIL = 3
"""Links to a new password that are asked for one email address in a window, by anyone: enough for its owner, too
few to fill its mailbox. Who is refused because of others has their links in the mailbox, and each of them works."""

RESETS_PER_NETWORK = 10
"""Links to new passwords that one network may ask for in a window, whether or not accounts have the addresses."""

RESET_LIFETIME = timedelta(hours=1)
"""How long a mailed link to a new password works: it is as good as the password."""

VERIFICATION_LIFETIME = timedelta(hours=24)
"""How long a mailed link that verifies an address works."""

VERIFICATIONS_PER_USER = 3
"""Links that verify an address which one account asks for in a window."""

MAILS_PER_ADDRESS = 5
"""Mails of all kinds to one address: in an hour, the time for which a link to a new password works, so who is refused
has one that does; in a day, where the address is unconfirmed: it may be a stranger's."""


class DeadLink(NotFound):
    text = "This link does not work: it was used before, has expired, or is not ours."


class NoMail(NotFound):
    text = "This site sends no mail."


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

        A bounce that is not permanent (a full mailbox, a holiday) has no recipients.
        https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
        """
        try:
            event = json.loads(body)
            because, recipients = _REPORTED[event["eventType"]]
            lasts = because == "complaint" or event["bounce"]["bounceType"] == "Permanent"
            return cls(because, [str(each["emailAddress"]) for each in event[because][recipients]] if lasts else [])
        except (KeyError, TypeError) as error:
            raise ValueError("not a report of SES that was asked for") from error


def read_work(body: str) -> MailWork | Report:
    """Read the body of a message of the queue. Raises ValueError."""
    try:
        return MailWork.from_json(body)
    except ValueError:
        return Report.from_json(body)


def stop(table: Table, address: str, because: Trouble) -> None:
    """Mail nothing to an address any more, if an account has it. Its owner may change the address."""
    with suppress(NoSuchUser, ValueError):
        user = users.of_email(table, normalise_email(address))
        stopping = update(
            core_keys.user(user.username),
            "SET StoppedEmail = :email, StoppedBecause = :because",
            condition="Email = :email",
            values={":email": user.email, ":because": because},
            refused=NoSuchUser(user.username),
        )
        table.write(stopping)


def resume(table: Table, username: str) -> None:
    """Mail to an account's address again, once its owner says that it works. Raises NoSuchUser."""
    table.write(account_checks.change(username, "REMOVE StoppedEmail, StoppedBecause"))


Purpose = Literal["reset", "verify"]

LIFETIMES = {"reset": RESET_LIFETIME, "verify": VERIFICATION_LIFETIME}


def issue_token(table: Table, user: User, purpose: Purpose, now: datetime, entropy: bytes) -> str:
    """A new token of an account, made of the caller's randomness. Only the mail may have it."""
    token = f"{user.username}.{identifiers.token(entropy)}"
    item = {
        **keys.email_token(_hash(token, purpose, user)),
        "Type": keys.EMAIL_TOKEN,
        "Purpose": purpose,
        TTL_ATTRIBUTE: int((now + LIFETIMES[purpose]).timestamp()),
    }
    table.write(put_new(item, refused=AlreadyExists()))
    return token


def token_owner(table: Table, token: str, purpose: Purpose, now: datetime) -> User:
    """The account that a token was mailed to. TTL deletes late: what is too old is refused here. Raises DeadLink."""
    user = account_named(table, token)
    item = table.get(keys.email_token(_hash(token, purpose, user)), consistent=True)
    if item is None or item[TTL_ATTRIBUTE] <= now.timestamp():
        raise DeadLink
    return user


def account_named(table: Table, token: str) -> User:
    """The account whose name a token begins with. Raises DeadLink."""
    try:
        return users.get(table, normalise_username(token.rpartition(".")[0]), consistent=True)
    except (ValueError, NoSuchUser) as error:
        raise DeadLink from error


def spend_token(
    table: Table,
    token: str,
    purpose: Purpose,
    user: User,
    expression: str,
    *beside: Write,
    values: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Use a token up, in one transaction with what it allows: an update of its owner's account, and writes ``beside``.

    The account must be as it was when the token was found to be its own. Raises DeadLink.
    """
    same, held = sessions.is_of(user.generation)
    table.transact(
        delete(keys.email_token(_hash(token, purpose, user)), refused=DeadLink()),
        update(
            core_keys.user(user.username),
            expression,
            condition=f"AccountId = :account AND Email = :email AND {same}",
            values={":account": user.account_id, ":email": user.email, **held, **values},
            refused=DeadLink(),
        ),
        *beside,
    )


def ask_for_reset(table: Table, queue: Queue | None, email: str, address: str, now: datetime) -> None:
    """Request a mail with a link to a new password, for an email address. Raises NoMail, SlowDown, Busy."""
    if queue is None:
        raise NoMail
    bounds = rate_limits.around(address, RESETS_PER_NETWORK, "RESETFROM")
    rate_limits.count(table, [*bounds, (("RESET", _digest(email)), RESETS_PER_EMAIL)], now)
    queue.send([MailWork("reset", email).to_json()])


def ask_to_verify(queue: Queue | None, user: User) -> None:
    """Have a link mailed that verifies an account's address, if that is to be proved and mail is sent.

    Where that cannot be asked for now, nothing is done: it can be asked for later.
    """
    with suppress(Unavailable):
        _mail_verification(queue, user)


def _mail_verification(queue: Queue | None, user: User) -> None:
    if queue is not None and not is_verified(user):
        queue.send([MailWork("verify", user.username, user.account_id).to_json()])


def ask_again_to_verify(table: Table, queue: Queue | None, user: User, now: datetime) -> None:
    """Mail that link again when the account's owner asks. Raises NoMail, SlowDown, Busy."""
    if queue is None:
        raise NoMail
    rate_limits.count(table, [(("VERIFY", user.username), VERIFICATIONS_PER_USER)], now)
    _mail_verification(queue, user)


def verify_email(table: Table, token: str, now: datetime) -> None:
    """Note that the address that a token was mailed to is its account's own. Raises DeadLink."""
    user = token_owner(table, token, "verify", now)
    spend_token(table, token, "verify", user, "SET VerifiedEmail = :email")


def count_mail(table: Table, email: str, now: datetime, *, proved: bool) -> rate_limits.Attempt:
    """Count a mail to an address, of any kind and whichever account it is about. Raises SlowDown after too many: in an
    hour or, where the account has not proved that the address is its own, in a day."""
    seconds = 3600 if proved else 86_400
    return rate_limits.count(table, [(("MAIL", _digest(email)), MAILS_PER_ADDRESS)], now, seconds)


def _digest(email: str) -> str:
    return hashlib.sha256(email.encode()).hexdigest()[:32]


def notify(queue: Queue | None, kind: Literal["password", "email"], user: User) -> None:
    """Notify the address that an account had of a change, even where another account has it by then."""
    if queue is not None and not is_stopped(user):
        with suppress(Unavailable):  # the change is made
            queue.send([MailWork(kind, user.email).to_json()])


def _hash(token: str, purpose: Purpose, user: User) -> str:
    return identifiers.hashed(f"{purpose} {token} {user.account_id} {user.email} {user.generation}")


def reset_password(table: Table, token: str, password: str, now: datetime, queue: Queue | None = None) -> User:
    """Give the account that a token was mailed to a new password. That also proves its address. Raises DeadLink."""
    from shared.values.passwords import hash_password  # noqa: PLC0415  # the mailer has no argon2

    user = token_owner(table, token, "reset", now)
    hashed = hash_password(password)
    expression, values = "SET Generation = :new, VerifiedEmail = :email", {":new": sessions.first_generation(hashed)}
    kept = sessions.changed_password(user.username, hashed, proved=None)
    spend_token(table, token, "reset", user, expression, kept, values=values)
    notify(queue, "password", user)
    return user
