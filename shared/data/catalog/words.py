"""Words: those that find a deal, those of a search, and which of them match.

A deal is found by the words of its title, brand and category. Words are compared by stem, so ``jackets`` finds a
jacket; a brand's words are also filed as written. A hyphenated word is filed in parts and joined (``t-shirt`` as
``tshirt``, ``t`` and ``shirt``), as are ``T shirt`` and a number with its unit (``16gb``, ``16 GB``), and an irregular
plural also as its singular. Words such as ``on`` and ``the`` are left out unless one is alone: On is a brand.
Typed text becomes words in the same way.

Scripts without spaces (Chinese, Japanese, Thai) have runs of characters instead of words. A run of A, B and C is filed
under each two neighbours (``A·B``, ``B·C``) and under its last character (``C·``). A typed run looks up its pairs, so
any part of a run is found; a single character is looked up as the beginning of pairs. A word with umlauts is also filed
with all of them spelled out (``uberzuge`` and ``ueberzuege``).

Snowball's English algorithm makes the stems (https://snowballstem.org/algorithms/english/stemmer.html). Only
``snowballstemmer``'s English stemmer is imported, at first use: 1 ms instead of 20 ms for the package's 36 languages.
To do without this shortcut, let ``_english`` return ``snowballstemmer.EnglishStemmer``.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec
from typing import NamedTuple, Protocol

from shared.data.catalog.synonyms import GROUPS, KINDS
from shared.models.catalog import CATEGORIES, Deal
from shared.values import naming


def is_a_slip(typed: str, word: str) -> bool:
    """Whether two words differ by one letter (more, less or other) or by two swapped neighbours."""
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
"""Irregular plurals and their singulars, whose stems differ in Snowball's algorithm."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802  # the library's name


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The stem of a word in lower case: ``jacket`` for ``jackets``, ``run`` for ``running``."""
    return _english()().stemWord(word)  # a stemmer has state, so threads must not share one


def stems(word: str) -> tuple[str, ...]:
    """The stem of a word and, for an irregular plural, of its singular: ``knive`` and ``knife`` for ``knives``."""
    return tuple(dict.fromkeys(map(stem, (word, IRREGULAR.get(word, word)))))


@cache
def _english() -> type[_Stemmer]:
    name = "snowballstemmer"
    if name not in sys.modules and (found := find_spec(name)) is not None:
        sys.modules[name] = module_from_spec(found)  # not executed
    from snowballstemmer.english_stemmer import EnglishStemmer  # noqa: PLC0415  # see above

    stemmer: type[_Stemmer] = EnglishStemmer
    return stemmer


MOST_WORDS = 5
"""Words of a search; the page says that later ones are ignored."""

MOST_CHARACTERS = 100
MOST_OF_A_DEAL = 24
"""Words that find one deal: the longest titles repeat themselves."""

MOST_OF_RUNS = 32
"""Words that find a deal whose title has runs of characters, each of which counts as one."""

LOWEST = "$lowest"
"""The list of all 60-day lows. No typed word has its sign."""

_WORD = r"[a-z0-9]+"
_HYPHENATED = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_RUN = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Characters of scripts without spaces: Thai, Lao, Burmese, Khmer, Kana, and Han."""
_WIDTHS = "[\uff00-\uffef]+"
"""Latin letters and Kana of another width than usual."""
_VOWELS_BEFORE = "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4"
_VOWELS_BEHIND = "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3\u30fc"
"""Letters of Thai and Lao, and Kana's sign for a long vowel, that belong to the character after or before them."""
_SPELLED = {
    ord(letter): spelled
    for letter, spelled in zip("\u00e4\u00f6\u00fc\u00f8\u00e5", ("ae", "oe", "ue", "oe", "aa"), strict=True)
}
_NEXT = "\u00b7"
"""Between the two characters of a pair. The counts of a character's pairs share a partition, named by two letters."""
_APOSTROPHES = "['\u2019`]"
_MEASURE = r"\b(\d+)[ -]?(cm|ft|gb|hz|inch|kg|l|lb|lbs|mah|mb|ml|mm|oz|pack|pcs|qt|tb|w)\b"
_SPACED = r"\b(?:e bike|t shirt|v neck)"
"""Words with a letter of their own that are written with a hyphen, too."""
_COMMON = frozenset({"a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "s", "the", "to", "with"})
_LONGEST_WORD = 40


class Term(NamedTuple):
    """A typed word, and the words of a deal that match it: its stem, itself, and the joined word that it is part of.

    ``T-shirt`` is two terms, ``t`` or ``tshirt`` and ``shirt`` or ``tshirt``: a deal matches with the joined word or
    both parts. Itself is included because brands are filed as written. ``stems`` are its
    stems and the joined word's: each matching deal has one of them in ``stems_of``. ``synonyms`` are the stems of other
    words, which a search looks up as well and an alert doesn't.
    """

    written: str
    stems: tuple[str, ...]
    forms: tuple[str, ...]
    synonyms: tuple[str, ...] = ()

    @property
    def narrows_only(self) -> bool:
        """Whether a search ignores this word if no deal has it: a letter, such as that of ``t-shirt``."""
        return len(self.written) == 1 and self.written.isascii() and self.written.isalpha()

    @property
    def beginning(self) -> str:
        """The prefix to look up if this is the last word of a search, which may be unfinished."""
        # Not all of it: a stem may be shorter than the typed text.
        return self.written[:3] if self.written.isascii() else self.stems[0].partition(_NEXT)[0] + _NEXT


class Search(NamedTuple):
    """A search as it is looked up. ``text`` is the query in plain letters; ``cut`` says that it was longer."""

    text: str
    terms: tuple[Term, ...]
    cut: bool

    @property
    def words(self) -> tuple[str, ...]:
        """Its words as typed."""
        return tuple(term.written for term in self.terms)

    @property
    def scope(self) -> str:
        """The scope of this search's cursors."""
        return f"search/{' '.join(self.words)}"

    def is_met_by(self, words: Collection[str]) -> bool:
        """Whether a deal that some words find has all words of this search."""
        return all(any(form in words for form in term.forms) for term in self.terms)

    def corrected(self, words: dict[str, str]) -> Search:
        """This search with words replaced, or dropped if they have no replacement."""

        def replaced(match: re.Match[str]) -> str:
            return "-".join(filter(None, (words.get(part, part) for part in match[0].split("-"))))

        found = asked(" ".join(re.sub(_HYPHENATED, replaced, self.text).split()))
        return Search(found.text, found.terms, self.cut)

    def widened(self) -> Search | None:
        """This search with kinds of things instead of the things: shoes, not trainers. None if it names none.

        A thing may be misspelled: no deal has the word, so the index doesn't know it.
        """
        kinds = {term.written: kind for term in self.terms if (kind := _kind_of(term.written)) is not None}
        return self.corrected(kinds) if kinds else None


def categories_in(search: Search, besides: Collection[str] = ()) -> list[str]:
    """The categories that a word of the search names, in singular or plural, by slug.

    Words in ``besides`` mean something else: Outdoor Research is a brand.
    """
    stems = {stem(word) for word in search.words if word not in besides}
    return [slug for slug in CATEGORIES if stem(slug) in stems]


def brands_in(search: Search, slugs_of: Iterable[str]) -> list[str]:
    """The brands whose names are consecutive words of the search, with or without spaces."""
    typed = re.findall(_WORD, naming.to_ascii(search.text).lower())
    runs = {"".join(typed[start:end]) for start in range(len(typed)) for end in range(start + 1, len(typed) + 1)}
    joined = {slug: naming.run_together(slug) for slug in slugs_of}
    return [slug for slug, names in joined.items() if runs & {*names, *(name.removeprefix("the") for name in names)}]


def in_text(text: str) -> list[str]:
    """A text's distinct words as written: ASCII, lower case, without accents; a run of characters is one."""
    found = (word[:_LONGEST_WORD] for word in re.findall(_WORD, _ascii(text)))
    return list(dict.fromkeys(word for word in found if word not in _COMMON and (len(word) > 1 or word.isdigit())))


def asked(text: str) -> Search:
    """Read a typed text as a search."""
    plain = _plain(text[:MOST_CHARACTERS])
    terms = dict.fromkeys(_terms(text[:MOST_CHARACTERS], plain))
    if not terms and len(common := re.findall(_WORD, plain)) == 1 and len(common[0]) > 1:
        terms = dict.fromkeys([_term(common[0])])
    # One character is looked up as the beginning of a pair, as only a search's last word is.
    in_order = sorted(terms, key=lambda term: len(term.written) == 1 and not term.written.isascii())
    return Search(plain, tuple(in_order)[:MOST_WORDS], len(text) > MOST_CHARACTERS or len(terms) > MOST_WORDS)


def _terms(text: str, plain: str) -> Iterator[Term]:
    parts, spelled = list(_parts(plain)), [word for word, _ in _parts(_plain(_spelled(text)))]
    if len(spelled) != len(parts):  # a letter alone, which is a word only if it is spelled out
        spelled = [""] * len(parts)
    for (word, whole), alternative in zip(parts, spelled, strict=True):
        yield _term(word, whole, alternative)
    for run in re.findall(_RUN, plain):
        characters = _characters(run)
        starts = range(0, len(characters) - 1, 2) or [0]
        pairs = dict.fromkeys([*starts, max(0, len(characters) - 2)])
        for start in pairs:
            pair = characters[start : start + 2]
            yield Term("".join(pair), (_pair(pair),), (_pair(pair), *([_ascii(run)] if len(pair) == 2 else [])))


def _term(written: str, whole: str | None = None, spelled: str = "") -> Term:
    found = dict.fromkeys(each for word in (written, whole) if word for each in stems(word))
    alternative = stems(spelled) if spelled and spelled != written else ()
    forms = dict.fromkeys([*found, written, *([whole] if whole else []), *alternative])
    synonyms = dict.fromkeys(other for each in found for other in _synonyms().get(each, ()) if other not in forms)
    # An alert is filed under two of its stems at most.
    filed = tuple(found) if whole else tuple(dict.fromkeys([*found, *alternative]))
    return Term(written, filed, tuple(forms), tuple(synonyms))


@cache
def _synonyms() -> dict[str, tuple[str, ...]]:
    """The stems of each word's synonyms, by its stem."""
    groups = [tuple(map(stem, group.split())) for group in GROUPS]
    return {word: tuple(other for other in group if other != word) for group in groups for word in group}


def _kind_of(typed: str) -> str | None:
    """The kind of a thing, by its name or a slip of five letters or more."""
    word = stem(typed)
    if len(word) < 5 or word in _kinds():
        return _kinds().get(word)
    return next((kind for thing, kind in _kinds().items() if is_a_slip(word, thing)), None)


@cache
def _kinds() -> dict[str, str]:
    """The kind of each thing, by the stem of its word."""
    return {stem(thing): kind for kind, things in KINDS.items() for thing in things.split()}


def of_deal(deal: Deal) -> dict[str, str]:
    """The words that find a deal, each with its written form."""
    found: dict[str, str] = {}
    most = MOST_OF_A_DEAL
    for word in in_text(deal.brand_name) or re.findall(_WORD, _ascii(deal.brand_name)):
        found |= {stem(word): word, word: word}
    for text in (CATEGORIES.get(deal.category, ""), deal.brand_name, deal.title):
        plain = _plain(text)
        for word, whole in [*_parts(plain), *(() if text.isascii() else _parts(_plain(_spelled(text))))]:
            for written in filter(None, (whole, word)):
                for each in stems(written):
                    found.setdefault(each, written)
        for run in re.findall(_RUN, plain):
            most = MOST_OF_RUNS
            found.setdefault(_ascii(run)[:_LONGEST_WORD], run)
            characters = _characters(run)
            for start in range(len(characters)):
                pair = characters[start : start + 2]
                found.setdefault(_pair(pair), "".join(pair))
    return dict(list(found.items())[:most])


def lists_of(deal: Deal) -> dict[str, str]:
    """The lists that a deal is filed in, as if under words."""
    return {name: name for name in lists_for(deal.category)} if deal.is_lowest else {}


def lists_for(category: str | None) -> tuple[str, ...]:
    """The list of all 60-day lows and, last, that of a category's."""
    return (LOWEST,) if category is None else (LOWEST, f"{LOWEST}-{category}")


def stems_of(found_by: Iterable[str]) -> set[str]:
    """The words that find a deal, with their stems: a stem's own stem may differ."""
    return {each for word in found_by for each in (word, stem(word))}


def of_deal_as_written(deal: Deal) -> list[str]:
    """The words of a deal as they are written, under which 1.1.0 may have filed it."""
    return in_text(f"{deal.brand_name} {deal.title}")[:MOST_OF_A_DEAL]


def _plain(text: str) -> str:
    """A text in ASCII and lower case, but for runs of characters, which stand alone."""
    text = re.sub(_APOSTROPHES, "", text)
    if text.isascii():
        return text.lower()
    text = re.sub(_WIDTHS, lambda found: unicodedata.normalize("NFKC", found[0]), unicodedata.normalize("NFC", text))
    if not re.search(_RUN, text):
        return naming.to_ascii(text).lower()
    runs = re.findall(_RUN, text)
    between = (naming.to_ascii(each).lower() for each in re.split(_RUN, text))
    alternating = (each for pair in zip(between, [*runs, ""], strict=True) for each in pair)
    return " ".join(" ".join(alternating).split())


def _ascii(text: str) -> str:
    return naming.to_ascii(re.sub(_APOSTROPHES, "", text)).lower()


def _spelled(text: str) -> str:
    """A text with its umlauts spelled out."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).lower().translate(_SPELLED)


def _characters(run: str) -> list[str]:
    """The characters of a run, each with its marks and the vowels that belong to it."""
    characters: list[str] = []
    for letter in run:
        is_behind = unicodedata.category(letter).startswith("M") or letter in _VOWELS_BEHIND
        if characters and (is_behind or characters[-1] in _VOWELS_BEFORE):
            characters[-1] += letter
        else:
            characters.append(letter)
    return characters


def _pair(characters: Sequence[str]) -> str:
    first, *second = characters
    return _NEXT.join([first, *(second or [""])])


def _parts(plain: str) -> Iterator[tuple[str, str | None]]:
    """Each word of a text, with the joined word that it is part of, if any."""
    joined = re.sub(_SPACED, lambda found: found[0].replace(" ", "-"), re.sub(_MEASURE, r"\1-\2", plain))
    for hyphenated in re.findall(_HYPHENATED, joined):
        parts = hyphenated.split("-")
        whole = "".join(parts)[:_LONGEST_WORD] if len(parts) > 1 else None
        for part in parts:
            if part not in _COMMON and (len(part) > 1 or part.isdigit() or whole):
                yield part[:_LONGEST_WORD], whole
