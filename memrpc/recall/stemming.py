"""English stems: M. F. Porter's algorithm of 1980, written as tables.

A word's *form* is its letters as ``c`` (consonant) and ``v`` (vowel); ``y`` after a consonant is a
vowel.  The *measure* of a stem is the number of vowel-consonant steps in its form.  A rule replaces
a suffix when what is left measures enough.  Irregular forms and everyday synonyms are mapped to one
member of their group first (see ``irregulars``), so "went" and "go" meet in one stem.

Only lower-case ASCII words have a stem here; the caller decides whether a text is English.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from string import ascii_lowercase
from typing import Final, TypeAlias

from memrpc.recall.irregulars import LEMMAS

_SHORTEST_STEMMED: Final = 3

_STEP_2: Final = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
)
_STEP_3: Final = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_SUFFIXES: Final = "al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous"
_STEP_4: Final = (*_SUFFIXES.split(), "ive", "ize")
_RESTORED_E: Final = ("at", "bl", "iz")

Rules: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]


def _by_last_letter(rules: Iterable[tuple[str, str]]) -> Rules:
    """The rules that a word's last letter lets apply, in their order."""
    found: dict[str, list[tuple[str, str]]] = {}
    for suffix, replacement in rules:
        found.setdefault(suffix[-1], []).append((suffix, replacement))
    return found


_DOUBLE: Final = _by_last_letter(_STEP_2)
_ADJECTIVES: Final = _by_last_letter(_STEP_3)
_RESIDUES: Final = _by_last_letter((suffix, "") for suffix in _STEP_4)
_LETTERS: Final = str.maketrans(
    {letter: "v" if letter in "aeiou" else "c" for letter in ascii_lowercase}
)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; forms of one irregular verb or noun share theirs."""
    word = LEMMAS.get(word, word)
    if len(word) < _SHORTEST_STEMMED:
        return word
    for step in (_plural, _past, _final_y, _double_suffix, _adjective, _residue, _final_e):
        word = step(word)
    return word


def _form(word: str) -> str:
    if "y" not in word:
        return word.translate(_LETTERS)
    form = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and form.endswith("c"))
        form += "v" if is_vowel else "c"
    return form


def _measure(word: str) -> int:
    return _form(word).count("vc")


def _ends_short(word: str) -> bool:
    return _form(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word[-1] != "s":
        return word
    for suffix, cut in (("sses", 2), ("ies", 2), ("ss", 0)):
        if word.endswith(suffix):
            return word[: len(word) - cut]
    return word.removesuffix("s")


def _past(word: str) -> str:
    if word[-1] not in "dg":
        return word
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word:
            return _repair(rest) if "v" in _form(rest) else word
    return word


def _repair(word: str) -> str:
    """Undo what English spelling did before ``-ed`` and ``-ing`` (hopp-ing, fil-ing)."""
    if word.endswith(_RESTORED_E):
        return word + "e"
    is_doubled = len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz"
    if is_doubled:
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _final_y(word: str) -> str:
    has_vowel = word.endswith("y") and "v" in _form(word[:-1])
    return word[:-1] + "i" if has_vowel else word


def _replace_first(word: str, rules: Rules) -> str:
    for suffix, replacement in rules.get(word[-1], ()):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if _measure(rest) > 0 else word
    return word


def _double_suffix(word: str) -> str:
    return _replace_first(word, _DOUBLE)


def _adjective(word: str) -> str:
    return _replace_first(word, _ADJECTIVES)


def _residue(word: str) -> str:
    for suffix, _ in _RESIDUES.get(word[-1], ()):
        if word.endswith(suffix):
            kept = 1 if suffix in ("sion", "tion") else 0
            rest = word[: len(word) - len(suffix) + kept]
            return rest if _measure(rest) > 1 else word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
