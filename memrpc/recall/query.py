"""Any text a person or a model may type, as terms to look for.

The question goes through the same pieces as the rows (``text``), so no character of it can reach
FTS5 as syntax: an expression is made of tokens in double quotes, and a token holds letters, marks,
digits and symbols only.

Each word is a term.  A term has *spellings*, any of which will do: the stem, the word as written,
the phrase of an identifier's parts, the identifier glued together.  Runs of CJK or Thai that are
short enough to be single words are phrases (exact substrings); where one is longer the question is
a sentence, and all its runs are as many terms as they have pairs.  Function words are *common*
terms: they weigh little, and alone they are no match, unless the question has nothing else; then
it asks for all of them at once.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memrpc.recall.text import (
    Piece,
    PieceKind,
    fold,
    is_english_or_unknown,
    pieces,
    run_tokens,
    stemmed,
)

MAX_QUERY_CHARS: Final = 8_000
MAX_PIECES: Final = 1_000
MAX_TERMS: Final = 64
MAX_COMMON_TERMS: Final = 16
_PREFIX_LETTERS: Final = 4
_WORD_RUN: Final = 4
"""A run of so many code points is taken as one word; of Thai and its neighbours twice as many."""
_DENSE_SCRIPT_END: Final = "\u17ff"
_DENSE_SCRIPT_START: Final = "\u0e00"

FUNCTION_WEIGHT: Final = 0.35
STRADDLE_WEIGHT: Final = 0.5
_FUNCTION_PAIR: Final = re.compile(r"[ぁ-ゖー]{2}|[何誰谁哪么麼吗嗎呢]")
"""Pairs that say how something is asked: all in Hiragana, or with a character that asks."""
_HIRAGANA: Final = re.compile(r"[ぁ-ゖ]")
_STEM: Final = re.compile(r"[㐀-䶿一-鿿](?=[ぁ-ゖ])")
"""In Japanese what stands before Hiragana is a word's last character or the stem of a verb."""

_COMMON: Final = """
    a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing don down during each few for from further had has have having
    he her here hers him his how i if in into is isn it its itself just ll m me mine more most my
    myself no nor not now of off ok on once only or other our ours out over own please re s same she
    should so some such t tell than that the their theirs them then there these they this those
    through to too under until up us ve very was we were what when where which while who whom whose
    why will with would yes you your yours
"""
COMMON_WORDS: Final = frozenset(_COMMON.split())
_FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself"})


@dataclass(frozen=True, slots=True)
class Term:
    """One thing asked for; a spelling is a sequence of index tokens that stand side by side."""

    spellings: tuple[tuple[str, ...], ...]
    is_prefix: bool = False
    """Whether the last token of a spelling is only the beginning of one."""
    beginning: tuple[str, ...] = ()
    """What to look for as a beginning where nothing has the term whole; empty: nothing."""
    is_pair: bool = False
    """Whether it is one of the pairs of a long run, so possibly a straddle of two words."""
    weight: float = 1.0
    """How much of its rarity counts."""


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """A question, taken apart."""

    content: tuple[Term, ...]
    common: tuple[Term, ...]
    words: frozenset[str]
    """Every folded word and part, for names of speakers."""
    names: frozenset[str]
    """Words that are written like names amid an English sentence, folded."""
    asks_when: bool
    is_first_person: bool

    @property
    def is_run(self) -> bool:
        """Whether it is a sentence without spaces, so many pairs of code points."""
        return any(term.is_pair for term in self.content)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.content and not self.common


@lru_cache(maxsize=64)
def parse(text: str) -> SearchTerms:
    """Take ``text`` apart; never fails, and never makes more than a bounded number of terms."""
    found = list(itertools.islice(pieces(text[:MAX_QUERY_CHARS]), MAX_PIECES))
    is_sentence = any(map(_is_long_run, found))
    content: dict[Term, None] = {}
    common: dict[Term, None] = {}
    for piece in found:
        target = common if _is_common(piece) else content
        target.update(dict.fromkeys(_terms(piece, is_sentence=is_sentence)))
    words = frozenset(part for piece in found for part in piece.parts)
    return SearchTerms(
        content=tuple(content)[:MAX_TERMS],
        common=tuple(common)[:MAX_COMMON_TERMS],
        words=words,
        names=_names(text, words),
        asks_when=_asks_when(text),
        is_first_person=not words.isdisjoint(_FIRST_PERSON),
    )


