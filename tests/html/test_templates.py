"""Templates as texts: what holds for each of them, whatever page it is a part of."""

from __future__ import annotations

import re
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parents[2] / "web" / "templates"
IMPORT = re.compile(r'\{% from "[^"]+" import ([^%]+) %\}')


def test_a_template_imports_only_what_it_uses() -> None:
    for file in TEMPLATES.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        imported = [each.split(" as ")[-1].strip() for names in IMPORT.findall(text) for each in names.split(",")]
        rest = IMPORT.sub("", text)

        assert [name for name in imported if not re.search(rf"\b{name}\(", rest)] == [], file
