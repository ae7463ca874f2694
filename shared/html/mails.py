"""Mails, made of templates as pages are: in plain text and in HTML, without pictures and without anything that tells
who has read them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shared.html.links import absolute
from shared.html.views import money, render
from shared.models.members import AboutDeal, Mail, Message, User
from shared.values.naming import counted

_LIKE_A_LINK = re.compile(r"[.\u3002\uff0e\uff61:/@]\S")
"""What mail programs may make a link of: a dot, also an ideographic one, a colon, a slash or an @ within a word."""

MOST_BYTES = 20 * 1024
"""The most that the two forms of a mail have together: Gmail shows the beginning of longer ones, from 102 KB on, and
the reader may be on a train."""


def reset(user: User, token: str) -> Mail:
    """The link to a new password."""
    return _mail("reset", user, "Your link to a new password", address=absolute("/account/reset", token=token))


def verify(user: User, token: str) -> Mail:
    """The link that proves the address."""
    return _mail("verify", user, "Is this your address?", address=absolute("/account/verify", token=token))


def changed(address: str, what: str) -> Mail:
    """The notice, to the address that an account had, that its ``what`` was changed: its password or its address."""
    return _mail("changed", address, f"Your {what} was changed", what=what, address=absolute("/account/forgot"))


def digest(user: User, messages: Sequence[Message], more: int, token: str) -> Mail:
    """A day's unread messages, and how many more the next mail has; with the link that ends such mails, which mail
    programs can follow by themselves.

    https://www.rfc-editor.org/rfc/rfc8058
    """
    leave = absolute("/account/unsubscribe", token=token)
    rows = [
        {
            "subject": each.subject,
            "price": money(each.about.price, each.about.currency) if isinstance(each.about, AboutDeal) else "",
            "address": absolute(f"/my/inbox/{each.message_id}"),
        }
        for each in messages
    ]
    links = {"inbox": absolute("/my/inbox"), "account": absolute("/account"), "leave": leave}
    subject = counted(len(rows) + more, "new unread message")
    mail = _mail("digest", user, subject, rows=rows, more=more and counted(more, "more message"), **links)
    headers = {"List-Unsubscribe": f"<{leave}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    return replace(mail, headers=headers)


def _mail(template: str, to: User | str, subject: str, **values: Any) -> Mail:
    # Who signs up may give anybody's address, and any text for a name. So an address that nobody has proved is mailed
    # neither, and no mail has a username: mail programs make a link of one that looks like a domain.
    name = to.name if isinstance(to, User) and to.is_verified and not _LIKE_A_LINK.search(to.name) else ""
    known = {
        "subject": subject,
        "greeting": f"Hello {name}," if name else "Hello,",
        "site": absolute("/"),
        "postal_address": os.environ.get("MAIL_POSTAL_ADDRESS", ""),
    }
    text, html = (render(f"mail/{template}.{form}", **known, **values) for form in ("txt", "html"))
    return Mail(to.email if isinstance(to, User) else to, subject, text, html)
