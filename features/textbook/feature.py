"""What the textbook adds to the core."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(
    order=2,
    does="lessons about single-table design, whose requests visitors send and change",
    needs=("shop", "workings"),
    rows="features.textbook.rights:",
    in_pages="textbook/templates/in-pages.html",
    explains="/learn/pattern-",
    tools="features.textbook.generated:",
    links=(("Learn", "learn", "the textbook that runs"),),
    paths={"packed": ("/learn", "/learn/item-collection")},
    shows_code="features.textbook.lessons:shown",
    in_demo={"learn": "features.textbook.lessons:add_table"},
)
