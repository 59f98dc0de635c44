"""Searching: the one recall path, for entries, tasks and standards alike.

Filters and the time window make the set of subjects that may be hits *before* anything is ranked.
Recall ranks; small priors of the workspace (what was used, what fits the place one works in) are
added in recall's unit, spreads of the lexical score.  The shown score is the share of the
question's words that a hit holds, never above that of the hit before it, and the confidence is
read from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.recall import search as recall
from memrpc.recall import similarity
from memrpc.recall.model import EmptyReason, SearchRequest, never_cancelled
from memrpc.workspace.model import Confidence, Kind

if TYPE_CHECKING:
    import apsw

    from memrpc.recall.meaning import Meaning

MAX_HITS: Final = 100
HIGH: Final = 0.7
MEDIUM: Final = 0.4
OUTSIDE_WINDOW: Final = "outside_window"
OUTSIDE_FILTERS: Final = "outside_filters"
SCOPE_EMPTY: Final = "scope_empty"


def no_meaning(_: str) -> Meaning | None:
    """Stand in for an embedder where there is none."""
    return None


class Aids(NamedTuple):
    """What a search may use besides the file: a way to stop it, and an embedder's reading."""

    checkpoint: Callable[[], None] = never_cancelled
    meaning_of: Callable[[str], Meaning | None] = no_meaning


NO_AIDS: Final = Aids()


class Place(NamedTuple):
    """One of recall's scopes, and the only subjects there that may be hits."""

    scope: int
    within: Collection[int] | None = None


class Ranked(NamedTuple):
    """Subjects, best first; a reason when there are none."""

    subjects: tuple[int, ...]
    reason: str | None


class Mark(NamedTuple):
    """How sure a hit is."""

    score: float
    confidence: Confidence


def ranked(
    db: apsw.Connection,
    text: str,
    kind: Kind,
    places: Collection[Place],
    priors: Callable[[Collection[int]], dict[int, float]],
    aids: Aids = NO_AIDS,
) -> Ranked:
    """Rank what the places hold of ``text``; ``priors`` knows which subjects may be shown.

    A subject that ``priors`` leaves out is no hit.
    """
    scores: dict[int, float] = {}
    reasons: set[EmptyReason] = set()
    meaning = aids.meaning_of(text)
    for place in places:
        within = None if place.within is None else {str(kind): place.within}
        request = SearchRequest(
            text,
            place.scope,
            (kind,),
            within=within,
            limit=MAX_HITS,
            checkpoint=aids.checkpoint,
            meaning=meaning,
        )
        result = recall.search(db, request)
        reasons |= {result.reason} if result.reason else set()
        scores.update({hit.subject: hit.score for hit in result.hits})
    allowed = priors(scores.keys())
    order = sorted(allowed, key=lambda subject: (-scores[subject] - allowed[subject], -subject))
    return Ranked(tuple(order), None if order else _reason(reasons))


def marks(db: apsw.Connection, text: str, kind: Kind, subjects: Collection[int]) -> list[Mark]:
    """Say how sure each hit of a page is, in its order."""
    held = similarity.shares(db, text, kind, subjects)
    found: list[Mark] = []
    ceiling = 1.0
    for subject in subjects:
        ceiling = min(ceiling, round(held.get(subject, 0.0), 2))
        found.append(Mark(ceiling, confidence_of(ceiling)))
    return found


def confidence_of(score: float) -> Confidence:
    """Read the confidence from a score."""
    if score >= HIGH:
        return Confidence.HIGH
    return Confidence.MEDIUM if score >= MEDIUM else Confidence.LOW


def _reason(reasons: set[EmptyReason]) -> str:
    if EmptyReason.BELOW_RELEVANCE in reasons:
        return EmptyReason.BELOW_RELEVANCE
    return EmptyReason.NO_MATCH
