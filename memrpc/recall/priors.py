"""Priors: what speaks for a candidate or against it, apart from the words that it shares.

They are in units of the spread of the scores that they are added to.  The speaker whom the question
names is the one to hear, or the user where somebody asks about himself.  Who ends with a question
(``turns``) or says next to nothing hardly answers, unless it is himself that he asks about: what
a user asks an assistant tells about the user.  To ask when is to ask for a turn that tells a time.
A session whose best turns are good speaks for each of its turns.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from memrpc.recall.text import fold, stemmed

if TYPE_CHECKING:
    from memrpc.recall.lexical import Candidate
    from memrpc.recall.query import SearchTerms

SPEAKER_PRIOR: Final = 0.8
WHEN_PRIOR: Final = 1.0
SESSION_PRIOR: Final = 0.5
ASKING_PRIOR: Final = -1.0
SHORT_PRIOR: Final = -0.5
SHORT_CHARS: Final = 160
"""A turn with fewer, as tokens, is short; an empty one would get the whole of the prior."""
_SESSION_BEST: Final = 3
_MACHINES: Final = frozenset({"ai", "assistant", "bot", "model"})
"""Speakers who are not the user, whatever role their words were recorded in."""

_TELLING_TIME: Final = """
    yesterday today tomorrow tonight ago last next week month year day weekend monday tuesday
    wednesday thursday friday saturday sunday january february march april may june july august
    september october november december morning evening afternoon night since recent recently
    summer winter spring autumn fall
"""
_TIME_WORDS: Final = frozenset(map(stemmed, _TELLING_TIME.split()))


def added(
    candidates: list[Candidate], standard: list[float], terms: SearchTerms, named: str
) -> list[float]:
    """The standard scores with the priors on top."""
    values = [
        value + _prior(candidate, terms, named)
        for candidate, value in zip(candidates, standard, strict=True)
    ]
    sessions = _session_means(candidates, values)
    return [
        value + SESSION_PRIOR * sessions.get(candidate.session, 0.0)
        for candidate, value in zip(candidates, values, strict=True)
    ]


def named_speakers(candidates: list[Candidate], terms: SearchTerms) -> list[str]:
    """The speakers that the question names, in no particular order."""
    speakers = {each.speaker for each in candidates if each.speaker}
    return [name for name in speakers if _is_named(name, terms)]


def _is_named(speaker: str, terms: SearchTerms) -> bool:
    words = fold(speaker).casefold().split()
    return bool(words) and all(word in terms.words for word in words)


def _prior(candidate: Candidate, terms: SearchTerms, named: str) -> float:
    is_by = _is_by(candidate, named, terms)
    total = SPEAKER_PRIOR if is_by else 0.0
    if terms.asks_when and _tells_time(candidate):
        total += WHEN_PRIOR
    if candidate.asks and not (is_by and terms.is_first_person):
        total += ASKING_PRIOR
    if candidate.prev or candidate.next:
        total += SHORT_PRIOR * max(1 - len(candidate.own) / SHORT_CHARS, 0.0)
    return total


def _is_by(candidate: Candidate, named: str, terms: SearchTerms) -> bool:
    if named:
        return candidate.speaker == named
    if not terms.is_first_person or candidate.role != "user":
        return False
    return candidate.speaker.casefold() not in _MACHINES


def _tells_time(candidate: Candidate) -> bool:
    return not _TIME_WORDS.isdisjoint(candidate.own.split())


def _session_means(candidates: list[Candidate], scores: list[float]) -> dict[str, float]:
    """Mean of each named session's best scores; missing ones count as zero."""
    by_session: dict[str, list[float]] = defaultdict(list)
    for candidate, value in zip(candidates, scores, strict=True):
        if candidate.session:
            by_session[candidate.session].append(value)
    return {
        session: sum(sorted(values, reverse=True)[:_SESSION_BEST]) / _SESSION_BEST
        for session, values in by_session.items()
    }
