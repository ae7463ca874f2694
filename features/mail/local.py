"""``/mail`` on the laptop: the site's mails, as MiniStack's SES keeps them. Nothing leaves the laptop.

The cloud answers it instead of a function, so no deployed stage can have such a page, which shows password reset links.
"""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from shared.html import links, views
from shared.html.pages import CONTENT_SECURITY_POLICY, HTML, page
from shared.html.views import moment

PATH = "/mail"

TEXT = "text/plain; charset=utf-8"

OF_A_MAIL = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""A mail contains its styles, and loads nothing."""

Shown = tuple[int, dict[str, str], str]
"""A status, headers and a text."""


def show(path: str) -> Shown:
    """The list of mails, newest first, or one by its number: ``/mail/1`` as HTML, ``/mail/1.txt`` as text."""
    for kept in (*vars(links).values(), *vars(views).values()):
        if hasattr(kept, "cache_clear"):  # the site may have been redeployed since the cloud started
            kept.cache_clear()
    sent = _sent()
    number, _, form = path.removeprefix(PATH).removeprefix("/").partition(".")
    if not number:
        rows = [_row(number, mail) for number, mail in reversed(list(enumerate(sent, 1)))]
        return _of(
            HTTPStatus.OK,
            str(page("mail/templates/mailbox.html", here=PATH, mails=rows).body),
            HTML,
            CONTENT_SECURITY_POLICY,
        )
    if not number.isdecimal() or not 0 < int(number) <= len(sent) or form not in ("", "txt"):
        return _of(HTTPStatus.NOT_FOUND, "No such mail was sent.\n", TEXT, OF_A_MAIL)
    mail = sent[int(number) - 1]
    body, kind = (mail["BodyText"], TEXT) if form else (mail["BodyHtml"], HTML)
    return _of(HTTPStatus.OK, str(body), kind, OF_A_MAIL)


def _row(number: int, mail: dict[str, Any]) -> dict[str, Any]:
    return {
        "number": number,
        "to": ", ".join(mail["To"]),
        "subject": mail["Subject"],
        "at": moment(datetime.fromtimestamp(mail["Timestamp"], UTC)),
    }


def _of(status: int, text: str, kind: str, policy: str) -> Shown:
    return status, {"Content-Type": kind, "Content-Security-Policy": policy, "Cache-Control": "no-store"}, text


def _sent() -> list[dict[str, Any]]:
    """All mails that SES was asked to send, oldest first."""
    from ministack.services import ses  # type: ignore[import-untyped]  # noqa: PLC0415  # no types, and it takes a second

    # There is no other access within the process; a test fails if another version of MiniStack keeps it elsewhere.
    kept = vars(ses)["_sent_emails"].to_dict()
    return [mail for key, mails in kept.items() if key[-1] == "entries" for mail in mails]


PAGES = {PATH: show}
