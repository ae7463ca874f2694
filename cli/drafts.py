"""``btd drafts``: an editor's drafts, and those that are planned."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import views
from cli.inputs import Username
from cli.watching import AsJson, at_work
from shared.api import documents
from shared.data.catalog import drafts

app = typer.Typer(help="An editor's drafts: deals that are not posted yet.", no_args_is_help=True)

DraftId = Annotated[str, typer.Argument(metavar="DRAFT", help="The draft's id.")]


@app.command("list")
def own(username: Username, as_json: AsJson = False) -> None:
    """List an editor's drafts, and when they are to be posted."""
    with at_work(as_json) as work:
        work.answer(documents.all_of(map(documents.draft, drafts.of(work.table, username))), views.drafts)


@app.command()
def post(username: Username, draft: DraftId, as_json: AsJson = False) -> None:
    """Post a draft now, whether or not it is planned; nothing odd is asked about."""
    with at_work(as_json) as work:
        posted = drafts.post(work.table, drafts.get(work.table, username, draft), work.now, None)
        work.answer(documents.deal(posted, work.now), views.fields)


@app.command()
def discard(username: Username, draft: DraftId, as_json: AsJson = False) -> None:
    """Remove a draft, and its plan."""
    with at_work(as_json) as work:
        drafts.discard(work.table, drafts.get(work.table, username, draft))
        work.answer({"discarded": draft}, views.fields)
