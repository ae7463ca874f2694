"""Members' routes: likes and watches, votes, alerts and messages."""

from __future__ import annotations

from functions.api.members import told, topics, votes
from shared.api.app import create_app, serve

app = create_app()
for each in (topics, votes, told):
    app.include_router(each.router)
handler = serve(app)
