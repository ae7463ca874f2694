"""The style of the panel, which is below pages of every kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.html import links

TEMPLATES = Path(__file__).parents[1] / "templates"
OWN = {"site.css", "page-cost.css"}
"""The style sheets that each page with the panel has."""

_BARE_CLASS = re.compile(r"(?:^|[},])\s*\.([\w-]+)\s*(?=[{,])")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@pytest.mark.parametrize("name", [name for name in sorted(links.files()) if name.endswith(".css") and name not in OWN])
def test_the_panel_has_no_class_that_another_style_sheet_moves(name: str) -> None:
    """It stands below pages of every kind, whose own style sheets lay out what is theirs alone."""
    drawn = {
        each
        for template in ("form-cost.html", "page-cost.html", "fault.html")
        for classes in re.findall(r'class="([^"{]+)', (TEMPLATES / template).read_text("utf-8"))
        for each in classes.split()
    }

    moved = {*_BARE_CLASS.findall(_COMMENT.sub("", links.files()[name].read_text("utf-8")))}

    assert moved
    assert drawn & moved == set()
