"""``btd drafts``."""

from __future__ import annotations

from cli.commands import KINDS, Row, argument, group, offer
from cli.output import price, table

KINDS["{draftId}"] = argument("DRAFT", "The draft's id.")

drafts_app = group("drafts", "An editor's drafts: deals that are not posted yet.")
GROUPS = (drafts_app,)

drafts = table(
    {
        "Draft": "draftId",
        "Title": "title",
        "Brand": "brand",
        "Price": price,
        "Post at": "startsAt",
        "Not posted because": "refused",
    }
)
offer(
    drafts_app,
    Row("list username", "GET /me/drafts", "List an editor's drafts, and when they will be posted.", drafts),
    Row(
        "post username draftId",
        "POST /me/drafts/{draftId}",
        "Post a draft now, scheduled or not, without asking for confirmation of warnings.",
    ),
    Row(
        "discard username draftId",
        "DELETE /me/drafts/{draftId}",
        "Remove a draft and its schedule.",
        says={"discarded": "draftId"},
    ),
)
