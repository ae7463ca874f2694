"""Whether two words are the same but for a slip of the keys."""

from __future__ import annotations


def is_a_slip(typed: str, word: str) -> bool:
    """Whether a word becomes another by one letter more, less or other, or by two neighbours changing places."""
    if typed == word or abs(len(typed) - len(word)) > 1:
        return False
    start = next((n for n, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), min(len(typed), len(word)))
    a, b = typed[start:], word[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
