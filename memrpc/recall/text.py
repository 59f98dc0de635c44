"""Any Unicode text as index tokens: the one transformation that rows and questions share.

Full text is stored pre-split, so the tokenizer in SQLite only cuts at spaces (``ascii``) and any
process with a stock SQLite can delete or check what another one wrote.

1. *Folding*: compatibility forms are unified (NFKD), accents U+0300-036F dropped, the rest composed
   again.  Each code point is then kept (letters, marks, digits, and ``. _ - / : @ + '`` which may
   join a word), set apart (symbols, emoji) or turned into a space (everything else).
2. *Pieces*: a stretch without spaces is cut into words, symbols and *runs*.  A run is a stretch of
   a script that is written without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar).
3. *Tokens*: a word is split into parts at its joints, at camelCase and between letters and digits
   (past 12 parts, as in hashes and base64, at its joints only).  A run becomes its overlapping
   pairs of code points and its last one alone, so each substring of two is a token and each single
   code point is the beginning of one.
4. *Joined suffixes*: a word of 2 to 8 parts is indexed again with its tails glued together
   ("getuserprofile userprofile"), so that a question spelt in one word still meets it.

**Languages.**  Only English is stemmed, and only in rows that are not recognisably something else:
a row whose function words are mostly those of another Latin-script language keeps its words as
they are, and so does every word with a letter outside ASCII.  A question does not know which rows
it will meet, so it asks for the stem and for the word as written; either may match.
"""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from memrpc.recall.stemming import stem

MAX_SPLIT_PARTS: Final = 12
MAX_JOINED_PARTS: Final = 8
MAX_STRETCHES: Final = 16_384
MAX_STRETCH_CHARS: Final = 32
MAX_TOKEN_CHARS: Final = 64
"""Longer tokens (base64, minified code) are cut: their beginning is enough to find them."""

_JOINTS: Final = "._-/:@+'"
_SPACED: Final = r"⺀-〇〡-〩〸-〼ㄅ-ㄯㆠ-ㆿ㐀-䶿一-鿿豈-﫿\U00020000-\U0003fffd"
_UNSPACED_SCRIPTS: Final = (
    _SPACED
    + r"ぁ-ゖ゙゚ゝ-ゟァ-ヺー-ヿㇰ-ㇿ"  # Hiragana, Katakana and their marks
    + r"ᄀ-ᇿㄱ-ㆎꥠ-ꥼ가-힣"  # Hangul
    + r"ก-ฺเ-๎"  # Thai without its digits and its currency sign
    + r"ກ-ໆ່-໎ໜ-ໟ"  # Lao
    + r"က-ဿၐ-႟ꩠ-ꩿ"  # Myanmar
    + r"ក-៓ៜ៝"  # Khmer
)
_PIECE: Final = re.compile(rf"[{_UNSPACED_SCRIPTS}]+|[^{_UNSPACED_SCRIPTS} ]+")
_RUN_START: Final = re.compile(rf"[{_UNSPACED_SCRIPTS}]")
_AT_JOINTS: Final = re.compile(r"[._\-/:@+]+")
_BETWEEN_WORDS: Final = re.compile(r"'|(?<=[^\W\d_]):(?=[^\W\d_])")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_DIGITS: Final = re.compile(r"\d+|\D+")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")

_FUNCTION_WORDS: Final = {
    "en": "the and of to is was it you that for with this are have my we not what be at"
    " i do no",  # Other languages have them too; a short English sentence may have no others.
    "de": "der und das ist nicht ich ein eine zu den mit auf sich wir dem auch von wie",
    "fr": "le la les et est une des que pas pour dans je il nous vous sur avec du ce",
    "es": "el los las y es una que por con para no se como pero mi del esta muy",
    "it": "il gli e una che non per con sono di della ho mi anche questo piu nel",
    "pt": "os um uma que nao com para por eu mais como foi ao dos da em muito",
    "nl": "het een en van ik niet dat op te zijn met voor maar ook er naar wij",
    "sv": "och att det som en jag inte med har den ett till var om vi av",
    "da": "og at det som en jeg ikke med har den et til var om vi af er",
    "pl": "i w nie na z sie do to ze jest co jak ale po tak",
    "tr": "ve bir bu da de icin ile cok ben ne gibi var",
    "id": "yang dan di ini itu dengan untuk tidak saya dari ke ada",
}
_LANGUAGES_OF: Final[dict[str, frozenset[str]]] = {
    word: frozenset(name for name, words in _FUNCTION_WORDS.items() if word in words.split())
    for words in _FUNCTION_WORDS.values()
    for word in words.split()
}


class PieceKind(enum.Enum):
    """What a piece of text is written in, which decides how it becomes tokens."""

    WORD = "word"
    RUN = "run"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Piece:
    """One word, run or symbol; ``parts`` are folded and not yet stemmed."""

    kind: PieceKind
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IndexText:
    """The tokens of one text, space-separated: its parts, and the joined tails of its words."""

    parts: str
    joined: str


class _Fold(dict[int, str]):
    """``str.translate`` table that classifies a code point when it first meets it."""

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        self[code_point] = kept = _folded(character)
        return kept


_SPECIAL: Final = {
    "\u2019": "'",
    "\u02bc": "'",
    "\u2010": "-",
    "\u2011": "-",
    "\ufe0f": "",  # emoji presentation
    "\ufe0e": "",
    "\u200d": "",  # zero-width joiner
    "\u200c": "",
    "\u00ad": "",  # soft hyphen
    "\u200b": " ",
}


