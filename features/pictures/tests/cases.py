"""Pictures in tests of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from features.pictures.models import LOOKS, UPLOADS
from tests.support.commands import until
from tests.support.factories import plain_picture
from tests.support.rights import ANY_READ, DEAL
from tests.support.site import Site, Visitor

# As late as it can be: until then the page looks again each second.
EDITORS = {
    "a picture being made": f"/desk/deals/{{first.number}}/picture?key={UPLOADS}{{first.deal_id}}&looked={LOOKS}",
}
IMPORTS = {"pictures": ("minijinja",)}
RIGHTS = ((ANY_READ, DEAL, "", "resizer"),)
ELSEWHERE = (
    *(("resizer", "s3", operation) for operation in ("GetObject", "PutObject", "DeleteObject")),
    ("publisher", "s3", "PutObject"),
)


def _send_picture(site: Site, _member: Visitor, _other: Visitor, deal_ids: Sequence[str]) -> None:
    """Give a deal a picture, and take it away."""
    editor, deal_id = site.editor("picturing"), deal_ids[0]
    form = editor.post("/pictures", json={"dealId": deal_id}).json()
    sent = httpx.post(form["url"], data=form["fields"], files={"file": plain_picture()}, trust_env=False)
    assert sent.status_code == 204, sent.text
    assert until(lambda: editor.get(f"/deals/{deal_id}/picture").json()["key"] == form["fields"]["key"])
    assert editor.patch(f"/deals/{deal_id}", json={"picture": None}).json()["picture"] is None


USES = (_send_picture,)
