"""XML: the texts of each item of a feed, by the names of their elements.

A value within another has both names (``imgs/main``), an attribute its own after an ``@``, and a parameter the name
that it says (``param:color``). Of several with one name, Google's counts, and else the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import iterparse

GOOGLE = "{http://base.google.com/ns/1.0}"

DEEPEST = 64
"""Elements within each other."""

MOST_CATEGORIES = 50_000

Raw = Mapping[str, str]
"""The texts of a record, by the names of their columns or elements."""


class Item(NamedTuple):
    """An item's element with the names of the elements around it, the widest first, and its texts."""

    name: str
    within: tuple[str, ...]
    texts: Raw


def named(text: str) -> str:
    """A name in all of its spellings: ``g:image_link``, ``Image link`` and ``{…}image_link`` are one."""
    local = re.sub(r"^\{.*\}", "", text.strip().strip('"').strip())
    return re.sub(r"[\s-]", "_", local.lower().removeprefix("g:").replace("\u2019", "'"))


def items(file: BinaryIO, wanted: frozenset[str]) -> Iterator[Item | str]:
    """First the root's name, then each item: an element with a wanted name. Raises ParseError."""
    within: list[Element] = []
    categories: dict[str, str] = {}
    for event, element in iterparse(file, events=("start", "end"), forbid_dtd=False):
        if event == "start":
            if not within:
                yield named(element.tag)
            within.append(element)
            if len(within) > DEEPEST:
                raise ParseError(f"more than {DEEPEST} elements within each other")
            continue
        within.pop()
        name = named(element.tag)
        around = tuple(named(each.tag) for each in within)
        if name == "category" and "id" in element.attrib and len(categories) < MOST_CATEGORIES:
            above = categories.get(element.get("parentId", ""), "")
            categories[element.attrib["id"]] = " > ".join(filter(None, [above, (element.text or "").strip()]))
        elif name in wanted and not wanted.intersection(around):
            texts = dict(_texts(element))
            if (category := categories.get(texts.get("categoryid", ""))) is not None:
                texts["category"] = category
            yield Item(name, around, texts)
            within[-1].clear() if within else None  # free what is already read


def _texts(element: Element) -> Iterator[tuple[str, str]]:
    """The texts of an item by their names, each once."""
    found: dict[str, str] = {}
    googles: set[str] = set()
    for name, text, is_googles in _all(element, "", 0):
        if text.strip() and (not found.get(name) or (is_googles and name not in googles)):
            found[name] = text.strip()
            if is_googles:
                googles.add(name)
        found.setdefault(name, "")
    yield from found.items()


def _all(element: Element, prefix: str, depth: int) -> Iterator[tuple[str, str, bool]]:
    if depth > 4:
        return
    if depth == 0:
        yield from ((f"@{named(name)}", text, False) for name, text in element.attrib.items())
    for child in element:
        name = f"{prefix}{named(child.tag)}"
        text = child.text or ""
        if "href" in child.attrib and child.get("rel", "alternate") == "alternate":
            text = text.strip() or child.attrib["href"]
        if own := child.get("name"):
            yield f"param:{named(own)}", text, False
        inner: dict[str, Any] = {named(each.tag): each.text for each in child}
        if inner.get("param_name"):
            yield f"param:{named(inner['param_name'])}", inner.get("val") or "", False
        yield name, text, child.tag.startswith(GOOGLE)
        yield from ((f"{name}@{named(key)}", value, False) for key, value in child.attrib.items())
        yield from _all(child, f"{name}/", depth + 1)
