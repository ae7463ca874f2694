"""``btd messages new-feed`` and ``revoke-feed``."""

from __future__ import annotations

from cli.commands import Row, offer
from cli.members import messages_app

offer(
    messages_app,
    Row(
        "new-feed username",
        "POST /me/feed",
        "Create and print a key for a user's private feed; it replaces the previous key.",
        signed_in=True,
    ),
    Row("revoke-feed username", "DELETE /me/feed", "Revoke the key of a user's private feed.", says={"revoked": True}),
)
