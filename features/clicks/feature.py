"""What clicks add to the core."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(
    does="counts of the clicks that lead readers to shops",
    joins={"desk": "features.clicks.desk:"},
    in_pages="clicks/templates/in-pages.html",
    paths={"private": ("/go/",)},
)
