"""Pictures in tests of the whole."""

from __future__ import annotations

from features.pictures.models import LOOKS, UPLOADS

# As late as it can be: until then the page looks again each second.
EDITORS = {
    "a picture being made": f"/desk/deals/{{first.number}}/picture?key={UPLOADS}{{first.deal_id}}&looked={LOOKS}",
}
IMPORTS = {"pictures": ("minijinja",)}
