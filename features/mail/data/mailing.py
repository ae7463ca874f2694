"""Mail: units of work, tokens of mailed links, limits, SES's reports, and blocked addresses.

A queue message holds no token: the mailer makes it, so it exists only in the mail. A password reset queues the typed
address, and only the mailer looks for its account, so answer and response time are the same for everyone.

A mailed link proves that someone reads an account's email. Its token is the account's name and 256 random bits. The
table stores a hash of the token, its purpose and the account's id, address and session generation; so a new password, a
sign-out everywhere, another address or a new owner of the name invalidates it, and the item holds no name.
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

from features.mail import items as keys
from features.mail.models import Trouble, is_stopped, is_verified
from shared.data import account_checks
from shared.data import keys as core_keys
from shared.data.members import rate_limits, sessions, users
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, delete, put_new, update
from shared.errors import AlreadyExists, NoSuchUser, NotFound, Unavailable
from shared.models.members import User
from shared.services import Queue
from shared.values import identifiers
from shared.values.naming import normalise_email, normalise_username

RESETS_PER_EMAIL = 3
"""Reset links that anyone may request for one email address in a window: enough for its owner, but too few to flood the
mailbox. An owner refused because of others finds their links in the mailbox, and each works."""

RESETS_PER_NETWORK = 10
"""Reset links that one network may request in a window, whether or not the addresses have accounts."""

RESET_LIFETIME = timedelta(hours=1)
"""How long a reset link works: it is as powerful as the password."""

VERIFICATION_LIFETIME = timedelta(hours=24)
"""How long a verification link works."""

VERIFICATIONS_PER_USER = 3
"""Verification links that one account may request in a window."""

MAILS_PER_ADDRESS = 5
"""Mails of all kinds to one address: in an hour (how long a reset link works, so a refused reader has a valid one), or
in a day if the address is unverified: it may be a stranger's."""


class DeadLink(NotFound):
    text = "This link does not work: it was used before, has expired, or is not ours."


class NoMail(NotFound):
    text = "This site sends no mail."


Kind = Literal["reset", "verify", "password", "email", "digests", "digest"]


@dataclass(frozen=True, slots=True)
class MailWork:
    """A mail to send: a ``reset`` to a typed address, a ``verify`` to an account's, by name and id.

    ``password`` and ``email`` are notices of a change to the account's old address. ``digests`` are an hour's (``at``),
    for readers after a name (``to``); ``digest`` is one reader's, after a failure of that one alone.
    """

    kind: Kind
    to: str
    account_id: str = ""
    at: str = ""

    def to_json(self) -> str:
        """Write the work as a queue message's body."""
        return json.dumps({"kind": self.kind, "to": self.to, "accountId": self.account_id, "at": self.at})

    @classmethod
    def from_json(cls, body: str) -> MailWork:
        """Read the work from a queue message's body. Raises ValueError for any other body."""
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
"""By the name of SES's event: its field, and the list of addresses in that."""

_FEEDBACK = "complaintFeedbackType"


@dataclass(frozen=True, slots=True)
class Report:
    """SES's report that mail to some addresses must stop, with the reason."""

    because: Trouble
    addresses: Sequence[str]

    @classmethod
    def from_json(cls, body: str) -> Report:
        """Read a report from a message of SES's topic. Raises ValueError for any other body.

        Bounces that aren't permanent (a full mailbox, a holiday) give no recipients, nor do reports of mail as no spam.
        https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
        """
        try:
            event = json.loads(body)
            because, recipients = _REPORTED[event["eventType"]]
            told = event[because]
            lasts = told["bounceType"] == "Permanent" if because == "bounce" else told.get(_FEEDBACK) != "not-spam"
            return cls(because, [str(each["emailAddress"]) for each in told[recipients]] if lasts else [])
        except (KeyError, TypeError) as error:
            raise ValueError("not a report of SES that was asked for") from error


def read_work(body: str) -> MailWork | Report:
    """Read a queue message's body. Raises ValueError."""
    try:
        return MailWork.from_json(body)
    except ValueError:
        return Report.from_json(body)


