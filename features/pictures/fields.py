"""A deal's own picture: what pictures add to deals, their JSON, their log and their cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from features.pictures.models import Picture
from shared.values.stored import Attribute

if TYPE_CHECKING:
    from shared.models.catalog import Deal


FETCHED = "fetched"
"""What is said instead of an upload's id of a picture that was fetched from another host."""


class LastUpload(NamedTuple):
    """The last file that was sent or fetched for a deal: when, its id or ``FETCHED``, and why it was refused (empty if
    it wasn't). A fetched one counts from when the fetch was ordered."""

    sent_at: str
    upload_id: str
    refused: str = ""

    @classmethod
    def parse(cls, text: str) -> LastUpload:
        """Parse a stored upload. Raises ValueError."""
        sent_at, upload_id, refused = f"{text} ".split(" ", 2)
        return cls(sent_at, upload_id, refused.strip())

    def __str__(self) -> str:
        return f"{self.sent_at} {self.upload_id} {self.refused}".strip()


STORED = (Attribute("Picture", Picture), Attribute("Upload", LastUpload, listed=False, copied=False))


def in_answer(deal: Deal) -> dict[str, Any] | None:
    """A deal's picture in JSON; its ``path``, at the site, is that of its largest file."""
    of = deal.own(Picture)
    if of is None:
        return None
    return {"path": f"/{[*of.files][-1]}", "width": of.width, "height": of.height, "colour": of.colour}


IN_ANSWERS: Mapping[str, Callable[[Deal], dict[str, Any] | None]] = {"picture": in_answer}

LOGGED = {"picture": (Picture, ("A picture", "Another picture", "No picture"))}


def image(deal: Deal) -> dict[str, Any] | None:
    """A deal's picture as pages show it: its files' paths with their widths, its size and its colour."""
    of = deal.own(Picture)
    if of is None:
        return None
    files = {f"/{name}": width for name, width in of.files.items()}
    return {"files": files, "src": [*files][-1], "width": of.width, "height": of.height, "colour": of.colour}