_WHEN: Final = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|how long|which (?:day|month|year)|since)\b"
)


_NAME: Final = re.compile(r"(?<=[a-z,'\u2019] )[A-Z][a-z]{2,}")


def _names(text: str, words: frozenset[str]) -> frozenset[str]:
    """Titles and other languages write more than names with a capital."""
    found = _NAME.findall(text[:MAX_QUERY_CHARS])
    is_sentence = 0 < 2 * len(found) <= len(words)
    if not is_sentence or not is_english_or_unknown([word for word in words if word.isascii()]):
        return frozenset()
    return frozenset(map(str.casefold, found))


def _asks_when(text: str) -> bool:
    return _WHEN.search(fold(text[:MAX_QUERY_CHARS]).casefold()) is not None


def _is_common(piece: Piece) -> bool:
    return len(piece.parts) == 1 and piece.parts[0] in COMMON_WORDS


def _is_long_run(piece: Piece) -> bool:
    if piece.kind is not PieceKind.RUN:
        return False
    (run,) = piece.parts
    is_dense = _DENSE_SCRIPT_START <= run[0] <= _DENSE_SCRIPT_END
    return len(run) > _WORD_RUN * (2 if is_dense else 1)


def _terms(piece: Piece, *, is_sentence: bool) -> list[Term]:
    match piece.kind:
        case PieceKind.RUN:
            return _run_terms(piece.parts[0], is_sentence=is_sentence)
        case PieceKind.SYMBOL:
            return [Term((piece.parts,))]
        case PieceKind.WORD:
            return [_word_term(piece.parts)]


def _run_terms(run: str, *, is_sentence: bool) -> list[Term]:
    if len(run) == 1:
        return [Term(((run,),), is_prefix=True)]
    pairs = run_tokens(run)[:-1]
    if is_sentence:
        return _sentence_terms(pairs, _STEM.findall(run))
    return [Term((tuple(pairs),))]


def _sentence_terms(pairs: list[str], stems: list[str]) -> list[Term]:
    return [
        *(Term(((pair,),), is_pair=True, weight=_pair_weight(pair)) for pair in pairs),
        *(Term(((stem,),), is_pair=True, is_prefix=True) for stem in stems),
    ]


def _pair_weight(pair: str) -> float:
    if _FUNCTION_PAIR.search(pair):
        return FUNCTION_WEIGHT
    return STRADDLE_WEIGHT if _HIRAGANA.search(pair) else 1.0


def _word_term(parts: tuple[str, ...]) -> Term:
    stems = tuple(stemmed(part) for part in parts)
    spellings = [stems, parts]
    if len(parts) > 1:
        spellings.append(("".join(parts),))
    may_begin = len(parts[-1]) >= _PREFIX_LETTERS and not parts[-1].isdecimal()
    return Term(tuple(dict.fromkeys(spellings)), beginning=parts if may_begin else ())


def expression(terms: tuple[Term, ...], prefix: str, operator: str = "OR") -> str:
    """The FTS5 expression for ``terms`` in the collection with ``prefix``."""
    return f" {operator} ".join(_term_expression(term, prefix) for term in terms)


def phrase(spelling: tuple[str, ...], prefix: str, *, is_prefix: bool) -> str:
    """The FTS5 expression for one spelling of a term, or for what begins with it."""
    return '"' + " ".join(prefix + token for token in spelling) + '"' + " *" * is_prefix


def _term_expression(term: Term, prefix: str) -> str:
    phrases = [phrase(each, prefix, is_prefix=term.is_prefix) for each in term.spellings]
    return phrases[0] if len(phrases) == 1 else "(" + " OR ".join(phrases) + ")"