def stop(table: Table, address: str, because: Trouble) -> None:
    """Stop mail to an address, if an account has it. Its owner may change the address."""
    with suppress(NoSuchUser, ValueError):
        email = normalise_email(address)
        stopping = update(
            core_keys.user(users.of_email(table, email).username),
            "SET StoppedEmail = :email, StoppedBecause = :because",
            condition="Email = :email",  # and not the one that its owner may have chosen since
            values={":email": email, ":because": because},
            refused=NoSuchUser(email),
        )
        table.write(stopping)


def resume(table: Table, username: str) -> None:
    """Resume mail to an account's address after its owner confirms that it works. Raises NoSuchUser."""
    table.write(account_checks.change(username, "REMOVE StoppedEmail, StoppedBecause"))


Purpose = Literal["reset", "verify"]

LIFETIMES = {"reset": RESET_LIFETIME, "verify": VERIFICATION_LIFETIME}


def issue_token(table: Table, user: User, purpose: Purpose, now: datetime, entropy: bytes) -> str:
    """Create an account's token from ``entropy``. Only the mail may contain it."""
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
    """The account that a token was mailed to. An expired token is refused before TTL deletes it. Raises DeadLink."""
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
    """Use a token up, in one transaction with an update of its account and the writes ``beside``.

    The account must not have changed since the token was matched to it. Raises DeadLink.
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
    """Request a password reset for an email address. Raises NoMail, SlowDown, Busy."""
    if queue is None:
        raise NoMail
    bounds = rate_limits.around(address, RESETS_PER_NETWORK, "RESETFROM")
    rate_limits.count(table, [*bounds, (("RESET", _digest(email)), RESETS_PER_EMAIL)], now)
    queue.send([MailWork("reset", email).to_json()])


def ask_to_verify(queue: Queue | None, user: User) -> None:
    """Queue a verification link for an account's address, if it needs one and the stage sends mail.

    If the queue fails, nothing happens: the owner can request another link.
    """
    with suppress(Unavailable):
        _mail_verification(queue, user)


def _mail_verification(queue: Queue | None, user: User) -> None:
    if queue is not None and not is_verified(user):
        queue.send([MailWork("verify", user.username, user.account_id).to_json()])


def ask_again_to_verify(table: Table, queue: Queue | None, user: User, now: datetime) -> None:
    """Queue another verification link at the owner's request. Raises NoMail, SlowDown, Busy."""
    if queue is None:
        raise NoMail
    rate_limits.count(table, [(("VERIFY", user.username), VERIFICATIONS_PER_USER)], now)
    _mail_verification(queue, user)


def verify_email(table: Table, token: str, now: datetime) -> None:
    """Mark the address that a token was mailed to as verified. Raises DeadLink."""
    user = token_owner(table, token, "verify", now)
    spend_token(table, token, "verify", user, "SET VerifiedEmail = :email")


def count_mail(table: Table, email: str, now: datetime, *, proved: bool) -> rate_limits.Attempt:
    """Count a mail to an address, of any kind and for any account. Raises SlowDown for too many: in an hour or, if the
    account's address is unverified, in a day."""
    seconds = 3600 if proved else 86_400
    return rate_limits.count(table, [(("MAIL", _digest(email)), MAILS_PER_ADDRESS)], now, seconds)


def _digest(email: str) -> str:
    return hashlib.sha256(email.encode()).hexdigest()[:32]


def notify(queue: Queue | None, kind: Literal["password", "email"], user: User) -> None:
    """Notify an account's old address of a change, even if another account has the address by now."""
    if queue is not None and not is_stopped(user):
        with suppress(Unavailable):  # the change is made
            queue.send([MailWork(kind, user.email).to_json()])


def _hash(token: str, purpose: Purpose, user: User) -> str:
    return identifiers.hashed(f"{purpose} {token} {user.account_id} {user.email} {user.generation}")


def reset_password(table: Table, token: str, password: str, now: datetime, queue: Queue | None = None) -> User:
    """Reset the password of a token's account, which also verifies its address. Raises DeadLink."""
    from shared.values.passwords import hash_password  # noqa: PLC0415  # the mailer has no argon2

    user = token_owner(table, token, "reset", now)
    hashed = hash_password(password)
    expression, values = "SET Generation = :new, VerifiedEmail = :email", {":new": sessions.first_generation(hashed)}
    kept = sessions.changed_password(user.username, hashed, proved=None)
    spend_token(table, token, "reset", user, expression, kept, values=values)
    notify(queue, "password", user)
    return user
