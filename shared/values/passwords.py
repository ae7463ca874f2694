"""Passwords: common ones, which are refused, and argon2id hashes.

The parameters are RFC 9106's for scarce memory. Passwords are normalised to Unicode's NFC, as RFC 8265 asks, so that
they don't depend on the keyboard; white space counts.

Common passwords are the 30,000 most used ones, and as many words and names again, as zxcvbn lists them. Passwords have
at least ten characters, so common padding (digits, marks, the word repeated) is removed before the lookup; a short list
of ours has the words that people pad most. NIST SP 800-63B (5.1.1.2) asks for such a list, and for repetitions and
sequences to be refused.
https://pages.nist.gov/800-63-3/sp800-63b.html#memsecret
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_left
from functools import cache
from importlib import import_module

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

_TEXT = """
aaaa abc abcd abcde abcdef access account adidas admin administrator adobe alexander amanda america andrea
andrew angel angela angels anthony apple arsenal asdf asdfg asdfgh asdfghjkl ashley asshole austin azerty bailey
banana barcelona baseball basketball batman beautiful benjamin bigtimedeals biteme blink buster butterfly carlos
changeit changeme charlie cheese chelsea chocolate chris christian computer cookie corvette daniel danielle
david deals default dennis diamond dolphin dragon elizabeth eminem enter facebook family ferrari flower football
forever freedom friends fuckoff fuckyou gandalf george ginger google guest guitar hannah harley heaven hello
hockey hottie hunter iloveu iloveyou internet jackson jasmine jennifer jessica jesus jordan joseph joshua
juventus killer kimberly liverpool login london lovely loveme madison maggie manchester marina martin master
matrix matthew maverick melissa mercedes merlin michael michelle mickey midnight monkey monster mustang myspace
naruto nicole nothing oliver orange pass passpass passw passwd password passwort patrick pepper phoenix please
pokemon princess purple qazwsx qwaszx qwer qwert qwerty qwertyu qwertyui qwertyuiop qwertz rachel rainbow ranger
realmadrid rebecca richard robert root samantha samsung scooter secret secure shadow sharks shop shopping
slipknot snoopy soccer spiderman starwars steven summer sunshine superman superstar sweety system taylor temp
tennis test tester thomas thunder tigger tinkerbell trustno tweety unknown user vanessa victoria welcome
welcometo whatever william winston winter yankees yellow zxcvbn zxcvbnm
"""
_WORDS = frozenset(_TEXT.split())
_KEYBOARD = """
qwertyuiop asdfghjkl zxcvbnm qwertyuiopasdfghjklzxcvbnm 1234567890 1q2w3e4r5t6y7u8i9o0p 1qaz2wsx3edc4rfv5tgb6yhn
"""
_ROWS = _KEYBOARD.split()
_SWAPPED = str.maketrans("01345@$!7", "oleasasit")
_PREFIXES = ("my", "the", "i", "new", "super", "mr")


MOST_PADDING = 5
"""Characters around a word that make no password of it, such as a year and a mark."""


def is_common(password: str) -> bool:
    """Whether a password is among the first to be guessed, in any case and with common padding."""
    text = re.sub(r"\s+", "", password).casefold()
    if _repeats(text) or _runs(text) or _is_used(text):
        return True
    found = _letters(text)
    return any(map(_is_words, found)) or any(
        len(text) - len(letters) <= MOST_PADDING and _is_used(letters) for letters in found
    )


def _is_used(text: str) -> bool:
    """Whether a text is one of the most used passwords, or a single word."""
    known = _most_used()
    place = bisect_left(known, text)
    return known[place : place + 1] == (text,)


@cache
def _most_used() -> tuple[str, ...]:
    """The most used passwords, words and names, sorted.

    Read at the first new password: 50 ms of processor time and 16 MB, for which nobody else should wait.
    """
    lists = import_module("zxcvbn.frequency_lists").FREQUENCY_LISTS
    return tuple(sorted(itertools.chain.from_iterable(lists.values())))


def _repeats(text: str) -> bool:
    """Whether a text repeats one to six characters."""
    return any(text == (text[:size] * len(text))[: len(text)] for size in range(1, 7) if size < len(text))


def _runs(text: str) -> bool:
    """Whether a text follows the alphabet, the digits or a keyboard row, in either direction."""
    steps = {ord(after) - ord(before) for before, after in itertools.pairwise(text)}
    rows = [row * 3 for row in (*_ROWS, *(row[::-1] for row in _ROWS))]
    return steps in ({1}, {-1}) or any(text in row for row in rows)


def _letters(text: str) -> set[str]:
    """A text without surrounding digits and marks: unchanged, and with the others read as the letters they stand
    for."""
    inner = re.sub(r"^[\W\d_]+|[\W\d_]+$", "", text).translate(_SWAPPED)
    return {re.sub(r"[^a-z]", "", form) for form in (text, inner)}


def _is_words(letters: str) -> bool:
    """Whether a text is a common word, the same one twice, or two of them."""
    if letters in _WORDS or any(letters.removeprefix(prefix) in _WORDS for prefix in _PREFIXES):
        return True
    return any(letters[:cut] in _WORDS and letters[cut:] in _WORDS for cut in range(3, len(letters) - 2))


HASHER = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)

NOBODYS = "$argon2id$v=19$m=65536,t=3,p=4$1GEq//jHGxc4NaPqEXqA0Q$61xb8XsnF0NFnm5to00dayVRn+pUkTAs0RrKeNHM4B0"
"""The hash of an unknown random text, with today's parameters. Checking against it takes as long as against a user's,
also for the first guess in a fresh environment."""


def hash_password(password: str) -> str:
    """Hash a password; the result includes salt and parameters."""
    return HASHER.hash(_composed(password))


def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether a password matches its hash. None, for an unknown user, takes as long and never matches."""
    try:
        return HASHER.verify(password_hash or NOBODYS, _composed(password)) and password_hash is not None
    except (VerificationError, InvalidHashError):
        return False


def is_outdated(password_hash: str) -> bool:
    """Whether a hash has outdated parameters, so that the next sign-in must rehash the password."""
    return HASHER.check_needs_rehash(password_hash)


def _composed(password: str) -> str:
    return unicodedata.normalize("NFC", password)
