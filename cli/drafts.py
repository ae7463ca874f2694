"""``btd drafts``: an editor's drafts, and those that are planned."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import views
from cli.inputs import Username
from cli.work import Work, command, group
from shared.api import documents
from shared.data.catalog import drafts

app = group("drafts", "An editor's drafts: deals that are not posted yet.")

DraftId = Annotated[str, typer.Argument(metavar="DRAFT", help="The draft's id.")]


@command(app, views.drafts, "list")
def own(work: Work, username: Username) -> views.Json:
    """List an editor's drafts, and when they are to be posted."""
    return documents.all_of(map(documents.draft, drafts.of(work.table, username)))


@command(app)
def post(work: Work, username: Username, draft: DraftId) -> views.Json:
    """Post a draft now, whether or not it is planned; nothing odd is asked about."""
    posted = drafts.post(work.table, drafts.get(work.table, username, draft), work.now, None)
    return documents.deal(posted, work.now)


@command(app)
def discard(work: Work, username: Username, draft: DraftId) -> views.Json:
    """Remove a draft, and its plan."""
    drafts.discard(work.table, drafts.get(work.table, username, draft))
    return {"discarded": draft}
