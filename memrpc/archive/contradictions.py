"""Contradictions: matches of one answer that cannot all hold, told newest first and named.

Nobody has said which is right, so all stay; whoever reads must see that they disagree.  What is
compared is what ``assertions`` reads, what a statement names as replaced, and what was said once
more in the words of a statement that was corrected.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.archive import assertions, lineages, superseding, times
from memrpc.archive.model import Status
from memrpc.recall.query import COMMON_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from memrpc.archive.assertions import Assertion
    from memrpc.archive.lineages import Lineage
    from memrpc.archive.matching import Match

MAX_WARNINGS: Final = 5
MAX_NAMED: Final = 5
KINDRED_SHARE: Final = 0.4
"""Of the content words of the shorter text; looked at before texts are read, which takes longer."""
_WORD: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W\u3040-\u30ff\u4e00-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Settled:
    """A page in the order in which it is told, and which of its places disagree."""

    page: list[Match]
    disputes: list[list[int]]

    def warnings(self, count: int) -> Iterator[str]:
        """Name what disagrees among the first ``count`` matches, newest first, with its dates."""
        for places in self.disputes[:MAX_WARNINGS]:
            shown = [_name(self.page[place]) for place in places if place < count]
            if len(shown) > 1:
                yield (
                    f"These contradict each other, newest first: {', '.join(shown[:MAX_NAMED])}. "
                    "Ask which holds, and use memory_correct."
                )


def end_of_stretch(offset: int, limit: int) -> int:
    """Return how far the ranking must be known to settle the page."""
    return offset + limit + -offset % limit


def settle_page(db: apsw.Connection, ranking: list[Match], offset: int, limit: int) -> Settled:
    """Settle the matches from ``offset`` on, within stretches of the ranking as long as a page.

    A page that was cut short is followed by one that begins within such a stretch; both tell its
    matches in the same order, so that none is told twice or left out.
    """
    begin = offset - offset % limit
    page: list[Match] = []
    disputes: list[list[int]] = []
    for start in range(begin, offset + limit, limit):
        settled = settle(db, ranking[start : start + limit])
        page += settled.page
        shift = start - offset
        disputes += [[place + shift for place in places] for places in settled.disputes]
    shown = [[place for place in places if 0 <= place < limit] for places in disputes]
    return Settled(page[offset - begin :][:limit], shown)


def settle(db: apsw.Connection, page: list[Match]) -> Settled:
    """Put the newer of two matches that disagree before the older; a place keeps its score."""
    disputes = [sorted(places) for places in _disputes(page, lineages.trace(db, page))]
    settled = list(page)
    for places in disputes:
        newest_first = sorted((settled[place] for place in places), key=_said, reverse=True)
        for place, match in zip(places, newest_first, strict=True):
            settled[place] = dataclasses.replace(match, score=page[place].score)
    return Settled(settled, disputes)


def _disputes(page: list[Match], traced: list[Lineage]) -> list[set[int]]:
    """Return the places of the page that disagree, in groups that have none in common."""
    groups: list[set[int]] = []
    for pair in _pairs(page, traced):
        touched = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair]
        groups.append(pair.union(*touched))
    return groups


def _pairs(page: list[Match], traced: list[Lineage]) -> Iterator[set[int]]:
    texts = list(map(_text, page))
    yield from _contrary(texts, traced)
    for new, text in enumerate(texts):
        if superseding.names_an_end(text):
            yield from ({new, old} for old in _replaced(page, new, texts, traced))
        if traced[new].replaced:
            yield from ({new, old} for old in _said_again(new, texts, traced[new]))


def _contrary(texts: list[str], traced: list[Lineage]) -> Iterator[set[int]]:
    """Yield the places of texts that give one attribute different values."""
    by_attribute: defaultdict[tuple[object, str], list[tuple[int, Assertion]]] = defaultdict(list)
    for place in sorted(_kindred(texts)):
        for each in assertions.assertions(texts[place]):
            speaker = traced[place].speaker if each.is_first_person else ""
            by_attribute[each.attribute, speaker].append((place, each))
    for told in by_attribute.values():
        for (one, first), (other, second) in itertools.combinations(told, 2):
            if one != other and first.contradicts(second):
                yield {one, other}


def _kindred(texts: list[str]) -> set[int]:
    """Return the places of texts that share enough words with another to be about one matter."""
    words = [frozenset(_words(text)) - COMMON_WORDS for text in texts]
    pairs = itertools.combinations(range(len(words)), 2)
    near = (pair for pair in pairs if _are_kindred(words[pair[0]], words[pair[1]]))
    return set(itertools.chain.from_iterable(near))


def _are_kindred(one: frozenset[str], other: frozenset[str]) -> bool:
    least = KINDRED_SHARE * min(len(one), len(other))
    return least > 0 and len(one & other) >= least


def _said_again(new: int, texts: list[str], lineage: Lineage) -> Iterator[int]:
    """Yield the places of what elsewhere says what was replaced, word for word."""
    replaced = set(map(_words, lineage.replaced)) - {_words(texts[new])}
    return (old for old, text in enumerate(texts) if text and _words(text) in replaced)


def _replaced(
    page: list[Match], new: int, texts: list[str], traced: list[Lineage]
) -> Iterator[int]:
    """Yield the places of older statements by the same speaker that ``new`` says to have ended."""
    for old, match in enumerate(page):
        is_older = _said(match) < _said(page[new])
        is_theirs = traced[old].speaker == traced[new].speaker
        if texts[old] and is_older and is_theirs and _may_end(texts[new], texts[old]):
            yield old


def _may_end(new: str, old: str) -> bool:
    """Say whether ``new`` states the end of ``old``, or names its value as the replaced one."""
    if superseding.ends(new, old):
        return True
    return any(superseding.names(new, each.value) for each in assertions.assertions(old))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _text(match: Match) -> str:
    """Return what a match states now; nothing if that is history or more than a statement."""
    if match.memory is None:
        text, is_history = match.event.text, match.is_superseded
    else:
        text, is_history = match.memory.content, match.memory.status is not Status.CURRENT
    return "" if is_history or len(text) > assertions.MAX_CHARS else text


def _said(match: Match) -> tuple[int, int, int]:
    return match.event.occurred_at, match.event.seq, match.memory.key if match.memory else 0


def _name(match: Match) -> str:
    name = match.event.event_id if match.memory is None else match.memory.memory_id
    return f"{name} ({times.to_text(match.event.occurred_at)})"
