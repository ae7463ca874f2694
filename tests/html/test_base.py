"""The frame of every page, and what holds for each template."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from shared.html import pages
from tests.support.pages import parsed

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "web" / "templates"
IMPORT = re.compile(r'\{% from "[^"]+" import ([^%]+) %\}')


@pytest.mark.parametrize(
    ("name", "number", "shown"),
    [
        ("unread", 3, "3 unread"), ("unread", "99+", "99+ unread"), ("unread", 0, ""), ("unread", None, ""),
        ("cart", 2, "2 items"), ("cart", 0, ""), ("cart", None, ""),
    ],
)  # fmt: skip
def test_a_page_that_knows_a_count_shows_it_without_script(name: str, number: int | str | None, shown: str) -> None:
    known: dict[str, Any] = {} if number is None else {name: number}
    answer = pages.page("about.html", **known)

    (count,) = (each for each in parsed({"body": answer.body}).iter("span") if each.get("id") == name)
    assert "".join(count.itertext()) == shown
    assert (count.get("hidden") is None) == bool(shown)


def test_a_template_imports_only_what_it_uses() -> None:
    for file in TEMPLATES.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        imported = [each.split(" as ")[-1].strip() for names in IMPORT.findall(text) for each in names.split(",")]
        rest = IMPORT.sub("", text)

        assert [name for name in imported if not re.search(rf"\b{name}\(", rest)] == [], file


def test_what_a_form_has_done_has_a_sentence_and_each_sentence_a_form() -> None:
    functions = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "functions" / "pages").rglob("*.py"))
    codes = {
        code for pair in re.findall(r'notices?=\(?"([\w-]+)"(?:, "([\w-]+)")?', functions) for code in pair if code
    }
    sentences = re.findall(r'^  "([\w-]+)": "', (TEMPLATES / "notice.html").read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(codes - {*sentences}) == []
    assert [code for code in sentences if f'"{code}"' not in functions] == []
