"""Normalised slugs, usernames and email addresses, as they are compared and stored; and counted nouns.

A slug is a brand's or category's name in keys and URLs.
"""

from __future__ import annotations

import re
import unicodedata

from shared.errors import InvalidName


def counted(number: int, noun: str) -> str:
    """A number and its noun: ``1 deal``, ``2,048 deals``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


MAX_LENGTH = 100
"""Characters of a slug: keeps every key far below DynamoDB's limit of 1,024 bytes for a sort key.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"""

_SLUG = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_OTHERS = r"[^a-z0-9]+"
_SIGNS = dict(
    zip(
        "&+#@%$€£*=!?",
        ("and", "plus", "sharp", "at", "percent", "dollar", "euro", "pound", "star", "equals", "bang", "query"),
        strict=True,
    )
)
"""The words of signs that tell names apart. Punctuation only separates words, and nobody writes it reliably."""
_WIDE = 0xFEE0  # from a sign to its full width
_SPELLED = {code: f" {word} " for sign, word in _SIGNS.items() for code in (ord(sign), ord(sign) + _WIDE)}


def is_slug(text: str) -> bool:
    """Whether a text is a slug already."""
    return len(text) <= MAX_LENGTH and re.fullmatch(_SLUG, text) is not None


def slug(name: str) -> str:
    """A name's slug: ASCII, lower case, a hyphen for each run of other characters (``G/Fore`` is ``g-fore``).

    Letters and digits of other scripts are transliterated. Signs are spelled, so that ``Rag+Bone``, ``Rag & Bone`` and
    ``Rag Bone`` are three names (``rag-plus-bone``, ``rag-and-bone``); punctuation and emoji separate words. Raises
    InvalidName for a name without a slug, or with one that is too long.
    """
    if is_slug(name):
        return name
    if not re.search(r"[^\W_]", to_ascii(name)):
        raise InvalidName(f"The name {name!r} must have a letter or a digit.")
    text = re.sub(_OTHERS, "-", to_ascii(name.translate(_SPELLED)).lower()).strip("-")
    if len(text) > MAX_LENGTH:
        raise InvalidName(f"The slug of the name must have at most {MAX_LENGTH} characters; it has {len(text)}.")
    return text


def without_signs(slug: str) -> list[str]:
    """A slug without all of its words of signs, and without each of them: ``rag-bone`` for ``rag-and-bone``.

    1.1.0 spelled no signs, so one of these may be the slug of a brand that was created then.
    """
    words = slug.split("-")
    signs = [place for place, word in enumerate(words) if word in _SIGNS.values()]
    bare = [[word for place, word in enumerate(words) if place not in left_out] for left_out in (signs, *zip(signs))]
    return [*dict.fromkeys("-".join(kept) for kept in bare if kept and kept != words)]


def has_slug(name: str, slug_: str) -> bool:
    """Whether a name has this slug."""
    try:
        return slug(name) == slug_
    except InvalidName:
        return False


def run_together(slug_: str) -> set[str]:
    """A slug's words without hyphens, with and without the words of signs: how people write a brand."""
    return {text.replace("-", "") for text in (slug_, *without_signs(slug_))}


_TYPOGRAPHIC = str.maketrans("\u2018\u2019\u2010\u2013\u2014", "''---")


def folded(name: str) -> str:
    """A name without what doesn't tell it from others: case, accents, spaces and the form of apostrophes and dashes.

    Two names of one slug whose folded forms differ have other signs, and may be two brands.
    """
    return " ".join(to_ascii(name.translate(_TYPOGRAPHIC)).casefold().split())


def to_ascii(name: str) -> str:
    """A text in ASCII: other scripts' letters and digits transliterated, signs and emoji as spaces."""
    if name.isascii():
        return name
    from anyascii import anyascii  # noqa: PLC0415  # 0.3 MB of tables that ASCII names, nearly all of them, never need

    # Only letters, marks and digits: an emoji's English name isn't the brand's name.
    readable = (
        c if c.isascii() or unicodedata.category(c)[0] in "LMN" else " " for c in unicodedata.normalize("NFC", name)
    )
    return str(anyascii("".join(readable)))


USERNAME = r"[a-z0-9](?:[a-z0-9._-]{0,28}[a-z0-9])?"
"""A normalised username: 1 to 30 ASCII letters, digits and ``._-``, with a letter or digit at both ends."""

EMAIL = r"[a-z0-9.!$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+"
"""The shape of an email address; only a mail sent to it can prove more."""


def normalise_username(text: str) -> str:
    """A username in lower case. Raises ValueError for an invalid one."""
    name = unicodedata.normalize("NFKC", text.strip()).casefold()
    if not re.fullmatch(USERNAME, name):
        raise ValueError("must be 1 to 30 of a-z, 0-9, '.', '_' and '-', and start and end with a letter or digit")
    return name


def normalise_email(text: str) -> str:
    """An email address in lower case. Raises ValueError for an invalid one."""
    address = unicodedata.normalize("NFC", text.strip()).lower()
    if len(address) > 254 or not re.fullmatch(EMAIL, address):
        raise ValueError("must be an email address")
    return address
