"""Replaces nh3, which has no WebAssembly wheel, in a browser's tab: Python's own HTML parser.

What it keeps is only ever made into text (``texts.py``).
"""

from __future__ import annotations

import html
from collections.abc import Set as AbstractSet
from html.parser import HTMLParser
from typing import Any


def clean(markup: str, *, tags: AbstractSet[str], clean_content_tags: AbstractSet[str], **_: Any) -> str:
    """HTML with these tags alone, none with attributes, and without the content of others."""
    parser = _Cleaner(tags, clean_content_tags)
    parser.feed(markup)
    parser.close()
    return "".join(parser.kept)


class _Cleaner(HTMLParser):
    def __init__(self, tags: AbstractSet[str], unseen: AbstractSet[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.kept: list[str] = []
        self._tags, self._unseen, self._within = tags, unseen, 0

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self._within += tag in self._unseen
        self._keep(tag, f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self._keep(tag, f"</{tag}>")
        self._within = max(self._within - (tag in self._unseen), 0)

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.kept.append(html.escape(data, quote=False))

    def _keep(self, tag: str, text: str) -> None:
        if tag in self._tags and not self._within:
            self.kept.append(text)
