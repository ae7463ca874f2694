"""Mails, made of templates as pages are: in plain text and in HTML, without pictures and without anything that tells
who has read them."""

from __future__ import annotations

import os
from typing import Any

from shared.html.links import absolute
from shared.html.templates import render
from shared.models.mail import Mail
from shared.models.members import User

MOST_BYTES = 20 * 1024
"""The most that the two forms of a mail have together: Gmail shows the beginning of longer ones, from 102 KB on, and
the reader may be on a train."""


def reset(user: User, token: str) -> Mail:
    """The link to a new password."""
    return _mail("reset", user, "Your link to a new password", address=absolute("/account/reset", token=token))


def _mail(template: str, user: User, subject: str, **values: Any) -> Mail:
    known = {
        "subject": subject,
        "name": user.name,
        "username": user.username,
        "site": absolute("/"),
        "postal_address": os.environ.get("MAIL_POSTAL_ADDRESS", ""),
    }
    text, html = (render(f"mail/{template}.{form}", **known, **values) for form in ("txt", "html"))
    return Mail(user.email, subject, text, html)
