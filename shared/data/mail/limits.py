"""Limits of mail: how often links are asked for, how long they work, and how many mails one address gets.

Attempts are counted as those to sign in are (``shared/data/members/rate_limits.py``).
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from shared.data.members import rate_limits
from shared.dynamodb.table import Table

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

DIGEST_COHORT = 25
"""Readers whose mails are one unit of work: SES takes 14 mails a second of a new account, so it is over in seconds."""

DIGEST_MESSAGES = 15
"""Messages that a day's mail shows; it links to the rest."""

DIGEST_TOO_LATE = timedelta(days=1)
"""After this a day's mail is not sent any more: the next one has been. Receipts are kept three times as long."""


def ask_reset(table: Table, email: str, address: str, now: datetime) -> None:
    """Count a request for a password link by its address. Raises SlowDown after too many."""
    digest = hashlib.sha256(email.encode()).hexdigest()[:32]
    bounds = rate_limits.around(address, RESETS_PER_NETWORK, "RESETFROM")
    rate_limits.count(table, [*bounds, (("RESET", digest), RESETS_PER_EMAIL)], now)


def ask_to_verify(table: Table, username: str, now: datetime) -> None:
    """Count a request for a link that verifies an account's address. Raises SlowDown after too many."""
    rate_limits.count(table, [(("VERIFY", username), VERIFICATIONS_PER_USER)], now)


def mail(table: Table, email: str, now: datetime, *, proved: bool) -> rate_limits.Attempt:
    """Count a mail to an address, of any kind and whichever account it is about. Raises SlowDown after too many: in an
    hour or, where the account has not proved that the address is its own, in a day."""
    digest = hashlib.sha256(email.encode()).hexdigest()[:32]
    return rate_limits.count(table, [(("MAIL", digest), MAILS_PER_ADDRESS)], now, seconds=3600 if proved else 86_400)
