"""Templates as texts: what holds for each of them, whatever page it is a part of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).resolve().parents[2] / "web" / "templates"
IMPORT = re.compile(r'\{% from "[^"]+" import ([^%]+) %\}')


@pytest.mark.parametrize("file", sorted(TEMPLATES.rglob("*.html")), ids=lambda file: str(file.relative_to(TEMPLATES)))
def test_a_template_imports_only_what_it_uses(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    imported = [each.split(" as ")[-1].strip() for names in IMPORT.findall(text) for each in names.split(",")]
    rest = IMPORT.sub("", text)

    assert [name for name in imported if not re.search(rf"\b{name}\(", rest)] == []
