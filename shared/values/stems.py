"""Which words count as the same: those with one stem, and those that differ by a slip of the keys.

The stems are of English words, by Snowball's algorithm (https://snowballstem.org/algorithms/english/stemmer.html).
Of ``snowballstemmer`` only the English stemmer is imported, and when the first word asks for it: the package's own
``__init__`` imports those of 36 languages, which takes 20 ms, and one takes 1 ms. To do without this shortcut, let
``_english`` return ``snowballstemmer.EnglishStemmer``.
"""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec
from typing import Protocol


def is_a_slip(typed: str, word: str) -> bool:
    """Whether a word becomes another by one letter more, less or other, or by two neighbours changing places."""
    if typed == word or abs(len(typed) - len(word)) > 1:
        return False
    start = next((n for n, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), min(len(typed), len(word)))
    a, b = typed[start:], word[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


IRREGULAR = {
    "calves": "calf",
    "children": "child",
    "feet": "foot",
    "geese": "goose",
    "halves": "half",
    "knives": "knife",
    "leaves": "leaf",
    "loaves": "loaf",
    "men": "man",
    "mice": "mouse",
    "scarves": "scarf",
    "sheaves": "sheaf",
    "shelves": "shelf",
    "teeth": "tooth",
    "wolves": "wolf",
    "women": "woman",
}
"""Plurals, with their singulars, whose stems Snowball's algorithm leaves apart."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802  # the library's name


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The stem of a word in lower case: of ``jackets`` it is ``jacket``, of ``running`` it is ``run``."""
    return _english()().stemWord(word)  # a stemmer keeps what it works on: threads must not share one


def stems(word: str) -> tuple[str, ...]:
    """The stem of a word, and of an irregular plural that of its singular: of ``knives``, ``knive`` and ``knife``."""
    return tuple(dict.fromkeys(map(stem, (word, IRREGULAR.get(word, word)))))


@cache
def _english() -> type[_Stemmer]:
    name = "snowballstemmer"
    if name not in sys.modules and (found := find_spec(name)) is not None:
        sys.modules[name] = module_from_spec(found)  # not executed
    from snowballstemmer.english_stemmer import EnglishStemmer  # noqa: PLC0415  # see above

    stemmer: type[_Stemmer] = EnglishStemmer
    return stemmer
