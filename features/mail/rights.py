"""Mail in a stage: its settings, the sending function, and the rights of functions that take a mailed token."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from features.mail import items as keys
from infra.rights import Access, Right
from infra.rows import Caller, Function
from infra.stage import Option
from shared.data import keys as core_keys
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1

if TYPE_CHECKING:
    from infra.stage import Stage

_MAILBOX = re.compile(r"[a-z0-9._+-]+@[a-z0-9-]+(\.[a-z0-9-]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail(Option):
    """Mail through Amazon SES, from a ``sender`` with a verified domain (read ``features/mail/README.md`` first).

    Replies go to ``reply_to``, or to the sender. ``postal_address`` ends each mail, as advertising laws require.
    """

    services = ("ses",)

    sender: str
    postal_address: str
    reply_to: str | None = None

    def __post_init__(self) -> None:
        if not all(map(_MAILBOX.fullmatch, (self.sender, self.reply_to or self.sender))):
            raise ValueError("sender and reply_to must be email addresses, without names.")

    def check(self, stage: Stage) -> None:
        """Raise ValueError for a stage whose links have no address yet."""
        if stage.front and stage.origin is None:
            raise ValueError("mail needs an address for its links: name what is in front, or set site_origin.")

    @property
    def domain(self) -> str:
        """The sender's domain, which SES must know."""
        return self.sender.partition("@")[2]


STAGES: Mapping[str, tuple[Mail, ...]] = {
    "local": (Mail(sender="deals@bigtimedeals.localhost", postal_address="This laptop: nothing leaves it"),),
}
"""The options of stages that are the same in every copy of the project."""

_TOKEN, _RECEIPT, _DIGESTS = p.of(keys.EMAIL_TOKEN), p.of(keys.DIGEST_RECEIPT), p.of(core_keys.USER, GSI1)

TO_MAIL = (
    *("Type", "Username", "Email", "Name", "Role", "CreatedAt", "AccountId", "HotPace", "Generation", "SignOuts"),
    *p.ADDED_TO_USERS,
)
"""Attributes that are read of an account that gets a mail (``users.without_addresses``)."""

MAILER: Access = (
    Right("GetItem", (p.USER_EMAIL,)),
    # Of an account what a user has: no addresses.
    Right("GetItem", (p.USER,), attributes=TO_MAIL),
    Right("PutItem", (_TOKEN, _RECEIPT)),
    Right("DeleteItem", (_RECEIPT,)),
    Right("UpdateItem", (p.USER,), attributes=("Email", "StoppedEmail", "StoppedBecause")),
    # Which messages were mailed.
    Right("UpdateItem", (p.MESSAGES,), attributes=("MailedAt",)),
    # How many mails an address has had.
    Right("UpdateItem", (p.ATTEMPTS,)),
    Right("Query", (_DIGESTS,), GSI1, attributes=("GSI1PK", "GSI1SK")),
    Right("Query", (p.MESSAGES,), GSI1),
)
"""It makes tokens but can't use them, and reads no password and no session. Of an account it changes only whether mail
is blocked, of a message only when it was mailed."""

_USES_TOKENS: Access = (Right("GetItem", (_TOKEN,)), Right("DeleteItem", (_TOKEN,)))

_SETS: Access = (
    Right(
        "UpdateItem",
        (p.USER,),
        attributes=(
            *("AccountId", "Email", "Generation", "SignOuts", "VerifiedEmail", "StoppedEmail", "StoppedBecause"),
            *("DigestHour", "DigestSince", "DigestKey", "GSI1PK", "GSI1SK"),
        ),
    ),
)
"""What a link in a mail proves about an account, and when it gets a digest."""

MORE = dict.fromkeys(("accounts", "account"), (*_USES_TOKENS, *_SETS))
"""The rights of other functions, by name."""

FUNCTIONS = (
    Function(
        name="mailer",
        access=MAILER,
        caller=Caller.EVENTS,
        timeout=60,
        because="Five cohorts of 25 mails, while the table refuses for moments and SES for longer.",
        option=Mail,
        makes_links=True,
        calls_itself=True,
    ),
)

WORST = {f"{keys.EMAIL_TOKEN}.Type": "sign in as anyone"}
"""What someone who may write these could do at worst."""

ROUTES = (
    ("accounts", "anyone", "POST /password-resets", "POST /passwords", "POST /email-verifications"),
    ("accounts", "signed in", "POST /me/email-verifications"),
)
"""The API's routes: the function, who may call, then methods and paths (``infra/functions.py``)."""

QUEUES = {"mail": "MailQueueUrl"}
"""The mail queue, with the stack's output that has its address."""
