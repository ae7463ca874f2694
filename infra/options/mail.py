"""The settings of a stage that sends mail."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.options import Option

if TYPE_CHECKING:
    from infra.settings import Stage

_MAILBOX = re.compile(r"[a-z0-9._+-]+@[a-z0-9-]+(\.[a-z0-9-]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail(Option):
    """Mail by Amazon SES, from a ``sender`` whose domain is a verified identity (read ``docs/deploying.md`` first).

    Answers go to ``reply_to``, or to the sender. ``postal_address`` ends each mail: laws on advertising ask for it.
    """

    sender: str
    postal_address: str
    reply_to: str | None = None

    def __post_init__(self) -> None:
        if not all(map(_MAILBOX.fullmatch, (self.sender, self.reply_to or self.sender))):
            raise ValueError("sender and reply_to must be email addresses, without names.")

    def check(self, stage: Stage) -> None:
        """Raise ValueError for a stage whose links have no address yet."""
        if stage.front and stage.origin is None:
            raise ValueError("mail needs an address for its links: name what is in front, or set site_origin.")

    @property
    def domain(self) -> str:
        """The sender's domain, which SES must know."""
        return self.sender.partition("@")[2]


STAGES: Mapping[str, tuple[Mail, ...]] = {
    "local": (Mail(sender="deals@bigtimedeals.localhost", postal_address="This laptop: nothing leaves it"),),
}
"""The options of stages that are the same in every copy of the project."""
