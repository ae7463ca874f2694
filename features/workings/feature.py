"""What the workings add to the core."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(
    order=1,
    does="the panel that shows a page's requests and a form's writes, and the table's browser",
    rows="features.workings.rights:",
    in_pages="workings/templates/in-pages.html",
    panel="features.workings.panel:",
    wraps="features.workings.entry:with_cost",
    paths={"packed": ("/table",)},
)
