"""The function that sends mail, its rights to the table, and what those functions may do that take a mailed token."""

from __future__ import annotations

from infra.options.mail import Mail
from infra.rights import Access, Right
from infra.rows import Caller, Function
from shared.data import item_types
from shared.data import partitions as p
from shared.data.mail import keys
from shared.dynamodb.schema import GSI1

_TOKEN, _RECEIPT, _DIGESTS = p.of(keys.EMAIL_TOKEN), p.of(keys.DIGEST_RECEIPT), p.of(item_types.USER, GSI1)

TO_MAIL = (
    "Type", "Username", "Email", "Name", "Role", "CreatedAt", "AccountId", "VerifiedEmail", "StoppedEmail",
    "StoppedBecause", "DigestHour", "DigestSince", "DigestKey", "HotPace", "Generation", "SignOuts",
)  # fmt: skip
"""Attributes of an account that a mail needs."""

MAILER: Access = (
    Right("GetItem", (p.USER_EMAIL,)),
    # Of an account what a mail needs: not where its orders go.
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
"""It makes tokens and cannot use them: it reads no password and no session. Of an account it changes only that nothing
is mailed to it any more, of a message only that it was mailed."""

_USES_TOKENS: Access = (Right("GetItem", (_TOKEN,)), Right("DeleteItem", (_TOKEN,)))

MORE = dict.fromkeys(("accounts", "account"), _USES_TOKENS)
"""What other functions may do, by their names."""

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

ROUTES = (
    ("accounts", "anyone", "POST /password-resets", "POST /passwords", "POST /email-verifications"),
    ("accounts", "signed in", "POST /me/email-verifications"),
)
"""The API's routes: of each function, who may call, then methods and paths (``infra/routes.py``)."""
