"""``/pictures/{hash}/{file}``: the deals' pictures, from their bucket, at the site's own address.

A picture's name has its content's hash, so browsers and caches keep it for a year.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from features.pictures.environment import bucket
from features.pictures.models import MEDIA_TYPES, PICTURES
from shared.errors import NotFound
from shared.html import pages
from shared.html.pages import Answer, Request, Routes, serve

MOST = 3_000_000
"""Bytes of an answer: base64 adds a third, and Lambda's limit is 6 MB. Our pictures are far smaller.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

routes = Routes()


@routes.get("/pictures/<folder>/<name>")
def picture(_request: Request, folder: str, name: str) -> Answer:
    media_type = MEDIA_TYPES.get(PurePosixPath(name).suffix)
    found = bucket().read(f"{PICTURES}{folder}/{name}", MOST) if media_type else None
    if media_type is None or found is None:
        raise NotFound("There is no such picture.")
    body = found.content.decode() if media_type == MEDIA_TYPES[".svg"] else found.content
    return Answer(body, media_type=media_type, cache=pages.IMMUTABLE)


handler = serve(routes, public=True)