def _folded(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character in _JOINTS:
        return character
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # skin tones
        return ""
    match unicodedata.category(character)[0]:
        case "L" | "M" | "N":
            return character
        case "S" if character > "\x7f":
            return f" {character} "
        case _:
            return " "


_FOLD: Final = _Fold()


def fold(text: str) -> str:
    """``text`` with compatibility forms unified, accents dropped and separators as spaces."""
    if text.isascii():
        return text.translate(_FOLD)
    decomposed = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", decomposed).translate(_FOLD)


def pieces(text: str) -> Iterator[Piece]:
    """The words, runs and symbols of ``text`` in reading order."""
    return _pieces(fold(text))


def _pieces(folded: str) -> Iterator[Piece]:
    for match in _PIECE.finditer(folded):
        found = match.group()
        if _RUN_START.match(found):
            yield Piece(PieceKind.RUN, (found,))
        elif found[0] > "\x7f" and unicodedata.category(found[0])[0] == "S":
            yield Piece(PieceKind.SYMBOL, (found,))
        else:
            yield from _words(found)


def _words(stretch: str) -> Iterator[Piece]:
    """Words between apostrophes or at "key:value"; an English genitive's ``s`` is no word."""
    fragments = _BETWEEN_WORDS.split(stretch)
    for position, fragment in enumerate(fragments):
        if position and fragment in ("s", "S"):
            continue
        parts = _parts(fragment)
        if parts:
            yield Piece(PieceKind.WORD, parts)


def _parts(word: str) -> tuple[str, ...]:
    if _is_plain(word):
        return (word.casefold()[:MAX_TOKEN_CHARS],)
    between_joints = [part for part in _AT_JOINTS.split(word) if part]
    split = _CAMEL if word.isascii() else _DIGITS
    fine = [part for section in between_joints for part in split.findall(section)]
    chosen = fine if len(fine) <= MAX_SPLIT_PARTS else between_joints
    return tuple(part.casefold()[:MAX_TOKEN_CHARS] for part in chosen)


def _is_plain(word: str) -> bool:
    """Whether a word is one of letters of ASCII and one part, as most are: that is soon told."""
    return word.isalpha() and word.isascii() and word[1:].islower()


def run_tokens(run: str) -> list[str]:
    """Overlapping pairs of a run's code points, then its last one alone."""
    return [run[at : at + 2] for at in range(len(run) - 1)] + [run[-1]]


def joined_tails(parts: tuple[str, ...]) -> list[str]:
    """A word's tails of two parts or more, each glued together, the longest first."""
    if not 2 <= len(parts) <= MAX_JOINED_PARTS:  # noqa: PLR2004 -- a tail has two parts at least
        return []
    return ["".join(parts[at:])[:MAX_TOKEN_CHARS] for at in range(len(parts) - 1)]


def stemmed(part: str) -> str:
    """The English stem of an all-letters ASCII part, any other part as it is."""
    return stem(part) if part.isascii() and part.isalpha() else part


def is_english_or_unknown(words: list[str]) -> bool:
    """Whether no other Latin-script language has more of its function words here than English."""
    votes = dict.fromkeys(_FUNCTION_WORDS, 0)
    for word in words:
        for language in _LANGUAGES_OF.get(word, ()):
            votes[language] += 1
    return votes["en"] >= max(votes.values())


class _Stretch(NamedTuple):
    """What stands between two spaces, as tokens: with English stems, without, and joined tails."""

    stemmed: str
    plain: str
    joined: str
    telling: tuple[str, ...]
    """Those of its words that tell a language."""


def _stretch(folded: str) -> _Stretch:
    if _is_plain(folded):
        word = folded.casefold()[:MAX_TOKEN_CHARS]
        return _Stretch(stem(word), word, "", (word,) if word in _LANGUAGES_OF else ())
    found = list(_pieces(folded))
    tokens = [_tokens(piece, stemmed) for piece in found]
    plain = [_tokens(piece, str) for piece in found]
    joined = [tail for p in found if p.kind is not PieceKind.RUN for tail in joined_tails(p.parts)]
    telling = tuple(part for piece in found for part in piece.parts if part in _LANGUAGES_OF)
    return _Stretch(" ".join(tokens), " ".join(plain), " ".join(joined), telling)


def _tokens(piece: Piece, spell: Callable[[str], str]) -> str:
    if piece.kind is PieceKind.RUN:
        return " ".join(run_tokens(piece.parts[0]))
    return " ".join(map(spell, piece.parts))


_common_stretch: Final = lru_cache(maxsize=MAX_STRETCHES)(_stretch)
"""Texts repeat their words, but not their base64 and not their sentences without spaces."""


@lru_cache(maxsize=512)
def index_text(text: str) -> IndexText:
    """The tokens of ``text`` for a row of the index."""
    found = [
        _common_stretch(each) if len(each) <= MAX_STRETCH_CHARS else _stretch(each)
        for each in fold(text).split()
    ]
    is_english = is_english_or_unknown([word for each in found for word in each.telling])
    parts = [each.stemmed if is_english else each.plain for each in found]
    return IndexText(_spaced(parts), _spaced([each.joined for each in found]))


def _spaced(tokens: list[str]) -> str:
    return " ".join(filter(None, tokens))
