"""The access patterns that pages name, and the documents' tables of them."""

from __future__ import annotations

from features.workings.patterns import KINDS, PATTERNS
from tools import documents


def test_the_access_patterns_are_those_of_the_documents() -> None:
    assert [*PATTERNS] == [*map(str, documents.pattern_rows())]


def test_the_patterns_of_the_kinds_have_pages_that_a_collection_leads_to() -> None:
    patterns = {number for *_, kind in KINDS for number, _ in kind.patterns}

    assert len(patterns) > 30
