"""Search: a question to some collections of one scope, answered with hits on one scale.

1. ``query.parse`` makes terms; their rarity comes from the collection's own document frequencies.
2. FTS5 proposes the best units of each collection, see ``proposing``.
3. ``ranking`` scores every candidate in full, in Python, with what is true of the collection only.
4. Units become subjects (the best chunk speaks for its subject), and a question of which too little
   is held finds nothing: not to know is an answer.

Where the request has a ``meaning``, the units nearest to it in meaning are candidates too, and step
3 weighs likeness with words.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall import frequencies, proposing, query, ranking
from memrpc.recall.fusion import RUN_LENIENCY, Alike, leniency
from memrpc.recall.index import collection_prefix
from memrpc.recall.lexical import Candidate, Collection, WeighedTerm
from memrpc.recall.model import EmptyReason, Hit, Kind, SearchRequest, SearchResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memrpc.recall.embedders import Model
    from memrpc.recall.meaning import Compared
    from memrpc.recall.query import SearchTerms, Term
    from memrpc.recall.ranking import Scored

WRITTEN_TO_BE_FOUND: Final = frozenset({Kind.ENTRY, Kind.TASK, Kind.STANDARD})
"""Kinds of short texts whose relevance likeness does not lower; see ``fusion``."""

COLLECTION: Final = """
SELECT units, tokens FROM collections WHERE kind = :kind AND scope = :scope"""
UNITS_OF_SUBJECTS: Final = """
SELECT unit_id FROM json_each(:subjects) CROSS JOIN units
ON units.kind = :kind AND units.subject = json_each.value"""
UNITS: Final = """
SELECT unit_id, kind, subject, start, length, occurred_at, session, speaker, role, asks, answers,
       is_code, tokens, own, joined, head, prev, next, near, meta
FROM json_each(:ids) CROSS JOIN units ON units.unit_id = json_each.value"""


def search(db: apsw.Connection, request: SearchRequest) -> SearchResult:
    """Answer ``request``; any text is a valid one, and a blank one finds nothing."""
    scored: list[Scored] = []
    units = candidates = 0
    for kind in request.kinds:
        terms = query.parse(request.text)
        collection = _collection(db, kind, request.scope)
        units += collection.units
        if not collection.units or terms.is_blank:
            continue
        found = _search_collection(db, request, collection, terms)
        candidates += len(found)
        scored += found
    hits = ranking.best_by_subject(scored)
    relevant = ranking.relevant(hits, request.floor)[: request.limit]
    return SearchResult(
        hits=tuple(map(_hit, relevant)),
        reason=None if relevant else _reason(hits),
        units=units,
        candidates=candidates,
        subjects=len(hits),
    )


def _reason(hits: list[Scored]) -> EmptyReason:
    return EmptyReason.BELOW_RELEVANCE if hits else EmptyReason.NO_MATCH


def _hit(scored: Scored) -> Hit:
    unit = scored.candidate
    return Hit(
        kind=unit.kind,
        subject=unit.subject,
        score=scored.score,
        start=unit.start,
        length=unit.length,
        sources=scored.matched_by,
    )


def _search_collection(
    db: apsw.Connection, request: SearchRequest, collection: Collection, terms: SearchTerms
) -> list[Scored]:
    content = [_weigh(db, term, collection) for term in terms.content]
    common = [_weigh(db, term, collection) for term in terms.common]
    request.checkpoint()
    ids = proposing.propose(db, request, content, common, collection)
    request.checkpoint()
    compared = _compare(db, request, collection)
    if compared is not None:
        ids = sorted({*ids, *compared.likeness.best})
    rows: list[Any] = db.execute(UNITS, {"ids": json.dumps(ids)}).fetchall()
    units = list(map(Candidate._make, rows))
    alike = None if compared is None else _alike(db, compared, collection, terms, units)
    return ranking.score(units, content, common, collection, terms, alike)


def _compare(
    db: apsw.Connection, request: SearchRequest, collection: Collection
) -> Compared | None:
    """The likeness of the collection's units to what the question means."""
    meaning = request.meaning
    if meaning is None:
        return None
    subjects = request.subjects(collection.kind)
    allowed = None if subjects is None else _units_of(db, collection.kind, subjects)
    return meaning.compare(db, collection, request.scope, allowed, request.checkpoint)


def _units_of(db: apsw.Connection, kind: str, subjects: Iterable[int]) -> set[int]:
    values = {"kind": kind, "subjects": json.dumps(list(subjects))}
    rows: list[Any] = db.execute(UNITS_OF_SUBJECTS, values).fetchall()
    return {unit_id for (unit_id,) in rows}


def _alike(
    db: apsw.Connection,
    compared: Compared,
    collection: Collection,
    terms: SearchTerms,
    units: list[Candidate],
) -> Alike:
    model, kind = compared.model, collection.kind
    trust = _trust(model, units)
    chance = model.chance - (RUN_LENIENCY if terms.is_run else 0.0) - leniency(collection.units)
    cosines = compared.likeness.of(db, [unit.unit_id for unit in units])
    standards = {unit: compared.likeness.standard(value) for unit, value in cosines.items()}
    best, lowers = frozenset(compared.likeness.best), kind not in WRITTEN_TO_BE_FOUND
    return Alike(model, trust, chance, cosines, standards, best, lowers)


def _trust(model: Model, units: list[Candidate]) -> float:
    """The embedder's share, which is another one in so far as it is code that might answer."""
    code = sum(unit.is_code for unit in units) / max(len(units), 1)
    return model.trust + (model.trust_in_code - model.trust) * code


def _collection(db: apsw.Connection, kind: str, scope: int) -> Collection:
    row = db.execute(COLLECTION, {"kind": kind, "scope": scope}).get
    units, tokens = row or (0, 0)
    return Collection(kind, collection_prefix(kind, scope), units, tokens)


def _weigh(db: apsw.Connection, term: Term, collection: Collection) -> WeighedTerm:
    """A term with its document frequency; one that nothing has whole may be a beginning."""
    counts = frequencies.of_term(db, term, collection)
    if term.beginning and not any(counts):
        term = replace(term, spellings=(term.beginning,), is_prefix=True)
        counts = frequencies.of_term(db, term, collection)
    return WeighedTerm.of(term, counts, collection)
