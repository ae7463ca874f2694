"""What drafts add to the core."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(
    does="drafts of deals, which an editor posts later or schedules",
    answers="features.drafts.answers:",
    invariants="features.drafts.invariants:Kept",
    joins={
        "editors": "features.drafts.api:",
        "desk": "features.drafts.pages:",
        "expiry": "features.drafts.upkeep:post",
    },
    in_pages="drafts/templates/in-pages.html",
    tabs={"desk": (("/desk/drafts", "Drafts"),)},
)
