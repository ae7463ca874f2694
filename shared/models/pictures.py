"""A deal's own picture: what pictures add to deals, their JSON, their log and their cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from shared.values.pictures import Picture
from shared.values.stored import stored

if TYPE_CHECKING:
    from shared.models.catalog import Deal


class Fields:
    """The fields of a deal. ``upload`` says what became of the last file that an editor sent for it: when, its id, and
    why it was refused if it was."""

    picture: Picture | None = field(default=None, metadata=stored("Picture", Picture))
    upload: str | None = field(default=None, metadata=stored("Upload", listed=False, copied=False))


picture_of: Callable[[Deal], Picture | None] = attrgetter("picture")
upload_of: Callable[[Deal], str | None] = attrgetter("upload")


def with_picture(deal: Deal, picture: Picture) -> Deal:
    """The deal with another picture."""
    changed: dict[str, Any] = {"picture": picture}
    return replace(deal, **changed)


def in_answer(deal: Deal) -> dict[str, Any] | None:
    """A deal's picture in JSON; its ``path``, at the site, is that of its largest file."""
    of = picture_of(deal)
    if of is None:
        return None
    return {"path": f"/{[*of.files][-1]}", "width": of.width, "height": of.height, "colour": of.colour}


IN_ANSWERS: Mapping[str, Callable[[Deal], dict[str, Any] | None]] = {"picture": in_answer}

LOGGED: Mapping[str, tuple[str, str, str]] = {"picture": ("A picture", "Another picture", "No picture")}


def image(deal: Deal) -> dict[str, Any] | None:
    """A deal's picture as pages show it: its files' paths with their widths, its size and its colour."""
    of = picture_of(deal)
    if of is None:
        return None
    files = {f"/{name}": width for name, width in of.files.items()}
    return {"files": files, "src": [*files][-1], "width": of.width, "height": of.height, "colour": of.colour}
